/* leak_check.c - presents a graph as a leak check; described in leak_check.h. */
#include "graph/names/leak_check.h"

#include <stdlib.h>
#include <string.h>

#include "common/typeinfo/block_type.h"
#include "common/typeinfo/type_path.h"
#include "graph/analyze/root_paths.h"

#define WAYS 4 /* most paths to blocks of one site */

/* ---- Adding threads and roots ---------------------------------------------------------------- */

/* Adds the threads of the graph to the store, sorted by serial. */
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

/* Sets the frame that contains the word, for a root on a stack. */
static void set_frame(const struct heap_graph *graph, uint32_t thread, struct leak_held *held)
{
    for (uint32_t i = 0; i < graph->frames; i++) {
        const struct graph_frame *frame = &graph->frame[i];

        if (frame->thread == thread && held->address >= frame->sp && held->address < frame->cfa) {
            held->pc = frame->pc - 1; /* the return address may be the start of the next function */
            held->cfa = frame->cfa;
            return;
        }
    }
}

struct leak_held leak_check_root(const struct heap_graph *graph, uint32_t root)
{
    const struct graph_root *word = &graph->root[root];
    const struct graph_range *range = &graph->range[word->range];
    struct leak_held held = {.address = word->address,
                             .root_class = (uint8_t)range->root_class,
                             .start = range->whole_start,
                             .size = range->whole_end - range->whole_start};

    if (range->thread < graph->threads) {
        held.thread = graph->thread[range->thread].serial;
        held.tls_offset = (int64_t)(word->address - graph->thread[range->thread].block);
        if (range->root_class == LEAK_ROOT_CLASS_STACKS)
            set_frame(graph, range->thread, &held);
    }
    return held;
}

/* ---- Choosing blocks of each site as examples ------------------------------------------------ */

struct site_examples {
    uint64_t blocks, bytes;
    /* numbers of blocks with different sizes, and of blocks with different first words */
    uint32_t size[BLOCK_SIZES_MOST], word[BLOCK_SIZES_MOST];
    /* numbers of the blocks nearest to a root, the nearest first; on the path to such a block is no
     * other block of the site */
    uint32_t near[WAYS];
    uint8_t sizes, words, nears;
};

static void add_sample(const struct heap_graph *graph, struct site_examples *site, uint32_t number)
{
    const struct graph_block *block = &graph->block[number];
    bool known = false;

    for (unsigned i = 0; i < site->sizes; i++)
        known |= graph->block[site->size[i]].size == block->size;
    if (!known && site->sizes < BLOCK_SIZES_MOST) {
        site->size[site->sizes++] = number;
        return;
    }
    for (unsigned i = 0; i < site->sizes; i++)
        if (graph->block[site->size[i]].word == block->word)
            return;
    for (unsigned i = 0; i < site->words; i++)
        if (graph->block[site->word[i]].word == block->word)
            return;
    if (site->words < BLOCK_SIZES_MOST)
        site->word[site->words++] = number;
}

static uint32_t site_before(const struct heap_graph *graph, const struct root_tree *tree,
                            uint32_t block)
{
    return tree->parent[block] == GRAPH_NONE ? 0 : graph->block[tree->parent[block]].site;
}

static void add_way(const struct heap_graph *graph, const struct root_tree *tree,
                    struct site_examples *site, uint32_t block)
{
    uint32_t before = site_before(graph, tree, block);

    for (unsigned i = 0; i < site->nears; i++)
        if (site_before(graph, tree, site->near[i]) == before) {
            if (tree->distance[block] < tree->distance[site->near[i]])
                site->near[i] = block;
            return;
        }
    if (site->nears < WAYS)
        site->near[site->nears++] = block;
}

static void nearest_first(const struct root_tree *tree, struct site_examples *site)
{
    for (unsigned i = 1; i < site->nears; i++)
        if (tree->distance[site->near[i]] < tree->distance[site->near[0]]) {
            uint32_t moved = site->near[0];

            site->near[0] = site->near[i];
            site->near[i] = moved;
        }
}

static struct site_examples *find_examples(const struct heap_graph *graph,
                                           const struct root_tree *tree)
{
    size_t sites = (size_t)graph->sites + 1;
    struct site_examples *examples = array_grow(NULL, &(size_t){0}, sites, sizeof(*examples));

    memset(examples, 0, sites * sizeof(*examples));
    for (uint32_t i = 0; i < graph->blocks; i++) {
        struct site_examples *site = &examples[graph->block[i].site];

        site->blocks++;
        site->bytes += graph->block[i].size;
        add_sample(graph, site, i);
        if (!graph_block_is_lost(&graph->block[i]))
            add_way(graph, tree, site, i);
        if (graph->block[i].site)
            graph->store.sites[graph->block[i].site - 1].kind = graph->block[i].kind;
    }
    for (size_t i = 0; i < sites; i++)
        nearest_first(tree, &examples[i]);
    return examples;
}

/* ---- Making the results of the leak check ---------------------------------------------------- */

/* Returns, for each block, the index of the first root word that points to it, + 1; 0: none
 * does. */
static uint32_t *first_roots(const struct heap_graph *graph)
{
    uint32_t *first = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 1, sizeof(*first));

    memset(first, 0, ((size_t)graph->blocks + 1) * sizeof(*first));
    for (uint32_t i = graph->roots; i-- > 0;)
        if (graph->root[i].range < graph->ranges)
            first[graph->root[i].to] = i + 1;
    return first;
}

/* Fills in one step of a path. False: the word of the pointer is unknown, so the path ends before
 * this block. */
static bool set_step(const struct heap_graph *graph, uint32_t from, uint32_t to,
                     struct store_step *step)
{
    uint32_t edge = root_tree_edge(graph, from, to);

    if (edge == GRAPH_NONE || graph->edge[edge].at >= GRAPH_AT_MOST || !graph->block[to].site)
        return false;
    *step = (struct store_step){.offset = 8ull * graph->edge[edge].at,
                                .into = (uint32_t)heap_graph_edge_offset(graph, edge),
                                .size = graph->block[to].size,
                                .site = graph->block[to].site - 1};
    return true;
}

static void set_path(struct heap_graph *graph, uint32_t root, const uint32_t *block, uint32_t count,
                     struct store_found *found)
{
    struct store_leak_check *look = graph->store.look;
    struct store_step *step = &look->steps[found->path];

    look->roots[found->root] = leak_check_root(graph, root);
    *step = (struct store_step){.into = (uint32_t)graph->root[root].offset,
                                .size = graph->block[block[0]].size,
                                .site = graph->block[block[0]].site - 1};
    found->path_count = graph->block[block[0]].site != 0;
    while (found->path_count && found->path_count < count &&
           set_step(graph, block[found->path_count - 1], block[found->path_count],
                    step + found->path_count))
        found->path_count++;
}

struct results {
    struct heap_graph *graph;
    const struct root_tree *tree;
    const uint32_t *root; /* for each block, the first root word that points to it: see
                           * first_roots() */
    struct site_examples *examples;
};

/* Adds the path from a root to a block to a result. The path is empty if no root word leads to the
 * block. */
static void add_path(struct results *results, uint32_t target, struct store_found *found)
{
    struct store_leak_check *look = results->graph->store.look;
    uint32_t count = results->tree->distance[target] + 1, kept, start = target;
    uint32_t block[TYPE_STEPS_MOST];

    kept = count < TYPE_STEPS_MOST ? count : TYPE_STEPS_MOST;
    for (uint32_t i = count; i-- > 0; target = results->tree->parent[target]) {
        if (i < kept)
            block[i] = target;
        start = target;
    }
    if (!results->root[start])
        return;
    found->root = (uint32_t)look->root_count++;
    found->path = (uint32_t)look->step_count;
    set_path(results->graph, results->root[start] - 1, block, kept, found);
    look->step_count += found->path_count;
}

static void add_samples(struct results *results, const struct site_examples *site,
                        struct store_found *found)
{
    struct store_leak_check *look = results->graph->store.look;

    found->sample = (uint32_t)look->sample_count;
    for (unsigned i = 0; i < site->sizes + site->words; i++) {
        uint32_t number = i < site->sizes ? site->size[i] : site->word[i - site->sizes];
        const struct graph_block *block = &results->graph->block[number];
        struct leak_sample *sample = &look->samples[look->sample_count++];

        *sample = (struct leak_sample){.address = block->address, .size = block->size};
        if (!block->has_word)
            continue;
        sample->content.first = (uint32_t)look->content_count;
        sample->content.count = sizeof(block->word);
        memcpy(look->contents + look->content_count, &block->word, sizeof(block->word));
        look->content_count += sizeof(block->word);
    }
    found->sample_count = (uint32_t)look->sample_count - found->sample;
}

static void add_results(struct results *results)
{
    struct heap_graph *graph = results->graph;
    struct store_leak_check *look = graph->store.look;

    for (uint32_t i = 0; i < graph->sites; i++) {
        const struct site_examples *site = &results->examples[i + 1];

        look->found[i] = (struct store_found){.site = i,
                                              .verdict = LEAK_VERDICT_REACHABLE,
                                              .owner = STORE_NONE,
                                              .root = STORE_NONE,
                                              .blocks = site->blocks,
                                              .bytes = site->bytes};
        add_samples(results, site, &look->found[i]);
        if (site->nears)
            add_path(results, site->near[0], &look->found[i]);
    }
    look->found_count = graph->sites;
    for (uint32_t i = 0; i < graph->sites; i++)
        for (unsigned k = 1; k < results->examples[i + 1].nears; k++) {
            struct store_found *found = &look->found[look->found_count++];

            *found = (struct store_found){.site = i, .owner = STORE_NONE, .root = STORE_NONE};
            add_path(results, results->examples[i + 1].near[k], found);
        }
}

/* Returns the number of steps that the paths of all results need at most. */
static uint64_t count_steps(const struct results *results)
{
    uint64_t steps = TYPE_STEPS_MOST;

    for (uint32_t i = 1; i <= results->graph->sites; i++)
        for (unsigned k = 0; k < results->examples[i].nears; k++) {
            uint32_t count = results->tree->distance[results->examples[i].near[k]] + 1;

            steps += count < TYPE_STEPS_MOST ? count : TYPE_STEPS_MOST;
        }
    return steps;
}

static void make_room(const struct results *results)
{
    const struct heap_graph *graph = results->graph;
    struct arena *mem = graph->store.mem;
    struct store_leak_check *look = graph->store.look;
    size_t sites = (size_t)graph->sites + 1;

    look->found = arena_alloc_array(mem, sites * WAYS, sizeof(*look->found));
    look->roots = arena_alloc_array(mem, sites * WAYS, sizeof(*look->roots));
    look->steps = arena_alloc_array(mem, count_steps(results), sizeof(*look->steps));
    look->samples = arena_alloc_array(mem, sites * 2 * BLOCK_SIZES_MOST, sizeof(*look->samples));
    look->contents = arena_alloc_array(mem, sites * 2 * BLOCK_SIZES_MOST, sizeof(uint64_t));
}

static void add_asked(struct store_leak_check *look)
{
    look->found[look->found_count++] = (struct store_found){.site = STORE_NO_SITE,
                                                            .owner = STORE_NONE,
                                                            .root = (uint32_t)look->root_count++,
                                                            .path = (uint32_t)look->step_count};
}

static void find_results(struct heap_graph *graph)
{
    struct root_tree tree = root_tree_find(graph);
    uint32_t *root = first_roots(graph);
    struct results results = {graph, &tree, root, find_examples(graph, &tree)};

    make_room(&results);
    add_results(&results);
    add_asked(graph->store.look);
    free(results.examples);
    free(root);
    root_tree_end(&tree);
}

/* ---- Completing the store of the graph ------------------------------------------------------- */

void leak_check_add(struct heap_graph *graph, bool types)
{
    struct store *store = &graph->store;

    add_threads(graph);
    store->look = arena_alloc(store->mem, sizeof(*store->look));
    /* leakreport's functions search the names of variables in the modules of the leak check */
    store->look->modules = store->modules;
    store->look->module_count = store->module_count;
    store->look->module_spans = store->module_spans;
    if (types)
        find_results(graph);
}

uint32_t leak_check_asked(const struct heap_graph *graph)
{
    return (uint32_t)graph->store.look->found_count - 1;
}

size_t leak_check_set_path(struct heap_graph *graph, uint32_t root, const uint32_t *block,
                           uint32_t count)
{
    struct store_found *found = &graph->store.look->found[leak_check_asked(graph)];

    set_path(graph, root, block, count < TYPE_STEPS_MOST ? count : TYPE_STEPS_MOST, found);
    return found->path_count;
}
