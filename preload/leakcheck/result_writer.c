#include "preload/leakcheck/result_writer.h"
#include "preload/leakcheck/milestone_ages.h"
#include "preload/leakcheck/root_owners.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/leakcheck/referrers.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/containers.h"

#define STEPS_MOST (2 * HELD_HEAD) /* of one path; of a longer one the first and the last half */
#define SAMPLES_MOST 3             /* blocks of one line, the largest */
#define PATHS_MOST 50000
#define CONTENT_MOST (64u << 10)  /* bytes of one block */
#define CONTENTS_MOST (64u << 20) /* of all */
#define ORPHANS_MOST 4096
#define AGES_MOST (4u << 20)
#define AHEAD 16
#define NONE UINT32_MAX

struct line {
    struct leak_found found;
    uint32_t largest[SAMPLES_MOST]; /* nodes */
};

struct writer {
    const struct found_look *look;
    uint32_t nodes;
    struct line *lines;
    uint32_t line_count, lines_most;
    uint32_t *index; /* open addressing: hash of a line's key -> line + 1 */
    uint32_t index_mask;
    uint32_t *line_of; /* of each node */
    struct held held;
    struct ages ages;
    struct growable_array found, steps, samples, modules, contents, orphans, age, pointers;
    struct leak_asked asked;
};

/* ---- Lines ---------------------------------------------------------------------------------- */

static struct line *find_line(struct writer *writer, uint32_t site, enum leak_verdict verdict,
                              unsigned flags, uint32_t owner)
{
    uint64_t key = (uint64_t)site << 32 ^ (uint64_t)owner << 12 ^ flags << 4 ^ verdict;
    uint32_t at = hash_u64(key) & writer->index_mask;
    for (;; at = (at + 1) & writer->index_mask) {
        if (!writer->index[at])
            break;
        struct line *line = &writer->lines[writer->index[at] - 1];
        if (line->found.site == site && line->found.verdict == verdict &&
            line->found.flags == flags && line->found.owner == owner)
            return line;
    }
    if (writer->line_count == writer->lines_most)
        return NULL;
    struct line *line = &writer->lines[writer->line_count++];
    writer->index[at] = writer->line_count;
    line->found = (struct leak_found){
        .site = site, .verdict = verdict, .flags = flags, .owner = owner, .first = UINT32_MAX};
    for (int i = 0; i < SAMPLES_MOST; i++)
        line->largest[i] = NONE;
    return line;
}

static void note_largest(struct writer *writer, struct line *line, uint32_t node, uint64_t size)
{
    for (int i = 0; i < SAMPLES_MOST; i++) {
        uint32_t there = line->largest[i];
        if (there != NONE && reach_size(writer->look->reach, there) >= size)
            continue;
        for (int k = SAMPLES_MOST - 1; k > i; k--)
            line->largest[k] = line->largest[k - 1];
        line->largest[i] = node;
        return;
    }
}

static bool add_node(struct writer *writer, uint32_t node, enum leak_verdict verdict)
{
    const struct found_look *look = writer->look;
    struct block block = reach_block(look->reach, node);
    unsigned flags = reach_flags(look->reach, node);
    uint32_t owner = 0;
    bool shared = false;
    if (verdict == LEAK_VERDICT_INDIRECT) {
        uint32_t holder = graph_owner(look->graph, node, &shared);
        owner = holder == REACH_NOBODY ? 0 : writer->line_of[holder] + 1;
        flags |= shared ? LEAK_FOUND_SHARED : 0;
    } else if (graph_is_cycle(look->graph, node)) {
        flags |= LEAK_FOUND_CYCLE;
    }
    struct line *line = find_line(writer, block.site, verdict, flags, owner);
    if (!line)
        return false;
    writer->line_of[node] = line - writer->lines;
    ages_add(&writer->ages, line - writer->lines, &block);
    line->found.blocks++;
    line->found.bytes += block.size;
    line->found.first = block.tick < line->found.first ? block.tick : line->found.first;
    line->found.last = block.tick > line->found.last ? block.tick : line->found.last;
    note_largest(writer, line, node, block.size);
    if (verdict == LEAK_VERDICT_INDIRECT)
        return true;
    struct graph_sum sum = graph_retained(look->graph, node);
    if (verdict == LEAK_VERDICT_LOST) {
        line->found.retained_blocks += sum.blocks;
        line->found.retained_bytes += sum.bytes;
    } else if (sum.bytes > line->found.retained_bytes) { /* blocks of one list hold each other */
        line->found.retained_blocks = sum.blocks;
        line->found.retained_bytes = sum.bytes;
    }
    return true;
}

/* Owners first: the others name their lines. */
static bool add_nodes(struct writer *writer)
{
    const struct graph *graph = writer->look->graph;
    uint32_t indirect = 0;
    for (uint32_t node = 0; node < writer->nodes; node++) {
        enum leak_verdict verdict = graph_verdict(graph, node);
        if (node + AHEAD < writer->nodes)
            graph_look_ahead(graph, node + AHEAD);
        if (verdict == LEAK_VERDICT_INDIRECT)
            indirect++;
        else if (!add_node(writer, node, verdict))
            return false;
    }
    for (uint32_t node = 0; indirect && node < writer->nodes; node++)
        if (graph_verdict(graph, node) == LEAK_VERDICT_INDIRECT) {
            indirect--;
            if (!add_node(writer, node, LEAK_VERDICT_INDIRECT))
                return false;
        }
    return true;
}

/* ---- Paths and samples ---------------------------------------------------------------------- */

static void add_step(struct writer *writer, uint32_t node, uint32_t parent, uint64_t offset)
{
    const struct reach *reach = writer->look->reach;
    struct leak_step *step = growable_array_add(&writer->steps);
    struct block block = reach_block(reach, node);
    uintptr_t word;
    if (!step)
        return;
    *step = (struct leak_step){.offset = offset, .size = block.size, .site = block.site};
    struct reach_word root;
    const uintptr_t *place = NULL;
    if (parent != REACH_NOBODY)
        place = (const uintptr_t *)(reach_address(reach, parent) + offset);
    else if (reach_root_word(reach, node, &root))
        place = (const uintptr_t *)root.address;
    if (place && (word = arch_address((const void *)*place)) - block.address <= block.size)
        step->into = word - block.address;
}

/* The blocks from one up towards its root, no more than so many; how many there are. */
static uint32_t go_up(const struct reach *reach, uint32_t node, uint32_t *met, uint32_t most)
{
    uint32_t count = 0;
    for (; node != REACH_NOBODY && count < most; node = reach_parent(reach, node, NULL))
        met[count++] = node;
    return count;
}

static void add_steps(struct writer *writer, const uint32_t *met, uint32_t count)
{
    for (uint32_t i = count; i--;) {
        uint64_t offset = 0;
        uint32_t parent = reach_parent(writer->look->reach, met[i], &offset);
        add_step(writer, met[i], parent, parent == REACH_NOBODY ? 0 : offset);
    }
}

/* From the root to the node. Of a long way the first and the last half are told, with a step of
 * site 0 between them. */
static void add_path(struct writer *writer, struct line *line)
{
    const struct reach *reach = writer->look->reach;
    uint32_t node = line->largest[0], begin = held_head(&writer->held, node), met[STEPS_MOST];
    uint32_t count = go_up(reach, node, met, STEPS_MOST);
    bool whole = reach_parent(reach, met[count - 1], NULL) == REACH_NOBODY;
    if (writer->steps.count + count > writer->steps.most)
        return;
    line->found.path.first = writer->steps.count;
    if (whole || begin == REACH_NOBODY) {
        add_steps(writer, met, count);
    } else {
        uint32_t first[HELD_HEAD];
        add_steps(writer, first, go_up(reach, begin, first, HELD_HEAD));
        growable_array_add(&writer->steps);
        add_steps(writer, met, STEPS_MOST - HELD_HEAD - 1);
    }
    line->found.path.count = writer->steps.count - line->found.path.first;
    line->found.root = held_tell(&writer->held, node);
}

static void add_content(struct writer *writer, const struct block *block,
                        struct leak_sample *sample)
{
    uint64_t most =
        writer->look->content_most < CONTENT_MOST ? writer->look->content_most : CONTENT_MOST;
    uint32_t length = block->size < most ? block->size : most;
    char *content = growable_array_add_many(&writer->contents, length);
    if (!content)
        return;
    sample->content.first = writer->contents.count - length;
    sample->content.count = length;
    memcpy(content, (const void *)block->address, length);
}

static void add_samples(struct writer *writer, struct line *line)
{
    line->found.sample.first = writer->samples.count;
    for (int i = 0; i < SAMPLES_MOST && line->largest[i] != NONE; i++) {
        struct leak_sample *sample = growable_array_add(&writer->samples);
        struct block block = reach_block(writer->look->reach, line->largest[i]);
        if (!sample)
            break;
        *sample = (struct leak_sample){.address = block.address,
                                       .size = block.size,
                                       .count = block.count,
                                       .thread = block.thread,
                                       .tick = block.tick};
        add_content(writer, &block, sample);
    }
    line->found.sample.count = writer->samples.count - line->found.sample.first;
}

/* A way leads there, and its first word is known. */
static bool has_path(const struct leak_found *found)
{
    return found->verdict != LEAK_VERDICT_LOST && found->verdict != LEAK_VERDICT_INDIRECT &&
           !(found->flags & (LEAK_FOUND_DROPPED | LEAK_FOUND_IGNORED));
}

static void add_details(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->line_count; i++) {
        struct line *line = &writer->lines[i];
        add_samples(writer, line);
        if (has_path(&line->found))
            add_path(writer, line);
        struct leak_found *found = growable_array_add(&writer->found);
        if (!found)
            continue;
        *found = line->found;
        /* Of two pictures the second does not show what exit code has dropped. */
        if (writer->look->head->rung != LEAK_RUNG_PARKED)
            found->flags &= ~LEAK_FOUND_DROPPED;
    }
}

/* ---- Orphans -------------------------------------------------------------------------------- */

/* NOBODY: the block that was seen is gone. */
static uint32_t node_of(const struct found_look *look, const struct orphan_block *seen)
{
    uint32_t node = seen->address ? reach_find(look->reach, seen->address) : REACH_NOBODY;
    if (node == REACH_NOBODY || reach_address(look->reach, node) != seen->address)
        return REACH_NOBODY;
    struct block block = reach_block(look->reach, node);
    return block.count == seen->count && block.thread == seen->thread ? node : REACH_NOBODY;
}

static void add_orphans(struct writer *writer)
{
    const struct orphan *orphan;
    for (uint32_t at = 0; (orphan = orphans_next(&at));) {
        struct leak_orphan told = {
            .site = orphan->site, .holder = orphan->holder, .node = orphan->node};
        for (unsigned i = 0; i < ORPHANS_KEPT; i++) {
            uint32_t node = node_of(writer->look, &orphan->last[i]);
            if (node == REACH_NOBODY)
                continue;
            enum leak_verdict verdict = graph_verdict(writer->look->graph, node);
            told.blocks += verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;
            told.address = orphan->last[i].address;
        }
        struct leak_orphan *made = told.address ? growable_array_add(&writer->orphans) : NULL;
        if (made)
            *made = told;
    }
}

/* ---- What somebody asked about -------------------------------------------------------------- */

static void add_asked(struct writer *writer)
{
    uintptr_t address = writer->look->about;
    uint32_t node = address ? reach_find(writer->look->reach, address) : REACH_NOBODY;
    writer->asked = (struct leak_asked){.address = address};
    if (node == REACH_NOBODY)
        return;
    struct block block = reach_block(writer->look->reach, node);
    writer->asked = (struct leak_asked){.address = address,
                                        .block = block.address,
                                        .size = block.size,
                                        .site = block.site,
                                        .found = writer->line_of[node] + 1,
                                        .count = block.count,
                                        .tick = block.tick,
                                        .thread = block.thread};
    pointers_find(&writer->held, &block, &writer->pointers);
}

/* ---- Modules -------------------------------------------------------------------------------- */

static void add_modules(struct writer *writer)
{
    const struct images *images = writer->look->images;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *image = &images->image[i];
        size_t path = strlen(image->path),
               length = round_up(sizeof(struct leak_module) + path + 1, 8);
        struct leak_module *module = growable_array_add_many(&writer->modules, length);
        if (!module)
            return;
        module->length = length;
        module->start = image->start;
        module->end = image->end;
        module->bias = image->bias;
        module->build_id_length = image->build_id_length;
        memcpy(module->build_id, image->build_id, image->build_id_length);
        module->path_length = path;
        memcpy(module->path, image->path, path);
    }
}

/* ---- The chunk ------------------------------------------------------------------------------ */

static bool begin(struct writer *writer)
{
    uint32_t nodes = writer->nodes, size = 1024;
    /* Sites are few, owners of indirect blocks fewer: with more lines than this there is no report.
     */
    writer->lines_most = nodes + 1 < 4u << 20 ? nodes + 1 : 4u << 20;
    while (size < 2 * writer->lines_most)
        size *= 2;
    writer->index_mask = size - 1;
    writer->lines = sys_map_lazily((size_t)writer->lines_most * sizeof *writer->lines);
    writer->index = sys_map_lazily((size_t)size * sizeof *writer->index);
    writer->line_of = sys_map_lazily(((size_t)nodes + 1) * sizeof *writer->line_of);
    uint32_t paths = writer->lines_most < PATHS_MOST ? writer->lines_most : PATHS_MOST;
    return writer->lines && writer->index && writer->line_of &&
           growable_array_map(&writer->found, sizeof(struct leak_found), writer->lines_most) &&
           growable_array_map(&writer->steps, sizeof(struct leak_step), paths * STEPS_MOST) &&
           growable_array_map(&writer->samples, sizeof(struct leak_sample), paths * SAMPLES_MOST) &&
           growable_array_map(&writer->modules, 1, 8u << 20) &&
           growable_array_map(&writer->contents, 1, CONTENTS_MOST) &&
           growable_array_map(&writer->orphans, sizeof(struct leak_orphan), ORPHANS_MOST) &&
           growable_array_map(&writer->age, sizeof(struct leak_age), AGES_MOST) &&
           growable_array_map(&writer->pointers, sizeof(struct leak_pointer), LEAK_POINTERS) &&
           ages_begin(&writer->ages, writer->lines_most) &&
           held_begin(&writer->held, writer->look->reach, writer->look->roots);
}

/* A table goes when it is written: only one of them is there twice. */
static struct leak_table put(char *payload, uint64_t *at, struct growable_array *table)
{
    struct leak_table place = {*at, table->count};
    memcpy(payload + *at, table->bytes, table->size * table->count);
    *at = round_up(*at + table->size * table->count, 8);
    growable_array_unmap(table);
    return place;
}

static uint64_t write_chunk(struct writer *writer)
{
    struct growable_array *const tables[] = {&writer->found,   &writer->held.roots,   &writer->steps,
                                      &writer->samples, &writer->held.threads, &writer->held.pcs,
                                      &writer->modules, &writer->contents,     &writer->orphans,
                                      &writer->age,     &writer->pointers,     &writer->held.parts};
    struct leak_snapshot head = *writer->look->head;
    struct leak_table *const places[] = {&head.found,   &head.roots, &head.steps,    &head.samples,
                                         &head.threads, &head.pcs,   &head.modules,  &head.contents,
                                         &head.orphans, &head.ages,  &head.pointers, &head.parts};
    head.asked = writer->asked;
    uint64_t size = sizeof head, at = sizeof head;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        size += round_up(tables[i]->size * tables[i]->count, 8);
    char *payload = store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, writer->look->place, size);
    if (!payload && size + size / 4 <= UINT32_MAX) /* the next one may be a little larger */
        payload = store_new_chunk(LEAK_CHUNK_SNAPSHOT, size + size / 4, 0);
    if (!payload || !store_contains(payload))
        return 0;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        *places[i] = put(payload, &at, tables[i]);
    head.head_size = sizeof head;
    memcpy(payload, &head, sizeof head);
    store_publish(payload, size);
    return store_offset_of(payload);
}

uint64_t found_write(struct guard *guard, const struct found_look *look)
{
    struct writer writer = {.look = look, .nodes = reach_count(look->reach)};
    if (!begin(&writer) || !add_nodes(&writer))
        return 0;
    held_count(&writer.held);
    held_threads(guard, &writer.held);
    add_details(&writer);
    held_finish(&writer.held);
    add_orphans(&writer);
    ages_tell(&writer.ages, writer.line_count, &writer.age);
    add_asked(&writer);
    add_modules(&writer);
    /* All is told: the lines are in "found". */
    sys_unmap(writer.lines, (size_t)writer.lines_most * sizeof *writer.lines);
    return write_chunk(&writer);
}
