/* test_leak_graph.c - records, owners and retained sizes: each rule beside its opposite; and random
 * heaps against the most obvious algorithm.
 */
#include "preload/graph/leak_graph_internal.h"
#include "tests/unit/preload/one_heap.h"

static struct leak_graph *graph;

static void judge_all(void)
{
    mark_heap();
    graph = leak_graph_build(reach);
    ck_assert_ptr_nonnull(graph);
}

static void add_some(int count)
{
    for (int i = 0; i < count; i++)
        add(AT(i), 64);
}

static void point(int from, int word, int to)
{
    at(AT(from))[word] = buffer + AT(to);
}

/* A direct leak of 64 bytes a block, and how many blocks it retains. */
static void expect_record(uint64_t offset, bool cycle, uint64_t count)
{
    struct leak_graph_sum sum = leak_graph_retained(graph, node(offset));
    bool shared;
    ck_assert_msg(leak_graph_verdict(graph, node(offset)) == LOST, "block at %#" PRIx64 ": %s",
                  offset, verdict_name(leak_graph_verdict(graph, node(offset))));
    ck_assert_msg(leak_graph_is_cycle(graph, node(offset)) == cycle, "block at %#" PRIx64, offset);
    ck_assert_msg(sum.blocks == count && sum.bytes == 64 * count,
                  "block at %#" PRIx64 ": %" PRIu64 " blocks, %" PRIu64 " bytes", offset,
                  sum.blocks, sum.bytes);
    ck_assert_uint_eq(leak_graph_owner(graph, node(offset), &shared), REACH_NONE);
    ck_assert(!shared);
}

static void expect_under(uint64_t offset, uint64_t owner, bool shared)
{
    bool is_shared;
    uint32_t got = leak_graph_owner(graph, node(offset), &is_shared);
    ck_assert_msg(leak_graph_verdict(graph, node(offset)) == LEAK_VERDICT_INDIRECT,
                  "block at %#" PRIx64 ": %s", offset,
                  verdict_name(leak_graph_verdict(graph, node(offset))));
    ck_assert_msg(got == node(owner) && is_shared == shared,
                  "block at %#" PRIx64 ": under node %u, shared %d", offset, got, is_shared);
    ck_assert(!leak_graph_is_cycle(graph, node(offset)));
    ck_assert_uint_eq(leak_graph_retained(graph, node(offset)).blocks, 0);
}

static void expect_keeps(uint64_t offset, uint64_t count)
{
    struct leak_graph_sum sum = leak_graph_retained(graph, node(offset));
    ck_assert_msg(sum.blocks == count && sum.bytes == 64 * count,
                  "block at %#" PRIx64 ": %" PRIu64 " blocks, %" PRIu64 " bytes", offset,
                  sum.blocks, sum.bytes);
}

/* ---- Small heaps -----------------------------------------------------------------------------
 * Expected: a=3 a record that retains 3 blocks; a=3* the leader of a cycle; b<a indirect, owned by
 * a; b<<a shared as well; a:3 held, retains 3 blocks. */

static const struct {
    const char *name, *heap, *expected;
} rows[] = {
    {"what a lost block leads to is indirect", "c->b b.7->a d", "c=3 b<c a<c d=1"},
    {"any pointer makes an edge: to the start", "a.3->b+0", "b<a"},
    {"to the second byte", "a.3->b+1", "b<a"},
    {"to the second word", "a.3->b+8", "b<a"},
    {"to the last byte", "a.3->b+63", "b<a"},
    {"to the byte behind", "a.3->b+64", "b<a"},
    {"but not beyond", "a.3->b+65", "b=1"},
    {"a block that points to itself is no cycle", "a->a b->b+9", "a=1 b=1"},
    {"the leader of a cycle has the first serial", "a#1.7.0 b#1.5.0 c#1.6.0 d a->b b->c c->a c->d",
     "b=4* a<b c<b d<b"},
    {"of the first thread", "a#2.7.0 b#2.5.0 c#1.9.0 d a->b b->c c->a a->d", "c=4* a<c b<c d<c"},
    {"or the first tick", "a#1.5.3 b#1.5.2 c#1.5.1 d a->b b->c c->a a->d", "c=4* a<c b<c d<c"},
    {"or the lowest address", "a#1.5.3 b#1.5.3 c#1.5.3 d a->b b->c c->a b->d", "a=4* b<a c<a d<a"},
    {"a pointer into the leader closes no cycle", "a->b b->a+8", "a=2 b<a"},
    {"one to its start does", "a->b b->a+8 b->a", "a=2* b<a"},
    {"of a container's nodes only the first points to its head", "a->b b->a+8 b->c c->b",
     "a=3 b<a c<a"},
    {"another block may close the cycle", "a->b b->a+8 b->c c->b a->d d->a", "a=4* b<a c<a d<a"},
    {"pointers behind headers of one size close a cycle", "a->b+16 b->a+16", "a=2* b<a"},
    {"those behind other offsets do not", "a->b+8 b->a+16", "a=2 b<a"},
    {"nor does a block of that offset outside of the cycle", "a->b b->a+16 a->c+16", "a=3 b<a c<a"},
    {"a cycle below another block has no leader", "a->b b->a c->a", "c=3 a<c b<c"},
    {"what records of two sites lead to is shared, with everything below", "a->c b->c c->d a->e",
     "a=2 b=1 c<<a d<<a e<a"},
    {"what two records of one site lead to counts for the first", "a@1 b@1 c@2 d@2 a->c b->c c->d",
     "a=3 b=1 c<a d<a"},
    {"a third site shares what two records of one site own",
     "a@1 b@1 c@2 d@2 e@2 a->d b->d c->d d->e", "a=1 d<<a e<<a"},
    {"held blocks own nothing lost, lost ones nothing held", "b->a b->c root:a", "b=2 c<b a:1 a!R"},
    {"where two paths meet is retained by where they part", "a->b a->c b->d c->d d->e root:a",
     "a:5 b:1 c:1 d:2 e:1"},
    {"what a root leads to as well is retained by no other block", "a->b b->c root:a root:b",
     "a:1 b:2"},
    {"an interior pointer keeps alive as well", "a->b c->b+12 root:a root:c", "a:1 b:1 c:1"},
    {"possible and hidden blocks are retained, too", "a->b+8 a->~c b->d c->e root:a",
     "a:5 b:2 c:2"},
    {"two encoded pointers are two paths", "a->b a->c b.1->~d c.1->~d root:a", "a:4 b:1 c:1"},
    {"what is held without a pointer is retained by no other block", "a?I b?I c?R d?R a->b c->d",
     "a:1 b:1 c:1 d:1"},
};

START_TEST(a_small_heap_is_judged)
{
    lay_out(rows[_i].heap);
    judge_all();
    for (const char *text = rows[_i].expected; *text; text += strspn(text, " ")) {
        int block = text_block(&text);
        switch (*text) {
        case '=': {
            unsigned count = text_number(&text);
            bool cycle = *text == '*';
            text += cycle;
            expect_record(AT(block), cycle, count);
            break;
        }
        case '<': {
            bool shared = text[1] == '<';
            text += 1 + shared;
            expect_under(AT(block), AT(text_block(&text)), shared);
            break;
        }
        case ':':
            expect_keeps(AT(block), text_number(&text));
            break;
        default:
            text++;
            expect_text(block, &text);
        }
    }
}
END_TEST

/* ---- Long lists ------------------------------------------------------------------------------ */

#define LONG 1000000

static void add_list(struct reach **out, uintptr_t head)
{
    uintptr_t *list =
        mmap(NULL, 24ull * LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *out = reach_begin(LONG, UINT64_MAX);
    for (uint64_t i = 0; i < LONG; i++) {
        struct block block = {.address = (uintptr_t)&list[3 * i], .size = 16, .count = (uint32_t)i};
        list[3 * i] = (uintptr_t)&list[3 * ((i + 1) % LONG)];
        reach_add_block(*out, &block, REACH_NEW);
    }
    ck_assert(reach_build_index(*out));
    roots[0] = head ? (uintptr_t)list : 0;
    reach_add_root(*out, (uintptr_t)roots, (uintptr_t)(roots + 1), 0, REACH_ROOT_DATA);
    ck_assert(reach_mark(*out, &codes, NULL));
}

START_TEST(a_ring_of_a_million_is_one_record)
{
    bool shared;
    add_list(&reach, 0);
    graph = leak_graph_build(reach);
    ck_assert(graph && leak_graph_verdict(graph, 0) == LOST && leak_graph_is_cycle(graph, 0));
    ck_assert_uint_eq(leak_graph_retained(graph, 0).blocks, LONG);
    ck_assert_uint_eq(leak_graph_retained(graph, 0).bytes, 16ull * LONG);
    for (uint32_t i = 1; i < LONG; i++)
        UNIT_WANT(leak_graph_owner(graph, i, &shared) == 0 && !shared);
}
END_TEST

START_TEST(a_list_of_a_million_keeps_alive_what_comes_behind)
{
    add_list(&reach, 1);
    graph = leak_graph_build(reach);
    ck_assert(graph && leak_graph_retained_known(graph));
    for (uint32_t i = 0; i < LONG; i++)
        UNIT_WANT(leak_graph_retained(graph, i).blocks == LONG - i &&
                  leak_graph_retained(graph, i).bytes == 16ull * (LONG - i));
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

/* Of some hundred blocks the lost half needs more than marking left; of many held ones, the other does. */
static const int many[] = {600, ONE_HEAP_MOST};

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
        if (!mark_within(most))
            continue;
        uint64_t used = reach->arena.used;
        graph = leak_graph_build(reach);
        none += !graph;
        half += graph && !leak_graph_retained_known(graph);
        whole = graph && leak_graph_retained_known(graph);
        if (graph) {
            expect_record(AT(3), false, 2);
            expect_under(AT(4), AT(3), false);
            expect_keeps(AT(0), whole ? 3 : 0);
        }
        /* What stays: 16 bytes a block for the dominators, and a few small rows. */
        ck_assert_uint_le(reach->arena.used, used + (graph ? 10 : 4) * 4096 + 16ull * many[_i]);
        reach_end(reach);
    }
    ck_assert(whole);
    ck_assert_uint_gt(_i == 0 ? none : half, 0);
}
END_TEST

/* ---- The naive graph ------------------------------------------------------------------------ */

/* Between blocks of the same half: does one hold any pointer to the other? */
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

/* Which block leads to which without passing through one of them (-1: no such condition). */
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

/* The leader of a block's cycle, itself if there is none; -1 if others lead to that cycle. */
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

/* The lowest offset in a block to which other lost blocks point. */
static uint64_t lowest_offset(const struct heap *heap, int block)
{
    uint64_t lowest = UINT64_MAX;
    for (int from = 0; from < heap->blocks; from++)
        for (int word = 0; from != block && !is_held(heap, from) && word < words_of(heap, from);
             word++) {
            uintptr_t pointer = arch_address((const void *)word_of(heap, from, word));
            uint64_t offset = pointer - heap->block[block].address;
            if (leads_to(heap, word_of(heap, from, word), block, BY_ANY) && offset < lowest)
                lowest = offset;
        }
    return lowest;
}

/* Does a pointer to the start of the leader close its cycle, or one behind a header that the blocks
 * to which it points have as well? */
static bool is_closed(const struct heap *heap, const struct paths *paths, int leader)
{
    uint64_t offset = lowest_offset(heap, leader);
    for (int i = 0; i < heap->blocks; i++)
        if (edge(heap, leader, i) && paths->way[i][leader] && lowest_offset(heap, i) == offset)
            return true;
    return !offset;
}

struct wanted {
    enum leak_verdict verdict[BLOCKS_MOST];
    bool cycle[BLOCKS_MOST], shared[BLOCKS_MOST];
    int owner[BLOCKS_MOST];
    struct leak_graph_sum retained[BLOCKS_MOST];
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
        wanted->cycle[i] = record && members > 1 && is_closed(heap, &paths, i);
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

/* Held without a pointer. */
static bool stands_alone(const struct heap *heap, int i)
{
    if (heap->dropped[i] || heap->before[i] == REACH_IGNORED)
        return true;
    if (heap->before[i] == REACH_WAS_HIDDEN && heap->verdict[i] == LEAK_VERDICT_HIDDEN)
        return true;
    return heap->alone[i];
}

static bool is_root(const struct heap *heap, int i)
{
    enum how how = heap->verdict[i] == LEAK_VERDICT_HIDDEN ? BY_DECODING : BY_ANY;
    for (int r = 0; r < heap->roots; r++)
        if (leads_to(heap, heap->root[r], i, how))
            return true;
    return stands_alone(heap, i);
}

/* What becomes unreachable when a block is taken away. */
static struct leak_graph_sum goes_with(const struct heap *heap, int taken)
{
    struct leak_graph_sum sum = {0, 0};
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
    uint32_t owner = leak_graph_owner(graph, first + i, &shared);
    struct leak_graph_sum sum = leak_graph_retained(graph, first + i);
    return leak_graph_verdict(graph, first + i) == wanted->verdict[i] &&
           owner == (wanted->verdict[i] == LEAK_VERDICT_INDIRECT ? first + wanted->owner[i]
                                                                 : REACH_NONE) &&
           shared == wanted->shared[i] &&
           leak_graph_is_cycle(graph, first + i) == wanted->cycle[i] &&
           sum.blocks == wanted->retained[i].blocks && sum.bytes == wanted->retained[i].bytes;
}

static void compare(struct heap *heap, uint32_t first)
{
    struct wanted wanted;
    judge_naively(heap, &wanted);
    for (int i = 0; i < heap->blocks; i++) {
        struct leak_graph_sum sum = leak_graph_retained(graph, first + i);
        if (same(&wanted, i, first))
            continue;
        show_heap(heap);
        ck_abort_msg("block %d: %s, cycle %d, keeps %" PRIu64 " of %" PRIu64
                     "; wanted %s, cycle %d, owner %d, shared %d, keeps %" PRIu64 " of %" PRIu64
                     " (SEED=%" PRIu64 ")",
                     i, verdict_name(leak_graph_verdict(graph, first + i)),
                     leak_graph_is_cycle(graph, first + i), sum.blocks, sum.bytes,
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
        reach = mark_heaps(heaps, HEAPS, UINT64_MAX);
        ck_assert_ptr_nonnull(reach);
        graph = leak_graph_build(reach);
        ck_assert(graph && leak_graph_retained_known(graph));
        uint32_t first = 0;
        for (int i = 0; i < HEAPS; i++) {
            compare(&heaps[i], first);
            first += heaps[i].blocks;
        }
        reach_end(reach);
    }
}
END_TEST

/* As in an arena whose free slots are chained: many pointers from one block to the other and back.
 */
START_TEST(many_pointers_between_two_blocks_are_one_edge_each_way)
{
    struct edge_list edges;
    struct graph_core core;
    add(0, 4096);
    add(8192, 4096);
    add(16384, 64);
    for (int i = 0; i < 512; i++) {
        at(0)[i] = buffer + (i % 3 ? 8192 : 0) + 8 * i;
        at(8192)[i] = buffer + (i % 2 ? 0 : 16384);
    }
    root(buffer);
    root(buffer + 8192);
    mark_heap();
    ck_assert_uint_eq(reach->targets.count, 3);
    ck_assert(hanging_trees_find(reach, &core));
    ck_assert_uint_eq(core.count, 2); /* the third hangs on the second */
    ck_assert(edge_list_of_core(&edges, reach, &core));
    ck_assert_uint_eq(edges.to.count, 4); /* and two of the roots */
    reach_end(reach);
}
END_TEST

/* The rank index has been freed by then. */
START_TEST(blocks_are_found_by_address_behind_the_graph)
{
    add_some(20);
    root(buffer);
    judge_all();
    for (int i = 0; i < 20; i++) {
        ck_assert_uint_eq(reach_find_node(reach, buffer + AT(i)), node(AT(i)));
        ck_assert_uint_eq(reach_find_node(reach, buffer + AT(i) + 64), node(AT(i)));
        ck_assert_uint_eq(reach_find_node(reach, buffer + AT(i) + 65), REACH_NONE);
    }
    ck_assert_uint_eq(reach_find_node(reach, buffer - 1), REACH_NONE);
}
END_TEST

/* One heap at a time: of many heaps one would have an encoded pointer in nearly every round. */
START_TEST(a_random_heap_has_hanging_trees_and_a_core)
{
    static struct heap heap;
    uint64_t hanging = 0, in_core = 0;
    for (int round = 0; round < LOOKS; round++) {
        uint64_t state = unit_seed + round;
        struct graph_core core;
        make_heaps(&heap, 1, &state);
        reach = mark_heaps(&heap, 1, UINT64_MAX);
        ck_assert(hanging_trees_find(reach, &core));
        in_core += core.count;
        hanging += reach->tail - core.count;
        graph = leak_graph_build(reach);
        ck_assert(graph && leak_graph_retained_known(graph));
        compare(&heap, 0);
        reach_end(reach);
    }
    ck_assert_uint_gt(hanging, LOOKS / 10);
    ck_assert_uint_gt(in_core, LOOKS / 10);
}
END_TEST

/* h: hangs; c: core. */
static const struct {
    const char *name, *heap, *expected;
} trees[] = {
    {"a tree hangs", "a->b a->c c->d root:a", "hhhh"},
    {"with pointers to the parent, too", "a->b a->c b->a c->a c->d d->c root:a", "hhhh"},
    {"a list linked both ways hangs", "a->b b->c c->d b->a c->b d->c root:a", "hhhh"},
    {"a ring does not", "a->b b->c c->a root:a root:b", "ccc"},
    {"what two blocks point to does not, nor do they", "a->b a->c b->d c->d d->e root:a", "cccch"},
    {"a pointer past the parent keeps a block in the core", "a->b b->c c->a c->d root:a", "ccch"},
    {"a block that two roots point to hangs", "a->b root:a root:a", "hh"},
    {"one that a root points to as well does not", "a->b b->c root:a root:b", "cch"},
    {"an encoded pointer has both ends in the core", "a->~b a->c root:a", "cch"},
};

START_TEST(what_hangs_on_one_pointer_is_no_part_of_the_core)
{
    struct graph_core core;
    lay_out(trees[_i].heap);
    mark_heap();
    ck_assert(hanging_trees_find(reach, &core));
    for (uint32_t i = 0; trees[_i].expected[i]; i++)
        ck_assert_msg(graph_core_has(&core, node(AT(i))) == (trees[_i].expected[i] == 'c'),
                      "%s: block %c", trees[_i].name, 'a' + i);
    reach_end(reach);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("leak_graph");
    TCase *t = part(suite, "small");
    tcase_add_loop_test(t, a_small_heap_is_judged, 0, ARRAY_LENGTH(rows));
    tcase_add_loop_test(t, what_hangs_on_one_pointer_is_no_part_of_the_core, 0,
                        ARRAY_LENGTH(trees));
    tcase_add_test(t, many_pointers_between_two_blocks_are_one_edge_each_way);
    tcase_add_test(t, blocks_are_found_by_address_behind_the_graph);
    t = part(suite, "long");
    tcase_add_test(t, a_ring_of_a_million_is_one_record);
    tcase_add_test(t, a_list_of_a_million_keeps_alive_what_comes_behind);
    t = part(suite, "memory");
    tcase_add_loop_test(t, with_too_little_memory_nothing_wrong_is_said, 0, ARRAY_LENGTH(many));
    t = part(suite, "random");
    tcase_add_test(t, random_heaps_are_judged_as_in_the_most_obvious_way);
    tcase_add_test(t, a_random_heap_has_hanging_trees_and_a_core);
    return unit_main(argc, argv, suite);
}
