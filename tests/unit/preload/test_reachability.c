/* test_reachability.c - what a word makes of the block it points to, each rule beside its opposite;
 * and random heaps against a naive marker.
 */
#include "tests/unit/preload/one_heap.h"
#include "tests/unit/size.h"

#include <sys/resource.h>

/* ---- Roots and paths ------------------------------------------------------------------------- */

static const struct {
    const char *name, *heap, *expected;
} rows[] = {
    {"what a root word points to is reachable, the rest is lost", "b root:a", "a!R b!L"},
    {"blocks hold each other, lost ones hold nothing", "a.7->b c->d root:a", "a!R b!R c!L d!L"},
    {"what a possible block points to is possible", "a->b a->c+8 c->d+3 e root:a+16",
     "a!P b!P c!P d!Pt e!L"},
    {"a block that was lost holds nothing, even if roots point to it",
     "a?L a->b root:a root:a+3 root:~a", "a!L b!L"},
    {"what was dropped together is all dropped", "a?R b?R c?R a->b root:c", "a!Rd b!Rd c!R"},
};

START_TEST(a_small_heap_is_marked)
{
    lay_out(rows[_i].heap);
    mark_heap();
    for (const char *text = rows[_i].expected; *text; text += strspn(text, " ")) {
        int block = text_block(&text);
        text++;
        expect_text(block, &text);
    }
}
END_TEST

START_TEST(a_word_counts_only_where_it_is_aligned_and_whole)
{
    uintptr_t pointer = buffer + 64;
    add(0, 31);
    add(64, 32);
    *at(24) = pointer; /* the block does not contain its last byte */
    memcpy((char *)at(4), &pointer, 8);
    root(buffer);
    mark_heap();
    expect(64, LOST, 0);
    reach_end(reach);
    blocks[0].size = 32;
    mark_heap();
    expect(64, REACHABLE, 0);
}
END_TEST

START_TEST(a_root_range_counts_from_its_first_to_its_last_whole_word)
{
    struct reach_word word;
    add(0, 32);
    add(64, 32);
    add(128, 32);
    uintptr_t words[3] = {buffer, buffer + 64, buffer + 128};
    reach = reach_begin(3, UINT64_MAX);
    for (int i = 0; i < 3; i++)
        reach_add_block(reach, &blocks[i], REACH_NEW);
    ck_assert(reach_build_index(reach));
    reach_add_root(reach, (uintptr_t)words + 1, (uintptr_t)words + 23, 5, REACH_ROOT_DATA);
    reach_add_root(reach, (uintptr_t)words, (uintptr_t)words, 6, REACH_ROOT_DATA);
    reach_add_root(reach, (uintptr_t)words + 8, (uintptr_t)words, 7, REACH_ROOT_DATA);
    ck_assert(reach_mark(reach, &codes, NULL));
    expect(0, LOST, 0);
    expect(64, REACHABLE, 0);
    expect(128, LOST, 0);
    ck_assert(reach_root_word(reach, node(64), &word));
    ck_assert_uint_eq(word.address, (uintptr_t)&words[1]);
    ck_assert_uint_eq(word.range, 5);
    ck_assert_uint_lt(word.index, reach_root_words(reach));
    ck_assert(!reach_root_word(reach, node(0), &word));
}
END_TEST

START_TEST(the_parent_is_on_a_shortest_way)
{
    uint64_t offset;
    struct reach_word word;
    for (int i = 0; i < 4; i++)
        add(64 * i, 48);
    *at(0) = buffer + 64; /* 0 -> 1 -> 2 -> 3, and 0 -> 3 */
    *at(64) = buffer + 128;
    *at(128) = buffer + 192;
    *at(40) = buffer + 192;
    root(buffer);
    mark_heap();
    ck_assert_uint_eq(reach_parent(reach, node(192), &offset), node(0));
    ck_assert_uint_eq(offset, 40);
    ck_assert_uint_eq(reach_parent(reach, node(128), &offset), node(64));
    ck_assert_uint_eq(offset, 0);
    ck_assert_uint_eq(reach_parent(reach, node(0), &offset), REACH_NONE);
    ck_assert(reach_root_word(reach, node(0), &word));
    ck_assert_uint_eq(word.address, (uintptr_t)&roots[0]);
    ck_assert_uint_eq(word.range, 77);
    ck_assert(!reach_root_word(reach, node(192), &word));
}
END_TEST

/* ---- Where a pointer may point -------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t size, word[8], offset;
    enum leak_verdict verdict;
    unsigned flags;
} shapes[] = {
    {"its start", 64, {0}, 0, REACHABLE, 0},
    {"an aligned word inside", 64, {0}, 8, POSSIBLE, 0},
    {"a byte inside", 64, {0}, 1, POSSIBLE, LEAK_FOUND_TAGGED},
    {"byte 15", 64, {0}, 15, POSSIBLE, LEAK_FOUND_TAGGED},
    {"byte 17", 64, {0}, 17, POSSIBLE, 0},
    {"its last byte", 64, {0}, 63, POSSIBLE, 0},
    {"one past its end", 64, {0}, 64, POSSIBLE, 0},
    {"two past its end", 64, {0}, 65, LOST, 0},
    {"one past an odd end", 13, {0}, 13, POSSIBLE, LEAK_FOUND_TAGGED},
    {"the start of nothing", 0, {0}, 0, REACHABLE, 0},
    {"behind nothing, as if with a tag", 0, {0}, 1, HIDDEN, 0},
    {"new T[4], T of 14 bytes", 64, {4}, 8, REACHABLE, 0},
    {"no new T[5]: 56 is no multiple", 64, {5}, 8, POSSIBLE, 0},
    {"no new T[112]: too many for 56 bytes", 64, {112}, 8, POSSIBLE, 0},
    {"new T[4], but to the second word", 64, {4}, 16, POSSIBLE, 0},
    {"new T[0]", 8, {0}, 8, REACHABLE, 0},
    {"no new T[0]: there is room", 16, {0}, 8, POSSIBLE, 0},
    {"no new T[3] of nothing", 8, {3}, 8, POSSIBLE, 0},
    {"a length before 64 - 8 bytes", 64, {56}, 8, REACHABLE, 0},
    {"a length that is not that", 64, {57}, 8, POSSIBLE, 0},
    {"a string of 3 in 39", 64, {3, 39}, 24, REACHABLE, 0},
    {"no string: longer than it fits", 28, {4, 3}, 24, POSSIBLE, 0},
    {"no string: the block is larger than its capacity", 64, {3, 38}, 24, POSSIBLE, 0},
    {"no string: zeros", 64, {0}, 24, POSSIBLE, 0},
    {"a string of 4 bytes a character", 64, {3, 9}, 24, REACHABLE, 0},
    {"a string of 2 bytes a character", 64, {3, 19}, 24, REACHABLE, 0},
    {"no string: 3 bytes a character", 66, {3, 13}, 24, POSSIBLE, 0},
    {"no string: the NUL does not fit", 64, {3, 40}, 24, POSSIBLE, 0},
    {"no string: a huge capacity", 64, {3, UINT64_MAX}, 24, POSSIBLE, 0},
    {"a string, but to its second word", 64, {3, 39}, 16, POSSIBLE, 0},
    {"no string: zeros in a larger block", 64, {0, 0}, 24, POSSIBLE, 0},
    {"the empty string", 25, {0, 0}, 24, REACHABLE, 0},
    {"a second base", 64, {0x40, 1, 0x40}, 16, REACHABLE, 0},
    {"no second base: no table there", 64, {0x40, 1, 0x41}, 16, POSSIBLE, 0},
    {"no second base: no table at the start", 64, {0x41, 1, 0x40}, 16, POSSIBLE, 0},
    {"no second base: between words", 64, {0x40, 1, 0x40}, 17, POSSIBLE, 0},
/* Buckets of 8 bytes, then a control byte for each, then the first group of these again. */
#if ARCH_HASH_GROUP == 16
    {"a table of 4", 52, {3, 2, 3, 4, -0xefl, -1, -0xefl}, 32, REACHABLE, 0},
    {"a table of 16 bytes", 48, {1, 2, -0xdel, -1, -0xdel, -1}, 16, REACHABLE, 0},
    {"no table: nothing is repeated", 52, {3, 2, 3, 4, -0xefl, -1, -0xeel}, 32, POSSIBLE, 0},
    {"no table: the small one goes on", 52, {3, 2, 3, 4, 0x11, -1, 0x11}, 32, POSSIBLE, 0},
    {"no table: it is full", 48, {1, 2, 0, 0, 0, 0}, 16, POSSIBLE, 0},
    {"no table: of 5", 53, {3, 2, 3, 4, -0xefl, -1, -0xefl}, 32, POSSIBLE, 0},
    {"no table: no such mark", 48, {1, 2, -0x11l, -1, -0x11l, -1}, 16, POSSIBLE, 0},
    {"a table, but to its second place", 52, {3, 2, 3, 4, -0xefl, -1, -0xefl}, 8, POSSIBLE, 0},
#else
    {"a table of 4", 44, {3, 2, 3, 4, -0xefl, -0xefl}, 32, REACHABLE, 0},
    {"no table: nothing is repeated", 44, {3, 2, 3, 4, -0xefl, -0xeel}, 32, POSSIBLE, 0},
#endif
};

START_TEST(a_pointer_into_a_block_holds_it_only_behind_a_known_head)
{
    add(4096, shapes[_i].size);
    for (int word = 0; word < 8; word++)
        *at(4096 + 8 * word) = shapes[_i].word[word];
    root(buffer + 4096 + shapes[_i].offset);
    mark_heap();
    ck_assert_msg(reach_verdict(reach, 0) == shapes[_i].verdict &&
                      reach_flags(reach, 0) == shapes[_i].flags,
                  "%s: %s, flags %u", shapes[_i].name, verdict_name(reach_verdict(reach, 0)),
                  reach_flags(reach, 0));
}
END_TEST

START_TEST(the_same_pointers_in_a_block_say_the_same)
{
    add(0, 32);
    *at(24) = buffer + 4096 + shapes[_i].offset;
    add(4096, shapes[_i].size);
    for (int word = 0; word < 8; word++)
        *at(4096 + 8 * word) = shapes[_i].word[word];
    root(buffer);
    mark_heap();
    expect(4096, shapes[_i].verdict, shapes[_i].flags);
}
END_TEST

START_TEST(without_virtual_tables_there_is_no_second_base)
{
    add(0, 64);
    *at(0) = *at(16) = 0x40;
    root(buffer + 16);
    reach = reach_begin(1, UINT64_MAX);
    reach_add_block(reach, &blocks[0], REACH_NEW);
    ck_assert(reach_build_index(reach));
    reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + 1), 0, REACH_ROOT_DATA);
    ck_assert(reach_mark(reach, &codes, NULL));
    expect(0, POSSIBLE, 0);
}
END_TEST

START_TEST(a_pointer_to_where_two_blocks_meet_is_one_to_the_second)
{
    add(0, 64);
    add(64, 64);
    root(buffer + 64);
    mark_heap();
    expect(0, LOST, 0);
    expect(64, REACHABLE, 0);
}
END_TEST

START_TEST(a_start_pointer_that_is_met_later_makes_a_candidate_reachable)
{
    uint64_t offset;
    add(0, 64);
    add(128, 64);
    *at(56) = buffer + 128;
    root(buffer + 131);
    root(buffer);
    mark_heap();
    expect(128, REACHABLE, 0);
    ck_assert_uint_eq(reach_parent(reach, node(128), &offset), node(0));
    ck_assert_uint_eq(offset, 56);
}
END_TEST

/* MTE keeps its tags there; elsewhere the tag is the program's own, and the program must remove it.
 */
START_TEST(a_tag_in_the_top_byte_is_none_of_the_address_where_the_cpu_passes_over_it)
{
    const uint64_t tag = 0x0bull << 56;
    bool passes = arch_address((const void *)(buffer | tag)) == buffer;
    add(0, 64);
    add(64, 64);
    add(128, 64);
    add(192, 64);
    *at(24) = (buffer + 64) | tag;
    *at(64) = (buffer + 160) | tag; /* inside */
    *at(72) = (buffer + 192) | 1ull << 48;
    root(buffer | tag);
    mark_heap();
    expect(0, passes ? REACHABLE : HIDDEN, 0);
    expect(64, passes ? REACHABLE : HIDDEN, 0);
    expect(128, passes ? POSSIBLE : LOST, 0);
    expect(192, HIDDEN, 0);
}
END_TEST

/* ---- Results of earlier checks --------------------------------------------------------------- */

static const struct {
    enum reach_prior before;
    enum leak_verdict held, unheld; /* with a root word; without */
    unsigned held_flags, unheld_flags;
    enum leak_verdict below; /* a new block that only it points to, when no root holds it */
} befores_rows[] = {
    {REACH_NEW, REACHABLE, LOST, 0, 0, LOST},
    {REACH_WAS_LOST, LOST, LOST, 0, 0, LOST},
    {REACH_WAS_REACHABLE, REACHABLE, REACHABLE, 0, LEAK_FOUND_DROPPED, REACHABLE},
    {REACH_WAS_POSSIBLE, REACHABLE, POSSIBLE, 0, 0, POSSIBLE},
    {REACH_WAS_HIDDEN, REACHABLE, HIDDEN, 0, 0, HIDDEN},
    {REACH_IGNORED, REACHABLE, REACHABLE, LEAK_FOUND_IGNORED, LEAK_FOUND_IGNORED, REACHABLE},
};

START_TEST(what_an_earlier_look_said_is_the_least_or_the_last_word)
{
    uint64_t offset;
    struct reach_word word;
    add_before(0, 64, befores_rows[_i].before);
    add_before(128, 64, befores_rows[_i].before);
    add(256, 64);
    *at(128) = buffer + 256;
    root(buffer);
    mark_heap();
    expect(0, befores_rows[_i].held, befores_rows[_i].held_flags);
    expect(128, befores_rows[_i].unheld, befores_rows[_i].unheld_flags);
    expect(256, befores_rows[_i].below, 0);
    ck_assert_uint_eq(reach_parent(reach, node(128), &offset), REACH_NONE);
    ck_assert(!reach_root_word(reach, node(128), &word));
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

START_TEST(with_too_little_memory_there_is_no_verdict_at_all)
{
    unsigned refused = 0;
    bool enough = false;
    add(0, 64);
    add(128, 64);
    add(MIB, 64);
    root(buffer);
    root(~(buffer + 128));
    for (uint64_t most = 0; most < 4 * MIB && !enough; most += 4096) {
        enough = mark_within(most);
        refused += !enough;
    }
    ck_assert(enough);
    ck_assert_uint_gt(refused, 100);
    expect(0, REACHABLE, 0);
    expect(128, HIDDEN, 0);
    expect(MIB, LOST, 0);
}
END_TEST

START_TEST(when_the_kernel_refuses_there_is_no_verdict_at_all)
{
    if (UNIT_SANITIZED || unit_is_emulated()) {
        UNIT_SKIP("the sanitizer, or an emulator, needs address space itself");
        return;
    }
    struct rlimit limit;
    bool refused = false, enough = false;
    add(0, 64);
    root(buffer);
    getrlimit(RLIMIT_AS, &limit);
    for (uint64_t most = 4096; !enough && most < 1ull << 40; most += most < 8 * MIB ? 4096 : most) {
        limit.rlim_cur = most + BUFFER;
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
        enough = mark_within(UINT64_MAX);
        refused |= !enough;
    }
    ck_assert(enough && refused);
    expect(0, REACHABLE, 0);
}
END_TEST

START_TEST(more_blocks_than_were_told_is_no_verdict)
{
    add(0, 64);
    add(128, 64);
    reach = reach_begin(1, UINT64_MAX);
    reach_add_block(reach, &blocks[0], REACH_NEW);
    reach_add_block(reach, &blocks[1], REACH_NEW);
    ck_assert(!reach_build_index(reach));
    reach_end(reach);
    ck_assert_ptr_null(reach_begin(UINT32_MAX, UINT64_MAX));
}
END_TEST

START_TEST(the_lower_bound_is_the_first_block_at_or_behind_an_address)
{
    for (int i = 0; i < 3; i++)
        add(64 * i, 48);
    root(buffer);
    mark_heap();
    ck_assert_uint_eq(reach_lower_bound(reach, buffer - 8), 0);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(reach_lower_bound(reach, buffer + 64 * i), i);
        ck_assert_uint_eq(reach_lower_bound(reach, buffer + 64 * i + 1), i + 1);
    }
}
END_TEST

START_TEST(a_heap_without_blocks_has_no_verdicts)
{
    root(buffer);
    root(0);
    mark_heap();
    ck_assert_uint_eq(reach_count(reach), 0);
    ck_assert_uint_eq(reach_find_node(reach, buffer), REACH_NONE);
    ck_assert_uint_eq(reach_find_node(reach, 0), REACH_NONE);
}
END_TEST

/* ---- Random heaps --------------------------------------------------------------------------- */

#define HEAPS 41
#define LOOKS 2500

/* Reachable blocks hold all others, possible and hidden ones hold hidden ones. */
static bool may_hold(enum leak_verdict parent, enum leak_verdict verdict)
{
    return parent == REACHABLE || parent == verdict || (parent == POSSIBLE && verdict == HIDDEN);
}

/* The reported path is right: the reported word leads there, and the tag is that word's. */
static bool way_is_true(const struct heap *heap, uint32_t first, int i)
{
    uint32_t number = first + i;
    uint64_t offset = 0, into;
    struct reach_word root_word;
    uint32_t parent = reach_parent(reach, number, &offset);
    bool by_root = reach_root_word(reach, number, &root_word);
    if (!is_held(heap, i))
        return parent == REACH_NONE && !by_root && reach_flags(reach, number) == 0;
    unsigned wanted = heap->before[i] == REACH_IGNORED ? LEAK_FOUND_IGNORED
                      : heap->dropped[i]               ? LEAK_FOUND_DROPPED
                                                       : 0;
    if (parent == REACH_NONE && !by_root)
        return reach_flags(reach, number) == wanted && heap->before[i] != REACH_NEW;
    if (parent != REACH_NONE &&
        (by_root || !may_hold(reach_verdict(reach, parent), heap->verdict[i])))
        return false;
    uintptr_t address = by_root ? root_word.address : reach_block(reach, parent).address + offset;
    uintptr_t word = *(const uintptr_t *)address;
    into = arch_address((const void *)word) - heap->block[i].address;
    enum how how = heap->verdict[i] == REACHABLE ? BY_HOLDER
                   : heap->verdict[i] == HIDDEN  ? BY_DECODING
                                                 : BY_ANY;
    if (heap->verdict[i] == POSSIBLE && into % 8 && into < 16)
        wanted |= LEAK_FOUND_TAGGED;
    return leads_to(heap, word, i, how) && reach_flags(reach, number) == wanted;
}

static void compare(struct heap *heap, uint32_t first)
{
    judge(heap);
    for (int i = 0; i < heap->blocks; i++) {
        const struct block *block = &heap->block[i];
        bool same = reach_block(reach, first + i).address == block->address &&
                    reach_block(reach, first + i).size == block->size &&
                    reach_verdict(reach, first + i) == heap->verdict[i];
        if (same && way_is_true(heap, first, i))
            continue;
        show_heap(heap);
        ck_abort_msg("block %d: %s, flags %u; wanted %s (SEED=%" PRIu64 ")", i,
                     verdict_name(reach_verdict(reach, first + i)), reach_flags(reach, first + i),
                     verdict_name(heap->verdict[i]), unit_seed);
    }
}

START_TEST(random_heaps_are_judged_as_by_the_naive_marker)
{
    static struct heap heaps[HEAPS];
    uint64_t seen[LEAK_VERDICT_MAX] = {0};
    for (int round = 0; round < (int)unit_size(LOOKS); round++) {
        uint64_t state = unit_seed + round;
        make_heaps(heaps, HEAPS, &state);
        reach = mark_heaps(heaps, HEAPS, UINT64_MAX);
        ck_assert_ptr_nonnull(reach);
        uint32_t first = 0;
        for (int i = 0; i < HEAPS; i++) {
            compare(&heaps[i], first);
            for (int k = 0; k < heaps[i].blocks; k++)
                seen[heaps[i].verdict[k]]++;
            first += heaps[i].blocks;
        }
        ck_assert_uint_eq(first, reach_count(reach));
        reach_end(reach);
    }
    /* Empty results would all be equal. */
    ck_assert_uint_gt(seen[LOST], unit_size(10000));
    ck_assert_uint_gt(seen[POSSIBLE], unit_size(10000));
    ck_assert_uint_gt(seen[HIDDEN], unit_size(10000));
    ck_assert_uint_gt(seen[REACHABLE], unit_size(10000));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("reachability");
    TCase *t = part(suite, "ways");
    tcase_add_loop_test(t, a_small_heap_is_marked, 0, ARRAY_LENGTH(rows));
    tcase_add_test(t, a_word_counts_only_where_it_is_aligned_and_whole);
    tcase_add_test(t, a_root_range_counts_from_its_first_to_its_last_whole_word);
    tcase_add_test(t, the_parent_is_on_a_shortest_way);
    t = part(suite, "pointers");
    tcase_add_loop_test(t, a_pointer_into_a_block_holds_it_only_behind_a_known_head, 0,
                        ARRAY_LENGTH(shapes));
    tcase_add_loop_test(t, the_same_pointers_in_a_block_say_the_same, 0, ARRAY_LENGTH(shapes));
    tcase_add_test(t, without_virtual_tables_there_is_no_second_base);
    tcase_add_test(t, a_pointer_to_where_two_blocks_meet_is_one_to_the_second);
    tcase_add_test(t, a_start_pointer_that_is_met_later_makes_a_candidate_reachable);
    tcase_add_test(t, a_tag_in_the_top_byte_is_none_of_the_address_where_the_cpu_passes_over_it);
    t = part(suite, "before");
    tcase_add_loop_test(t, what_an_earlier_look_said_is_the_least_or_the_last_word, 0,
                        ARRAY_LENGTH(befores_rows));
    t = part(suite, "memory");
    tcase_add_test(t, with_too_little_memory_there_is_no_verdict_at_all);
    tcase_add_test(t, when_the_kernel_refuses_there_is_no_verdict_at_all);
    tcase_add_test(t, more_blocks_than_were_told_is_no_verdict);
    tcase_add_test(t, the_lower_bound_is_the_first_block_at_or_behind_an_address);
    tcase_add_test(t, a_heap_without_blocks_has_no_verdicts);
    t = part(suite, "random");
    tcase_add_test(t, random_heaps_are_judged_as_by_the_naive_marker);
    return unit_main(argc, argv, suite);
}
