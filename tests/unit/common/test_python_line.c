/* test_python_line.c - lines of Python code from the tables of several versions, and from tables that are none. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/python_line.h"
#include "leak_store.h"
#include "tests/unit/suite.h"

/* Made by each version from one function, defined in line 1, with a comprehension, a call over two lines,
 * finally and many lines in a row; the lines are what co_lines() or findlinestarts() says, from each
 * offset on, 0 = none. */
static const struct {
    const char *version;
    enum leak_line_table kind;
    size_t length;
    uint8_t table[128];
    struct {
        uint32_t from, line;
    } lines[24];
} tables[] = {
    {"3.9",
     LEAK_LINE_TABLE_3_9,
     20,
     {0, 1, 4, 1, 6, 1, 6, 255, 6, 2, 2, 1, 4, 1, 2, 255, 6, 8, 16, 1},
     {{0, 2}, {4, 3}, {10, 4}, {16, 3}, {22, 5}, {24, 6}, {28, 7}, {30, 6}, {36, 14}, {52, 15}}},
    {"3.10",
     LEAK_LINE_TABLE_3_10,
     22,
     {4, 1, 6, 1, 6, 1, 6, 255, 2, 2, 4, 1, 2, 1, 6, 255, 6, 8, 4, 1, 8, 255},
     {{0, 2},
      {4, 3},
      {10, 4},
      {16, 3},
      {22, 5},
      {24, 6},
      {28, 7},
      {30, 6},
      {36, 14},
      {42, 15},
      {46, 14}}},
    {"3.11",
     LEAK_LINE_TABLE_3_11,
     109,
     {128, 0,   216, 7,  8,   240, 0,   2,   5,   31,  240, 2,   1,   16, 31,  240, 0,   1,   16,
      31,  221, 25,  26, 152, 49,  153, 20,  156, 20,  240, 3,   1,   16, 31,  241, 0,   1,   16,
      31,  244, 0,   1,  16,  31,  240, 0,   1,   9,   31,  240, 4,   9,  5,   12,  221, 8,   9,
      136, 33,  216, 10, 11,  241, 3,   1,   9,   13,  244, 0,   1,   9,  13,  240, 0,   1,   9,
      13,  245, 16,  0,  9,   10,  137, 3,   140, 3,   136, 3,   136, 3,  248, 141, 1,   137, 3,
      140, 3,   136, 3,  136, 3,   248, 248, 248, 216, 4,   10,  128, 70},
     {{0, 1},
      {2, 2},
      {6, 3},
      {10, 4},
      {38, 3},
      {56, 5},
      {58, 6},
      {72, 7},
      {74, 6},
      {90, 14},
      {120, 0},
      {122, 14},
      {152, 0},
      {158, 15}}},
    {"3.13",
     LEAK_LINE_TABLE_3_11,
     83,
     {128, 0,   222, 7,   8,  228, 25,  26,  152, 49, 156, 20,  243, 3,   1,   16, 31,
      217, 25,  29,  144, 65, 243, 3,   0,   17,  18, 217, 25,  29,  241, 3,   1,  16,
      31,  240, 0,   1,   9,  31,  240, 4,   9,   5,  12,  220, 8,   9,   136, 33, 216,
      10,  11,  244, 3,   1,  9,   13,  244, 16,  0,  9,   10,  140, 3,   216, 4,  10,
      249, 242, 25,  1,   16, 31,  248, 244, 22,  0,  9,   10,  141, 3,   250},
     {{0, 1},
      {2, 2},
      {16, 4},
      {38, 3},
      {46, 4},
      {52, 3},
      {60, 4},
      {64, 3},
      {70, 5},
      {72, 6},
      {84, 7},
      {86, 6},
      {96, 14},
      {116, 15},
      {118, 0},
      {122, 3},
      {128, 0},
      {130, 14},
      {152, 0}}},
};

static struct store_code code_of(size_t i)
{
    return (struct store_code){.first_line = 1,
                               .line_table = tables[i].kind,
                               .lines = tables[i].table,
                               .lines_length = tables[i].length};
}

START_TEST(each_offset_has_the_line_that_python_says)
{
    struct store_code code = code_of((size_t)_i);
    size_t next = 1;

    for (uint32_t at = 0; at < 200 && tables[_i].lines[next].from; at++) {
        if (at == tables[_i].lines[next].from)
            next++;
        ck_assert_msg(python_line(&code, at) == tables[_i].lines[next - 1].line,
                      "%s: offset %u is in line %u", tables[_i].version, at,
                      python_line(&code, at));
    }
}
END_TEST

START_TEST(an_offset_behind_the_table_has_no_line)
{
    struct store_code code = code_of((size_t)_i);

    /* 3.9 has no end: its last line reaches to the end of the code. */
    ck_assert_uint_eq(python_line(&code, 1 << 20), code.line_table == LEAK_LINE_TABLE_3_9 ? 15 : 0);
}
END_TEST

START_TEST(without_a_table_only_the_first_line_of_3_9_is_known)
{
    struct store_code code = {.first_line = 7, .lines = (const uint8_t *)""};

    for (unsigned kind = 0; kind < LEAK_LINE_TABLE_MAX + 2; kind++) {
        code.line_table = kind;
        ck_assert_uint_eq(python_line(&code, 0), kind == LEAK_LINE_TABLE_3_9 ? 7 : 0);
    }
}
END_TEST

/* The copy ends with its memory, so that sanitizers notice a byte too many. */
START_TEST(a_table_cut_off_anywhere_is_read_to_its_end)
{
    for (size_t length = 0; length < tables[_i].length; length++) {
        struct store_code code = code_of((size_t)_i);
        uint8_t *copy = malloc(length + !length);

        memcpy(copy, tables[_i].table, length);
        code.lines = copy;
        code.lines_length = length;
        for (uint32_t at = 0; at < 400; at++)
            ck_assert_uint_lt(python_line(&code, at), 100);
        free(copy);
    }
}
END_TEST

START_TEST(bytes_of_chance_give_no_impossible_line)
{
    uint8_t bytes[64];
    struct store_code code = {.lines = bytes, .line_table = (uint32_t)_i};

    srand(1);
    for (unsigned round = 0; round < 20000; round++) {
        code.lines_length = (size_t)rand() % sizeof(bytes);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rand();
        code.first_line = round % 2 ? 1 : UINT32_MAX;
        ck_assert_uint_lt(python_line(&code, (uint64_t)rand() % 300), INT32_MAX);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_line");
    TCase *known = tcase_create("known"), *odd = tcase_create("odd");

    tcase_add_loop_test(known, each_offset_has_the_line_that_python_says, 0, ROWS(tables));
    tcase_add_loop_test(known, an_offset_behind_the_table_has_no_line, 0, ROWS(tables));
    tcase_add_test(known, without_a_table_only_the_first_line_of_3_9_is_known);
    tcase_add_loop_test(odd, a_table_cut_off_anywhere_is_read_to_its_end, 0, ROWS(tables));
    tcase_add_loop_test(odd, bytes_of_chance_give_no_impossible_line, 0, LEAK_LINE_TABLE_MAX);
    suite_add_tcase(suite, known);
    suite_add_tcase(suite, odd);
    return suite_run(suite);
}
