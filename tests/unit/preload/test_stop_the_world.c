/* test_stop_the_world.c - all other threads are stopped, wherever they were, and resumed without
 * noticing.
 *
 *     threads = the caller + parked + missed
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/signals/stop_the_world.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "context.h"

#include <sys/resource.h>

#define NUMBER 62
#define SECOND 1000000000ull
#define THREADS 8

static struct world world; /* handlers read it */
static siginfo_t asked_info;
static unsigned asked_times;
static uintptr_t asked_at;
static bool on_own = true;

static void asked(siginfo_t *info, ucontext_t *context UNUSED)
{
    asked_info = *info;
    asked_times++;
    asked_at = (uintptr_t)__builtin_frame_address(0);
}

static bool on_own_stack(uintptr_t sp UNUSED)
{
    return on_own;
}

static void setup(void)
{
    real_functions_find();
    lock_start();
    world_init(NUMBER, asked, on_own_stack);
}

/* ---- Threads that do something -------------------------------------------------------------- */

static struct worker {
    pthread_t thread;
    int tid;
    uint64_t steps; /* counts up while it runs */
    void *(*routine)(void *);
} workers[THREADS];
static bool over;

static void step(struct worker *worker)
{
    store_relaxed(&worker->steps, worker->steps + 1);
}

static void *spin(void *argument)
{
    struct worker *worker = argument;
    worker->tid = sys_gettid();
    while (!load_acquire(&over))
        step(worker);
    return NULL;
}

static void start(void *(*routine)(void *), unsigned i)
{
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, routine, &workers[i]), 0);
    while (!load_relaxed(&workers[i].steps))
        usleep(100);
}

static void finish(unsigned count)
{
    store_release(&over, true);
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static bool moves(const struct worker *worker, unsigned milliseconds)
{
    uint64_t before = load_relaxed(&worker->steps);
    for (unsigned i = 0; i < milliseconds; i++) {
        usleep(1000);
        if (load_relaxed(&worker->steps) != before)
            return true;
    }
    return false;
}

START_TEST(a_single_thread_has_no_others_to_stop)
{
    ck_assert(world_stop(&world, SECOND));
    ck_assert(!world.count && !world.parked && !world.others);
    world_resume();
}
END_TEST

START_TEST(threads_stand_until_they_are_released_and_then_go_on)
{
    for (unsigned i = 0; i < 4; i++)
        start(spin, i);
    for (unsigned round = 0; round < 3; round++) {
        ck_assert(world_stop(&world, SECOND));
        ck_assert_uint_eq(world.count, 4);
        ck_assert_uint_eq(world.parked, 4);
        for (unsigned i = 0; i < 4; i++)
            ck_assert_msg(!moves(&workers[i], 3), "thread %u runs on", i);
        world_resume();
        for (unsigned i = 0; i < 4; i++)
            ck_assert_msg(moves(&workers[i], 2000), "thread %u does not go on", i);
    }
    finish(4);
}
END_TEST

START_TEST(what_is_said_of_a_held_thread_is_its_own)
{
    for (unsigned i = 0; i < 3; i++)
        start(spin, i);
    ck_assert(world_stop(&world, SECOND));
    for (unsigned i = 0; i < 3; i++) {
        const struct world_thread *thread = NULL;
        for (uint32_t k = 0; k < world.count; k++)
            if (world.thread[k].tid == workers[i].tid)
                thread = &world.thread[k];
        ck_assert(thread && world_thread_is_stopped(thread) && thread->block);
        /* Its registers lie on its own stack, below its thread block; sanitized it has another. */
        uintptr_t sp = context_sp(thread->context);
        ck_assert(UNIT_SANITIZED || sp - (uintptr_t)thread->context < 65536);
        ck_assert(ARCH_TLS_ABOVE_BLOCK || (sp < thread->block && thread->block - sp < 8 << 20));
    }
    world_resume();
    finish(3);
}
END_TEST

/* ---- Inside of the runtime ------------------------------------------------------------------ */

static uint64_t begun_outside, ended_inside;

/* A hook that takes its time: it goes on when it is asked, and stands when it is over. */
static void *in_and_out(void *argument)
{
    struct worker *worker = argument;
    worker->tid = sys_gettid();
    while (!load_acquire(&over)) {
        struct frame caller = CALLER_FRAME();
        struct guard *guard = guard_enter(&caller);
        step(worker);
        while (!guard->asked && !load_acquire(&over))
            continue;
        bump(&ended_inside, 1);
        guard_leave(guard);
        bump(&begun_outside, 1);
    }
    return NULL;
}

START_TEST(a_thread_in_a_hook_stands_when_the_hook_is_over)
{
    start(in_and_out, 0);
    for (unsigned round = 1; round <= 20; round++) {
        ck_assert(world_stop(&world, SECOND));
        ck_assert_uint_eq(world.parked, 1);
        UNIT_WANT(load_relaxed(&ended_inside) == round);
        UNIT_WANT(load_relaxed(&begun_outside) == round - 1);
        UNIT_WANT(!moves(&workers[0], 2));
        uint64_t steps = workers[0].steps;
        world_resume();
        for (unsigned i = 0; i < 2000 && load_relaxed(&workers[0].steps) == steps; i++)
            usleep(1000);
        UNIT_WANT(load_relaxed(&workers[0].steps) == steps + 1); /* in the next one */
    }
    finish(1);
}
END_TEST

static struct lock lock;

static void *holds_a_lock(void *argument)
{
    struct worker *worker = argument;
    while (!load_acquire(&over)) {
        struct frame caller = CALLER_FRAME();
        struct guard *guard = guard_enter(&caller);
        struct locked locked = lock_take(&lock);
        for (unsigned i = 0; i < 100000; i++)
            __asm__ volatile("");
        step(worker);
        lock_give(&locked);
        guard_leave(guard);
    }
    return NULL;
}

START_TEST(who_is_parked_holds_no_lock)
{
    for (unsigned i = 0; i < 2; i++)
        start(holds_a_lock, i);
    for (unsigned round = 0; round < 20; round++) {
        struct locked locked;
        ck_assert(world_stop(&world, SECOND));
        UNIT_WANT(world.parked == 2);
        UNIT_WANT(lock_try(&lock, &locked));
        lock_give(&locked);
        world_resume();
    }
    finish(2);
}
END_TEST

/* The end of that hook never comes. */
static void *leaves_by_longjmp(void *argument)
{
    struct worker *worker = argument;
    store_relaxed(&guard_self.sp, 1);
    step(worker);
    while (!load_relaxed(&guard_self.asked))
        continue;
    store_relaxed(&guard_self.sp, 0);
    return spin(worker);
}

START_TEST(a_hook_that_was_left_by_longjmp_is_asked_again)
{
    start(leaves_by_longjmp, 0);
    ck_assert(world_stop(&world, SECOND));
    ck_assert_uint_eq(world.parked, 1);
    world_resume();
    finish(1);
}
END_TEST

/* ---- Threads that come, go, and do not listen ----------------------------------------------- */

static void *nothing(void *argument)
{
    return argument;
}

static void *makes_threads(void *argument)
{
    struct worker *worker = argument;
    while (!load_acquire(&over)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
        step(worker);
    }
    return NULL;
}

START_TEST(threads_that_come_and_go_meanwhile_are_all_held)
{
    for (unsigned i = 0; i < 2; i++)
        start(makes_threads, i);
    for (unsigned round = 0; round < 100; round++) {
        UNIT_WANT_MSG(world_stop(&world, 5 * SECOND), "round %u: %u of %u stand", round,
                      world.parked, world.count);
        UNIT_WANT(world.count == world.parked && world.count >= 2);
        UNIT_WANT(!moves(&workers[0], 1) && !moves(&workers[1], 1));
        world_resume();
    }
    finish(2);
}
END_TEST

static void *deaf(void *argument)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* libc's own: no hook sees it here */
    return spin(argument);
}

START_TEST(a_deaf_thread_is_missed_and_no_thread_stays_stopped)
{
    start(spin, 0);
    start(deaf, 1);
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    ck_assert(!world_stop(&world, SECOND / 20));
    ck_assert_uint_lt(sys_clock_ns(CLOCK_MONOTONIC) - begun, SECOND);
    ck_assert_uint_eq(world.count, 2);
    ck_assert_uint_eq(world.parked, 1);
    ck_assert(moves(&workers[0], 2000) && moves(&workers[1], 2000));
    finish(2);
}
END_TEST

static void *deaf_for_a_while(void *argument)
{
    struct worker *worker = argument;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    step(worker);
    usleep(100000);
    sigprocmask(SIG_SETMASK, &before, NULL); /* here the question of a look that is over arrives */
    return spin(worker);
}

START_TEST(a_late_stop_signal_stops_no_thread)
{
    start(deaf_for_a_while, 0);
    ck_assert(!world_stop(&world, SECOND / 50));
    usleep(150000);
    ck_assert(moves(&workers[0], 2000));
    ck_assert(world_stop(&world, SECOND)); /* and the next one does */
    ck_assert_uint_eq(world.parked, 1);
    world_resume();
    finish(1);
}
END_TEST

static void *deaf_and_busy_for_a_while(void *argument)
{
    struct worker *worker = argument;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    step(worker);
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    while (sys_clock_ns(CLOCK_MONOTONIC) - begun < SECOND / 50)
        continue;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return spin(worker);
}

/* As every thread is at its beginning, and while it makes another one. */
START_TEST(one_that_blocks_signals_for_a_moment_is_waited_for)
{
    start(deaf_and_busy_for_a_while, 0);
    ck_assert(world_stop(&world, 5 * SECOND));
    ck_assert_uint_eq(world.parked, 1);
    world_resume();
    finish(1);
}
END_TEST

/* Lowers the limit: the kernel queues at most so many more pending signals for this user. */
static void leave_room_for(unsigned signals)
{
    char status[4096];
    unsigned long there = 0;
    ck_assert_int_gt(sys_read_file("/proc/self/status", status, sizeof status), 0);
    const char *line = strstr(status, "SigQ:\t");
    ck_assert(line && sscanf(line + 6, "%lu", &there) == 1);
    struct rlimit limit = {there + signals, there + signals};
    ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
}

START_TEST(a_few_signals_at_a_time_hold_everybody)
{
    for (unsigned i = 0; i < THREADS; i++)
        start(spin, i);
    leave_room_for(2);
    ck_assert(world_stop(&world, 5 * SECOND));
    ck_assert_uint_eq(world.parked, THREADS);
    world_resume();
    finish(THREADS);
}
END_TEST

START_TEST(without_room_for_a_signal_the_wait_is_short)
{
    for (unsigned i = 0; i < 2; i++)
        start(spin, i);
    struct rlimit usual, none;
    ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    ck_assert(!world_stop(&world, 30 * SECOND));
    ck_assert_uint_lt(sys_clock_ns(CLOCK_MONOTONIC) - begun, 10 * SECOND);
    ck_assert_uint_eq(world.count, 2);
    ck_assert(moves(&workers[0], 2000) && moves(&workers[1], 2000));
    finish(2);
    setrlimit(RLIMIT_SIGPENDING, &usual); /* libcheck tells the time by what a timer can do */
}
END_TEST

/* ---- The same signal from others ------------------------------------------------------------ */

static unsigned programs_times;

static void programs(int number, siginfo_t *info, void *context UNUSED)
{
    programs_times += number == NUMBER && info->si_value.sival_int == 7;
}

/* On libleak's alternate stack the frame is left where it is. */
START_TEST(on_a_stack_that_the_thread_was_not_made_with_nothing_is_put)
{
    static char altstack[65536];
    const stack_t stack = {.ss_sp = altstack, .ss_size = sizeof altstack};
    const stack_t none = {.ss_flags = SS_DISABLE};
    ck_assert(world_install_handler());
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    trampoline_thread.altstack = (struct trampoline_altstack){(uintptr_t)altstack, sizeof altstack};
    on_own = _i;
    ck_assert_int_eq(kill(getpid(), NUMBER), 0);
    trampoline_thread.altstack.size = 0;
    ck_assert_int_eq(sigaltstack(&none, NULL), 0);
    on_own = true;
    ck_assert_uint_eq(asked_times, 1);
    ck_assert_int_eq(asked_at - (uintptr_t)altstack < sizeof altstack, !_i || !CONTEXT_FRAMES_MOVE);
}
END_TEST

START_TEST(from_outside_it_asks_for_a_look)
{
    ck_assert(world_install_handler());
    ck_assert_int_eq(kill(getpid(), NUMBER), 0);
    ck_assert_uint_eq(asked_times, 1);
    ck_assert_int_eq(asked_info.si_pid, getpid());
    sigqueue(getpid(), NUMBER, (union sigval){.sival_ptr = (void *)0x6c6b000100000000});
    ck_assert(asked_times <= 2); /* even with our mark: no look is being taken */
    ck_assert(!world_thread_is_busy());
}
END_TEST

START_TEST(a_program_with_a_handler_of_its_own_gets_what_others_send)
{
    world_set_program_handler(programs, false);
    sigqueue(getpid(), NUMBER, (union sigval){.sival_int = 7});
    ck_assert_uint_eq(programs_times, 1);
    start(spin, 0);
    ck_assert(world_stop(&world, SECOND)); /* and what we send stays ours */
    ck_assert_uint_eq(world.parked, 1);
    world_resume();
    finish(1);
    ck_assert_uint_eq(programs_times, 1);
    world_set_program_handler(NULL, true);
    kill(getpid(), NUMBER);
    ck_assert_uint_eq(programs_times + asked_times, 1);
    world_set_program_handler(NULL, false);
    kill(getpid(), NUMBER);
    ck_assert_uint_eq(asked_times, 1);
}
END_TEST

START_TEST(threads_can_be_held)
{
    UNIT_SKIP(UNIT_EMULATED);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("stop_the_world");
    if (unit_is_emulated()) {
        TCase *nothing = tcase_create("emulated");
        tcase_add_test(nothing, threads_can_be_held);
        suite_add_tcase(suite, nothing);
        return unit_main(argc, argv, suite);
    }
    TCase *stand = tcase_create("stand");
    tcase_add_checked_fixture(stand, setup, NULL);
    tcase_add_test(stand, a_single_thread_has_no_others_to_stop);
    tcase_add_test(stand, threads_stand_until_they_are_released_and_then_go_on);
    tcase_add_test(stand, what_is_said_of_a_held_thread_is_its_own);
    tcase_add_test(stand, a_thread_in_a_hook_stands_when_the_hook_is_over);
    tcase_add_test(stand, who_is_parked_holds_no_lock);
    tcase_add_test(stand, a_hook_that_was_left_by_longjmp_is_asked_again);
    tcase_set_timeout(stand, 60);
    suite_add_tcase(suite, stand);
    TCase *come = tcase_create("come and go");
    tcase_add_checked_fixture(come, setup, NULL);
    tcase_add_test(come, threads_that_come_and_go_meanwhile_are_all_held);
    tcase_add_test(come, a_deaf_thread_is_missed_and_no_thread_stays_stopped);
    tcase_add_test(come, a_late_stop_signal_stops_no_thread);
    tcase_add_test(come, one_that_blocks_signals_for_a_moment_is_waited_for);
    tcase_add_test(come, a_few_signals_at_a_time_hold_everybody);
    tcase_add_test(come, without_room_for_a_signal_the_wait_is_short);
    tcase_set_timeout(come, 60);
    suite_add_tcase(suite, come);
    TCase *others = tcase_create("others");
    tcase_add_checked_fixture(others, setup, NULL);
    tcase_add_test(others, from_outside_it_asks_for_a_look);
    tcase_add_loop_test(others, on_a_stack_that_the_thread_was_not_made_with_nothing_is_put, 0, 2);
    tcase_add_test(others, a_program_with_a_handler_of_its_own_gets_what_others_send);
    suite_add_tcase(suite, others);
    return unit_main(argc, argv, suite);
}
