/* look.c - measures the cost per block of each step of a leak check: the index, marking, the graph
 * of lost and held blocks.
 *
 * The heaps are built in private mappings. Their shapes stress different parts:
 *
 *   tree      nodes of 64 bytes with four children each, in random order: many paths in parallel
 *   list      one chain through all nodes in random order: one path, only latency
 *   random    each node points to three others: hard for dominators
 *   data      blocks of 4 KiB without pointers, in one array: only reading
 *   lost      the tree without a root: the lost graph contains all blocks
 *
 *   look [SHAPE | all [NODES]]      default: all shapes of 100000, 1000000 and 10000000 nodes
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/common.h"
#include "preload/graph/leak_graph_internal.h"
#include "preload/graph/leak_graph.h"

#define DATA_BYTES 4096

struct heap {
    char *memory;
    uint64_t nodes, size; /* size of each block */
    uintptr_t root;
    uint32_t *order; /* the i-th node of the tree is the order[i]-th block in memory */
};

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uintptr_t *node(const struct heap *heap, uint64_t i)
{
    return (uintptr_t *)(heap->memory + (uint64_t)heap->order[i] * (heap->size + 16) + 16);
}

static void *map(uint64_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "look: no memory\n");
        exit(1);
    }
    return memory;
}

static void shuffle(struct heap *heap)
{
    uint64_t state = 42;
    for (uint64_t i = 0; i < heap->nodes; i++)
        heap->order[i] = (uint32_t)i;
    for (uint64_t i = heap->nodes - 1; i > 0; i--) {
        uint64_t other = random_below(&state, i + 1);
        uint32_t one = heap->order[i];
        heap->order[i] = heap->order[other];
        heap->order[other] = one;
    }
}

static void fill(struct heap *heap, const char *shape)
{
    uint64_t state = 7, nodes = heap->nodes;
    for (uint64_t i = 0; i < nodes; i++) {
        uintptr_t *words = node(heap, i);
        memset(words, 1, heap->size);
        if (!strcmp(shape, "tree") || !strcmp(shape, "lost"))
            for (uint64_t k = 1; k <= 4; k++)
                words[k] = 4 * i + k < nodes ? (uintptr_t)node(heap, 4 * i + k) : 0;
        else if (!strcmp(shape, "list"))
            words[0] = i + 1 < nodes ? (uintptr_t)node(heap, i + 1) : 0;
        else if (!strcmp(shape, "random"))
            for (uint64_t k = 0; k < 3; k++)
                words[k] = (uintptr_t)node(heap, k ? random_below(&state, nodes) : (i + 1) % nodes);
    }
}

static uintptr_t leak[8];

static uint64_t each(uint64_t ns, const struct heap *heap)
{
    return (ns + heap->nodes / 2) / heap->nodes;
}

static int look_at(struct heap *heap, const uintptr_t *roots, uint64_t count)
{
    uint64_t begin = now_ns();
    struct reach *reach = reach_begin(heap->nodes + 1, UINT64_MAX);
    for (uint64_t i = 0; reach && i < heap->nodes; i++) {
        /* Adds regions in a random order, as the block table does, which is hashed by regions of 2
         * KiB. */
        uint64_t region = i / 16 * 2654435761u % (heap->nodes / 16);
        uint64_t at = i < heap->nodes / 16 * 16 ? region * 16 + i % 16 : i;
        struct block block = {.address = (uintptr_t)heap->memory + at * (heap->size + 16) + 16,
                              .size = heap->size,
                              .site = (uint32_t)at % 1000,
                              .count = (uint32_t)at};
        reach_add_block(reach, &block, REACH_NEW);
    }
    /* Adds one lost block, which nearly every program has: encoded pointers are searched only if
     * there is one. */
    if (reach)
        reach_add_block(reach, &(struct block){.address = (uintptr_t)leak, .size = sizeof leak},
                        REACH_NEW);
    if (!reach || !reach_build_index(reach))
        return 1;
    uint64_t indexed = now_ns();
    reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + count), 0, REACH_ROOT_DATA);
    if (!reach_mark(reach, &(struct reach_encodings){.guard = 0x123456789abcdef}, NULL))
        return 1;
    uint64_t marked = now_ns();
    struct leak_graph *graph = leak_graph_build(reach);
    if (!graph)
        return 1;
    uint64_t done = now_ns();
    uint64_t lost = 0;
    for (uint32_t i = 0; i < reach_count(reach); i++)
        lost += reach_verdict(reach, i) == LEAK_VERDICT_LOST;
    printf("index %4" PRIu64 "   mark %4" PRIu64 "   graph %4" PRIu64 "   ns per block; %" PRIu64
           " lost, %.2f GB/s marked%s\n",
           each(indexed - begin, heap), each(marked - indexed, heap), each(done - marked, heap),
           lost, (double)(heap->nodes * heap->size) / (double)(marked - indexed),
           leak_graph_retained_known(graph) ? "" : ", NO DOMINATORS");
    reach_end(reach);
    return 0;
}

static int measure(const char *shape, uint64_t nodes)
{
    bool data = !strcmp(shape, "data"), held = strcmp(shape, "lost") != 0;
    struct heap heap = {.nodes = data ? (nodes < 1000000 ? nodes : 1000000) : nodes,
                        .size = data ? DATA_BYTES : 48};
    uint64_t bytes = heap.nodes * (heap.size + 16) + 16;
    heap.memory = map(bytes);
    heap.order = map(heap.nodes * sizeof *heap.order);
    uintptr_t *roots = map(heap.nodes * sizeof *roots);
    shuffle(&heap);
    fill(&heap, shape);
    uint64_t count = data ? heap.nodes : held ? 1 : 0;
    for (uint64_t i = 0; i < count; i++)
        roots[i] = (uintptr_t)node(&heap, i);
    printf("%-7s %9" PRIu64 "   ", shape, heap.nodes);
    int result = look_at(&heap, roots, count);
    if (result)
        printf("no memory\n");
    fflush(stdout);
    munmap(heap.memory, bytes);
    munmap(roots, heap.nodes * sizeof *roots);
    munmap(heap.order, heap.nodes * sizeof *heap.order);
    return result;
}

int main(int argc, char **argv)
{
    static const char *const shapes[] = {"tree", "list", "random", "data", "lost"};
    uint64_t only = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    int result = 0;
    for (uint64_t nodes = only ? only : 100000; nodes <= (only ? only : 10000000); nodes *= 10)
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], shapes[i]))
                result |= measure(shapes[i], nodes);
    return result;
}
