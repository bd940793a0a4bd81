/* graph_names.c - see graph_names.h. */
#include "graph/names/graph_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Threads as the store has them: ascending by serial. */
static void add_threads(struct heap_graph *graph)
{
    struct store *store = &graph->store;

    store->threads = arena_alloc_array(store->mem, graph->threads, sizeof(*store->threads));
    for (uint32_t i = 0; i < graph->threads; i++) {
        const struct graph_thread *thread = &graph->thread[i];
        size_t at = store->thread_count;

        if (!thread->serial)
            continue;
        for (; at > 0 && store->threads[at - 1].serial > thread->serial; at--)
            store->threads[at] = store->threads[at - 1];
        store->threads[at] = (struct store_thread){
            .name = thread->name, .serial = thread->serial, .tid = thread->tid};
        store->thread_count++;
    }
}

/* Variables are found by the modules of a leak check. */
static void add_leak_check(struct heap_graph *graph)
{
    struct store *store = &graph->store;

    store->look = arena_alloc(store->mem, sizeof(*store->look));
    store->look->modules = store->modules;
    store->look->module_count = store->module_count;
    store->look->module_spans = store->module_spans;
}

static void merge_sites(struct graph_names *names, struct heap_graph *graph)
{
    uint32_t *first = array_grow(NULL, &(size_t){0}, (size_t)graph->sites + 1, sizeof(*first));
    struct hashmap of = {0};

    first[0] = 0;
    for (uint32_t site = 1; site <= graph->sites; site++) {
        const char *name = graph_names_site(names, site);
        uint64_t key = hash_text(graph_names_signature(names, site), name, strlen(name));
        uint64_t *known = hashmap_put(&of, key, NULL);

        *known = *known ? *known : site;
        first[site] = (uint32_t)*known;
    }
    for (uint32_t i = 0; i < graph->blocks; i++)
        graph->block[i].site = first[graph->block[i].site];
    hashmap_end(&of);
    free(first);
}

struct graph_names graph_names_begin(struct heap_graph *graph)
{
    static const struct binary_search_path no_other_place;
    struct arena *mem = graph->store.mem;
    struct graph_names names = {
        .graph = graph,
        .mem = mem,
        .resolver = resolve_begin(mem, &no_other_place),
        .site = arena_alloc_array(mem, (size_t)graph->sites + 1, sizeof(char *))};

    if (!graph->store.look) {
        add_threads(graph);
        add_leak_check(graph);
    }
    names.signatures = signatures_begin(names.resolver, &graph->store);
    for (uint32_t i = 0; i < graph->sites; i++)
        signatures_request(&names.signatures, graph->store.sites[i].node);
    signatures_resolve(&names.signatures);
    merge_sites(&names, graph);
    return names;
}

void graph_names_end(struct graph_names *names)
{
    signatures_end(&names->signatures);
    resolve_end(names->resolver);
    *names = (struct graph_names){0};
}

static const char *place_words(struct graph_names *names, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];
    const char *name = frame_name(frame, buffer);

    if (frame->file && frame->line)
        return arena_format(names->mem, "%s (%s:%" PRIu32 ")", name, base_name(frame->file),
                            frame->line);
    if (frame->function && frame->module)
        return arena_format(names->mem, "%s (%s)", name, base_name(frame->module));
    return arena_copy(names->mem, name, strlen(name));
}

const char *graph_names_site(struct graph_names *names, uint32_t site)
{
    struct record like;
    struct stack stack;
    const struct frame *frame;

    if (!site || site > names->graph->sites)
        return "an unknown place";
    if (names->site[site])
        return names->site[site];
    stack =
        stack_from_node(names->mem, &names->signatures, names->graph->store.sites[site - 1].node);
    like = record_from_stack(&stack);
    frame = record_title_frame(&like);
    return names->site[site] = frame ? place_words(names, frame) : "an unknown place";
}

uint64_t graph_names_signature(const struct graph_names *names, uint32_t site)
{
    return site && site <= names->graph->sites
               ? signatures_of_node(&names->signatures, names->graph->store.sites[site - 1].node)
               : 0;
}

bool graph_names_stack_contains(struct graph_names *names, uint32_t site, const char *text)
{
    struct stack stack;

    if (!site || site > names->graph->sites)
        return false;
    stack =
        stack_from_node(names->mem, &names->signatures, names->graph->store.sites[site - 1].node);
    for (size_t i = 0; i < stack.count; i++)
        if (stack.frames[i]->function && strstr(stack.frames[i]->function, text))
            return true;
    return false;
}

/* The frame that contains a word of a stack. */
static void set_frame(const struct heap_graph *graph, uint32_t thread, struct leak_held *held)
{
    for (uint32_t i = 0; i < graph->frames; i++) {
        const struct graph_frame *frame = &graph->frame[i];

        if (frame->thread == thread && held->address >= frame->sp && held->address < frame->cfa) {
            held->pc = frame->pc - 1; /* the return address may lie in the next function */
            held->cfa = frame->cfa;
            return;
        }
    }
}

const char *graph_names_root(struct graph_names *names, uint32_t root)
{
    const struct heap_graph *graph = names->graph;
    const struct graph_root *word = &graph->root[root];
    const struct graph_range *range;
    struct leak_held held = {.address = word->address};
    const struct root *found;

    if (word->range >= graph->ranges)
        return "an encoded pointer";
    range = &graph->range[word->range];
    held.root_class = (uint8_t)range->root_class;
    held.start = range->whole_start;
    held.size = range->whole_end - range->whole_start;
    if (range->thread < graph->threads) {
        held.thread = graph->thread[range->thread].serial;
        held.tls_offset = (int64_t)(word->address - graph->thread[range->thread].block);
        if (range->root_class == LEAK_ROOT_CLASS_STACKS)
            set_frame(graph, range->thread, &held);
    }
    if (!names->roots.mem)
        names->roots = roots_begin(names->mem, &names->signatures);
    found = roots_describe_word(&names->roots, &held);
    if (found->variable && found->has_offset && found->offset)
        return arena_format(names->mem, "%s +0x%" PRIx64, found->words, found->offset);
    return found->words;
}
