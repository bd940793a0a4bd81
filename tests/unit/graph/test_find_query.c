/* test_find_query.c - the conditions of leakgraph find: what they mean, and which are refused with what
 * words. */
#include <check.h>
#include <string.h>

#include "graph/verbs/find_query.h"
#include "tests/unit/suite.h"

/* Block 0: 100 bytes that hold 2 MiB, from make_node. Block 1: 5,000 bytes that hold themselves, from
 * read_file, lost. */
static uint64_t number_of(void *context, uint32_t block, enum find_field field)
{
    (void)context;
    switch (field) {
    case FIND_SIZE:
        return block ? 5000 : 100;
    case FIND_RETAINED:
        return block ? 5000 : 2 << 20;
    case FIND_ADDRESS:
        return 0x1000 + block;
    default:
        return 0;
    }
}

static bool text_of(void *context, uint32_t block, enum find_field field, const char *word,
                    bool contains)
{
    const char *text = field == FIND_VERDICT ? (block ? "lost" : "reachable")
                                             : (block ? "read_file (f.c:9)" : "make_node (n.c:4)");

    (void)context;
    return contains ? strstr(text, word) != NULL : strcmp(text, word) == 0;
}

static const struct {
    const char *text;
    bool first, second;
} meanings[] = {
    {"size > 100", false, true},
    {"size >= 100", true, true},
    {"size < 5000", true, false},
    {"size <= 99", false, false},
    {"size = 100", true, false},
    {"size == 100", true, false},
    {"size != 100", false, true},
    {"size > 4k", false, true},
    {"size>4.8K", false, true},
    {"size > 5k", false, false},
    {"retained >= 2M", true, false},
    {"address = 0x1001", false, true},
    {"site ~ node", true, false},
    {"site ~ \"make_node (n.c\"", true, false},
    {"SITE ~ 'file'", false, true},
    {"site = node", false, false},
    {"verdict = lost", false, true},
    {"verdict != lost", true, false},
    {"not verdict = lost", true, false},
    {"!verdict = lost", true, false},
    {"size > 1 and verdict = lost", false, true},
    {"size > 1 && site ~ node", true, false},
    {"size > 4k or site ~ node", true, true},
    {"size < 1 || site ~ node", true, false},
    /* and binds closer than or, not closer than and */
    {"size > 1 or size > 1 and size < 1", true, true},
    {"(size > 1 or size > 1) and size < 1", false, false},
    {"not size > 4k and size > 1", true, false},
    {"not (size > 4k and size > 1)", true, false},
};

START_TEST(a_condition_means_what_it_says)
{
    char wrong[FIND_WRONG_SIZE];
    struct find_query *query = find_query_parse(meanings[_i].text, wrong);
    const struct find_source source = {number_of, text_of, NULL};

    ck_assert_msg(query != NULL, "%s: %s", meanings[_i].text, wrong);
    ck_assert_msg(find_query_matches(query, &source, 0) == meanings[_i].first,
                  "%s: the first block", meanings[_i].text);
    ck_assert_msg(find_query_matches(query, &source, 1) == meanings[_i].second,
                  "%s: the second block", meanings[_i].text);
    find_query_end(query);
}
END_TEST

static const struct {
    const char *text, *wrong;
} refusals[] = {
    {"", "no field"},
    {"colour > 3", "no field"},
    {"size", "no operator"},
    {"size >", "no number"},
    {"size > x", "no number"},
    {"size > 3q", "no number"},
    {"size ~ 3", "a number is compared"},
    {"site > 3", "a text is compared"},
    {"site ~", "no text"},
    {"site ~ \"open", "no text"},
    {"(size > 3", "no )"},
    {"size > 3)", "not understood"},
    {"size > 3 size > 4", "not understood"},
    {"size > 3 and", "no field"},
    {"type > 3", "a text is compared"},
};

START_TEST(a_wrong_condition_is_refused_with_the_reason)
{
    char wrong[FIND_WRONG_SIZE];

    ck_assert_ptr_null(find_query_parse(refusals[_i].text, wrong));
    ck_assert_msg(strstr(wrong, refusals[_i].wrong) != NULL, "%s: %s", refusals[_i].text, wrong);
}
END_TEST

START_TEST(long_and_deep_conditions_are_refused_or_answered)
{
    char text[8192] = "", wrong[FIND_WRONG_SIZE];
    struct find_query *query;

    for (int i = 0; i < 100; i++)
        strcat(text, "(");
    ck_assert_ptr_null(find_query_parse(text, wrong));
    ck_assert_ptr_nonnull(strstr(wrong, "nested too deep"));
    *text = '\0';
    for (int i = 0; i < 400; i++)
        strcat(text, "size > 1 and ");
    strcat(text, "size > 1");
    ck_assert_ptr_null(find_query_parse(text, wrong));
    ck_assert_ptr_nonnull(strstr(wrong, "too long"));
    query = find_query_parse("size > 99999999999999999999999999", wrong);
    ck_assert_ptr_nonnull(query);
    find_query_end(query);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("find_query");
    TCase *tests = tcase_create("conditions");

    tcase_add_loop_test(tests, a_condition_means_what_it_says, 0, ROWS(meanings));
    tcase_add_loop_test(tests, a_wrong_condition_is_refused_with_the_reason, 0, ROWS(refusals));
    tcase_add_test(tests, long_and_deep_conditions_are_refused_or_answered);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
