/* test_generate.c - suppressions of our own form: what they ask for, when they end; and that what
 * is generated in any form fits the record it was made of, and no other.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/formats/formats.h"
#include "common/suppress/rules.h"
#include "common/suppress/suppress.h"
#include "tests/unit/suite.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static struct arena *mem;
static struct suppressions *suppressions;

static void setup(void)
{
    mem = arena_begin();
    suppressions = suppress_begin();
}

static void teardown(void)
{
    suppress_end(suppressions);
    arena_end(mem);
}

static const struct frame make = {.function = "make", .file = "a.c", .line = 3, .module = "/opt/a"};
static const struct frame other = {.function = "other", .file = "a.c", .module = "/opt/a"};
static const struct frame main_frame = {.function = "main", .file = "a.c", .module = "/opt/a"};

/* Two frames: that one, and main. */
static struct record record_of(const struct frame *frame, uint64_t signature)
{
    const struct frame **frames = arena_alloc_array(mem, 2, sizeof(*frames));

    frames[0] = frame;
    frames[1] = &main_frame;
    return (struct record){.signature = signature,
                           .verdict = VERDICT_LOST,
                           .kind = LEAK_KIND_MALLOC,
                           .bytes = 100,
                           .blocks = 10,
                           .frames = frames,
                           .frame_count = 2};
}

/* ---- Our own form --------------------------------------------------------------------------- */

#define OWN(lines) "{\n  a name\n  libleak:Leak\n" lines "}\n"

static const struct {
    const char *text;
    bool fits; /* ten blocks of make(), 100 bytes */
} blocks[] = {
    {OWN("signature=00000000000000aa\n"), true},
    {OWN("signature=00000000000000ab\n"), false},
    {OWN("fun:malloc\nfun:make\n"), true},
    {OWN("fun:malloc\nfun:other\n"), false},
    {OWN("signature=00000000000000aa\nfun:malloc\nfun:make\n"), true},
    {OWN("signature=00000000000000aa\nfun:malloc\nfun:other\n"), false},
    {OWN("signature=00000000000000aa\ncount<=10\n"), true},
    {OWN("signature=00000000000000aa\ncount<=9\n"), false},
    {OWN("signature=00000000000000aa\nbytes<=100\n"), true},
    {OWN("bytes<=99\nsignature=00000000000000aa\n"), false},
    {OWN("match-leak-kinds: definite\nsignature=00000000000000aa\n"), true},
    {OWN("match-leak-kinds: possible\nsignature=00000000000000aa\n"), false},
    {OWN("signature=00000000000000aa\nexpires=9999-12-31\nreason=because\n"), true},
    {OWN("signature=00000000000000aa\nexpires=2001-01-01\n"), false},
    {OWN("expires=2001-01-01\nfun:malloc\n"), false},
};

START_TEST(all_conditions_of_a_block_must_hold)
{
    struct rules rules = rules_parse(mem, "known", blocks[_i].text, strlen(blocks[_i].text));
    struct record record = record_of(&make, 0xaa);

    ck_assert_msg(rules.count == 1 && !rules.trouble, "%s%s", blocks[_i].text, rules.trouble);
    ck_assert_msg(rules_match_record(rules.made[0], &record) == blocks[_i].fits, "%s",
                  blocks[_i].text);
}
END_TEST

static const struct {
    const char *text, *trouble;
} mistakes[] = {
    {OWN(""), "known:1: a suppression without signature= that names no frame"},
    {OWN("count<=3\n"), "known:1: a suppression without signature= that names no frame"},
    {OWN("signature=aa\n"), "known:4: no line of a suppression: 'signature=aa'"},
    {OWN("signature=00000000000000AA\n"),
     "known:4: no line of a suppression: 'signature=00000000000000AA'"},
    {OWN("count<=-1\n"), "known:4: no line of a suppression: 'count<=-1'"},
    {OWN("count<=10k\n"), "known:4: no line of a suppression: 'count<=10k'"},
    {OWN("bytes<=99999999999999999999\n"),
     "known:4: no line of a suppression: 'bytes<=99999999999999999999'"},
    {OWN("expires=tomorrow\n"), "known:4: no line of a suppression: 'expires=tomorrow'"},
    {OWN("expires=2027-1-1\n"), "known:4: no line of a suppression: 'expires=2027-1-1'"},
    {OWN("expires=2027-13-01\n"), "known:4: no line of a suppression: 'expires=2027-13-01'"},
    {"{\n  a name\n  Memcheck:Leak\n  signature=00000000000000aa\n  fun:a\n}\n",
     "known:4: no line of a suppression: 'signature=00000000000000aa'"},
};

START_TEST(a_wrong_condition_is_a_line_with_its_place)
{
    struct rules rules = rules_parse(mem, "known", mistakes[_i].text, strlen(mistakes[_i].text));

    ck_assert_uint_eq(rules.count, 0);
    ck_assert_ptr_nonnull(rules.trouble);
    ck_assert_str_eq(rules.trouble, mistakes[_i].trouble);
}
END_TEST

static void add(const char *text)
{
    const char *trouble = suppress_add(suppressions, "known", text, strlen(text));
    struct store none = {0};

    ck_assert_msg(!trouble, "%s\n%.2000s", trouble, text);
    suppress_select_store(suppressions, &none, 0);
}

START_TEST(expired_rules_are_distinguished_from_unused_ones)
{
    struct record record = record_of(&make, 0xaa);
    struct report report = {0};

    add(OWN("signature=00000000000000aa\nexpires=2001-01-01\nreason=old\n")
            OWN("signature=00000000000000bb\n") OWN("fun:*\nfun:make\nreason=new\n"));
    ck_assert(suppress_record(suppressions, &record, NULL));
    ck_assert_str_eq(record.suppressed_by->where, "known:14");
    ck_assert_str_eq(record.suppressed_by->reason, "new");
    suppress_fill_unused(suppressions, &report);
    ck_assert_uint_eq(report.expired_count, 1);
    ck_assert_str_eq(report.expired[0]->where, "known:2");
    ck_assert_str_eq(report.expired[0]->expires, "2001-01-01");
    ck_assert_uint_eq(report.unused_count, 1);
    ck_assert_str_eq(report.unused[0]->where, "known:9");
}
END_TEST

START_TEST(the_first_block_that_fits_is_the_one)
{
    struct record record = record_of(&make, 0xaa);

    add(OWN("signature=00000000000000aa\ncount<=1\n") OWN("signature=00000000000000aa\n")
            OWN("fun:*\nfun:make\n") OWN("signature=00000000000000aa\n"));
    ck_assert(suppress_record(suppressions, &record, NULL));
    ck_assert_str_eq(record.suppressed_by->where, "known:8");
    record.signature = 0xbb;
    ck_assert(suppress_record(suppressions, &record, NULL));
    ck_assert_str_eq(record.suppressed_by->where, "known:13");
}
END_TEST

#define MANY 200000

/* Asking each rule about each record would take hours. */
START_TEST(a_rule_for_each_of_many_records_takes_no_time)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (int i = 0; i < MANY; i++)
        fprintf(stream, OWN("signature=%016x\n"), i);
    fclose(stream);
    add(text);
    for (int i = 0; i < MANY; i++) {
        struct record record = record_of(&make, (uint64_t)i);

        ck_assert(suppress_record(suppressions, &record, NULL));
    }
    free(text);
}
END_TEST

/* ---- There and back ------------------------------------------------------------------------- */

typedef void generate(const struct report *, const struct view *, FILE *);
static generate *const syntaxes[] = {generate_lsan, generate_valgrind, generate_libleak};

static char *generated(generate *syntax, struct record *records, size_t count)
{
    struct process process = {.records = records, .record_count = count};
    struct report report = {.processes = &process, .process_count = 1};
    struct view view = {0};
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    memset(view.show, true, sizeof(view.show));
    syntax(&report, &view, stream);
    fclose(stream);
    return text;
}

#define LONG 10000
static char long_name[LONG + 1];

static const char *const names[] = {
    "make",
    "shelf::make<Book>(int, char const*)",
    "operator*(A const&, B const&)",
    "operator()",
    "{lambda(int)#1}::operator()(int) const",
    "}",
    "# no comment",
    " blank in front",
    "blank behind ",
    "^up$to$",
    "tab\tand\nnew line\r",
    "<b>&amp;\"';",
    "caf\xc3\xa9",
    "no\xff\xfetext\xc3",
    "???",
    "*",
    long_name,
    NULL, /* of the function: its module has a name */
};

START_TEST(what_is_generated_fits_its_record_and_no_other)
{
    const char *name = names[_i / COUNT(syntaxes)];
    struct frame frame = {.function = name, .file = "a.c", .module = "/opt/lib\nodd/lib.so.3"};
    struct record record, another;
    char *text;

    memset(long_name, 'n', LONG);
    record = record_of(&frame, 0xaa);
    another = record_of(&other, 0xbb);
    text = generated(syntaxes[_i % COUNT(syntaxes)], &record, 1);
    add(text);
    ck_assert_msg(suppress_record(suppressions, &record, NULL), "does not fit:\n%.3000s", text);
    if (!name || strcmp(name, "*") != 0) /* of that nothing is left but the wildcard */
        ck_assert_msg(!suppress_record(suppressions, &another, NULL), "fits all:\n%.3000s", text);
    free(text);
}
END_TEST

static const struct {
    enum verdict verdict;
    bool lsan, others;
} verdicts[] = {
    {VERDICT_LOST, true, true},      {VERDICT_INDIRECT, true, true},
    {VERDICT_POSSIBLE, true, true},  {VERDICT_HIDDEN, true, true},
    {VERDICT_UNFREED, true, true},   {VERDICT_REACHABLE, false, true},
    {VERDICT_RUNTIME, false, false},
};

START_TEST(every_verdict_that_can_be_is_suppressed)
{
    generate *syntax = syntaxes[(size_t)_i % COUNT(syntaxes)];
    size_t row = (size_t)_i / COUNT(syntaxes);
    struct record record = record_of(&make, 0xaa);
    char *text;

    record.verdict = verdicts[row].verdict;
    text = generated(syntax, &record, 1);
    add(text);
    ck_assert_msg(suppress_record(suppressions, &record, NULL) ==
                      (syntax == generate_lsan ? verdicts[row].lsan : verdicts[row].others),
                  "%s", text);
    free(text);
}
END_TEST

/* By the kind of allocation, the allocator's own frames in the stack or not. */
START_TEST(allocators_are_named_as_valgrind_names_them)
{
    static const struct frame new_frame = {.function = "operator new(unsigned long)",
                                           .symbol = "_Znwm",
                                           .module = "/lib/libstdc++.so.6",
                                           .role = FRAME_ALLOCATOR};
    const struct frame *frames[] = {&new_frame, &make, &main_frame};
    struct record record = record_of(&make, 0xaa);
    char *text;

    record.kind = (uint32_t)_i / 2;
    if (_i % 2) {
        record.frames = frames;
        record.frame_count = 3;
    }
    text = generated(generate_valgrind, &record, 1);
    add(text);
    ck_assert_msg(suppress_record(suppressions, &record, NULL), "kind %d:\n%s", _i / 2, text);
    free(text);
}
END_TEST

START_TEST(what_has_no_stack_or_is_known_already_is_not_generated)
{
    static const struct rule rule = {.text = "leak:make", .where = "known:1"};
    struct record records[3] = {record_of(&make, 1), record_of(&other, 2), record_of(&make, 3)};

    records[0].suppressed_by = &rule;
    records[1].frame_count = 0;
    for (size_t i = 0; i < COUNT(syntaxes); i++) {
        char *text = generated(syntaxes[i], records, 3);
        struct rules rules = rules_parse(mem, "made", text, strlen(text));

        ck_assert_ptr_null(rules.trouble);
        ck_assert_uint_eq(rules.count, 1);
        ck_assert_ptr_nonnull(strstr(text, "# a record without a stack"));
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("generate");
    TCase *all = tcase_create("generate");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_set_timeout(all, 30);
    tcase_add_loop_test(all, all_conditions_of_a_block_must_hold, 0, COUNT(blocks));
    tcase_add_loop_test(all, a_wrong_condition_is_a_line_with_its_place, 0, COUNT(mistakes));
    tcase_add_test(all, expired_rules_are_distinguished_from_unused_ones);
    tcase_add_test(all, the_first_block_that_fits_is_the_one);
    tcase_add_test(all, a_rule_for_each_of_many_records_takes_no_time);
    tcase_add_loop_test(all, what_is_generated_fits_its_record_and_no_other, 0,
                        COUNT(names) * COUNT(syntaxes));
    tcase_add_loop_test(all, every_verdict_that_can_be_is_suppressed, 0,
                        COUNT(verdicts) * COUNT(syntaxes));
    tcase_add_loop_test(all, allocators_are_named_as_valgrind_names_them, 0, 2 * LEAK_KIND_MAX);
    tcase_add_test(all, what_has_no_stack_or_is_known_already_is_not_generated);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
