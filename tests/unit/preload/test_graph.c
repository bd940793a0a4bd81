/* test_graph.c */
#include "tests/unit/preload/naive_heap.h"

#define HEAPS 41
#define LOOKS 2500

/* ---- The naive graph ---- */

/* Between blocks with the same fate: does one hold any pointer to the other? */
static bool edge(const struct heap *heap, int from, int to)
{
    enum how how = heap->verdict[to] == LEAK_VERDICT_HIDDEN ? BY_DECODING : BY_ANY;
    if (from == to || is_held(heap, from) != is_held(heap, to))
        return false;
    for (int word = 0; word < words_of(heap, from); word++)
        if (leads_to(heap, word_of(heap, from, word), to, how))
            return true;
    return false;
}

struct paths {
    bool way[BLOCKS_MOST][BLOCKS_MOST];
};

/* Who leads to whom, without passing by one of them (-1: no such condition). */
static void find_paths(const struct heap *heap, int without, struct paths *paths)
{
    for (int i = 0; i < heap->blocks; i++)
        for (int k = 0; k < heap->blocks; k++)
            paths->way[i][k] = i != without && k != without && (i == k || edge(heap, i, k));
    for (int m = 0; m < heap->blocks; m++)
        for (int i = 0; i < heap->blocks; i++)
            for (int k = 0; k < heap->blocks; k++)
                paths->way[i][k] |= paths->way[i][m] && paths->way[m][k];
}

static bool older(const struct block *a, const struct block *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->count != b->count)
        return a->count < b->count;
    if (a->tick != b->tick)
        return a->tick < b->tick;
    return a->address < b->address;
}

/* The leader of a block's ring, itself if there is none; -1 if others lead to that ring. */
static int leader_of(const struct heap *heap, const struct paths *paths, int block, int *members)
{
    int leader = block;
    *members = 0;
    for (int i = 0; i < heap->blocks; i++) {
        bool there = paths->way[block][i], back = paths->way[i][block];
        if (back && !there && !is_held(heap, i))
            return -1;
        if (!there || !back)
            continue;
        (*members)++;
        if (older(&heap->block[i], &heap->block[leader]))
            leader = i;
    }
    return leader;
}

struct wanted {
    enum leak_verdict verdict[BLOCKS_MOST];
    bool cycle[BLOCKS_MOST], shared[BLOCKS_MOST];
    int owner[BLOCKS_MOST];
    struct graph_sum retained[BLOCKS_MOST];
};

static void judge_lost(const struct heap *heap, struct wanted *wanted)
{
    struct paths paths;
    int members;
    find_paths(heap, -1, &paths);
    for (int i = 0; i < heap->blocks; i++) {
        wanted->verdict[i] = heap->verdict[i];
        if (is_held(heap, i))
            continue;
        bool record = leader_of(heap, &paths, i, &members) == i;
        wanted->cycle[i] = record && members > 1;
        if (record)
            wanted->owner[i] = i;
        else
            wanted->verdict[i] = LEAK_VERDICT_INDIRECT;
    }
    for (int i = 0; i < heap->blocks; i++) {
        if (is_held(heap, i))
            continue;
        wanted->owner[i] = -1;
        for (int k = 0; k < heap->blocks; k++) {
            if (wanted->verdict[k] != LEAK_VERDICT_LOST || !paths.way[k][i])
                continue;
            if (wanted->owner[i] < 0)
                wanted->owner[i] = k;
            wanted->shared[i] |= heap->block[wanted->owner[i]].site != heap->block[k].site;
        }
        ck_assert_int_ge(wanted->owner[i], 0);
        if (!wanted->shared[i]) {
            wanted->retained[wanted->owner[i]].blocks++;
            wanted->retained[wanted->owner[i]].bytes += heap->block[i].size;
        }
    }
}

/* Held without a pointer that anybody could lose. */
static bool stands_alone(const struct heap *heap, int i)
{
    if (heap->dropped[i] || heap->before[i] == REACH_IGNORED)
        return true;
    if (heap->before[i] == REACH_WAS_HIDDEN && heap->verdict[i] == LEAK_VERDICT_HIDDEN)
        return true;
    if (heap->before[i] != REACH_WAS_POSSIBLE || heap->verdict[i] != LEAK_VERDICT_POSSIBLE)
        return false;
    for (int k = 0; k < heap->blocks; k++)
        if (heap->verdict[k] == LEAK_VERDICT_REACHABLE && edge(heap, k, i))
            return false;
    return true;
}

static bool is_root(const struct heap *heap, int i)
{
    enum how how = heap->verdict[i] == LEAK_VERDICT_HIDDEN ? BY_DECODING : BY_ANY;
    for (int r = 0; r < heap->roots; r++)
        if (leads_to(heap, heap->root[r], i, how))
            return true;
    return stands_alone(heap, i);
}

/* What cannot be reached any more when a block is taken away. */
static struct graph_sum goes_with(const struct heap *heap, int taken)
{
    struct graph_sum sum = {0, 0};
    struct paths paths;
    find_paths(heap, taken, &paths);
    for (int i = 0; i < heap->blocks; i++) {
        bool reached = false;
        for (int r = 0; r < heap->blocks; r++)
            reached |= is_held(heap, r) && is_root(heap, r) && paths.way[r][i];
        if (is_held(heap, i) && !reached) {
            sum.blocks++;
            sum.bytes += heap->block[i].size;
        }
    }
    return sum;
}

START_TEST(random_graphs_are_judged_as_by_the_naive_one)
{
    static struct heap heaps[HEAPS];
    for (int look = 0; look < LOOKS; look++) {
        uint64_t state = unit_seed + look;
        make_heaps(heaps, HEAPS, &state);
        struct reach *reach = look_at(heaps, HEAPS, UINT64_MAX);
        ck_assert_ptr_nonnull(reach);
        struct graph *graph = graph_begin(reach);
        ck_assert_ptr_nonnull(graph);
        ck_assert(graph_retained_known(graph));
        uint32_t node = 0;
        for (int i = 0; i < HEAPS; i++) {
            struct heap *heap = &heaps[i];
            struct wanted wanted;
            uint32_t first = node;
            memset(&wanted, 0, sizeof wanted);
            judge(heap);
            judge_lost(heap, &wanted);
            for (int k = 0; k < heap->blocks; k++, node++) {
                bool shared;
                uint32_t owner = graph_owner(graph, node, &shared);
                struct graph_sum sum = graph_retained(graph, node);
                if (is_held(heap, k)) {
                    wanted.retained[k] = goes_with(heap, k);
                    wanted.owner[k] = -1;
                }
                bool indirect = wanted.verdict[k] == LEAK_VERDICT_INDIRECT;
                uint32_t want_owner = indirect ? first + wanted.owner[k] : REACH_NOBODY;
                if (graph_verdict(graph, node) != wanted.verdict[k] || owner != want_owner ||
                    shared != wanted.shared[k] || graph_is_cycle(graph, node) != wanted.cycle[k] ||
                    sum.blocks != wanted.retained[k].blocks ||
                    sum.bytes != wanted.retained[k].bytes) {
                    show_heap(heap);
                    ck_abort_msg("look %d heap %d block %d: verdict %d (%d) owner %d (%d) shared "
                                 "%d (%d) cycle %d (%d) retained %d %d (%d %d) (SEED=%" PRIu64 ")",
                                 look, i, k, graph_verdict(graph, node), wanted.verdict[k],
                                 owner - first, want_owner - first, shared, wanted.shared[k],
                                 graph_is_cycle(graph, node), wanted.cycle[k], (int)sum.blocks,
                                 (int)sum.bytes, (int)wanted.retained[k].blocks,
                                 (int)wanted.retained[k].bytes, unit_seed);
                }
            }
        }
        graph_end(graph);
        reach_end(reach);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("graph");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, random_graphs_are_judged_as_by_the_naive_one);
    suite_add_tcase(suite, tcase);
    return unit_main(argc, argv, suite);
}
