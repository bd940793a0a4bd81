/* test_unwind_check.c - the comparison with another unwinder: equal stacks are equal, a planted difference is
 * counted, and a stack that says it is incomplete is held only to what it shows.
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/contexts/unwind_check.h"
#include "preload/interpose/real_functions.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/contexts/context_tree.h"

#include <alloca.h>
#include <dlfcn.h>

#define KEEP __asm__ volatile("" ::: "memory")
#define DEEP 100

/* ---- The verdict ---------------------------------------------------------------------------- */

#define FRAMES 4

static struct unwind_check_stack ours, theirs;

static void make_equal(enum leak_root end, unsigned their_count)
{
    ours = (struct unwind_check_stack){.count = FRAMES, .end = end};
    theirs = (struct unwind_check_stack){.count = their_count};
    for (unsigned i = 0; i <= FRAMES; i++)
        ours.pc[i] = theirs.pc[i] = 0x400000 + 16 * i;
}

static const struct {
    enum leak_root end;
    unsigned count; /* of theirs … */
    enum unwind_check_verdict want;
    unsigned at;
    enum leak_root their_end; /* … which then ends, for lack of a table if NO_RULE */
} ends[] = {
    {LEAK_ROOT_COMPLETE, FRAMES, UNWIND_CHECK_SAME, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_COMPLETE, FRAMES + 1, UNWIND_CHECK_DIFFERENT, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_COMPLETE, FRAMES - 1, UNWIND_CHECK_DIFFERENT, FRAMES - 1, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_COMPLETE, 0, UNWIND_CHECK_DIFFERENT, 0, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_COMPLETE, FRAMES - 1, UNWIND_CHECK_SAME, FRAMES - 1, LEAK_ROOT_NO_RULE},
    {LEAK_ROOT_NO_RULE, FRAMES - 1, UNWIND_CHECK_SAME, FRAMES - 1, LEAK_ROOT_NO_RULE},
    {LEAK_ROOT_NO_RULE, FRAMES, UNWIND_CHECK_SAME, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_NO_RULE, FRAMES + 1, UNWIND_CHECK_STOPPED, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_NO_RULE, FRAMES - 1, UNWIND_CHECK_DIFFERENT, FRAMES - 1, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_BROKEN, FRAMES + 1, UNWIND_CHECK_STOPPED, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_DEPTH, FRAMES + 1, UNWIND_CHECK_SAME, FRAMES, LEAK_ROOT_COMPLETE},
    {LEAK_ROOT_DEPTH, FRAMES - 1, UNWIND_CHECK_DIFFERENT, FRAMES - 1, LEAK_ROOT_COMPLETE},
};

START_TEST(only_a_marked_stack_may_be_the_shorter_one)
{
    unsigned at;
    make_equal(ends[_i].end, ends[_i].count);
    theirs.end = ends[_i].their_end;
    ck_assert_int_eq(unwind_check_compare(&ours, &theirs, &at), ends[_i].want);
    ck_assert_uint_eq(at, ends[_i].at);
}
END_TEST

START_TEST(one_frame_that_differs_is_found)
{
    unsigned at;
    for (unsigned i = 0; i < FRAMES; i++) {
        make_equal(LEAK_ROOT_NO_RULE, FRAMES);
        theirs.pc[i]++;
        ck_assert_int_eq(unwind_check_compare(&ours, &theirs, &at), UNWIND_CHECK_DIFFERENT);
        ck_assert_uint_eq(at, i);
    }
}
END_TEST

/* ---- Whole walks ---------------------------------------------------------------------------- */

static struct unwind_bounds bounds;
static struct unwind_check oracle;
static struct unwind_trace trace;

static void setup_for(unsigned which)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    ck_assert_msg(store_create(unit_directory, "oracle", environ), "no store");
    modules_start(cfi_cache_forget);
    sites_start();
    ck_assert(cfi_cache_start() && context_tree_start());
    log_start();
    real_functions_find();
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bounds = (struct unwind_bounds){(uintptr_t)low, (uintptr_t)low + size};
    options_defaults(&options_current);
    options_current.verbosity = 1; /* a failing test shows the frames */
    options_current.unwind_check = 1;
    options_current.unwind_oracle = which;
    unwind_check_start();
}

static bool here(unsigned which)
{
    static const char *const files[] = {"libunwind.so.8", "libgcc_s.so.1"};
    return dlopen(files[which], RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* What was recorded, and instead of it: a stack without its innermost frame, or none. */
static uint32_t as_it_is(uint32_t node)
{
    return node;
}

static uint32_t without_innermost(uint32_t node)
{
    return context_tree_node(node).parent;
}

static uint32_t nothing_at_all(uint32_t node UNUSED)
{
    return LEAK_ROOT_COMPLETE;
}

static uint32_t (*planted)(uint32_t node) = as_it_is;

static uint32_t captures;

/* In the hook's place. The next capture may share what this one leaves. */
static NOINLINE void capture(void)
{
    struct frame caller = CALLER_FRAME();
    unwind(&unit_guard, &bounds, &caller, DEEP, &trace);
    uint32_t site = context_tree_site(&unit_guard, &trace, LEAK_KIND_MALLOC);
    ck_assert_uint_ne(site, 0);
    if (unwind_check_is_due(++captures))
        unwind_check_run(&unit_guard, &oracle, &bounds, &caller, planted(sites_node(site)));
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

START_TEST(real_stacks_are_equal)
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

/* A check that cannot fail proves nothing. */
START_TEST(a_planted_stack_is_counted)
{
    static uint32_t (*const plants[])(uint32_t) = {without_innermost, nothing_at_all, as_it_is};
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    for (unsigned i = 0; i < ARRAY_LENGTH(plants); i++) {
        planted = plants[i];
        recurse(5);
        ck_assert_uint_eq(store_header->unwind_checks, i + 1);
        ck_assert_uint_eq(store_header->unwind_mismatches, i < 2 ? i + 1 : 2);
    }
    ck_assert_uint_eq(store_header->unwind_stops, 0);
}
END_TEST

/* Two captures from one function, so that the second shares all frames of the first but the innermost; in
 * between, one of those that were kept is spoilt. */
static NOINLINE void twice(void (*spoil)(void))
{
    capture();
    spoil();
    capture();
    KEEP;
}

static void nothing(void)
{
}

static void node_of_another_frame(void)
{
    trace.step[trace.depth - 2].node = trace.step[trace.depth - 3].node;
}

static void end_of_the_trace(void)
{
    trace.step[trace.depth - 2].node = LEAK_ROOT_COMPLETE;
}

static const struct {
    void (*spoil)(void);
    unsigned mismatches;
} spoils[] = {{nothing, 0}, {node_of_another_frame, 1}, {end_of_the_trace, 1}};

START_TEST(a_spoilt_frame_is_counted)
{
    unsigned which = _i % 2, how = _i / 2;
    if (!here(which))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(which);
    twice(spoils[how].spoil);
    ck_assert_uint_gt(trace.shared, 2);
    ck_assert_uint_eq(store_header->unwind_checks, 2);
    ck_assert_uint_eq(store_header->unwind_mismatches, spoils[how].mismatches);
    ck_assert_uint_eq(store_header->unwind_stops, 0);
}
END_TEST

START_TEST(every_nth_stack_is_compared)
{
    if (!here(UNWIND_ORACLE_LIBGCC))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(UNWIND_ORACLE_LIBGCC);
    options_current.unwind_check = 7;
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
    close(after);
}
END_TEST

#define SMALL 16384

/* too_much: what libc insists on beyond that, on some CPUs; it is used up first. */
static void *on_small_stack(void *too_much)
{
    struct unwind_bounds unknown = {0, 0};
    char *used = alloca((uintptr_t)too_much);
    __asm__ volatile("" ::"r"(used) : "memory");
    bounds = unknown; /* every word through the kernel */
    recurse(3);
    return NULL;
}

START_TEST(a_small_stack_is_enough)
{
    pthread_t thread;
    pthread_attr_t attributes;
    size_t least = PTHREAD_STACK_MIN, too_much = least > SMALL ? least - SMALL : 0;
    if (!here(_i))
        return UNIT_SKIP("the other unwinder is not installed");
    setup_for(_i);
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, SMALL + too_much), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, on_small_stack, (void *)too_much), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(store_header->unwind_checks, 1);
    ck_assert_uint_eq(store_header->unwind_mismatches, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("oracle");
    TCase *verdict = tcase_create("verdict");
    tcase_add_loop_test(verdict, only_a_marked_stack_may_be_the_shorter_one, 0, ARRAY_LENGTH(ends));
    tcase_add_test(verdict, one_frame_that_differs_is_found);
    suite_add_tcase(suite, verdict);
    TCase *walks = tcase_create("walks");
    tcase_add_loop_test(walks, real_stacks_are_equal, 0, 2);
    tcase_add_loop_test(walks, a_planted_stack_is_counted, 0, 2);
    tcase_add_loop_test(walks, a_spoilt_frame_is_counted, 0, 2 * ARRAY_LENGTH(spoils));
    tcase_add_test(walks, every_nth_stack_is_compared);
    tcase_add_loop_test(walks, a_check_leaves_nothing_behind, 0, 2);
    tcase_add_loop_test(walks, a_small_stack_is_enough, 0, 2);
    suite_add_tcase(suite, walks);
    return unit_main(argc, argv, suite);
}
