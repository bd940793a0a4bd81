#include "preload/leakcheck/graph_writer.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "preload/leakcheck/root_owners.h"
#include "preload/graph/graph_walk.h"
#include "preload/store/store.h"
#include "preload/contexts/context_tree.h"
#include "preload/contexts/sites.h"

#include <errno.h>

#define WITH_TEXTS(texts) (GRAPH_STREAM_ITEM_MOST + (texts)*LEAK_GRAPH_TEXT_MOST)

static void write_info(struct graph_writer *writer)
{
    struct graph_stream *stream = &writer->stream;
    const struct leak_snapshot *head = writer->input->head;
    char program[LEAK_GRAPH_TEXT_MOST];
    size_t length = sys_program_path(program, sizeof program);
    graph_stream_begin(stream, LEAK_GRAPH_INFO);
    graph_stream_item(stream, WITH_TEXTS(2));
    graph_stream_number(
        stream, (writer->input->content_most ? LEAK_GRAPH_CONTENT_NUMBERS : LEAK_GRAPH_NO_WORDS) |
                    (writer->input->roots->glibc ? LEAK_GRAPH_GLIBC : 0));
    graph_stream_number(stream, writer->input->pid);
    graph_stream_number(stream, store_header->start_time);
    graph_stream_number(stream, store_header->started_ns);
    graph_stream_number(stream, head->when_ns);
    graph_stream_number(stream, head->tick);
    graph_stream_number(stream, head->occasion);
    graph_stream_number(stream, head->milestone);
    graph_stream_number(stream, store_header->machine);
    graph_stream_number(stream, reach_count(writer->input->reach));
    graph_stream_text(stream, program, length);
    graph_stream_text(stream, store_path(), strlen(store_path()));
}

/* ---- Roots, blocks and edges ----------------------------------------------------------------- */

static void write_ranges(struct graph_writer *writer)
{
    const struct scan_ranges *ranges = &writer->input->roots->ranges;
    struct graph_stream *stream = &writer->stream;
    uintptr_t last = 0;
    graph_stream_begin(stream, LEAK_GRAPH_RANGES);
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct scan_range *range = &ranges->range[i];
        graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
        graph_stream_number(stream, range->root_class);
        graph_stream_number(stream, (uint64_t)(range->thread + 1));
        graph_stream_signed(stream, (int64_t)(range->start - last));
        graph_stream_number(stream, range->end - range->start);
        graph_stream_signed(stream, (int64_t)(range->start - range->whole_start));
        graph_stream_signed(stream, (int64_t)(range->whole_end - range->end));
        last = range->end;
    }
}

static void write_root(void *context, uint32_t range, uintptr_t word, uint32_t node,
                       uint64_t offset)
{
    struct graph_writer *writer = context;
    struct graph_stream *stream = &writer->stream;
    uintptr_t start = round_up(writer->input->roots->ranges.range[range].start, 8);
    uint64_t at = (word - start) / 8 + 1;
    if (range != writer->last_range)
        writer->last_word = 0;
    graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_number(stream, range - writer->last_range);
    graph_stream_number(stream, 2 * (at - writer->last_word) + (offset != 0));
    graph_stream_signed(stream, (int64_t)node - writer->last_target);
    if (offset)
        graph_stream_number(stream, offset);
    writer->last_range = range;
    writer->last_word = at;
    writer->last_target = node;
    writer->root_words++;
}

/* Decides how the first word of a block is written: as a pointer, as zero, as equal to that of the
 * block of the same site (modulo LEAK_GRAPH_SLOTS) that was written last, or as *value. */
static enum leak_graph_word first_word(struct graph_writer *writer, const struct block *block,
                                       bool points, uint64_t *value)
{
    if (!writer->input->content_most || block->size < sizeof *value)
        return LEAK_GRAPH_ZERO;
    *value = *(const volatile uint64_t *)block->address;
    if (points)
        return LEAK_GRAPH_POINTER;
    if (!*value)
        return LEAK_GRAPH_ZERO;
    uint64_t *last = &writer->word_slots[block->site % LEAK_GRAPH_SLOTS];
    if (*last == *value)
        return LEAK_GRAPH_SAME;
    *last = *value;
    return LEAK_GRAPH_VALUE;
}

static void close_block(struct graph_writer *writer)
{
    if (!writer->open)
        return;
    graph_stream_item(&writer->stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_number(&writer->stream, 0);
    writer->open = false;
}

/* Begins the item of a block. points: the first word of the block is a pointer, which the next edge
 * of the file describes. */
static void open_block(struct graph_writer *writer, uint32_t node, bool points)
{
    struct graph_stream *stream = &writer->stream;
    struct block *block = &writer->block[node % 2], *last = &writer->block[(node + 1) % 2];
    uint64_t value = 0;
    reach_read_block(writer->input->reach, node, block);
    enum leak_graph_word word = first_word(writer, block, points, &value);
    if (!node)
        graph_stream_begin(stream, LEAK_GRAPH_BLOCKS);
    graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_number(stream, (block->address - last->address) / 8);
    graph_stream_number(stream, block->size * 4 + word);
    graph_stream_number(stream, block->site);
    graph_stream_signed(stream, (int64_t)block->tick - last->tick);
    graph_stream_signed(stream, (int64_t)block->count - last->count);
    graph_stream_number(stream, ((uint64_t)block->thread << 8 | block->kind) ^
                                    ((uint64_t)last->thread << 8 | last->kind));
    if (word == LEAK_GRAPH_VALUE)
        graph_stream_number(stream, value);
    if (writer->input->content_most)
        graph_stream_word(stream, block_content_add(&writer->content, block->address, block->size));
    writer->next = node + 1;
    writer->last_word = 0;
    writer->open = true;
}

/* Writes the blocks with lower numbers than this one that are not written yet; they have no
 * edges. */
static void write_blocks_before(struct graph_writer *writer, uint32_t node)
{
    close_block(writer);
    while (writer->next < node) {
        open_block(writer, writer->next, false);
        close_block(writer);
    }
}

static void write_edge(void *context, uint32_t from, uint64_t at, uint32_t node, uint64_t offset)
{
    struct graph_writer *writer = context;
    struct graph_stream *stream = &writer->stream;
    if (!writer->open || writer->next != from + 1) {
        write_blocks_before(writer, from);
        open_block(writer, from, at == 0);
    }
    graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_number(stream, 2 * (at + 1 - writer->last_word) + (offset != 0));
    graph_stream_signed(stream, (int64_t)node - from);
    if (offset)
        graph_stream_number(stream, offset);
    writer->last_word = at + 1;
    writer->edges++;
}

static void begin_bonds(struct graph_writer *writer)
{
    if (writer->stream.chunk.type == LEAK_GRAPH_OTHERS)
        return;
    write_blocks_before(writer, reach_count(writer->input->reach));
    graph_stream_begin(&writer->stream, LEAK_GRAPH_OTHERS);
}

static void write_bond(void *context, uint32_t from, uint32_t node, enum graph_walk_bond bond)
{
    struct graph_writer *writer = context;
    struct graph_stream *stream = &writer->stream;
    begin_bonds(writer);
    graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_number(stream, bond);
    graph_stream_signed(stream, (int64_t)from - writer->last_bond);
    graph_stream_signed(stream, (int64_t)node - from);
    writer->last_bond = from;
}

void graph_writer_begin(struct graph_writer *writer, const struct graph_input *input)
{
    static const struct graph_visitor visitor = {write_root, write_edge, write_bond};
    writer->input = input;
    if (!graph_stream_open(&writer->stream, input->path))
        return;
    write_info(writer);
    write_ranges(writer);
    graph_stream_begin(&writer->stream, LEAK_GRAPH_ROOTS);
    writer->last_word = 0;
    block_content_start(&writer->content);
    graph_walk(input->reach, &visitor, writer);
    begin_bonds(writer);
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static unsigned verdict_of(const struct graph_writer *writer, const struct leak_graph *graph,
                           uint32_t node)
{
    unsigned flags = reach_flags(writer->input->reach, node) |
                     (leak_graph_is_cycle(graph, node) ? LEAK_FOUND_CYCLE : 0);
    return leak_graph_verdict(graph, node) + 8 * flags;
}

static void write_verdicts(struct graph_writer *writer, const struct leak_graph *graph)
{
    struct graph_stream *stream = &writer->stream;
    uint32_t nodes = reach_count(writer->input->reach), first = 0;
    unsigned verdict = 0;
    graph_stream_begin(stream, LEAK_GRAPH_VERDICTS);
    for (uint32_t node = 0; node <= nodes; node++) {
        unsigned its = node < nodes ? verdict_of(writer, graph, node) : UINT32_MAX;
        if (its != verdict && node > first) {
            graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
            graph_stream_number(stream, node - first);
            graph_stream_number(stream, verdict);
            first = node;
        }
        verdict = its;
    }
}

/* ---- Modules, threads and call stacks, from which readers make names ------------------------- */

static void write_modules(struct graph_writer *writer)
{
    const struct elf_images *images = writer->input->images;
    struct graph_stream *stream = &writer->stream;
    graph_stream_begin(stream, LEAK_GRAPH_MODULES);
    for (uint32_t i = 0; i < images->count; i++) {
        const struct elf_image *image = &images->image[i];
        graph_stream_item(stream, WITH_TEXTS(2));
        graph_stream_number(stream, image->start);
        graph_stream_number(stream, image->end - image->start);
        graph_stream_number(stream, image->bias);
        graph_stream_text(stream, image->build_id, image->build_id_length);
        graph_stream_text(stream, image->path, strlen(image->path));
    }
}

static size_t name_length(const char *name, size_t most)
{
    size_t length = 0;
    while (length < most && name[length])
        length++;
    return length;
}

static void write_threads(struct guard *guard, struct graph_writer *writer)
{
    const struct roots *roots = writer->input->roots;
    struct graph_stream *stream = &writer->stream;
    struct root_owners owners;
    struct root_owners_frame frame;
    bool known = root_owners_begin(&owners, writer->input->reach, roots);
    if (known)
        root_owners_add_threads(guard, &owners);
    graph_stream_begin(stream, LEAK_GRAPH_THREADS);
    for (uint32_t i = 0; known && i < roots->thread_count; i++) {
        const struct leak_seen_thread *seen =
            (const struct leak_seen_thread *)owners.threads.bytes + i;
        graph_stream_item(stream, WITH_TEXTS(1));
        graph_stream_number(stream, roots->threads[i].serial);
        graph_stream_number(stream, roots->threads[i].tid);
        graph_stream_text(stream, seen->name, name_length(seen->name, sizeof seen->name));
        graph_stream_number(stream, roots->threads[i].block);
    }
    graph_stream_begin(stream, LEAK_GRAPH_FRAMES);
    for (uint32_t i = 0; known && i < roots->thread_count; i++)
        for (uint32_t k = 0; root_owners_thread_frame(&owners, i, k, &frame); k++) {
            graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
            graph_stream_number(stream, i);
            graph_stream_number(stream, frame.pc);
            graph_stream_number(stream, frame.sp);
            graph_stream_number(stream, frame.cfa - frame.sp);
        }
}

/* Marks the sites that have blocks, in an array of one byte for each site. NULL: no memory. */
static uint8_t *mark_sites(const struct reach *reach, uint32_t sites)
{
    uint8_t *used = sys_map_lazily((size_t)sites + 1);
    for (uint32_t node = 0; used && node < reach_count(reach); node++)
        if (reach_site(reach, node) <= sites)
            used[reach_site(reach, node)] = 1;
    return used;
}

static uint8_t *mark_nodes(const uint8_t *used, uint32_t sites, uint32_t nodes)
{
    uint8_t *wanted = sys_map_lazily((size_t)nodes + 1);
    for (uint32_t site = 1; wanted && site <= sites; site++)
        for (uint32_t id = used[site] ? sites_node(site) : 0;
             id >= LEAK_NODE_FIRST && id <= nodes && !wanted[id]; id = context_tree_node(id).parent)
            wanted[id] = 1;
    return wanted;
}

static void write_stacks(struct graph_writer *writer)
{
    struct graph_stream *stream = &writer->stream;
    uint32_t sites = sites_last(), nodes = (uint32_t)load_relaxed(&store_header->nodes), last = 0;
    const uint8_t *used = mark_sites(writer->input->reach, sites);
    const uint8_t *wanted = used ? mark_nodes(used, sites, nodes) : NULL;
    uint64_t pc = 0;
    graph_stream_begin(stream, LEAK_GRAPH_NODES);
    for (uint32_t id = LEAK_NODE_FIRST; wanted && id <= nodes; id++) {
        if (!wanted[id])
            continue;
        struct leak_node node = context_tree_node(id);
        graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
        graph_stream_number(stream, id - last);
        graph_stream_number(stream, node.parent);
        graph_stream_signed(stream, (int64_t)(node.pc - pc));
        last = id;
        pc = node.pc;
    }
    graph_stream_begin(stream, LEAK_GRAPH_SITES);
    last = 0;
    for (uint32_t site = 1; wanted && site <= sites; site++) {
        if (!used[site])
            continue;
        graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
        graph_stream_number(stream, site - last);
        graph_stream_number(stream, sites_node(site));
        last = site;
    }
}

static void write_sample(void *context, const struct content_slot *slot)
{
    struct graph_writer *writer = context;
    struct graph_stream *stream = &writer->stream;
    uint64_t most = writer->input->content_most < LEAK_GRAPH_SAMPLE_MOST
                        ? writer->input->content_most
                        : LEAK_GRAPH_SAMPLE_MOST;
    graph_stream_item(stream, GRAPH_STREAM_ITEM_MOST);
    graph_stream_word(stream, slot->number);
    graph_stream_text(stream, (const void *)slot->address, slot->size < most ? slot->size : most);
}

static void write_contents(struct graph_writer *writer)
{
    graph_stream_begin(&writer->stream, LEAK_GRAPH_CONTENT);
    block_content_each_sample(&writer->content, write_sample, writer);
}

bool graph_writer_end(struct guard *guard, struct graph_writer *writer,
                      const struct leak_graph *graph)
{
    struct graph_stream *stream = &writer->stream;
    if (!graph && !stream->error)
        stream->error = -ECANCELED;
    if (!stream->error) {
        write_verdicts(writer, graph);
        write_modules(writer);
        write_threads(guard, writer);
        write_stacks(writer);
        write_contents(writer);
        graph_stream_begin(stream, LEAK_GRAPH_END);
        graph_stream_number(stream, reach_count(writer->input->reach));
        graph_stream_number(stream, writer->edges);
        graph_stream_number(stream, writer->root_words);
    }
    return graph_stream_close(stream, writer->input->path);
}
