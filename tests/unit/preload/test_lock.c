/* test_lock.c - one holder at a time, no waiter sleeps for ever, and the holder is known.
 *
 * What a held lock means for signals is test_handlers.c's; here: the count, and the moment it is 0.
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"

#include <sched.h>

static struct lock lock;
static char alone;

/* Every case for a process of several threads and for one that has one. */
static void setup(void)
{
    lock_single_threaded = &alone;
}

START_TEST(a_lock_is_free_after_it_was_given_back)
{
    alone = _i;
    struct locked locked = lock_take(&lock), other;
    ck_assert_uint_eq(lock.word, 1);
    ck_assert(!lock_try(&lock, &other));
    lock_give(&locked);
    ck_assert_uint_eq(lock.word, 0);
    ck_assert(lock_try(&lock, &other));
    ck_assert_uint_eq(lock.word, 1);
    lock_give(&other);
    ck_assert_uint_eq(lock.word, 0);
}
END_TEST

/* 0: the second thread comes while the lock is held; 1: the last one goes. */
START_TEST(a_lock_is_free_although_a_thread_came_or_went_meanwhile)
{
    alone = !_i;
    struct locked locked = lock_take(&lock);
    alone = _i;
    lock_give(&locked);
    ck_assert_uint_eq(lock.word, 0);
    ck_assert_uint_eq(lock_thread.held, 0);
    locked = lock_take(&lock);
    lock_give(&locked);
    ck_assert_uint_eq(lock.word, 0);
}
END_TEST

START_TEST(what_a_thread_holds_is_counted)
{
    struct lock inner = {0};
    struct locked third;
    alone = _i;
    struct locked first = lock_take(&lock);
    ck_assert_uint_eq(lock_thread.held, 1);
    struct locked second = lock_take(&inner);
    ck_assert_uint_eq(lock_thread.held, 2);
    ck_assert(!lock_try(&lock, &third));
    ck_assert_uint_eq(lock_thread.held, 2);
    lock_give(&second);
    ck_assert_uint_eq(lock_thread.held, 1);
    ck_assert(lock_try(&inner, &third));
    ck_assert_uint_eq(lock_thread.held, 2);
    lock_give(&first); /* in any order */
    lock_give(&third);
    ck_assert_uint_eq(lock_thread.held, 0);
}
END_TEST

static void *do_nothing(void *argument)
{
    return argument;
}

START_TEST(libc_says_whether_there_is_a_second_thread)
{
    lock_start();
    if (lock_single_threaded == &alone)
        return UNIT_SKIP("libc does not say");
    ck_assert_int_eq(*lock_single_threaded, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, do_nothing, NULL);
    ck_assert_int_eq(*lock_single_threaded, 0);
    pthread_join(thread, NULL);
}
END_TEST

#define THREADS 4
#define ROUNDS 50000

static uint64_t counter[2];

static void *count(void *argument UNUSED)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct locked locked;
        if (i % 3 || !lock_try(&lock, &locked))
            locked = lock_take(&lock);
        counter[0]++;
        if (i % 1000 == 0)
            sched_yield(); /* others pile up and sleep */
        counter[1]++;
        lock_give(&locked);
    }
    return NULL;
}

START_TEST(threads_take_turns_and_all_arrive)
{
    pthread_t threads[THREADS];
    if (_i)
        lock_start(); /* libc answers for us */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(counter[0], (uint64_t)THREADS * ROUNDS);
    ck_assert_uint_eq(counter[1], counter[0]);
    ck_assert_uint_eq(lock.word, 0);
}
END_TEST

/* ---- Signals --------------------------------------------------------------------------------- */

static bool blocked(int number)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, number);
}

/* As a door leaves a thread: all is blocked, and the mask to go back to has SIGUSR2 alone. */
static void put_off(void)
{
    sigset_t mask;
    uint64_t all;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sys_signals_block(&all);
    memcpy(&lock_thread.mask, &mask, sizeof lock_thread.mask);
    lock_thread.put_off = true;
}

START_TEST(signals_come_in_with_the_last_lock_and_not_before)
{
    struct lock inner = {0};
    struct locked third;
    alone = _i;
    struct locked first = lock_take(&lock), second = lock_take(&inner);
    put_off();
    lock_give(&second);
    ck_assert(blocked(SIGUSR1) && lock_thread.put_off);
    ck_assert(!lock_try(&lock, &third));
    ck_assert(blocked(SIGUSR1) && lock_thread.put_off);
    lock_give(&first);
    ck_assert(!blocked(SIGUSR1) && blocked(SIGUSR2) && !lock_thread.put_off);
}
END_TEST

START_TEST(signals_come_in_when_a_try_has_failed)
{
    struct locked locked;
    alone = _i;
    lock.word = 1; /* another thread has it */
    put_off();
    ck_assert(!lock_try(&lock, &locked));
    ck_assert(!blocked(SIGUSR1) && blocked(SIGUSR2) && !lock_thread.put_off);
}
END_TEST

START_TEST(without_a_signal_put_off_the_mask_is_left_alone)
{
    sigset_t mask;
    alone = _i;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    struct locked locked = lock_take(&lock);
    ck_assert(blocked(SIGUSR1) && !blocked(SIGUSR2));
    lock_give(&locked);
    ck_assert(blocked(SIGUSR1) && !blocked(SIGUSR2));
}
END_TEST

static const struct {
    int number;
    bool fault;
} signals[] = {{SIGSEGV, true},  {SIGBUS, true},   {SIGFPE, true},   {SIGILL, true},
               {SIGTRAP, true},  {SIGSYS, true},   {SIGINT, false},  {SIGTERM, false},
               {SIGUSR1, false}, {SIGALRM, false}, {SIGABRT, false}, {0, false},
               {-1, false},      {64, false},      {65, false},      {1000, false}};

START_TEST(signals_of_faults_are_never_blocked)
{
    uint64_t saved;
    ck_assert_msg(sys_signal_is_fault(signals[_i].number) == signals[_i].fault, "signal %d",
                  signals[_i].number);
    if (signals[_i].number < 1 || signals[_i].number >= 64)
        return;
    sys_signals_block(&saved);
    sigset_t during;
    sigprocmask(SIG_SETMASK, NULL, &during);
    sys_signals_restore(&saved);
    ck_assert_msg(sigismember(&during, signals[_i].number) == !signals[_i].fault, "signal %d",
                  signals[_i].number);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("lock");
    TCase *all = tcase_create("lock");
    tcase_set_timeout(all, 30);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_loop_test(all, a_lock_is_free_after_it_was_given_back, 0, 2);
    tcase_add_loop_test(all, a_lock_is_free_although_a_thread_came_or_went_meanwhile, 0, 2);
    tcase_add_loop_test(all, what_a_thread_holds_is_counted, 0, 2);
    tcase_add_test(all, libc_says_whether_there_is_a_second_thread);
    tcase_add_loop_test(all, threads_take_turns_and_all_arrive, 0, 2);
    suite_add_tcase(suite, all);
    TCase *signals_case = tcase_create("signals");
    tcase_add_checked_fixture(signals_case, setup, NULL);
    tcase_add_loop_test(signals_case, signals_come_in_with_the_last_lock_and_not_before, 0, 2);
    tcase_add_loop_test(signals_case, signals_come_in_when_a_try_has_failed, 0, 2);
    tcase_add_loop_test(signals_case, without_a_signal_put_off_the_mask_is_left_alone, 0, 2);
    tcase_add_loop_test(signals_case, signals_of_faults_are_never_blocked, 0,
                        ARRAY_LENGTH(signals));
    suite_add_tcase(suite, signals_case);
    return unit_main(argc, argv, suite);
}
