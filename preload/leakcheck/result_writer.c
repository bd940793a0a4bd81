/* result_writer.c - groups the nodes (blocks) of a leak check by site and verdict into lines of the
 * table "found", and writes all tables of the result. */
#include "preload/leakcheck/result_writer.h"
#include "preload/leakcheck/interior_sums.h"
#include "preload/leakcheck/loss_times.h"
#include "preload/leakcheck/root_owners.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/roots/library_blocks.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/memory/collections.h"

/* The largest number of steps (blocks) of a path from a root that are written; of a longer path its
 * beginning and its end are written. */
#define STEPS_MAX (2 * PATH_HEAD)
/* Number of blocks of a line of the table "found" that are recorded one by one as samples: the
 * largest ones. */
#define SAMPLES_MOST 3
#define PATHS_MOST 50000
#define CONTENT_MOST (64u << 10)  /* largest recorded content of one block in bytes */
#define CONTENTS_MOST (64u << 20) /* largest sum of all recorded contents */
#define DROPPED_MAX 4096
#define AGES_MOST (4u << 20)

struct result_line {
    struct leak_found found;
    uint32_t largest[SAMPLES_MOST]; /* nodes of the largest blocks; REACH_NONE: none */
};

struct result_writer {
    const struct result_input *input;
    uint32_t nodes;
    struct result_line *lines;
    uint32_t line_count, lines_most;
    /* Hash table: hash of site, verdict, flags and owner -> index + 1 in "lines"; 0: empty. */
    uint32_t *index;
    uint32_t index_mask;
    uint32_t asked_node; /* node of the block that contains input->about; REACH_NONE: none */
    uint32_t asked_line; /* index + 1 of the line that counts asked_node; 0: none */
    /* The node that line_of_record looked up last, and its line. */
    uint32_t last_record, last_record_line;
    struct root_owners owners;
    struct milestone_ages ages;
    struct interior_sums interiors;
    struct loss_times losses;
    struct growable_array found, steps, samples, modules, contents, orphans, age, referrers;
    struct leak_asked asked;
};

/* ---- Lines of the table "found" -------------------------------------------------------------- */

static struct result_line *find_line(struct result_writer *writer, uint32_t site,
                                     enum leak_verdict verdict, unsigned flags, uint32_t owner)
{
    uint64_t key = (uint64_t)site << 32 ^ (uint64_t)owner << 12 ^ flags << 4 ^ verdict;
    uint32_t at = hash_u64(key) & writer->index_mask;
    for (;; at = (at + 1) & writer->index_mask) {
        if (!writer->index[at])
            break;
        struct result_line *line = &writer->lines[writer->index[at] - 1];
        if (line->found.site == site && line->found.verdict == verdict &&
            line->found.flags == flags && line->found.owner == owner)
            return line;
    }
    if (writer->line_count == writer->lines_most)
        return NULL;
    struct result_line *line = &writer->lines[writer->line_count++];
    writer->index[at] = writer->line_count;
    line->found = (struct leak_found){
        .site = site, .verdict = verdict, .flags = flags, .owner = owner, .first = UINT32_MAX};
    for (int i = 0; i < SAMPLES_MOST; i++)
        line->largest[i] = REACH_NONE;
    return line;
}

static void note_largest(struct result_writer *writer, struct result_line *line, uint32_t node,
                         uint64_t size)
{
    for (int i = 0; i < SAMPLES_MOST; i++) {
        uint32_t there = line->largest[i];
        if (there != REACH_NONE && reach_size(writer->input->reach, there) >= size)
            continue;
        for (int k = SAMPLES_MOST - 1; k > i; k--)
            line->largest[k] = line->largest[k - 1];
        line->largest[i] = node;
        return;
    }
}

/* Returns the flags of a node that is not indirectly lost. Blocks of one site and verdict with
 * different flags are counted on different lines of the table "found". */
static unsigned record_flags(const struct result_writer *writer, uint32_t node)
{
    bool cycle = leak_graph_is_cycle(writer->input->graph, node);
    return reach_flags(writer->input->reach, node) | (cycle ? LEAK_FOUND_CYCLE : 0);
}

/* Returns the line of the table "found" that counts a lost block, the owner of indirectly lost
 * blocks. Blocks of the same owner often come one after the other, so the line that was returned
 * last is remembered. */
static uint32_t line_of_record(struct result_writer *writer, uint32_t node)
{
    if (node != writer->last_record) {
        uint32_t site = reach_site(writer->input->reach, node);
        writer->last_record = node;
        writer->last_record_line =
            find_line(writer, site, LEAK_VERDICT_LOST, record_flags(writer, node), 0) -
            writer->lines;
    }
    return writer->last_record_line;
}

static bool count_node(struct result_writer *writer, uint32_t node, enum leak_verdict verdict)
{
    const struct result_input *input = writer->input;
    struct block block;
    reach_read_block(input->reach, node, &block);
    uint32_t owner = 0, flags;
    if (verdict == LEAK_VERDICT_INDIRECT) {
        bool shared;
        uint32_t holder = leak_graph_owner(input->graph, node, &shared);
        owner = holder == REACH_NONE ? 0 : line_of_record(writer, holder) + 1;
        flags = reach_flags(input->reach, node) | (shared ? LEAK_FOUND_SHARED : 0);
    } else {
        flags = record_flags(writer, node);
    }
    struct result_line *line = find_line(writer, block.site, verdict, flags, owner);
    if (!line)
        return false;
    if (node == writer->asked_node)
        writer->asked_line = line - writer->lines + 1;
    milestone_ages_add(&writer->ages, line - writer->lines, &block);
    line->found.blocks++;
    line->found.bytes += block.size;
    line->found.first = block.tick < line->found.first ? block.tick : line->found.first;
    line->found.last = block.tick > line->found.last ? block.tick : line->found.last;
    note_largest(writer, line, node, block.size);
    if (verdict == LEAK_VERDICT_POSSIBLE || flags & LEAK_FOUND_HEADER)
        interior_sums_add(&writer->interiors, input->reach, line - writer->lines, node);
    if (verdict == LEAK_VERDICT_INDIRECT)
        return true;
    struct leak_graph_sum sum = leak_graph_retained(input->graph, node);
    if (verdict == LEAK_VERDICT_LOST) {
        line->found.retained_blocks += sum.blocks;
        line->found.retained_bytes += sum.bytes;
    } else if (sum.bytes > line->found.retained_bytes) {
        /* Blocks of one linked list retain each other, so the retained sums of the line's blocks
         * must not be added: the line gets the largest one. */
        line->found.retained_blocks = sum.blocks;
        line->found.retained_bytes = sum.bytes;
    }
    return true;
}

/* Counts all nodes in the lines of the table "found". Indirectly lost blocks come last, because
 * their lines refer to the lines of their owners. */
static bool count_nodes(struct result_writer *writer)
{
    const struct leak_graph *graph = writer->input->graph;
    uint32_t indirect = 0;
    for (uint32_t node = 0; node < writer->nodes; node++) {
        enum leak_verdict verdict = leak_graph_verdict(graph, node);
        if (verdict == LEAK_VERDICT_INDIRECT)
            indirect++;
        else if (!count_node(writer, node, verdict))
            return false;
    }
    for (uint32_t node = 0; indirect && node < writer->nodes; node++)
        if (leak_graph_verdict(graph, node) == LEAK_VERDICT_INDIRECT) {
            indirect--;
            if (!count_node(writer, node, LEAK_VERDICT_INDIRECT))
                return false;
        }
    return true;
}

/* ---- Paths and samples of blocks ------------------------------------------------------------- */

static void add_step(struct result_writer *writer, uint32_t node, uint32_t parent, uint64_t offset)
{
    const struct reach *reach = writer->input->reach;
    struct leak_step *step = growable_array_add(&writer->steps);
    uintptr_t address = reach_address(reach, node), word;
    uint64_t size = reach_size(reach, node);
    if (!step)
        return;
    *step = (struct leak_step){.offset = offset, .size = size, .site = reach_site(reach, node)};
    struct reach_word root;
    const uintptr_t *place = NULL;
    if (parent != REACH_NONE)
        place = (const uintptr_t *)(reach_address(reach, parent) + offset);
    else if (reach_root_word(reach, node, &root))
        place = (const uintptr_t *)root.address;
    if (place && (word = arch_address((const void *)*place)) - address <= size)
        step->into = word - address;
}

/* Writes the nodes on the path from a node towards its root into "met", at most "most" of them;
 * returns how many it has written. */
static uint32_t collect_path(const struct reach *reach, uint32_t node, uint32_t *met, uint32_t most)
{
    uint32_t count = 0;
    for (; node != REACH_NONE && count < most; node = reach_parent(reach, node, NULL))
        met[count++] = node;
    return count;
}

static void add_steps(struct result_writer *writer, const uint32_t *met, uint32_t count)
{
    for (uint32_t i = count; i--;) {
        uint64_t offset = 0;
        uint32_t parent = reach_parent(writer->input->reach, met[i], &offset);
        add_step(writer, met[i], parent, parent == REACH_NONE ? 0 : offset);
    }
}

/* Writes the path from the root to the largest block of a line. Of a long path only the beginning
 * and the end are written, with a step of site 0 between them. */
static void add_path(struct result_writer *writer, struct result_line *line)
{
    const struct reach *reach = writer->input->reach;
    uint32_t node = line->largest[0], begin = root_owners_path_head(&writer->owners, node),
             met[STEPS_MAX];
    uint32_t count = collect_path(reach, node, met, STEPS_MAX);
    bool whole = reach_parent(reach, met[count - 1], NULL) == REACH_NONE;
    if (writer->steps.count + count > writer->steps.most)
        return;
    line->found.path.first = writer->steps.count;
    if (whole || begin == REACH_NONE) {
        add_steps(writer, met, count);
    } else {
        uint32_t first[PATH_HEAD];
        add_steps(writer, first, collect_path(reach, begin, first, PATH_HEAD));
        growable_array_add(&writer->steps);
        add_steps(writer, met, STEPS_MAX - PATH_HEAD - 1);
    }
    line->found.path.count = writer->steps.count - line->found.path.first;
    line->found.root = root_owners_add_node(&writer->owners, node);
}

static void add_content(struct result_writer *writer, const struct block *block,
                        struct leak_sample *sample)
{
    uint64_t most =
        writer->input->content_most < CONTENT_MOST ? writer->input->content_most : CONTENT_MOST;
    uint32_t length = block->size < most ? block->size : most;
    char *content = growable_array_add_many(&writer->contents, length);
    if (!content)
        return;
    sample->content.first = writer->contents.count - length;
    sample->content.count = length;
    memcpy(content, (const void *)block->address, length);
}

static void add_samples(struct result_writer *writer, struct result_line *line)
{
    line->found.sample.first = writer->samples.count;
    for (int i = 0; i < SAMPLES_MOST && line->largest[i] != REACH_NONE; i++) {
        struct leak_sample *sample = growable_array_add(&writer->samples);
        struct block block = reach_block(writer->input->reach, line->largest[i]);
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

/* Says whether a line of the table "found" has a path that begins at a root word which is known. */
static bool has_path(const struct leak_found *found)
{
    return found->verdict != LEAK_VERDICT_LOST && found->verdict != LEAK_VERDICT_INDIRECT &&
           !(found->flags & (LEAK_FOUND_DROPPED | LEAK_FOUND_IGNORED));
}

static void add_details(struct result_writer *writer)
{
    for (uint32_t i = 0; i < writer->line_count; i++) {
        struct result_line *line = &writer->lines[i];
        add_samples(writer, line);
        if (has_path(&line->found))
            add_path(writer, line);
        if (line->found.verdict == LEAK_VERDICT_LOST ||
            line->found.verdict == LEAK_VERDICT_INDIRECT)
            loss_times_add(&writer->losses, line->found.site, line->found.blocks);
        struct leak_found *found = growable_array_add(&writer->found);
        if (!found)
            continue;
        *found = line->found;
        /* Without stopped threads the check compared two copies of the running process, and cannot
         * tell which pointers exit code has dropped. */
        if (writer->input->head->rung != LEAK_RUNG_PARKED)
            found->flags &= ~LEAK_FOUND_DROPPED;
    }
}

/* ---- Dropped pointers ------------------------------------------------------------------------ */

/* Finds the node of a block that was recorded when a freed block held a pointer to it
 * (dropped_pointers.h). REACH_NONE: the block was freed since then. */
static uint32_t find_seen_node(const struct result_input *input, const struct dropped_block *seen)
{
    uint32_t node = seen->address ? reach_find_node(input->reach, seen->address) : REACH_NONE;
    if (node == REACH_NONE || reach_address(input->reach, node) != seen->address)
        return REACH_NONE;
    struct block block = reach_block(input->reach, node);
    return block.count == seen->count && block.thread == seen->thread ? node : REACH_NONE;
}

static void add_dropped_pointers(struct result_writer *writer)
{
    const struct dropped_pair *pair;
    dropped_pointers_sort();
    for (uint32_t at = 0; (pair = dropped_pointers_next(&at));) {
        if (library_blocks_are_of(pair->holder))
            continue;
        struct leak_orphan entry = {.site = pair->site, .holder = pair->holder, .node = pair->node};
        for (unsigned i = 0; i < DROPPED_POINTERS_KEPT; i++) {
            uint32_t node = find_seen_node(writer->input, &pair->last[i]);
            if (node == REACH_NONE)
                continue;
            enum leak_verdict verdict = leak_graph_verdict(writer->input->graph, node);
            entry.blocks += verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;
            entry.address = pair->last[i].address;
        }
        struct leak_orphan *out = entry.address ? growable_array_add(&writer->orphans) : NULL;
        if (out)
            *out = entry;
    }
}

/* ---- The block at the requested address ------------------------------------------------------ */

static void add_requested(struct result_writer *writer)
{
    uintptr_t address = writer->input->about;
    uint32_t node = writer->asked_node;
    writer->asked = (struct leak_asked){.address = address};
    if (node == REACH_NONE)
        return;
    struct block block = reach_block(writer->input->reach, node);
    writer->asked = (struct leak_asked){.address = address,
                                        .block = block.address,
                                        .size = block.size,
                                        .site = block.site,
                                        .found = writer->asked_line,
                                        .count = block.count,
                                        .tick = block.tick,
                                        .thread = block.thread};
    root_owners_find_referrers(&writer->owners, &block, &writer->referrers);
}

/* ---- Modules -------------------------------------------------------------------------------- */

static void add_modules(struct result_writer *writer)
{
    const struct elf_images *images = writer->input->images;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct elf_image *image = &images->image[i];
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

/* ---- Writing the tables ---------------------------------------------------------------------- */

static bool begin_writer(struct result_writer *writer)
{
    uint32_t nodes = writer->nodes, size = 1024;
    /* There are few sites, and fewer owners of indirectly lost blocks, so 4 million lines of the
     * table "found" are enough. If there are more, no result is written. */
    writer->lines_most = nodes + 1 < 4u << 20 ? nodes + 1 : 4u << 20;
    while (size < 2 * writer->lines_most)
        size *= 2;
    writer->index_mask = size - 1;
    writer->lines = sys_map_lazily((size_t)writer->lines_most * sizeof *writer->lines);
    writer->index = sys_map_lazily((size_t)size * sizeof *writer->index);
    uint32_t paths = writer->lines_most < PATHS_MOST ? writer->lines_most : PATHS_MOST;
    return writer->lines && writer->index &&
           growable_array_map(&writer->found, sizeof(struct leak_found), writer->lines_most) &&
           growable_array_map(&writer->steps, sizeof(struct leak_step), paths * STEPS_MAX) &&
           growable_array_map(&writer->samples, sizeof(struct leak_sample), paths * SAMPLES_MOST) &&
           growable_array_map(&writer->modules, 1, 8u << 20) &&
           growable_array_map(&writer->contents, 1, CONTENTS_MOST) &&
           growable_array_map(&writer->orphans, sizeof(struct leak_orphan), DROPPED_MAX) &&
           growable_array_map(&writer->age, sizeof(struct leak_age), AGES_MOST) &&
           growable_array_map(&writer->referrers, sizeof(struct leak_pointer), LEAK_POINTERS) &&
           milestone_ages_begin(&writer->ages, writer->lines_most) &&
           interior_sums_begin(&writer->interiors) &&
           loss_times_begin(&writer->losses, writer->input->head, writer->input->before) &&
           root_owners_begin(&writer->owners, writer->input->reach, writer->input->roots);
}

/* Copies a table into the chunk of the recording file and frees the table at once, so that only one
 * table at a time exists twice. Returns where it lies in the chunk. */
static struct leak_table write_table(char *payload, uint64_t *at, struct growable_array *table)
{
    struct leak_table place = {*at, table->count};
    memcpy(payload + *at, table->bytes, table->size * table->count);
    *at = round_up(*at + table->size * table->count, 8);
    growable_array_unmap(table);
    return place;
}

static uint64_t write_chunk(struct result_writer *writer)
{
    struct growable_array *const tables[] = {
        &writer->found,          &writer->owners.roots, &writer->steps,     &writer->samples,
        &writer->owners.threads, &writer->owners.pcs,   &writer->modules,   &writer->contents,
        &writer->orphans,        &writer->age,          &writer->referrers, &writer->owners.parts,
        &writer->interiors.rows, &writer->losses.rows};
    struct leak_snapshot head = *writer->input->head;
    struct leak_table *const places[] = {
        &head.found,    &head.roots,   &head.steps,     &head.samples, &head.threads,
        &head.pcs,      &head.modules, &head.contents,  &head.orphans, &head.ages,
        &head.pointers, &head.parts,   &head.interiors, &head.losses};
    head.asked = writer->asked;
    head.after_ns = writer->losses.after_ns;
    uint64_t size = sizeof head, at = sizeof head;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        size += round_up(tables[i]->size * tables[i]->count, 8);
    char *payload = store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, writer->input->place, size);
    /* The chunk is a quarter larger than needed, so that the somewhat larger result of a later
     * check can overwrite it. */
    if (!payload && size + size / 4 <= UINT32_MAX)
        payload = store_new_chunk(LEAK_CHUNK_SNAPSHOT, size + size / 4, 0);
    if (!payload || !store_contains(payload))
        return 0;
    for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
        *places[i] = write_table(payload, &at, tables[i]);
    head.head_size = sizeof head;
    memcpy(payload, &head, sizeof head);
    store_publish(payload, size);
    return store_offset_of(payload);
}

uint64_t result_writer_write(struct guard *guard, const struct result_input *input)
{
    struct result_writer writer = {
        .input = input,
        .nodes = reach_count(input->reach),
        .last_record = REACH_NONE,
        .asked_node = input->about ? reach_find_node(input->reach, input->about) : REACH_NONE};
    if (!begin_writer(&writer) || !count_nodes(&writer))
        return 0;
    leak_graph_drop_retained(input->graph);
    root_owners_count(&writer.owners);
    root_owners_add_threads(guard, &writer.owners);
    add_details(&writer);
    loss_times_finish(&writer.losses);
    root_owners_finish(&writer.owners);
    add_dropped_pointers(&writer);
    milestone_ages_write(&writer.ages, writer.line_count, &writer.age);
    add_requested(&writer);
    add_modules(&writer);
    root_owners_end(&writer.owners);
    /* All lines were copied to writer.found. */
    sys_unmap(writer.lines, (size_t)writer.lines_most * sizeof *writer.lines);
    return write_chunk(&writer);
}

/* ---- Ages: blocks by milestone --------------------------------------------------------------- */

bool milestone_ages_begin(struct milestone_ages *ages, uint32_t lines_most)
{
    ages->inherited = store_header->inherited_sites;
    ages->sum = NULL;
    ages->count = milestones_sorted(ages->milestone);
    if (ages->count)
        ages->sum = sys_map_lazily((size_t)lines_most * ages->count * sizeof *ages->sum);
    return !ages->count || ages->sum;
}

void milestone_ages_add(struct milestone_ages *ages, uint32_t line, const struct block *block)
{
    if (!ages->count || block->tick < ages->milestone[0].tick || block->site <= ages->inherited)
        return;
    uint32_t at = ages->count;
    while (ages->milestone[at - 1].tick > block->tick)
        at--;
    struct milestone_ages_sum *sum = &ages->sum[(size_t)line * ages->count + at - 1];
    sum->blocks++;
    sum->bytes += block->size;
}

void milestone_ages_write(const struct milestone_ages *ages, uint32_t lines,
                          struct growable_array *out)
{
    for (size_t i = 0; i < (size_t)lines * ages->count; i++) {
        struct leak_age *age = ages->sum[i].blocks ? growable_array_add(out) : NULL;
        if (age)
            *age = (struct leak_age){.found = i / ages->count,
                                     .milestone = ages->milestone[i % ages->count].number,
                                     .blocks = ages->sum[i].blocks,
                                     .bytes = ages->sum[i].bytes};
    }
}
