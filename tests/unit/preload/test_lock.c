/* test_lock.c - one holder at a time, nobody sleeps for ever, signals wait only when they must. */
#include "tests/unit/preload/unit.h"
#include "preload/lock.h"
#include "preload/sys.h"

#include <sched.h>

static struct lock lock;

START_TEST(a_lock_is_free_after_it_was_given_back)
{
    struct locked locked = lock_take(&lock), other;
    ck_assert_uint_eq(lock.word, 1);
    ck_assert(!lock_try(&lock, &other));
    lock_give(&locked);
    ck_assert_uint_eq(lock.word, 0);
    ck_assert(lock_try(&lock, &other));
    lock_give(&other);
    ck_assert_uint_eq(lock.word, 0);
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
        lock_expect_handlers();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(counter[0], (uint64_t)THREADS * ROUNDS);
    ck_assert_uint_eq(counter[1], counter[0]);
    ck_assert_uint_eq(lock.word, 0);
}
END_TEST

static volatile sig_atomic_t handled;

static void handler(int number UNUSED)
{
    handled++;
}

/* 0: no handler is known, so nothing is blocked. 1: handlers wait until the lock is given back. */
START_TEST(a_handler_runs_while_a_lock_is_held_only_if_none_was_expected)
{
    signal(SIGUSR1, handler);
    if (_i)
        lock_expect_handlers();
    struct locked locked = lock_take(&lock);
    raise(SIGUSR1);
    ck_assert_int_eq(handled, _i ? 0 : 1);
    lock_give(&locked);
    ck_assert_int_eq(handled, 1);
}
END_TEST

START_TEST(nested_locks_put_the_mask_back_as_it_was)
{
    struct lock inner = {0};
    sigset_t before, during, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    sigprocmask(SIG_SETMASK, &before, NULL);
    lock_expect_handlers();
    struct locked first = lock_take(&lock), second = lock_take(&inner);
    sigprocmask(SIG_SETMASK, NULL, &during);
    ck_assert(sigismember(&during, SIGUSR1) && sigismember(&during, SIGUSR2));
    lock_give(&second);
    sigprocmask(SIG_SETMASK, NULL, &during);
    ck_assert(sigismember(&during, SIGUSR1));
    struct locked third;
    ck_assert(!lock_try(&lock, &third)); /* a failed try leaves the mask alone */
    lock_give(&first);
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert(!sigismember(&after, SIGUSR1) && sigismember(&after, SIGUSR2));
    ck_assert(lock_try(&lock, &third));
    lock_give(&third);
    ck_assert(!lock_try(&lock, &third) || (lock_give(&third), true));
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert(!sigismember(&after, SIGUSR1) && sigismember(&after, SIGUSR2));
}
END_TEST

static const struct {
    int number;
    bool fault;
} signals[] = {{SIGSEGV, true}, {SIGBUS, true},   {SIGFPE, true},   {SIGILL, true},
               {SIGTRAP, true}, {SIGSYS, true},   {SIGINT, false},  {SIGTERM, false},
               {SIGUSR1, false}, {SIGALRM, false}, {SIGABRT, false}, {0, false},
               {-1, false},     {64, false},      {65, false},      {1000, false}};

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
    tcase_add_test(all, a_lock_is_free_after_it_was_given_back);
    tcase_add_loop_test(all, threads_take_turns_and_all_arrive, 0, 2);
    suite_add_tcase(suite, all);
    TCase *masks = tcase_create("signals");
    tcase_add_loop_test(masks, a_handler_runs_while_a_lock_is_held_only_if_none_was_expected, 0, 2);
    tcase_add_test(masks, nested_locks_put_the_mask_back_as_it_was);
    tcase_add_loop_test(masks, signals_of_faults_are_never_blocked, 0, ARRAY_LENGTH(signals));
    suite_add_tcase(suite, masks);
    return unit_main(argc, argv, suite);
}
