/* test_stack_fold.c - a folded stack unfolds to the original; recursion takes little room. */
#include "tests/unit/preload/unit.h"
#include "preload/unwind/stack_fold.h"

#define MOST 100000

static struct leak_crash_frame row[LEAK_CRASH_FRAMES];
static uint64_t ring[LEAK_CRASH_OUTER], left_out;
static uint32_t outer;
static struct stack_fold fold;
static uint64_t got[MOST];

static void begin(uint32_t most)
{
    memset(row, 0, sizeof row);
    fold = (struct stack_fold){.row = row, .most = most, .ring = ring};
}

static void end(void)
{
    outer = stack_fold_finish(&fold, &left_out);
}

/* What a reader makes of the row: how many frames it stands for. */
static uint64_t unfolded(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < fold.count; i++) {
        got[count++] = row[i].pc;
        uint64_t round = row[i].period;
        for (uint32_t k = 0; k < row[i].times; k++)
            for (uint64_t j = 0; j < round; j++, count++) {
                ck_assert_uint_lt(count, MOST);
                got[count] = row[i + 1 - round + j].pc;
            }
    }
    return count;
}

/* Patterns: letters are frames; a number repeats what stands in the brackets before it. */
static const struct {
    const char *stack;
    uint32_t frames;
} stacks[] = {
    {"", 0},
    {"a", 1},
    {"abcdef", 6},
    {"x(a)1000m", 3},
    {"x(ab)1000m", 4},
    {"x(abc)1000abm", 7},
    {"(a)1000(b)1000(a)1000", 3},
    {"(aab)500z", 5},
    {"(abcdefghijklmnop)50z", 17},
    {"ab(cd)30c(cd)30e", 9},
};

static void put(const char *text, uint64_t *want, size_t *count)
{
    for (; *text; text++) {
        if (*text != '(') {
            want[(*count)++] = *text;
            continue;
        }
        const char *close = strchr(text, ')');
        long times = strtol(close + 1, (char **)&close, 10);
        for (long k = 0; k < times; k++)
            for (const char *at = text + 1; *at != ')'; at++)
                want[(*count)++] = *at;
        text = close - 1;
    }
}

START_TEST(what_repeats_is_stored_once_and_nothing_is_lost)
{
    static uint64_t want[MOST];
    size_t count = 0;
    put(stacks[_i].stack, want, &count);
    begin(LEAK_CRASH_FRAMES);
    for (size_t i = 0; i < count; i++)
        stack_fold_add(&fold, want[i]);
    end();
    ck_assert_uint_eq(fold.depth, count);
    ck_assert_msg(unfolded() == count && !memcmp(got, want, count * sizeof *want),
                  "%s: unfolds into something else", stacks[_i].stack);
    ck_assert_msg(fold.count <= stacks[_i].frames + 2, "%s: %u frames are kept, wanted about %u",
                  stacks[_i].stack, fold.count, stacks[_i].frames);
    ck_assert(!outer && !left_out);
}
END_TEST

/* Few different frames: they repeat in every way. Rows of every size. */
START_TEST(any_stack_unfolds_into_itself)
{
    static uint64_t want[2000];
    srand(_i);
    size_t count = rand() % 2000;
    unsigned kinds = 1 + rand() % 4;
    uint32_t most = _i % 2 ? LEAK_CRASH_FRAMES : 1 + rand() % 40;
    for (size_t i = 0, run; i < count; i += run) {
        run = 1 + rand() % 50;
        size_t back = 1 + rand() % 20;
        bool copy = rand() % 2 && back <= i;
        for (size_t k = i; k < i + run && k < count; k++)
            want[k] = copy ? want[k - back] : 100u + rand() % kinds;
    }
    begin(most);
    for (size_t i = 0; i < count; i++)
        stack_fold_add(&fold, want[i]);
    end();
    ck_assert_uint_le(fold.count, most);
    uint64_t inner = unfolded();
    ck_assert_msg(inner + left_out + outer == count, "seed %d: %zu frames are %" PRIu64 " + %" PRIu64
                  " + %u", _i, count, inner, left_out, outer);
    ck_assert(!memcmp(got, want, inner * sizeof *want));
    ck_assert(!memcmp(ring, want + count - outer, outer * sizeof *want));
    ck_assert(!left_out || outer == LEAK_CRASH_OUTER);
}
END_TEST

START_TEST(a_deep_stack_without_repetition_keeps_both_ends)
{
    begin(LEAK_CRASH_FRAMES);
    for (uint64_t i = 0; i < 5000; i++)
        stack_fold_add(&fold, 1000 + i);
    end();
    ck_assert_uint_eq(fold.count, LEAK_CRASH_FRAMES);
    ck_assert_uint_eq(outer, LEAK_CRASH_OUTER);
    ck_assert_uint_eq(left_out, 5000 - LEAK_CRASH_FRAMES - LEAK_CRASH_OUTER);
    ck_assert_uint_eq(row[0].pc, 1000);
    ck_assert_uint_eq(ring[LEAK_CRASH_OUTER - 1], 5999);
    ck_assert_uint_eq(ring[0], 6000 - LEAK_CRASH_OUTER);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("fold");
    TCase *tcase = tcase_create("fold");
    tcase_add_loop_test(tcase, what_repeats_is_stored_once_and_nothing_is_lost, 0,
                        ARRAY_LENGTH(stacks));
    tcase_add_loop_test(tcase, any_stack_unfolds_into_itself, 0, 300);
    tcase_add_test(tcase, a_deep_stack_without_repetition_keeps_both_ends);
    suite_add_tcase(suite, tcase);
    return unit_main(argc, argv, suite);
}
