/* test_encoded_pointers.c - every encoding of a pointer, and what is not one. */
#include "tests/unit/preload/one_heap.h"
#include "preload/mark/pointer_filter.h"

#define GUARD 0x8f3b2a1c55d7e903ull
#define XOR 0x00a5a5a5a5a5a5a5ull

static uintptr_t rotated(uintptr_t word)
{
    return word << 17 | word >> 47;
}

static uintptr_t disguised(int form, uintptr_t address)
{
    switch (form) {
    case 0:
        return address | 0xabcdull << 48;
    case 1:
        return address | 0x8001ull << 48 | 15;
    case 2:
    case 3:
    case 4:
    case 5:
        return address >> (form - 1);
    case 6:
        return ~address;
    case 7:
        return rotated(address ^ GUARD);
    default:
        return address ^ XOR;
    }
}

START_TEST(a_pointer_in_another_form_hides_its_block)
{
    uint64_t offset;
    codes = (struct reach_encodings){.guard = GUARD, .xor_key = XOR};
    add(0, 64);
    add(128, 64);
    add(256, 64);
    add(384, 64);
    *at(16) = disguised(_i, buffer + 128);
    *at(24) = disguised(_i, buffer + 256 + 32); /* an interior pointer does not count */
    *at(136) = disguised(_i, buffer + 384);     /* a word of a hidden block */
    root(buffer);
    mark_heap();
    expect(0, REACHABLE, 0);
    expect(128, HIDDEN, 0);
    expect(256, LOST, 0);
    expect(384, HIDDEN, 0);
    ck_assert_uint_eq(reach_parent(reach, node(128), &offset), node(0));
    ck_assert_uint_eq(offset, 16);
}
END_TEST

START_TEST(a_root_word_may_be_in_another_form)
{
    struct reach_word word;
    codes = (struct reach_encodings){.guard = GUARD, .xor_key = XOR};
    add(128, 64);
    root(0);
    root(disguised(_i, buffer + 128));
    mark_heap();
    expect(128, HIDDEN, 0);
    ck_assert(reach_root_word(reach, 0, &word));
    ck_assert_uint_eq(word.address, (uintptr_t)&roots[1]);
    ck_assert_uint_eq(word.range, 77);
}
END_TEST

START_TEST(a_shifted_pointer_has_nothing_above_it)
{
    add(0, 64);
    add(128, 64);
    root(buffer >> 2 | 1ull << 62);
    root((buffer + 128) >> 2);
    mark_heap();
    expect(0, LOST, 0);
    expect(128, HIDDEN, 0);
}
END_TEST

START_TEST(codes_that_are_0_are_not_tried)
{
    add(0, 64);
    add(128, 64);
    root(rotated(buffer ^ GUARD));
    root(buffer ^ XOR);
    root(rotated(buffer + 128));
    mark_heap();
    expect(0, LOST, 0);
    expect(128, LOST, 0);
}
END_TEST

START_TEST(a_better_pointer_is_worth_more_than_one_in_another_form)
{
    add(0, 64);
    add(128, 64);
    root(~buffer);
    root(~(buffer + 128));
    root(buffer);
    root(buffer + 128 + 9);
    mark_heap();
    expect(0, REACHABLE, 0);
    expect(128, POSSIBLE, LEAK_FOUND_TAGGED);
}
END_TEST

START_TEST(a_hidden_block_holds_by_plain_pointers_too)
{
    add(0, 64);
    add(128, 64);
    add(256, 64);
    add(384, 64);
    *at(0) = buffer + 128;
    *at(128) = buffer + 256 + 40;
    root(~buffer);
    mark_heap();
    expect(128, HIDDEN, 0);
    expect(256, HIDDEN, 0);
    expect(384, LOST, 0);
}
END_TEST

static const struct {
    uintptr_t low, span;
} first_test_heaps[] = {{0x555555759000, 1 << 20},
                        {0x5555ffff0000, 1ull << 33},
                        {0x7f1234567000, 8},
                        {0x555555759000, 0x2aaa00000000},
                        {0x10000, 0x7ffffff00000}};

static bool may_be_other(const struct pointer_filter *is, const uintptr_t *words, unsigned count)
{
    return pointer_filter_test(is, words, count) & POINTER_FILTER_ENCODED;
}

/* The filter by upper halves may have false positives only. */
START_TEST(no_disguised_pointer_is_passed_over_by_the_first_test)
{
    uint64_t dice = 1;
    for (unsigned i = 0; i < 900000; i++) {
        uintptr_t low = first_test_heaps[i % 5].low, span = first_test_heaps[i % 5].span;
        struct pointer_filter is = pointer_filter_make(low, span, GUARD, XOR);
        dice = dice * 6364136223846793005ull + 1442695040888963407ull;
        uintptr_t address = (low + (dice >> 8) % (span + 1)) & ~15ull;
        int form = i / 5 % 9;
        uintptr_t words[4] = {0, 0, 0, 0};
        if (address < low)
            continue;
        /* Shifts lose the low bits: an aligned address has four zeros there. */
        words[i % 4] = disguised(form, address);
        UNIT_WANT_MSG(may_be_other(&is, words, 4), "form %d of %#" PRIxPTR, form, address);
        UNIT_WANT(may_be_other(&is, words, i % 4 + 1));
    }
}
END_TEST

START_TEST(no_pointer_to_a_block_is_passed_over_by_the_first_test)
{
    uint64_t dice = 1;
    for (unsigned i = 0; i < 100000; i++) {
        uintptr_t low = first_test_heaps[i % 5].low, span = first_test_heaps[i % 5].span;
        struct pointer_filter is = pointer_filter_make(low, span, 0, 0);
        dice = dice * 6364136223846793005ull + 1442695040888963407ull;
        uintptr_t words[4] = {0, 0, 0, 0};
        words[i % 4] = low + (dice >> 8) % (span + 1); /* interior pointers, too */
        UNIT_WANT(pointer_filter_test(&is, words, 4) & POINTER_FILTER_ANY);
        UNIT_WANT(pointer_filter_test(&is, words, i % 4 + 1) & POINTER_FILTER_ANY);
    }
}
END_TEST

START_TEST(plain_pointers_and_plain_data_pass_the_first_test)
{
    struct pointer_filter is = pointer_filter_make(0x555555759000, 1 << 20, 0, 0);
    uintptr_t plain[] = {0x555555759010, 0, 42, ~0ull}, text[] = {0x6f77206f6c6c6568};
    ck_assert(!may_be_other(&is, plain, 4));
    ck_assert(!may_be_other(&is, text, 1));
    ck_assert_uint_eq(pointer_filter_test(&is, plain, 4), POINTER_FILTER_ANY);
    ck_assert_uint_eq(pointer_filter_test(&is, plain + 1, 2), 0);
    ck_assert_uint_eq(pointer_filter_test(&is, text, 1), 0);
    plain[1] = plain[0] | 8;
    ck_assert(may_be_other(&is, plain, 4));
    ck_assert(!may_be_other(&is, plain, 1)); /* words behind the block do not count */
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("encoded_pointers");
    TCase *t = part(suite, "decode");
    tcase_add_loop_test(t, a_pointer_in_another_form_hides_its_block, 0, 9);
    tcase_add_loop_test(t, a_root_word_may_be_in_another_form, 0, 9);
    tcase_add_test(t, a_shifted_pointer_has_nothing_above_it);
    tcase_add_test(t, codes_that_are_0_are_not_tried);
    tcase_add_test(t, a_better_pointer_is_worth_more_than_one_in_another_form);
    tcase_add_test(t, a_hidden_block_holds_by_plain_pointers_too);
    tcase_add_test(t, no_disguised_pointer_is_passed_over_by_the_first_test);
    tcase_add_test(t, no_pointer_to_a_block_is_passed_over_by_the_first_test);
    tcase_add_test(t, plain_pointers_and_plain_data_pass_the_first_test);
    return unit_main(argc, argv, suite);
}
