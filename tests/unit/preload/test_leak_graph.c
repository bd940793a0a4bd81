/* test_graph.c - who hangs under whom, what goes when one goes: each rule beside its opposite; and
 * random heaps against the most obvious way to find out.
 */
#include "preload/mark/edge_list.h"
#include "tests/unit/preload/one_heap.h"

static struct graph *graph;

static void judge_all(void)
{
    look();
    graph = graph_begin(reach);
    ck_assert_ptr_nonnull(graph);
}

/* A record, and what it retains. */
static void expect_record(uint64_t offset, bool cycle, uint64_t count, uint64_t bytes)
{
    struct graph_sum sum = graph_retained(graph, node(offset));
    bool shared;
    ck_assert_msg(graph_verdict(graph, node(offset)) == LOST, "block at %#" PRIx64 ": %s", offset,
                  verdict_name(graph_verdict(graph, node(offset))));
    ck_assert_msg(graph_is_cycle(graph, node(offset)) == cycle, "block at %#" PRIx64, offset);
    ck_assert_msg(sum.blocks == count && sum.bytes == bytes,
                  "block at %#" PRIx64 ": %" PRIu64 " blocks, %" PRIu64 " bytes", offset,
                  sum.blocks, sum.bytes);
    ck_assert_uint_eq(graph_owner(graph, node(offset), &shared), REACH_NOBODY);
    ck_assert(!shared);
}

static void expect_under(uint64_t offset, uint64_t owner, bool shared)
{
    bool is_shared;
    uint32_t got = graph_owner(graph, node(offset), &is_shared);
    ck_assert_msg(graph_verdict(graph, node(offset)) == LEAK_VERDICT_INDIRECT,
                  "block at %#" PRIx64 ": %s", offset,
                  verdict_name(graph_verdict(graph, node(offset))));
    ck_assert_msg(got == node(owner) && is_shared == shared,
                  "block at %#" PRIx64 ": under node %u, shared %d", offset, got, is_shared);
    ck_assert(!graph_is_cycle(graph, node(offset)));
    ck_assert_uint_eq(graph_retained(graph, node(offset)).blocks, 0);
}

static void expect_keeps(uint64_t offset, uint64_t count, uint64_t bytes)
{
    struct graph_sum sum = graph_retained(graph, node(offset));
    ck_assert_msg(sum.blocks == count && sum.bytes == bytes,
                  "block at %#" PRIx64 ": %" PRIu64 " blocks, %" PRIu64 " bytes", offset,
                  sum.blocks, sum.bytes);
}

/* Blocks of 64 bytes at 0, 64, ... , apart by one word so that none begins where one ends. */
#define AT(i) (72ull * (i))

static void add_some(int count)
{
    for (int i = 0; i < count; i++)
        add(AT(i), 64);
}

static void point(int from, int word, int to)
{
    at(AT(from))[word] = buffer + AT(to);
}

/* ---- The lost ------------------------------------------------------------------------------- */

START_TEST(what_hangs_under_a_lost_block_is_indirect)
{
    add_some(4);
    point(2, 0, 1);
    point(1, 7, 0);
    judge_all();
    expect_record(AT(2), false, 3, 192);
    expect_under(AT(1), AT(2), false);
    expect_under(AT(0), AT(2), false);
    expect_record(AT(3), false, 1, 64);
}
END_TEST

static const struct {
    uint64_t offset;
    bool hangs;
} ends[] = {{0, true}, {1, true}, {8, true}, {63, true}, {64, true}, {65, false}};

START_TEST(a_block_hangs_by_any_pointer_to_it)
{
    add_some(2);
    at(AT(0))[3] = buffer + AT(1) + ends[_i].offset;
    judge_all();
    if (ends[_i].hangs)
        expect_under(AT(1), AT(0), false);
    else
        expect_record(AT(1), false, 1, 64);
}
END_TEST

START_TEST(a_block_that_points_to_itself_is_lost_and_no_ring)
{
    add_some(2);
    point(0, 0, 0);
    at(AT(1))[0] = buffer + AT(1) + 9;
    judge_all();
    expect_record(AT(0), false, 1, 64);
    expect_record(AT(1), false, 1, 64);
}
END_TEST

static const struct {
    uint16_t thread[3];
    uint32_t count[3], tick[3];
    int leader;
} rings[] = {
    {{1, 1, 1}, {7, 5, 6}, {0, 0, 0}, 1},
    {{2, 2, 1}, {7, 5, 9}, {0, 0, 0}, 2},
    {{1, 1, 1}, {5, 5, 5}, {3, 2, 1}, 2},
    {{1, 1, 1}, {5, 5, 5}, {3, 3, 3}, 0},
};

START_TEST(of_a_ring_the_one_allocated_first_is_the_leader)
{
    int leader = rings[_i].leader;
    for (int i = 0; i < 3; i++) {
        add(AT(i), 64);
        made_by(10 + i, rings[_i].thread[i], rings[_i].count[i]);
        blocks[i].tick = rings[_i].tick[i];
    }
    add(AT(3), 64);
    point(0, 0, 1);
    point(1, 0, 2);
    point(2, 0, 0);
    point((leader + 1) % 3, 1, 3);
    judge_all();
    expect_record(AT(leader), true, 4, 256);
    for (int i = 0; i < 4; i++)
        if (i != leader)
            expect_under(AT(i), AT(leader), false);
}
END_TEST

START_TEST(a_ring_below_another_block_has_no_leader)
{
    add_some(3);
    point(0, 0, 1);
    point(1, 0, 0);
    point(2, 0, 0);
    judge_all();
    expect_record(AT(2), false, 3, 192);
    expect_under(AT(0), AT(2), false);
    expect_under(AT(1), AT(2), false);
}
END_TEST

START_TEST(what_hangs_under_two_sites_is_shared_with_all_below)
{
    add_some(5); /* each of its own site */
    point(0, 0, 2);
    point(1, 0, 2);
    point(2, 0, 3);
    point(0, 1, 4);
    judge_all();
    expect_record(AT(0), false, 2, 128);
    expect_record(AT(1), false, 1, 64);
    expect_under(AT(2), AT(0), true);
    expect_under(AT(3), AT(0), true);
    expect_under(AT(4), AT(0), false);
}
END_TEST

START_TEST(what_hangs_under_two_blocks_of_one_site_counts_for_the_first)
{
    for (int i = 0; i < 4; i++) {
        add(AT(i), 64);
        made_by(i < 2 ? 1 : 2, 1, i);
    }
    point(0, 0, 2);
    point(1, 0, 2);
    point(2, 0, 3);
    judge_all();
    expect_record(AT(0), false, 3, 192);
    expect_record(AT(1), false, 1, 64);
    expect_under(AT(2), AT(0), false);
    expect_under(AT(3), AT(0), false);
}
END_TEST

START_TEST(a_third_site_shares_what_two_of_one_site_own)
{
    for (int i = 0; i < 5; i++) {
        add(AT(i), 64);
        made_by(i < 2 ? 1 : 2, 1, i);
    }
    point(0, 0, 3);
    point(1, 0, 3);
    point(2, 0, 3);
    point(3, 0, 4);
    judge_all();
    expect_record(AT(0), false, 1, 64);
    expect_under(AT(3), AT(0), true);
    expect_under(AT(4), AT(0), true);
}
END_TEST

START_TEST(held_blocks_own_nothing_lost_and_lost_ones_nothing_held)
{
    add_some(3);
    point(1, 0, 0);
    point(1, 1, 2);
    root(buffer + AT(0));
    judge_all();
    expect_record(AT(1), false, 2, 128);
    expect_under(AT(2), AT(1), false);
    expect_keeps(AT(0), 1, 64);
    ck_assert_int_eq(graph_verdict(graph, node(AT(0))), REACHABLE);
}
END_TEST

#define LONG 1000000

static void add_list(struct reach **out, uintptr_t head)
{
    uintptr_t *list =
        mmap(NULL, 24ull * LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *out = reach_begin(LONG, UINT64_MAX);
    for (uint64_t i = 0; i < LONG; i++) {
        struct block block = {.address = (uintptr_t)&list[3 * i], .size = 16, .count = (uint32_t)i};
        list[3 * i] = (uintptr_t)&list[3 * ((i + 1) % LONG)];
        reach_add(*out, &block, REACH_NEW);
    }
    ck_assert(reach_index(*out));
    roots[0] = head ? (uintptr_t)list : 0;
    reach_root(*out, (uintptr_t)roots, (uintptr_t)(roots + 1), 0);
    ck_assert(reach_mark(*out, &codes, NULL));
}

START_TEST(a_ring_of_a_million_is_one_record)
{
    bool shared;
    add_list(&reach, 0);
    graph = graph_begin(reach);
    ck_assert(graph && graph_verdict(graph, 0) == LOST && graph_is_cycle(graph, 0));
    ck_assert_uint_eq(graph_retained(graph, 0).blocks, LONG);
    ck_assert_uint_eq(graph_retained(graph, 0).bytes, 16ull * LONG);
    for (uint32_t i = 1; i < LONG; i++)
        UNIT_WANT(graph_owner(graph, i, &shared) == 0 && !shared);
}
END_TEST

START_TEST(a_list_of_a_million_keeps_alive_what_comes_behind)
{
    add_list(&reach, 1);
    graph = graph_begin(reach);
    ck_assert(graph && graph_retained_known(graph));
    for (uint32_t i = 0; i < LONG; i++)
        UNIT_WANT(graph_retained(graph, i).blocks == LONG - i &&
                  graph_retained(graph, i).bytes == 16ull * (LONG - i));
}
END_TEST

/* ---- The held ------------------------------------------------------------------------------- */

START_TEST(what_two_ways_lead_to_is_kept_by_where_they_part)
{
    add_some(5);
    point(0, 0, 1);
    point(0, 1, 2);
    point(1, 0, 3);
    point(2, 0, 3);
    point(3, 0, 4);
    root(buffer);
    judge_all();
    expect_keeps(AT(0), 5, 320);
    expect_keeps(AT(1), 1, 64);
    expect_keeps(AT(2), 1, 64);
    expect_keeps(AT(3), 2, 128);
    expect_keeps(AT(4), 1, 64);
}
END_TEST

START_TEST(what_a_root_holds_too_is_kept_by_nobody_else)
{
    add_some(3);
    point(0, 0, 1);
    point(1, 0, 2);
    root(buffer);
    root(buffer + AT(1));
    judge_all();
    expect_keeps(AT(0), 1, 64);
    expect_keeps(AT(1), 2, 128);
}
END_TEST

START_TEST(a_pointer_inside_keeps_alive_as_well)
{
    add_some(3);
    point(0, 0, 1);
    at(AT(2))[0] = buffer + AT(1) + 12;
    root(buffer);
    root(buffer + AT(2));
    judge_all();
    expect_keeps(AT(0), 1, 64);
    expect_keeps(AT(1), 1, 64);
    expect_keeps(AT(2), 1, 64);
}
END_TEST

START_TEST(possible_and_hidden_blocks_are_kept_too)
{
    add_some(5);
    at(AT(0))[0] = buffer + AT(1) + 8;
    at(AT(0))[1] = ~(buffer + AT(2));
    point(1, 0, 3);
    point(2, 0, 4);
    root(buffer);
    judge_all();
    expect_keeps(AT(0), 5, 320);
    expect_keeps(AT(1), 2, 128);
    expect_keeps(AT(2), 2, 128);
}
END_TEST

START_TEST(two_pointers_in_disguise_are_two_ways)
{
    add_some(4);
    point(0, 0, 1);
    point(0, 1, 2);
    at(AT(1))[1] = ~(buffer + AT(3));
    at(AT(2))[1] = ~(buffer + AT(3));
    root(buffer);
    judge_all();
    expect_keeps(AT(0), 4, 256);
    expect_keeps(AT(1), 1, 64);
    expect_keeps(AT(2), 1, 64);
}
END_TEST

START_TEST(what_stands_alone_is_kept_by_nobody)
{
    add_before(AT(0), 64, REACH_IGNORED);
    add_before(AT(1), 64, REACH_IGNORED);
    add_before(AT(2), 64, REACH_WAS_HELD);
    add_before(AT(3), 64, REACH_WAS_HELD);
    point(0, 0, 1);
    point(2, 0, 3);
    judge_all();
    for (int i = 0; i < 4; i++)
        expect_keeps(AT(i), 1, 64);
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

/* Of few blocks the lost half needs as much as marking did; of many held ones, the other does. */
static const int many[] = {7, ONE_HEAP_MOST};

START_TEST(with_too_little_memory_nothing_wrong_is_said)
{
    unsigned none = 0, half = 0;
    bool whole = false;
    add_some(many[_i]);
    point(0, 0, 1);
    point(1, 0, 2);
    point(0, 1, 2);
    point(3, 0, 4);
    for (int i = 5; i < many[_i] - 1; i++)
        point(i, 0, i + 1);
    root(buffer);
    root(buffer + AT(5));
    for (uint64_t most = 400 << 10; most < 8 * MIB && !whole; most += 4096) {
        if (!look_within(most))
            continue;
        uint64_t used = reach->room.used;
        graph = graph_begin(reach);
        none += !graph;
        half += graph && !graph_retained_known(graph);
        whole = graph && graph_retained_known(graph);
        if (graph) {
            expect_record(AT(3), false, 2, 128);
            expect_under(AT(4), AT(3), false);
            expect_keeps(AT(0), whole ? 3 : 0, whole ? 192 : 0);
            graph_end(graph);
        }
        ck_assert_uint_le(reach->room.used, used + 4 * 4096); /* small rows are parts of a map */
        reach_end(reach);
    }
    ck_assert(whole);
    ck_assert_uint_gt(_i == 0 ? none : half, 5);
}
END_TEST

/* ---- The naive graph ------------------------------------------------------------------------ */

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

/* ---- Random heaps --------------------------------------------------------------------------- */

#define HEAPS 41
#define LOOKS 2500

static void judge_naively(struct heap *heap, struct wanted *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    judge(heap);
    judge_lost(heap, wanted);
    for (int i = 0; i < heap->blocks; i++)
        if (is_held(heap, i))
            wanted->retained[i] = goes_with(heap, i);
}

static bool same(const struct wanted *wanted, int i, uint32_t first)
{
    bool shared;
    uint32_t owner = graph_owner(graph, first + i, &shared);
    struct graph_sum sum = graph_retained(graph, first + i);
    return graph_verdict(graph, first + i) == wanted->verdict[i] &&
           owner == (wanted->verdict[i] == LEAK_VERDICT_INDIRECT ? first + wanted->owner[i]
                                                                 : REACH_NOBODY) &&
           shared == wanted->shared[i] && graph_is_cycle(graph, first + i) == wanted->cycle[i] &&
           sum.blocks == wanted->retained[i].blocks && sum.bytes == wanted->retained[i].bytes;
}

static void compare(struct heap *heap, uint32_t first)
{
    struct wanted wanted;
    judge_naively(heap, &wanted);
    for (int i = 0; i < heap->blocks; i++) {
        struct graph_sum sum = graph_retained(graph, first + i);
        if (same(&wanted, i, first))
            continue;
        show_heap(heap);
        ck_abort_msg("block %d: %s, cycle %d, keeps %" PRIu64 " of %" PRIu64
                     "; wanted %s, cycle %d, owner %d, shared %d, keeps %" PRIu64 " of %" PRIu64
                     " (SEED=%" PRIu64 ")",
                     i, verdict_name(graph_verdict(graph, first + i)),
                     graph_is_cycle(graph, first + i), sum.blocks, sum.bytes,
                     verdict_name(wanted.verdict[i]), wanted.cycle[i], wanted.owner[i],
                     wanted.shared[i], wanted.retained[i].blocks, wanted.retained[i].bytes,
                     unit_seed);
    }
}

START_TEST(random_heaps_are_judged_as_in_the_most_obvious_way)
{
    static struct heap heaps[HEAPS];
    for (int round = 0; round < LOOKS; round++) {
        uint64_t state = unit_seed + round;
        make_heaps(heaps, HEAPS, &state);
        reach = look_at(heaps, HEAPS, UINT64_MAX);
        ck_assert_ptr_nonnull(reach);
        graph = graph_begin(reach);
        ck_assert(graph && graph_retained_known(graph));
        uint32_t first = 0;
        for (int i = 0; i < HEAPS; i++) {
            compare(&heaps[i], first);
            first += heaps[i].blocks;
        }
        graph_end(graph);
        reach_end(reach);
    }
}
END_TEST

static void expect_same_edges(const struct edges *one, const struct edges *other)
{
    ck_assert_uint_eq(one->to.count, other->to.count);
    for (uint32_t i = 0; i <= reach->tail + 1; i++)
        ck_assert_uint_eq(one->first[i], other->first[i]);
    for (uint64_t i = 0; i < one->to.count; i++)
        ck_assert_uint_eq(edges_to(one)[i], edges_to(other)[i]);
}

/* As in an arena of which the free places are chained: here and there, and there and here again. */
START_TEST(many_pointers_between_two_blocks_are_one_edge_each_way)
{
    struct edges edges;
    add(0, 4096);
    add(8192, 4096);
    add(16384, 64);
    for (int i = 0; i < 512; i++) {
        at(0)[i] = buffer + (i % 3 ? 8192 : 0) + 8 * i;
        at(8192)[i] = buffer + (i % 2 ? 0 : 16384);
    }
    root(buffer);
    look();
    ck_assert_uint_eq(reach->met.count, 3);
    ck_assert(edges_of_held(&edges, reach));
    ck_assert_uint_eq(edges.to.count, 4); /* and the root's */
    reach_end(reach);
}
END_TEST

/* The index by which pointers were followed is gone by then. */
START_TEST(blocks_are_found_by_address_behind_the_graph)
{
    add_some(20);
    root(buffer);
    judge_all();
    for (int i = 0; i < 20; i++) {
        ck_assert_uint_eq(reach_find(reach, buffer + AT(i)), node(AT(i)));
        ck_assert_uint_eq(reach_find(reach, buffer + AT(i) + 64), node(AT(i)));
        ck_assert_uint_eq(reach_find(reach, buffer + AT(i) + 65), REACH_NOBODY);
    }
    ck_assert_uint_eq(reach_find(reach, buffer - 1), REACH_NOBODY);
}
END_TEST

/* Heaps one by one: where there are many, one of them has a pointer in disguise, and all are read.
 */
START_TEST(pointers_noted_while_marking_are_those_read_afterwards)
{
    static struct heap heap;
    int noted = 0, with_pointers = 0;
    for (int round = 0; round < LOOKS; round++) {
        uint64_t state = unit_seed + round;
        struct edges as_marked, as_read;
        make_heaps(&heap, 1, &state);
        reach = look_at(&heap, 1, UINT64_MAX);
        noted += reach->met_first && !reach->decodings.count;
        with_pointers += reach->met.count && !reach->decodings.count;
        ck_assert(edges_of_held(&as_marked, reach));
        ck_assert_ptr_null(reach->met_first);
        ck_assert(edges_of_held(&as_read, reach));
        expect_same_edges(&as_marked, &as_read);
        reach_end(reach);
        reach = look_at(&heap, 1, UINT64_MAX);
        graph = graph_begin(reach);
        ck_assert(graph && graph_retained_known(graph));
        compare(&heap, 0);
        graph_end(graph);
        reach_end(reach);
    }
    ck_assert_int_gt(noted, LOOKS / 10);
    ck_assert_int_lt(noted, LOOKS);
    ck_assert_int_gt(with_pointers, LOOKS / 20);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("graph");
    TCase *t = part(suite, "lost");
    tcase_add_test(t, what_hangs_under_a_lost_block_is_indirect);
    tcase_add_loop_test(t, a_block_hangs_by_any_pointer_to_it, 0, ARRAY_LENGTH(ends));
    tcase_add_test(t, a_block_that_points_to_itself_is_lost_and_no_ring);
    tcase_add_loop_test(t, of_a_ring_the_one_allocated_first_is_the_leader, 0, ARRAY_LENGTH(rings));
    tcase_add_test(t, a_ring_below_another_block_has_no_leader);
    tcase_add_test(t, what_hangs_under_two_sites_is_shared_with_all_below);
    tcase_add_test(t, what_hangs_under_two_blocks_of_one_site_counts_for_the_first);
    tcase_add_test(t, a_third_site_shares_what_two_of_one_site_own);
    tcase_add_test(t, held_blocks_own_nothing_lost_and_lost_ones_nothing_held);
    tcase_add_test(t, a_ring_of_a_million_is_one_record);
    t = part(suite, "held");
    tcase_add_test(t, what_two_ways_lead_to_is_kept_by_where_they_part);
    tcase_add_test(t, what_a_root_holds_too_is_kept_by_nobody_else);
    tcase_add_test(t, a_pointer_inside_keeps_alive_as_well);
    tcase_add_test(t, possible_and_hidden_blocks_are_kept_too);
    tcase_add_test(t, two_pointers_in_disguise_are_two_ways);
    tcase_add_test(t, what_stands_alone_is_kept_by_nobody);
    tcase_add_test(t, many_pointers_between_two_blocks_are_one_edge_each_way);
    tcase_add_test(t, blocks_are_found_by_address_behind_the_graph);
    tcase_add_test(t, a_list_of_a_million_keeps_alive_what_comes_behind);
    t = part(suite, "memory");
    tcase_add_loop_test(t, with_too_little_memory_nothing_wrong_is_said, 0, ARRAY_LENGTH(many));
    t = part(suite, "random");
    tcase_add_test(t, random_heaps_are_judged_as_in_the_most_obvious_way);
    tcase_add_test(t, pointers_noted_while_marking_are_those_read_afterwards);
    return unit_main(argc, argv, suite);
}
