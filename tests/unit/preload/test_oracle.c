/* test_oracle.c - the comparison with another unwinder: equal traces are equal, a planted difference is
 * counted, and a trace that says it is incomplete is held only to what it shows.
 */
#include "tests/unit/preload/unit.h"
#include "preload/log.h"
#include "preload/modules.h"
#include "preload/oracle.h"
#include "preload/real.h"
#include "preload/rows.h"
#include "preload/store.h"

#include <dlfcn.h>

#define KEEP __asm__ volatile("" ::: "memory")
#define DEEP 100

/* ---- The verdict ------------------------------------------------------------------------------- */

#define FRAMES 4

static struct unwind_trace trace;
static struct oracle_frame theirs[FRAMES + 1];
static uintptr_t slot;

/* Two equal traces of FRAMES frames; the last of theirs is one more. */
static void make_equal(enum leak_root end)
{
    trace.depth = FRAMES;
    trace.end = end;
    for (unsigned i = 0; i <= FRAMES; i++) {
        theirs[i] = (struct oracle_frame){0x400000 + 16 * i, 0x7000 + 64 * i};
        if (i < FRAMES)
            trace.step[FRAMES - 1 - i] =
                (struct unwind_step){.pc = theirs[i].pc, .sp = theirs[i].sp, .pc_slot = &slot};
    }
}

static const struct {
    enum leak_root end;
    unsigned count; /* of theirs */
    enum oracle_verdict want;
    unsigned at;
} ends[] = {
    {LEAK_ROOT_COMPLETE, FRAMES, ORACLE_SAME, FRAMES},
    {LEAK_ROOT_COMPLETE, FRAMES + 1, ORACLE_DIFFERENT, FRAMES},
    {LEAK_ROOT_COMPLETE, FRAMES - 1, ORACLE_DIFFERENT, FRAMES - 1},
    {LEAK_ROOT_COMPLETE, 0, ORACLE_DIFFERENT, 0},
    {LEAK_ROOT_NO_RULE, FRAMES, ORACLE_SAME, FRAMES},
    {LEAK_ROOT_NO_RULE, FRAMES + 1, ORACLE_STOPPED, FRAMES},
    {LEAK_ROOT_NO_RULE, FRAMES - 1, ORACLE_DIFFERENT, FRAMES - 1},
    {LEAK_ROOT_BROKEN, FRAMES + 1, ORACLE_STOPPED, FRAMES},
    {LEAK_ROOT_DEPTH, FRAMES + 1, ORACLE_SAME, FRAMES},
    {LEAK_ROOT_DEPTH, FRAMES - 1, ORACLE_DIFFERENT, FRAMES - 1},
};

START_TEST(only_a_marked_trace_may_be_the_shorter_one)
{
    unsigned at;
    make_equal(ends[_i].end);
    ck_assert_int_eq(oracle_judge(&trace, theirs, ends[_i].count, &at), ends[_i].want);
    ck_assert_uint_eq(at, ends[_i].at);
}
END_TEST

START_TEST(one_word_that_differs_is_found)
{
    unsigned at;
    for (unsigned i = 0; i < FRAMES; i++)
        for (int of_sp = 0; of_sp < 2; of_sp++) {
            make_equal(LEAK_ROOT_NO_RULE);
            *(of_sp ? &theirs[i].sp : &theirs[i].pc) += 8;
            ck_assert_int_eq(oracle_judge(&trace, theirs, FRAMES, &at), ORACLE_DIFFERENT);
            ck_assert_uint_eq(at, i);
        }
}
END_TEST

START_TEST(only_an_interrupted_frame_is_one_byte_further)
{
    unsigned at;
    make_equal(LEAK_ROOT_COMPLETE);
    trace.step[FRAMES - 1 - 1].pc_slot = NULL; /* frame 1 is a signal's, frame 2 was interrupted */
    trace.step[FRAMES - 1 - 2].pc++;
    ck_assert_int_eq(oracle_judge(&trace, theirs, FRAMES, &at), ORACLE_SAME);
    trace.step[FRAMES - 1 - 1].pc_slot = &slot;
    ck_assert_int_eq(oracle_judge(&trace, theirs, FRAMES, &at), ORACLE_DIFFERENT);
    ck_assert_uint_eq(at, 2);
}
END_TEST

/* ---- Whole walks ------------------------------------------------------------------------------- */

static struct unwind_bounds bounds;
static struct oracle oracle;
static struct unwind_step *(*plant)(void); /* where to put something wrong, between walk and check */

static void setup_for(unsigned which)
{
    struct options options;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    ck_assert_msg(store_create(unit_directory, "oracle", environ), "no store");
    modules_start(rows_forget);
    ck_assert(rows_start());
    log_start();
    real_find();
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bounds = (struct unwind_bounds){(uintptr_t)low, (uintptr_t)low + size};
    options_defaults(&options);
    options.verbosity = 1; /* a failing test shows the frames */
    options.unwind_check = 1;
    options.unwind_oracle = which;
    oracle_start(&options);
}

static bool here(unsigned which)
{
    static const char *const files[] = {"libunwind.so.8", "libgcc_s.so.1"};
    return dlopen(files[which], RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* In the hook's place. */
static NOINLINE void capture(void)
{
    struct frame start = CALLER_FRAME();
    unwind(&unit_guard, &bounds, &start, DEEP, &trace);
    if (plant)
        plant()->pc += 1;
    oracle_check(&unit_guard, &oracle, &bounds, &start, &trace);
    unwind_forget(&trace);
    KEEP;
}

static NOINLINE void recurse(int n)
{
    if (n)
        recurse(n - 1);
    else
        capture();
    KEEP;
}

static void on_signal(int number UNUSED)
{
    recurse(3);
}

START_TEST(real_traces_are_equal)
{
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    for (int n = 0; n < 20; n++)
        recurse(n);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    ck_assert_uint_eq(store_header->unwind_checks, 21);
    ck_assert_uint_eq(store_header->unwind_mismatches, 0);
    ck_assert_uint_eq(store_header->unwind_stops, 0);
    ck_assert_uint_gt(trace.depth, 6);
}
END_TEST

static struct unwind_step *innermost(void)
{
    return &trace.step[trace.depth - 1];
}

static struct unwind_step *in_the_middle(void)
{
    return &trace.step[trace.depth / 2];
}

static struct unwind_step *outermost(void)
{
    return &trace.step[0];
}

/* A check that cannot fail proves nothing. */
START_TEST(a_planted_difference_is_counted)
{
    static struct unwind_step *(*const places[])(void) = {innermost, in_the_middle, outermost};
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        plant = places[i];
        recurse(5);
    }
    plant = NULL;
    recurse(5);
    ck_assert_uint_eq(store_header->unwind_checks, 4);
    ck_assert_uint_eq(store_header->unwind_mismatches, 3);
}
END_TEST

static struct unwind_step *two_frames_early(void)
{
    static struct unwind_step nowhere;
    trace.depth -= 2;
    memmove(trace.step, trace.step + 2, trace.depth * sizeof *trace.step);
    return &nowhere;
}

START_TEST(an_early_end_is_a_difference_unless_it_is_marked)
{
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    plant = two_frames_early;
    recurse(5);
    ck_assert_uint_eq(store_header->unwind_mismatches, 1);
    ck_assert_uint_eq(store_header->unwind_stops, 0);
}
END_TEST

START_TEST(every_nth_capture_is_compared)
{
    if (!here(UNWIND_ORACLE_LIBGCC))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(UNWIND_ORACLE_LIBGCC);
    oracle_every_ = 7;
    for (int n = 0; n < 70; n++)
        recurse(1);
    ck_assert_uint_eq(store_header->unwind_checks, 10);
}
END_TEST

/* What a process sees of us: no descriptor more, errno as it was, signals open again. */
START_TEST(a_check_leaves_nothing_behind)
{
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    sigset_t mask;
    int before = dup(0);
    close(before);
    setup_for(_i);
    errno = ERANGE;
    recurse(3);
    ck_assert_int_eq(errno, ERANGE);
    int after = dup(0);
    ck_assert_int_eq(after, before);
    ck_assert_int_eq(fcntl(before + 1, F_GETFD), -1);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    ck_assert(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGALRM));
    ck_assert_uint_eq(store_header->unwind_checks, 1);
}
END_TEST

static void *on_small_stack(void *argument UNUSED)
{
    struct unwind_bounds unknown = {0, 0};
    bounds = unknown; /* every word through the kernel */
    recurse(3);
    return NULL;
}

START_TEST(a_small_stack_is_enough)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 16384), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, on_small_stack, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(store_header->unwind_checks, 1);
    ck_assert_uint_eq(store_header->unwind_mismatches, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("oracle");
    TCase *verdict = tcase_create("verdict");
    tcase_add_loop_test(verdict, only_a_marked_trace_may_be_the_shorter_one, 0, ARRAY_LENGTH(ends));
    tcase_add_test(verdict, one_word_that_differs_is_found);
    tcase_add_test(verdict, only_an_interrupted_frame_is_one_byte_further);
    suite_add_tcase(suite, verdict);
    TCase *walks = tcase_create("walks");
    tcase_add_loop_test(walks, real_traces_are_equal, 0, 2);
    tcase_add_loop_test(walks, a_planted_difference_is_counted, 0, 2);
    tcase_add_loop_test(walks, an_early_end_is_a_difference_unless_it_is_marked, 0, 2);
    tcase_add_test(walks, every_nth_capture_is_compared);
    tcase_add_loop_test(walks, a_check_leaves_nothing_behind, 0, 2);
    tcase_add_loop_test(walks, a_small_stack_is_enough, 0, 2);
    suite_add_tcase(suite, walks);
    return unit_main(argc, argv, suite);
}
