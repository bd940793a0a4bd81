/* test_strbuf.c - building and reading short strings: nothing is written beyond a buffer, nothing guessed. */
#include "tests/unit/preload/unit.h"
#include "preload/base/strbuf.h"

static const struct {
    uint64_t number;
    const char *want;
    const char *in_hex;
} numbers[] = {{0, "0", "0x0"},
               {9, "9", "0x9"},
               {10, "10", "0xa"},
               {4096, "4096", "0x1000"},
               {UINT64_MAX, "18446744073709551615", "0xffffffffffffffff"}};

START_TEST(a_number_is_written_in_decimal_and_in_hex)
{
    char buffer[32];
    struct strbuf text = STRBUF_ON(buffer);
    strbuf_add_number(&text, numbers[_i].number);
    ck_assert_str_eq(buffer, numbers[_i].want);
    ck_assert_uint_eq(text.length, strlen(buffer));
    ck_assert(!text.cut);
    text = STRBUF_ON(buffer);
    strbuf_add_hex(&text, numbers[_i].number);
    ck_assert_str_eq(buffer, numbers[_i].in_hex);
}
END_TEST

static const struct {
    const char *string;
    int want; /* -1: neither */
} booleans[] = {{"0", 0},   {"off", 0}, {"no", 0},  {"false", 0}, {"1", 1}, {"on", 1}, {"yes", 1},
                {"true", 1}, {"", -1},   {"of", -1}, {"offs", -1}, {"ON", -1}, {"2", -1}};

START_TEST(a_boolean_is_one_of_eight_words)
{
    bool value = false;
    bool known = parse_bool(booleans[_i].string, strlen(booleans[_i].string), &value);
    ck_assert_int_eq(known ? value : -1, booleans[_i].want);
}
END_TEST

START_TEST(a_word_is_equal_over_its_whole_length_only)
{
    ck_assert(equals_word("word and more", 4, "word"));
    ck_assert(!equals_word("word", 4, "words"));
    ck_assert(!equals_word("words", 5, "word"));
    ck_assert(equals_word("x", 0, ""));
}
END_TEST

/* Ten bytes into every size of buffer, at the end of a page. */
START_TEST(what_does_not_fit_is_cut_and_marked)
{
    size_t size = 1 + _i;
    char *buffer = (char *)unit_at_page_end(NULL, size);
    struct strbuf text = strbuf_on(buffer, size);
    strbuf_add(&text, "01234");
    strbuf_add_bytes(&text, "56789", 5);
    size_t want = size - 1 < 10 ? size - 1 : 10;
    ck_assert_msg(text.length == want && strlen(buffer) == want && !memcmp(buffer, "0123456789", want),
                  "buffer of %zu: \"%s\"", size, buffer);
    ck_assert_msg(text.cut == (size - 1 < 10), "buffer of %zu: cut %d", size, text.cut);
    strbuf_add_number(&text, 7);
    ck_assert(text.length < size && buffer[text.length] == '\0');
}
END_TEST

START_TEST(a_new_text_is_empty)
{
    char buffer[4] = "abc";
    struct strbuf text = STRBUF_ON(buffer);
    ck_assert_str_eq(buffer, "");
    strbuf_add(&text, "");
    ck_assert(!text.cut && !text.length);
}
END_TEST

static const struct {
    const char *string, *prefix;
    bool want;
} prefixes[] = {{"LD_PRELOAD=x", "LD_PRELOAD=", true}, {"LD_PRELOAD", "LD_PRELOAD=", false},
                {"", "", true},                        {"a", "", true},
                {"", "a", false},                      {"ba", "a", false}};

START_TEST(a_prefix_is_the_beginning_of_a_string)
{
    ck_assert_msg(starts_with(prefixes[_i].string, prefixes[_i].prefix) == prefixes[_i].want, "'%s' in '%s'",
                  prefixes[_i].prefix, prefixes[_i].string);
}
END_TEST

#define NONE UINT64_MAX - 12345

static const struct {
    const char *string;
    uint64_t number, size;
} readings[] = {
    {"0", 0, 0},
    {"007", 7, 7},
    {"18446744073709551615", UINT64_MAX, UINT64_MAX},
    {"18446744073709551616", NONE, NONE},
    {"99999999999999999999999", NONE, NONE},
    {"0x0", 0, 0},
    {"0XfF", 255, 255},
    {"0xffffffffffffffff", UINT64_MAX, UINT64_MAX},
    {"0x10000000000000000", NONE, NONE},
    {"0x", NONE, NONE},
    {"x", NONE, NONE},
    {"", NONE, NONE},
    {" 1", NONE, NONE},
    {"1 ", NONE, NONE},
    {"-1", NONE, NONE},
    {"1.5", NONE, NONE},
    {"1e3", NONE, NONE},
    {"12a", NONE, NONE},
    {"0x1g", NONE, 1ull << 30},
    {"1k", NONE, 1024},
    {"1K", NONE, 1024},
    {"3m", NONE, 3 << 20},
    {"2G", NONE, 2ull << 30},
    {"0k", NONE, 0},
    {"k", NONE, NONE},
    {"1kb", NONE, NONE},
    {"1kk", NONE, NONE},
    {"18014398509481983k", NONE, 18446744073709550592ull},
    {"18014398509481984k", NONE, NONE},
    {"1\v", NONE, NONE},
    {"1+", NONE, NONE},
};

START_TEST(a_number_is_read_whole_or_not_at_all)
{
    size_t length = strlen(readings[_i].string);
    char *copy = (char *)unit_at_page_end(readings[_i].string, length);
    uint64_t number = 0, size = 0;
    if (!parse_number(copy, length, &number))
        number = NONE;
    if (!parse_size(copy, length, &size))
        size = NONE;
    ck_assert_msg(number == readings[_i].number, "\"%s\" as a number: wanted %" PRIu64 ", got %" PRIu64,
                  readings[_i].string, readings[_i].number, number);
    ck_assert_msg(size == readings[_i].size, "\"%s\" as a size: wanted %" PRIu64 ", got %" PRIu64,
                  readings[_i].string, readings[_i].size, size);
}
END_TEST

static const struct {
    const char *string;
    uint64_t ns;
} times[] = {
    {"0", 0},
    {"1", 1000000000},
    {"30s", 30000000000},
    {"200ms", 200000000},
    {"0ms", 0},
    {"5m", 300000000000},
    {"2h", 7200000000000},
    {"007s", 7000000000},
    {"18446744073s", 18446744073000000000ull},
    {"18446744074s", NONE},
    {"5124095h", 18446742000000000000ull},
    {"5124096h", NONE},
    {"18446744073709551616ms", NONE},
    {"", NONE},
    {"s", NONE},
    {"ms", NONE},
    {"1us", NONE},
    {"1ns", NONE},
    {"1d", NONE},
    {"1sec", NONE},
    {"1msx", NONE},
    {"1 s", NONE},
    {" 1s", NONE},
    {"-1s", NONE},
    {"1.5s", NONE},
    {"0x10", NONE},
    {"1S", NONE},
    {"1k", NONE},
    {"1m1s", NONE},
};

START_TEST(hex_digits_are_taken_as_they_come)
{
    const char *at = "7f00Ab-00000000ffffffffg";
    ck_assert_uint_eq(parse_hex(&at), 0x7f00ab);
    ck_assert_int_eq(*at++, '-');
    ck_assert_uint_eq(parse_hex(&at), 0xffffffff);
    ck_assert_int_eq(*at, 'g');
    ck_assert_uint_eq(parse_hex(&at), 0);
    ck_assert_int_eq(*at, 'g');
}
END_TEST

START_TEST(a_time_is_read_whole_or_not_at_all)
{
    size_t length = strlen(times[_i].string);
    char *copy = (char *)unit_at_page_end(times[_i].string, length);
    uint64_t ns = 0;
    if (!parse_time(copy, length, &ns))
        ns = NONE;
    ck_assert_msg(ns == times[_i].ns, "\"%s\": wanted %" PRIu64 ", got %" PRIu64, times[_i].string,
                  times[_i].ns, ns);
}
END_TEST

/* What is written is read again as the same; below a millisecond nothing is left. */
START_TEST(a_time_written_is_the_time_read)
{
    uint64_t state = unit_seed;
    for (unsigned n = 0; n < 2000; n++) {
        char buffer[64];
        struct strbuf text = STRBUF_ON(buffer);
        uint64_t ms = unit_random(&state) >> (unit_random(&state) % 64) >> 21, got = 1;
        if (n % 3 == 0)
            ms = ms / 3600000 * 3600000;
        strbuf_add_time(&text, ms * 1000000);
        UNIT_WANT_MSG(parse_time(buffer, text.length, &got) && got == ms * 1000000,
                      "%" PRIu64 " ms is written \"%s\" and read %" PRIu64, ms, buffer, got);
    }
}
END_TEST

static const struct {
    const char *list;
    bool good;
    uint32_t set;
} sets[] = {
    {"", true, 0},          {"none", true, 0},      {"one", true, 2},         {"two,one", true, 6},
    {"one,one", true, 2},   {"none,two", true, 4},  {"one,", true, 2},        {"three", false, 0},
    {"one,three", false, 0}, {"on", false, 0},      {"ones", false, 0},       {"one,,two", false, 0},
    {"nones", false, 0},
};

START_TEST(a_set_is_words_of_a_list_or_none)
{
    static const char *const words[] = {NULL, "one", "two"};
    char copy[16]; /* nothing stands behind it */
    size_t length = strlen(sets[_i].list);
    uint32_t set = 99;
    memset(copy, 'x', sizeof copy);
    memcpy(copy, sets[_i].list, length);
    bool good = parse_word_set(copy, length, words, ARRAY_LENGTH(words), &set);
    ck_assert_msg(good == sets[_i].good, "\"%s\": %s", sets[_i].list, good ? "taken" : "refused");
    if (good)
        ck_assert_uint_eq(set, sets[_i].set);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("text");
    TCase *writing = tcase_create("writing");
    tcase_add_loop_test(writing, a_number_is_written_in_decimal_and_in_hex, 0, ARRAY_LENGTH(numbers));
    tcase_add_loop_test(writing, what_does_not_fit_is_cut_and_marked, 0, 14);
    tcase_add_test(writing, a_new_text_is_empty);
    suite_add_tcase(suite, writing);
    TCase *reading = tcase_create("reading");
    tcase_add_loop_test(reading, a_boolean_is_one_of_eight_words, 0, ARRAY_LENGTH(booleans));
    tcase_add_test(reading, a_word_is_equal_over_its_whole_length_only);
    tcase_add_loop_test(reading, a_prefix_is_the_beginning_of_a_string, 0, ARRAY_LENGTH(prefixes));
    tcase_add_loop_test(reading, a_number_is_read_whole_or_not_at_all, 0, ARRAY_LENGTH(readings));
    tcase_add_test(reading, hex_digits_are_taken_as_they_come);
    tcase_add_loop_test(reading, a_time_is_read_whole_or_not_at_all, 0, ARRAY_LENGTH(times));
    tcase_add_test(reading, a_time_written_is_the_time_read);
    tcase_add_loop_test(reading, a_set_is_words_of_a_list_or_none, 0, ARRAY_LENGTH(sets));
    suite_add_tcase(suite, reading);
    return unit_main(argc, argv, suite);
}
