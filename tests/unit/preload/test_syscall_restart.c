/* test_syscall_restart.c - a thread that waits in the kernel and is stopped again and again does not
 * notice.
 *
 * Each call waits for a late event, or for its deadline. Meanwhile it is stopped some ten times; it
 * must end as it would have ended, not too early, and at most a little too late. The opposite: a
 * signal of the program that arrives while the thread is stopped interrupts the call, as usual.
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/signals/stop_the_world.h"
#include "preload/interpose/real_functions.h"
#include "preload/signals/syscall_restart.h"
#include "preload/base/sys.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/select.h>
#include <sys/socket.h>

#define NUMBER 62
#define MS 1000000ull
#define WAIT 100   /* ms that a call waits */
#define LATE 1500  /* ms that it may be late: the machine has other things to do */
#define LONG 20000 /* ms: sooner than that comes what is to interrupt it */

static struct world world;
static int sockets[2], pipes[2], epolls, semaphores;
static sem_t semaphore;
static uint32_t word;

static uint64_t now(void)
{
    return sys_clock_ns(CLOCK_MONOTONIC);
}

static void asked(siginfo_t *info UNUSED, ucontext_t *context UNUSED)
{
}

static bool on_own_stack(uintptr_t sp UNUSED)
{
    return true;
}

static void setup(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    real_functions_find();
    lock_start();
    world_init(NUMBER, asked, on_own_stack);
    ck_assert(world_install_handler());
    ck_assert(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    epolls = epoll_create1(0);
    ck_assert_int_eq(epoll_ctl(epolls, EPOLL_CTL_ADD, pipes[0], &event), 0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&semaphore, 0, 0);
}

static void teardown(void)
{
    semctl(semaphores, 0, IPC_RMID);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static unsigned most = WAIT; /* ms */

static struct timespec from_now(clockid_t clock)
{
    uint64_t end = sys_clock_ns(clock) + most * MS;
    return (struct timespec){end / 1000000000, end % 1000000000};
}

static struct timespec wait_time(void)
{
    return (struct timespec){most / 1000, most % 1000 * MS};
}

static int by_nanosleep(void)
{
    struct timespec time = wait_time();
    return nanosleep(&time, NULL);
}

static int by_clock_nanosleep(void)
{
    struct timespec end = from_now(CLOCK_MONOTONIC);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static int by_poll(void)
{
    return poll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, (int)most);
}

static int by_poll_without_end(void)
{
    return poll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, -1);
}

static int by_ppoll(void)
{
    struct timespec time = wait_time();
    return ppoll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, &time, NULL);
}

static int by_select(void)
{
    struct timeval timeout = {most / 1000, most % 1000 * 1000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    return select(pipes[0] + 1, &set, NULL, NULL, &timeout);
}

static int by_pselect(void)
{
    struct timespec time = wait_time();
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    return pselect(pipes[0] + 1, &set, NULL, NULL, &time, NULL);
}

#ifdef SYS_epoll_wait
#define EPOLL_WAIT SYS_epoll_wait
#else
#define EPOLL_WAIT SYS_epoll_pwait
#endif

/* The hooks note a deadline that the kernel does not keep; there are none here. */
static int by_epoll_wait(void)
{
    struct epoll_event event;
    syscall_deadline = (struct syscall_deadline){.ns = now() + most * MS,
                                                 .number = EPOLL_WAIT,
                                                 .frame = (uintptr_t)__builtin_frame_address(0),
                                                 .argument = 3};
    int result = epoll_wait(epolls, &event, 1, (int)most);
    syscall_deadline.ns = 0;
    return result;
}

static int by_epoll_wait_without_end(void)
{
    struct epoll_event event;
    return epoll_wait(epolls, &event, 1, -1);
}

static int by_sem_timedwait(void)
{
    struct timespec end = from_now(CLOCK_REALTIME);
    return sem_timedwait(&semaphore, &end);
}

static int by_semtimedop(void)
{
    struct timespec left = wait_time();
    struct sembuf down = {.sem_op = -1};
    syscall_deadline = (struct syscall_deadline){.ns = now() + most * MS,
                                                 .number = SYS_semtimedop,
                                                 .frame = (uintptr_t)__builtin_frame_address(0),
                                                 .timespec = &left};
    int result = semtimedop(semaphores, &down, 1, &left);
    syscall_deadline.ns = 0;
    return result;
}

static int by_sigtimedwait(void)
{
    struct timespec left = wait_time();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    syscall_deadline = (struct syscall_deadline){.ns = now() + most * MS,
                                                 .number = SYS_rt_sigtimedwait,
                                                 .frame = (uintptr_t)__builtin_frame_address(0),
                                                 .timespec = &left};
    int result = sigtimedwait(&set, NULL, &left);
    syscall_deadline.ns = 0;
    return result;
}

static int by_condition(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec end = from_now(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    errno = pthread_cond_timedwait(&condition, &mutex, &end);
    pthread_mutex_unlock(&mutex);
    return errno ? -1 : 0;
}

static int by_futex(void)
{
    return sys_futex_wait_for(&word, 0, most * MS);
}

static int by_read(void)
{
    char byte;
    return read(pipes[0], &byte, 1);
}

static int by_recv(void)
{
    char byte;
    return recv(sockets[0], &byte, 1, 0);
}

/* The kernel never begins this one again by itself. */
static int by_recv_with_a_timeout(void)
{
    struct timeval timeout = {10, 0};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return by_recv();
}

static int by_semop(void)
{
    return semop(semaphores, &(struct sembuf){.sem_op = -1}, 1);
}

/* How a call ends: by its deadline, or by what comes when it has waited long enough. */
struct call {
    const char *name;
    int (*call)(void);
    int result, error;
};

static const struct call calls[] = {
    {"nanosleep", by_nanosleep, 0, 0},
    {"clock_nanosleep", by_clock_nanosleep, 0, 0},
    {"poll", by_poll, 0, 0},
    {"ppoll", by_ppoll, 0, 0},
    {"select", by_select, 0, 0},
    {"pselect", by_pselect, 0, 0},
    {"epoll_wait", by_epoll_wait, 0, 0},
    {"sem_timedwait", by_sem_timedwait, -1, ETIMEDOUT},
    {"semtimedop", by_semtimedop, -1, EAGAIN},
    {"sigtimedwait", by_sigtimedwait, -1, EAGAIN},
    {"pthread_cond_timedwait", by_condition, -1, ETIMEDOUT},
    {"futex", by_futex, 0, 0},
};

static const struct call late[] = {
    {"poll without a deadline", by_poll_without_end, 1, 0},
    {"epoll_wait without a deadline", by_epoll_wait_without_end, 1, 0},
    {"read", by_read, 1, 0},
    {"recv", by_recv, 1, 0},
    {"recv with SO_RCVTIMEO", by_recv_with_a_timeout, 1, 0},
    {"semop", by_semop, 0, 0},
};

/* ---- Held while they wait ------------------------------------------------------------------- */

static struct {
    int (*call)(void);
    int result, error;
    uint64_t began, took;
    uint32_t state; /* 1 about to wait, 2 done */
} waiter;

static void *wait_in_the_kernel(void *argument UNUSED)
{
    errno = 0;
    waiter.began = now();
    store_release(&waiter.state, 1);
    waiter.result = waiter.call();
    waiter.error = errno;
    waiter.took = now() - waiter.began;
    store_release(&waiter.state, 2);
    return NULL;
}

static pthread_t start_waiting(int (*call)(void))
{
    pthread_t thread;
    waiter.call = call;
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_the_kernel, NULL), 0);
    while (!load_acquire(&waiter.state))
        usleep(100);
    return thread;
}

/* Until it is done, or that many milliseconds are over: how often it was held. */
static unsigned hold_for(unsigned milliseconds)
{
    unsigned times = 0;
    uint64_t end = now() + milliseconds * MS;
    while (load_acquire(&waiter.state) != 2 && now() < end) {
        ck_assert(world_stop(&world, 1000 * MS));
        usleep(1000);
        world_resume();
        usleep(7000);
        times++;
    }
    return times;
}

START_TEST(a_deadline_is_kept_by_who_is_held)
{
    pthread_t thread = start_waiting(calls[_i].call);
    unsigned times = hold_for(WAIT + LATE);
    ck_assert_msg(load_acquire(&waiter.state) == 2, "%s: still waiting", calls[_i].name);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(times, 0);
    ck_assert_msg(waiter.result == calls[_i].result &&
                      (waiter.result >= 0 || waiter.error == calls[_i].error),
                  "%s: %d, errno %d after %u times", calls[_i].name, waiter.result, waiter.error,
                  times);
    ck_assert_msg(waiter.took >= (WAIT - 1) * MS && waiter.took < (WAIT + LATE) * MS,
                  "%s: took %" PRIu64 " us", calls[_i].name, waiter.took / 1000);
}
END_TEST

START_TEST(what_comes_at_last_is_got)
{
    pthread_t thread = start_waiting(late[_i].call);
    unsigned times = hold_for(WAIT);
    ck_assert_msg(load_acquire(&waiter.state) == 1, "%s: %d, errno %d after %u times",
                  late[_i].name, waiter.result, waiter.error, times);
    ck_assert(write(pipes[1], "x", 1) == 1 && write(sockets[1], "x", 1) == 1);
    semop(semaphores, &(struct sembuf){.sem_op = 1}, 1);
    hold_for(LATE);
    ck_assert_msg(load_acquire(&waiter.state) == 2, "%s: still waiting", late[_i].name);
    pthread_join(thread, NULL);
    ck_assert_msg(waiter.result == late[_i].result, "%s: %d, errno %d", late[_i].name,
                  waiter.result, waiter.error);
}
END_TEST

/* ---- A signal of the program's -------------------------------------------------------------- */

static void handler(int number UNUSED)
{
}

static void handle(int number, int flags, sighandler_t how)
{
    struct sigaction action = {.sa_handler = how, .sa_flags = flags};
    trampoline_wrap_action(number, &action);
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static pthread_t hold_and_send(int (*call)(void), int number)
{
    pthread_t thread = start_waiting(call);
    hold_for(30);
    ck_assert(world_stop(&world, 1000 * MS));
    pthread_kill(thread, number);
    usleep(2000);
    world_resume();
    return thread;
}

static int (*const interrupted[])(void) = {by_nanosleep,  by_poll,         by_select, by_epoll_wait,
                                           by_semtimedop, by_sigtimedwait, by_read,   by_recv,
                                           by_semop,      by_sem_timedwait};

START_TEST(a_signal_of_the_programs_interrupts_who_is_held)
{
    most = LONG;
    handle(SIGUSR1, 0, handler);
    pthread_t thread = hold_and_send(interrupted[_i], SIGUSR1);
    for (unsigned i = 0; i < LATE && load_acquire(&waiter.state) != 2; i++)
        usleep(1000);
    ck_assert_msg(load_acquire(&waiter.state) == 2, "call %d: still waiting", _i);
    pthread_join(thread, NULL);
    ck_assert_msg(waiter.result == -1 && waiter.error == EINTR, "call %d: %d, errno %d", _i,
                  waiter.result, waiter.error);
}
END_TEST

START_TEST(one_that_it_ignores_does_not)
{
    handle(SIGUSR1, 0, SIG_IGN);
    pthread_t thread = hold_and_send(calls[_i].call, SIGUSR1);
    hold_for(LATE);
    pthread_join(thread, NULL);
    ck_assert_msg(waiter.error != EINTR && waiter.result == calls[_i].result, "%s: %d, errno %d",
                  calls[_i].name, waiter.result, waiter.error);
}
END_TEST

/* With SA_RESTART the kernel goes on reading, with us and without. */
START_TEST(one_that_restarts_calls_restarts_them)
{
    handle(SIGUSR1, SA_RESTART, handler);
    pthread_t thread = hold_and_send(by_read, SIGUSR1);
    usleep(50000);
    ck_assert_uint_eq(load_acquire(&waiter.state), 1);
    ck_assert_int_eq(write(pipes[1], "x", 1), 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiter.result, 1);
}
END_TEST

START_TEST(threads_can_be_held)
{
    UNIT_SKIP(UNIT_EMULATED);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("syscall_restart");
    if (unit_is_emulated()) {
        TCase *nothing = tcase_create("emulated");
        tcase_add_test(nothing, threads_can_be_held);
        suite_add_tcase(suite, nothing);
        return unit_main(argc, argv, suite);
    }
    TCase *held = tcase_create("held");
    tcase_add_checked_fixture(held, setup, teardown);
    tcase_add_loop_test(held, a_deadline_is_kept_by_who_is_held, 0, ARRAY_LENGTH(calls));
    tcase_add_loop_test(held, what_comes_at_last_is_got, 0, ARRAY_LENGTH(late));
    tcase_set_timeout(held, 30);
    suite_add_tcase(suite, held);
    TCase *signals = tcase_create("signals");
    tcase_add_checked_fixture(signals, setup, teardown);
    tcase_add_loop_test(signals, a_signal_of_the_programs_interrupts_who_is_held, 0,
                        ARRAY_LENGTH(interrupted));
    tcase_add_loop_test(signals, one_that_it_ignores_does_not, 0, ARRAY_LENGTH(calls));
    tcase_add_test(signals, one_that_restarts_calls_restarts_them);
    tcase_set_timeout(signals, 30);
    suite_add_tcase(suite, signals);
    return unit_main(argc, argv, suite);
}
