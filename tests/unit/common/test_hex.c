/* test_dump.c - bytes as hex and characters, and text that is found in them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>

#include "common/encode/encode.h"
#include "tests/unit/suite.h"

static char *dumped;

static const char *dump_of(const void *bytes, size_t length)
{
    size_t size;
    FILE *stream;

    free(dumped);
    stream = open_memstream(&dumped, &size);

    hex_dump(bytes, length, 2, stream);
    fclose(stream);
    return dumped;
}

static void teardown(void)
{
    free(dumped);
    dumped = NULL;
}

START_TEST(a_line_is_sixteen_bytes_and_their_characters)
{
    ck_assert_str_eq(
        dump_of("0123456789abcdef\x01\xffz", 19),
        "  0000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n"
        "  0010  01 ff 7a                                          |..z|\n");
    ck_assert_str_eq(dump_of("", 0), "");
}
END_TEST

START_TEST(lines_that_repeat_are_a_star)
{
    uint8_t bytes[80] = {1};

    bytes[79] = 2;
    ck_assert_str_eq(
        dump_of(bytes, 80),
        "  0000  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
        "  0010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
        "  *\n"
        "  0040  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 02  |................|\n");
}
END_TEST

static const struct {
    const void *bytes;
    size_t length;
    const char *told; /* NULL: no text */
} texts[] = {
#define ROW(text) text, sizeof(text)
    {ROW(u"Hello"), "UTF-16 at +0: \"Hello\"\n"},
    {ROW(u"\1\2Gr\u00fc\u00dfe"), "UTF-16 at +4: \"Gr\u00fc\u00dfe\"\n"},
    {ROW(u"\U0001f600 smile"), "UTF-16 at +0: \"\U0001f600 smile\"\n"},
    {ROW(u"\u65e5\u672c\u8a9e\u3067\u3059"), "UTF-16 at +0: \"\u65e5\u672c\u8a9e\u3067\u3059\"\n"},
    {ROW(U"Hello"), "UTF-32 at +0: \"Hello\"\n"},
    {ROW(U"\u03a9mega"), "UTF-32 at +0: \"\u03a9mega\"\n"},
    {ROW("za\u017c\u00f3\u0142\u0107"), "UTF-8 at +0: \"za\u017c\u00f3\u0142\u0107\"\n"},
    {ROW("plain ascii stands on the right"), NULL},
    {ROW(u"abc"), NULL}, /* too short to be told from chance */
    {"\x93\x4e\xa7\x81\xe4\x5f\x12\x77\x9b\x6a\xcd\x90", 12, NULL}, /* words, no end */
    {"\x10\x32\x75\x55\x55\x55\x00\x00\x40\x33\x75\x55\x55\x55\x00\x00", 16, NULL}, /* pointers */
    {"\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00", 10, NULL},
    {"\x00\xdc\x41\x00\x00\xd8", 6, NULL}, /* halves of characters */
#undef ROW
};

START_TEST(text_is_found_in_what_keeps_it)
{
    const char *told = dump_of(texts[_i].bytes, texts[_i].length), *line = strstr(told, "UTF");

    if (texts[_i].told)
        ck_assert_msg(line && strcmp(line, texts[_i].told) == 0, "%s", told);
    else
        ck_assert_msg(!line, "%s", told);
}
END_TEST

START_TEST(a_glance_is_one_line_of_whole_characters)
{
    char text[16];

    hex_line((const uint8_t *)"a\\b\n", 4, text, sizeof(text));
    ck_assert_str_eq(text, "a\\\\b\\x0a");
    hex_line((const uint8_t *)"\1\2\3\4\5", 5, text, sizeof(text));
    ck_assert_str_eq(text, "\\x01\\x02\\x03");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump");
    TCase *lines = tcase_create("lines");

    tcase_add_checked_fixture(lines, NULL, teardown);
    tcase_add_test(lines, a_line_is_sixteen_bytes_and_their_characters);
    tcase_add_test(lines, lines_that_repeat_are_a_star);
    tcase_add_loop_test(lines, text_is_found_in_what_keeps_it, 0, ROWS(texts));
    tcase_add_test(lines, a_glance_is_one_line_of_whole_characters);
    suite_add_tcase(suite, lines);
    return suite_run(suite);
}
