/* test_block_content.c - numbers of contents against a comparison of all blocks with each other, what counts as
 * a text, and which contents have samples.
 */
#include "tests/unit/preload/unit.h"

#include "leak_graph_file.h"
#include "preload/graph/block_content.h"

#define BLOCKS 200
#define MOST 400

static struct block_content content;
static uint8_t bytes[BLOCKS][MOST];
static uint64_t sizes[BLOCKS], numbers[BLOCKS];

static uint32_t below(uint32_t most)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % most;
}

/* The length of the text of a block by the definition of leak_graph_file.h; ASCII alone. 0: none. */
static uint64_t naive_text(const uint8_t *at, uint64_t size)
{
    uint64_t length = 0;
    while (length < size && at[length])
        length++;
    for (uint64_t i = 0; i < length; i++)
        if (at[i] > '~' || (at[i] < ' ' && !strchr("\t\n\v\f\r", at[i])))
            return 0;
    return length < size && 2 * (length + 1) > size ? length : 0;
}

static bool naive_equal(uint32_t a, uint32_t b)
{
    uint64_t text_a = naive_text(bytes[a], sizes[a]), text_b = naive_text(bytes[b], sizes[b]);
    if (text_a || text_b)
        return text_a == text_b && !memcmp(bytes[a], bytes[b], text_a);
    return sizes[a] == sizes[b] && !memcmp(bytes[a], bytes[b], sizes[a]);
}

/* Few sizes and few bytes, so that many are equal, and many differ in one byte. */
static void make_blocks(bool text)
{
    static const uint64_t lengths[] = {1, 2, 7, 8, 9, 16, 63, 64, 65, 96, 127, 400};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        sizes[i] = lengths[below(ARRAY_LENGTH(lengths))];
        memset(bytes[i], text ? 'a' : 0, sizes[i]);
        if (text)
            bytes[i][below(2) ? sizes[i] - 1 : below((uint32_t)sizes[i])] = 0;
        if (below(2))
            bytes[i][below((uint32_t)sizes[i])] = (uint8_t)(text ? 'b' + below(2) : below(3));
    }
}

START_TEST(numbers_are_equal_where_contents_are)
{
    block_content_start(&content);
    for (int round = 0; round < 20; round++) {
        uint32_t equal = 0;
        make_blocks(round % 2);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            numbers[i] = block_content_add(&content, (uintptr_t)bytes[i], sizes[i]);
            UNIT_WANT(numbers[i]);
            UNIT_WANT((numbers[i] & LEAK_GRAPH_IS_TEXT) == (naive_text(bytes[i], sizes[i]) != 0));
            for (uint32_t k = 0; k < i; k++) {
                UNIT_WANT_MSG((numbers[i] == numbers[k]) == naive_equal(i, k),
                              "round %d: blocks %u and %u", round, i, k);
                equal += numbers[i] == numbers[k];
            }
        }
        ck_assert_uint_gt(equal, BLOCKS / 2);
    }
    ck_assert_uint_eq(block_content_add(&content, (uintptr_t)bytes[0], 0), 0);
}
END_TEST

START_TEST(a_text_fills_more_than_half_of_its_block)
{
    static const struct {
        const char *bytes;
        uint64_t size;
        bool is_text;
    } rows[] = {{"abc", 4, true},
                {"abc\0x", 5, true},
                {"abc\0xyz", 7, true},
                {"abc\0xyz", 8, false},
                {"abcd", 4, false},
                {"", 1, false},
                {"a\tb\n", 5, true},
                {"a\1b", 4, false},
                {"\x1b[1m", 5, false},
                {"a\x7f", 3, false},
                {"\xc3\xa4\xe2\x82\xac", 6, true},
                {"\xc3", 2, false},
                {"\xe2\x82", 2, false},
                {"\xf0\x9f\x98\x80", 5, true},
                {"\xc0\x80", 3, false},
                {"\xed\xa0\x80", 4, false}};
    block_content_start(&content);
    for (unsigned i = 0; i < ARRAY_LENGTH(rows); i++) {
        uint8_t block[16] = {0};
        memcpy(block, rows[i].bytes, rows[i].size);
        uint64_t number = block_content_add(&content, (uintptr_t)block, rows[i].size);
        ck_assert_msg((number & LEAK_GRAPH_IS_TEXT) == rows[i].is_text, "row %u", i);
    }
}
END_TEST

START_TEST(nothing_behind_a_block_is_read)
{
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    ck_assert_int_eq(mprotect(page + 4096, 4096, PROT_NONE), 0);
    memset(page, 0xf0, 4096);
    block_content_start(&content);
    for (uint64_t size = 1; size < 100; size++)
        ck_assert_uint_ne(block_content_add(&content, (uintptr_t)page + 4096 - size, size), 0);
    memset(page, 'x', 4096);
    for (uint64_t size = 1; size < 100; size++)
        ck_assert_uint_ne(block_content_add(&content, (uintptr_t)page + 4096 - size, size), 0);
    munmap(page, 8192);
}
END_TEST

static bool seen[8];
static uint32_t samples;

static void note(void *context, const struct content_slot *slot)
{
    uint64_t word;
    (void)context;
    ck_assert_uint_ge(slot->copies, 2);
    memcpy(&word, (const void *)slot->address, sizeof word);
    if (word < ARRAY_LENGTH(seen))
        seen[word] = true;
    samples++;
}

/* Among a million different blocks, contents that some thousand of them have, spread evenly. */
START_TEST(frequent_contents_have_samples_and_single_ones_have_none)
{
    enum { ALL = 1000000, EVERY = 1000 };
    uint64_t(*block)[4] = calloc(ALL, sizeof *block);
    ck_assert_ptr_nonnull(block);
    block_content_start(&content);
    for (uint64_t i = 0; i < ALL; i++) {
        block[i][0] = i % EVERY < ARRAY_LENGTH(seen) ? i % EVERY : i;
        block_content_add(&content, (uintptr_t)block[i], sizeof *block);
    }
    block_content_each_sample(&content, note, NULL);
    for (unsigned i = 0; i < ARRAY_LENGTH(seen); i++)
        ck_assert_msg(seen[i], "content %u", i);
    ck_assert_uint_eq(samples, ARRAY_LENGTH(seen));
    free(block);
}
END_TEST

START_TEST(numbers_of_two_checks_have_nothing_in_common)
{
    uint64_t block = 7, first, second;
    block_content_start(&content);
    first = block_content_add(&content, (uintptr_t)&block, sizeof block);
    memset(&content, 0, sizeof content);
    block_content_start(&content);
    second = block_content_add(&content, (uintptr_t)&block, sizeof block);
    ck_assert_uint_ne(first, second);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("block_content");
    TCase *t = tcase_create("contents");
    tcase_add_test(t, numbers_are_equal_where_contents_are);
    tcase_add_test(t, a_text_fills_more_than_half_of_its_block);
    tcase_add_test(t, nothing_behind_a_block_is_read);
    tcase_add_test(t, frequent_contents_have_samples_and_single_ones_have_none);
    tcase_add_test(t, numbers_of_two_checks_have_nothing_in_common);
    suite_add_tcase(suite, t);
    return unit_main(argc, argv, suite);
}
