/* test_signal_trampoline.c - a handler behind a trampoline sees what it would see without one, but
 * never while the thread holds a lock.
 *
 * The oracle is the kernel: every case is run without a trampoline as well. What the handler saw (how
 * often, with which siginfo, under which mask, on which stack) must be the same. Only the moment may
 * differ: not while the thread holds a lock.
 */
#include "tests/unit/preload/unit.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "context.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

static struct lock outer, inner;
static char alone;
static bool every_byte = true; /* of a siginfo is carried by a signal; setup() tries it */

#define INFO_SIZE 48 /* as much as the kernel ever fills */

/* What of it has a meaning, if that ends there; between the code and the first field is padding. */
static siginfo_t meant(const siginfo_t *info, size_t end)
{
    const size_t code = offsetof(siginfo_t, si_code) + sizeof info->si_code;
    const size_t first = offsetof(siginfo_t, si_pid);
    siginfo_t out;
    if (every_byte)
        return *info;
    memset(&out, 0, sizeof out);
    memcpy(&out, info, code);
    if (end > first)
        memcpy((char *)&out + first, (const char *)info + first, end - first);
    return out;
}

/* When it is sent once more as it is, does it come with all it had? By the bare system call: what
 * this says must not be ours to spoil. */
static bool comes_again(const siginfo_t *info, size_t end)
{
    siginfo_t taken;
    sigset_t one_signal, before;
    sigemptyset(&one_signal);
    sigaddset(&one_signal, info->si_signo);
    sigprocmask(SIG_BLOCK, &one_signal, &before);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), info->si_signo, info);
    sigtimedwait(&one_signal, &taken, &(struct timespec){0, 0});
    sigprocmask(SIG_SETMASK, &before, NULL);
    taken = meant(&taken, end);
    return !memcmp(&taken, info, INFO_SIZE);
}

/* The kernel carries what it was given. qemu-user hands on the fields that it expects for a signal
 * and a code, and leaves the others as they happen to be in its memory. */
static void setup(void)
{
    siginfo_t full;
    lock_single_threaded = &alone;
    memset(&full, 0x5a, sizeof full);
    full.si_signo = SIGUSR1;
    full.si_code = SI_USER;
    full.si_errno = 0;
    every_byte = comes_again(&full, INFO_SIZE);
}

/* ---- What a handler sees --------------------------------------------------------------------- */

struct seen {
    int calls, number, code, value;
    pid_t pid;
    uint64_t mask, mask_before; /* while it runs, and for after it */
    bool on_stack, locked;
};

static volatile struct seen seen;

static uint64_t mask_now(void)
{
    uint64_t mask = 0;
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    memcpy(&mask, &now, sizeof mask);
    return mask;
}

static void note(int number)
{
    uintptr_t low, high;
    seen.calls++;
    seen.number = number;
    seen.mask = mask_now();
    seen.on_stack = sys_on_signal_stack(&low, &high);
    seen.locked = seen.locked || outer.word || inner.word || lock_thread.held;
}

static void plain(int number)
{
    note(number);
}

static void informed(int number, siginfo_t *info, void *context)
{
    note(number);
    seen.code = info->si_code;
    seen.pid = info->si_code == SI_TIMER ? 0 : info->si_pid; /* a timer's number stands there */
    if (every_byte || info->si_code == SI_QUEUE || info->si_code == SI_TIMER)
        seen.value = info->si_value.sival_int;
    memcpy((void *)&seen.mask_before, &((ucontext_t *)context)->uc_sigmask,
           sizeof seen.mask_before);
}

static void install(int number, int flags, bool trampoline)
{
    struct sigaction action = {.sa_flags = flags};
    if (flags & SA_SIGINFO)
        action.sa_sigaction = informed;
    else
        action.sa_handler = plain;
    sigaddset(&action.sa_mask, SIGUSR2);
    if (trampoline)
        trampoline_wrap_action(number, &action);
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

/* ---- Ways for a signal to come --------------------------------------------------------------- */

static void by_kill(int number)
{
    kill(getpid(), number);
}

static void by_raise(int number)
{
    raise(number);
}

static void by_queue(int number)
{
    sigqueue(getpid(), number, (union sigval){.sival_int = 7});
}

static void by_queue_to_the_thread(int number)
{
    pthread_sigqueue(pthread_self(), number, (union sigval){.sival_int = 8});
}

/* Comes some time later, while we wait; si_overrun and si_timerid are the kernel's. */
static void by_timer(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec soon = {.it_value = {0, 1000000}};
    timer_t timer;
    event.sigev_value.sival_int = 9;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    while (!seen.calls && !lock_thread.put_off)
        sched_yield();
    timer_delete(timer);
}

static const struct {
    const char *name;
    void (*send)(int number);
} ways[] = {{"kill", by_kill},
            {"raise", by_raise},
            {"sigqueue", by_queue},
            {"pthread_sigqueue", by_queue_to_the_thread},
            {"timer_create", by_timer}};

enum when { WITHOUT_TRAMPOLINE, NOTHING_HELD, HELD };

/* Sends one signal; returns what was seen, and in *after the handler that sigaction returns then. */
static struct seen one(enum when when, int number, int flags, void (*send)(int),
                       struct sigaction *after)
{
    memset((void *)&seen, 0, sizeof seen);
    install(number, flags, when != WITHOUT_TRAMPOLINE);
    if (when == HELD) {
        struct locked first = lock_take(&outer), second = lock_take(&inner);
        send(number);
        ck_assert_int_eq(seen.calls, 0);
        lock_give(&second);
        ck_assert_int_eq(seen.calls, 0);
        lock_give(&first);
    } else {
        send(number);
    }
    sigaction(number, NULL, after);
    trampoline_unwrap_action(after);
    return seen;
}

static const int flag_of[] = {SA_SIGINFO, SA_NODEFER, SA_RESETHAND, SA_ONSTACK};
static char signal_stack[64 << 10];

static void ready(void)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigset_t base;
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    sigemptyset(&base);
    sigaddset(&base, SIGHUP);
    sigprocmask(SIG_SETMASK, &base, NULL);
}

#define SHOW                                                                                       \
    "%d calls, number %d code %d pid %d value %d, mask %#" PRIx64 " in %#" PRIx64                  \
    ", on its stack %d, then flags %#x handler %p"
#define SHOWN(s, a)                                                                                \
    (s).calls, (s).number, (s).code, (int)(s).pid, (s).value, (s).mask, (s).mask_before,           \
        (s).on_stack, (unsigned)(a).sa_flags, (void *)(a).sa_handler

/* All flags x ways to come x a standard and a real-time signal. */
START_TEST(a_handler_behind_a_trampoline_sees_what_it_would_see_without)
{
    int flags = 0;
    ready();
    for (unsigned bit = 0; bit < ARRAY_LENGTH(flag_of); bit++)
        flags |= _i >> bit & 1 ? flag_of[bit] : 0;
    for (unsigned way = 0; way < ARRAY_LENGTH(ways); way++)
        for (int kind = 0; kind < 4; kind++) {
            int number = kind % 2 ? SIGRTMIN + 3 : SIGUSR1;
            alone = kind / 2;
            struct sigaction native, after;
            struct seen want = one(WITHOUT_TRAMPOLINE, number, flags, ways[way].send, &native);
            ck_assert_int_eq(want.calls, 1);
            for (enum when when = NOTHING_HELD; when <= HELD; when++) {
                struct seen got = one(when, number, flags, ways[way].send, &after);
                bool same = !memcmp(&got, &want, sizeof got) && after.sa_flags == native.sa_flags &&
                            after.sa_handler == native.sa_handler &&
                            !memcmp(&after.sa_mask, &native.sa_mask, sizeof(uint64_t));
                ck_assert_msg(same, "flags %#x, %s, signal %d, %s:\nwanted " SHOW "\ngot    " SHOW,
                              flags, ways[way].name, number,
                              when == HELD ? "a lock held" : "nothing held", SHOWN(want, native),
                              SHOWN(got, after));
                ck_assert(!got.locked && !lock_thread.held && !lock_thread.put_off);
            }
            ck_assert_uint_eq(mask_now(), 1ull << (SIGHUP - 1));
        }
}
END_TEST

/* ---- What the kernel sends by itself --------------------------------------------------------- */

static siginfo_t carried;
static size_t meaning_ends;

static void keep_info(int number, siginfo_t *info, void *context UNUSED)
{
    note(number);
    carried = meant(info, meaning_ends);
    if (number == SIGCHLD) /* another child each time */
        carried.si_pid = carried.si_utime = carried.si_stime = 0;
}

static void wait_for_it(void)
{
    while (!seen.calls && !lock_thread.put_off)
        sched_yield();
}

static void alarm_clock(void)
{
    struct itimerval soon = {.it_value = {0, 1000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    wait_for_it();
}

static void child_ends(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(17);
    wait_for_it();
    waitpid(pid, NULL, 0);
}

static void pipe_is_ready(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_ASYNC);
    fcntl(ends[0], F_SETSIG, SIGIO);
    fcntl(ends[0], F_SETOWN, getpid());
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    wait_for_it();
    close(ends[0]);
    close(ends[1]);
}

static void pipe_is_broken(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    ck_assert_int_eq(write(ends[1], "x", 1), -1);
    close(ends[1]);
}

static const struct {
    const char *name;
    int number;
    void (*happen)(void);
    size_t end; /* of what has a meaning */
} events[] = {
    {"setitimer", SIGALRM, alarm_clock, 0},
    {"a child's end", SIGCHLD, child_ends, offsetof(siginfo_t, si_status) + 4},
    {"a descriptor ready", SIGIO, pipe_is_ready, offsetof(siginfo_t, si_fd) + 4},
    {"a pipe without a reader", SIGPIPE, pipe_is_broken, offsetof(siginfo_t, si_uid) + 4}};

START_TEST(a_signal_of_the_kernels_own_keeps_what_it_carries)
{
    siginfo_t want;
    meaning_ends = events[_i].end;
    for (enum when when = WITHOUT_TRAMPOLINE; when <= HELD; when++) {
        if (when == HELD && !every_byte && !comes_again(&want, meaning_ends))
            return UNIT_SKIP("a signal sent again loses what it carries (qemu-user)");
        struct sigaction action = {.sa_sigaction = keep_info, .sa_flags = SA_SIGINFO | SA_RESTART};
        if (when != WITHOUT_TRAMPOLINE)
            trampoline_wrap_action(events[_i].number, &action);
        sigaction(events[_i].number, &action, NULL);
        memset((void *)&seen, 0, sizeof seen);
        memset(&carried, 0, sizeof carried);
        if (when == HELD) {
            struct locked locked = lock_take(&outer);
            events[_i].happen();
            ck_assert_int_eq(seen.calls, 0);
            lock_give(&locked);
        } else {
            events[_i].happen();
        }
        ck_assert_msg(seen.calls == 1, "%s: %d calls", events[_i].name, seen.calls);
        if (when == WITHOUT_TRAMPOLINE)
            want = carried;
        ck_assert_msg(!memcmp(&carried, &want, INFO_SIZE),
                      "%s: code %d status %d, wanted %d and %d", events[_i].name, carried.si_code,
                      carried.si_status, want.si_code, want.si_status);
    }
}
END_TEST

/* ---- Several --------------------------------------------------------------------------------- */

static int order[200], ordered;

static void in_order(int number)
{
    order[ordered++] = number;
}

static void in_order_by_value(int number UNUSED, siginfo_t *info, void *context UNUSED)
{
    seen.locked = seen.locked || lock_thread.held;
    order[ordered++] = info->si_value.sival_int;
}

static const int several[] = {SIGUSR2, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGURG};

static void send_several(void)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(several); i++)
        raise(several[i]);
}

/* The order is that of the kernel for signals that were blocked meanwhile. */
START_TEST(several_signals_come_one_after_the_other_when_the_lock_is_given)
{
    int want[ARRAY_LENGTH(several)];
    sigset_t all, none;
    alone = _i;
    for (unsigned i = 0; i < ARRAY_LENGTH(several); i++)
        signal(several[i], in_order);
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    send_several();
    sigprocmask(SIG_SETMASK, &none, NULL);
    ck_assert_int_eq(ordered, ARRAY_LENGTH(several));
    memcpy(want, order, sizeof want);
    ordered = 0;
    for (unsigned i = 0; i < ARRAY_LENGTH(several); i++) {
        struct sigaction action = {.sa_handler = in_order, .sa_flags = SA_RESTART};
        trampoline_wrap_action(several[i], &action);
        sigaction(several[i], &action, NULL);
    }
    struct locked locked = lock_take(&outer);
    send_several();
    ck_assert_int_eq(ordered, 0);
    lock_give(&locked);
    ck_assert_int_eq(ordered, ARRAY_LENGTH(several));
    for (unsigned i = 0; i < ARRAY_LENGTH(several); i++)
        ck_assert_msg(order[i] == want[i], "signal %d came as number %u, wanted %d", order[i], i,
                      want[i]);
    ck_assert_uint_eq(mask_now(), 0);
}
END_TEST

/* 0, 1: sent to the process, to the thread; +2: all are there before the first can be put off. */
START_TEST(real_time_signals_keep_their_order_and_number)
{
    enum { MANY = 100 };
    sigset_t one_signal;
    struct sigaction action = {.sa_sigaction = in_order_by_value, .sa_flags = SA_SIGINFO};
    trampoline_wrap_action(SIGRTMIN, &action);
    sigaction(SIGRTMIN, &action, NULL);
    sigemptyset(&one_signal);
    sigaddset(&one_signal, SIGRTMIN);
    struct locked locked = lock_take(&outer);
    if (_i & 2)
        sigprocmask(SIG_BLOCK, &one_signal, NULL);
    for (int n = 0; n < MANY; n++) {
        union sigval value = {.sival_int = n};
        ck_assert_int_eq(_i & 1 ? pthread_sigqueue(pthread_self(), SIGRTMIN, value)
                                : sigqueue(getpid(), SIGRTMIN, value),
                         0);
    }
    if (_i & 2)
        sigprocmask(SIG_UNBLOCK, &one_signal, NULL);
    ck_assert_int_eq(ordered, 0);
    lock_give(&locked);
    ck_assert_int_eq(ordered, MANY);
    for (int n = 0; n < MANY; n++)
        ck_assert_msg(order[n] == n, "%d came where %d was sent", order[n], n);
}
END_TEST

/* ---- What is not put off --------------------------------------------------------------------- */

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

START_TEST(a_fault_is_never_put_off)
{
    install(faults[_i], 0, true);
    struct locked locked = lock_take(&outer);
    raise(faults[_i]);
    ck_assert_int_eq(seen.calls, 1);
    lock_give(&locked);
    ck_assert_int_eq(seen.calls, 1);
}
END_TEST

START_TEST(a_signal_for_which_there_is_no_room_comes_at_once)
{
    struct rlimit usual, none;
    sigset_t one_signal;
    install(SIGRTMIN, SA_SIGINFO, true);
    sigemptyset(&one_signal);
    sigaddset(&one_signal, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &one_signal, NULL);
    by_queue(SIGRTMIN);
    getrlimit(RLIMIT_SIGPENDING, &usual);
    none = (struct rlimit){0, usual.rlim_max};
    setrlimit(RLIMIT_SIGPENDING, &none);
    struct locked locked = lock_take(&outer);
    sigprocmask(SIG_UNBLOCK, &one_signal, NULL);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_int_eq(seen.value, 7);
    lock_give(&locked);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_uint_eq(mask_now(), 0);
    setrlimit(RLIMIT_SIGPENDING, &usual); /* libcheck tells the time by what a timer can do */
}
END_TEST

static void *hold_and_be_hit(void *argument)
{
    struct locked locked = lock_take(&outer);
    pthread_kill(pthread_self(), SIGUSR1);
    *(uint64_t *)argument = mask_now();
    lock_give(&locked);
    return NULL;
}

START_TEST(a_thread_that_holds_nothing_is_not_concerned)
{
    uint64_t there;
    pthread_t thread;
    install(SIGUSR1, 0, true);
    pthread_create(&thread, NULL, hold_and_be_hit, &there);
    pthread_join(thread, NULL);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_uint_ne(there, 0);
    ck_assert_uint_eq(mask_now(), 0);
    raise(SIGUSR1);
    ck_assert_int_eq(seen.calls, 2);
}
END_TEST

/* ---- Leaving by longjmp ---------------------------------------------------------------------- */

static sigjmp_buf back;

static void jump(int number)
{
    note(number);
    siglongjmp(back, 1);
}

/* 0: the mask is put back as well; 1: it is not, and the signal stays blocked, as the kernel left
 * it. */
START_TEST(a_handler_may_leave_by_longjmp)
{
    struct sigaction action = {.sa_handler = jump};
    trampoline_wrap_action(SIGUSR1, &action);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int n = 0; n < 1000; n++) {
        if (!sigsetjmp(back, !_i)) {
            struct locked first = lock_take(&outer), second = lock_take(&inner);
            raise(SIGUSR1);
            lock_give(&second);
            lock_give(&first);
            ck_abort_msg("back from the handler");
        }
        ck_assert_int_eq(seen.calls, n + 1);
        ck_assert(!seen.locked && !lock_thread.held && !lock_thread.put_off);
        ck_assert_uint_eq(mask_now(), _i ? 1ull << (SIGUSR1 - 1) : 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
    }
}
END_TEST

/* ---- Trampolines ----------------------------------------------------------------------------------- */

static sighandler_t address(unsigned n)
{
    return (sighandler_t)(uintptr_t)(0x400000 + n * 16);
}

START_TEST(a_trampoline_leads_to_its_handler_and_to_no_other)
{
    sighandler_t trampolines[200];
    for (unsigned i = 0; i < 200; i++)
        trampolines[i] = trampoline_get(SIGUSR1, address(i));
    for (unsigned i = 0; i < 200; i++) {
        ck_assert_msg(trampolines[i] != address(i), "handler %u has no trampoline", i);
        ck_assert_msg(trampoline_get_handler(trampolines[i]) == address(i),
                      "trampoline %u leads elsewhere", i);
        ck_assert_msg(trampoline_get(SIGUSR2, address(i)) == trampolines[i],
                      "handler %u has two trampolines", i);
    }
    ck_assert(trampoline_get_handler(address(7)) == address(7)); /* no trampoline */
}
END_TEST

static const struct {
    const char *name;
    int number;
    uintptr_t handler;
} special[] = {
    {"SIG_DFL", SIGUSR1, (uintptr_t)SIG_DFL},   {"SIG_IGN", SIGUSR1, (uintptr_t)SIG_IGN},
    {"SIG_HOLD", SIGUSR1, (uintptr_t)SIG_HOLD}, {"SIG_ERR", SIGUSR1, (uintptr_t)SIG_ERR},
    {"a fault", SIGSEGV, (uintptr_t)plain},     {"another fault", SIGTRAP, (uintptr_t)plain}};

START_TEST(what_is_no_handler_of_a_plain_signal_has_no_trampoline)
{
    sighandler_t given = (sighandler_t)special[_i].handler;
    struct sigaction action = {.sa_handler = given, .sa_flags = SA_RESTART};
    ck_assert_msg(trampoline_get(special[_i].number, given) == given, "%s has a trampoline",
                  special[_i].name);
    ck_assert_msg(trampoline_get_handler(given) == given, "%s is a trampoline", special[_i].name);
    trampoline_wrap_action(special[_i].number, &action);
    ck_assert(action.sa_handler == given && action.sa_flags == SA_RESTART);
    trampoline_unwrap_action(&action);
    ck_assert(action.sa_handler == given && action.sa_flags == SA_RESTART);
}
END_TEST

/* More handlers than trampolines: the rest is called by the kernel itself, lock or not. */
START_TEST(without_a_trampoline_left_the_handler_is_called_directly)
{
    unsigned trampolines = 0;
    for (unsigned i = 0; i < 1000; i++)
        trampolines += trampoline_get(SIGUSR1, address(i)) != address(i);
    ck_assert_uint_eq(trampolines, 256);
    ck_assert(trampoline_get(SIGUSR1, plain) == plain);
    for (unsigned i = 0; i < 256; i++)
        ck_assert(trampoline_get_handler(trampoline_get(SIGUSR1, address(i))) == address(i));
    struct sigaction native, after;
    struct seen want = one(WITHOUT_TRAMPOLINE, SIGUSR1, 0, by_kill, &native);
    struct seen got = one(NOTHING_HELD, SIGUSR1, 0, by_kill, &after);
    ck_assert(!memcmp(&got, &want, sizeof got) && after.sa_flags == native.sa_flags);
    struct locked locked = lock_take(&outer);
    raise(SIGUSR1);
    ck_assert_int_eq(seen.calls, 2);
    lock_give(&locked);
}
END_TEST

static void of_the_child(int number UNUSED)
{
    _exit(1);
}

/* It shares our memory, but not the kernel's table of handlers. */
START_TEST(a_vfork_childs_handlers_are_not_the_parents)
{
    install(SIGUSR1, 0, true);
    pid_t pid = vfork();
    if (pid == 0) {
        struct sigaction action = {.sa_handler = of_the_child, .sa_flags = SA_SIGINFO};
        trampoline_wrap_action(SIGUSR1, &action);
        sigaction(SIGUSR1, &action, NULL);
        trampoline_wrap_action(SIGUSR2, &action);
        sigaction(SIGUSR2, &action, NULL);
        _exit(0);
    }
    unit_await_success(pid);
    struct sigaction after;
    sigaction(SIGUSR1, NULL, &after);
    trampoline_unwrap_action(&after);
    ck_assert(after.sa_handler == plain && !(after.sa_flags & SA_SIGINFO));
    sigaction(SIGUSR2, NULL, &after);
    ck_assert(after.sa_handler == SIG_DFL);
    struct locked locked = lock_take(&outer);
    raise(SIGUSR1);
    ck_assert_int_eq(seen.calls, 0);
    lock_give(&locked);
    ck_assert_int_eq(seen.calls, 1);
}
END_TEST

/* ---- Actions that libc makes ----------------------------------------------------------------- */

sighandler_t bsd_signal(int number, sighandler_t handler);

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static const struct {
    const char *name;
    sighandler_t (*install)(int, sighandler_t);
    int interrupt; /* siginterrupt(…, this - 1) afterwards */
} olds[] = {{"signal", signal, 0},
            {"sysv_signal", sysv_signal, 0},
            {"sigset", sigset, 0},
            {"signal, siginterrupt(1)", signal, 2},
            {"signal, siginterrupt(0)", signal, 1}};

static struct sigaction install_by(int i, sighandler_t handler, bool trampoline)
{
    struct sigaction after;
    sighandler_t before =
        olds[i].install(SIGUSR1, trampoline ? trampoline_get(SIGUSR1, handler) : handler);
    ck_assert_msg(before == SIG_DFL, "%s answers %p", olds[i].name, (void *)before);
    if (trampoline)
        trampoline_complete_action(SIGUSR1);
    if (olds[i].interrupt)
        siginterrupt(SIGUSR1, olds[i].interrupt - 1);
    sigaction(SIGUSR1, NULL, &after);
    trampoline_unwrap_action(&after);
    return after;
}

START_TEST(handlers_of_the_older_calls_are_put_off_too)
{
    struct sigaction native = install_by(_i, plain, false), after;
    raise(SIGUSR1);
    struct seen want = seen;
    struct sigaction default_action = {.sa_handler = SIG_DFL};
    sigaction(SIGUSR1, &default_action, NULL);
    memset((void *)&seen, 0, sizeof seen);
    after = install_by(_i, plain, true);
    ck_assert_msg(after.sa_handler == plain && after.sa_flags == native.sa_flags,
                  "%s: flags %#x, wanted %#x", olds[_i].name, (unsigned)after.sa_flags,
                  (unsigned)native.sa_flags);
    struct locked locked = lock_take(&outer);
    raise(SIGUSR1);
    ck_assert_int_eq(seen.calls, 0);
    lock_give(&locked);
    struct seen got = seen;
    ck_assert_msg(!memcmp(&got, &want, sizeof got), "%s: not what it would see", olds[_i].name);
}
END_TEST

static void plain_handler(int number UNUSED)
{
}

static void info_handler(int number UNUSED, siginfo_t *info UNUSED, void *context UNUSED)
{
}

static void default_handler(int number UNUSED, siginfo_t *info UNUSED, void *context UNUSED)
{
}

/* As leakctl attach and detach do, twice. */
START_TEST(unwrapped_handlers_are_those_that_the_program_installed)
{
    const struct sigaction installed[] = {
        {.sa_handler = plain_handler, .sa_flags = SA_RESTART},
        {.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK},
        {.sa_handler = SIG_IGN},
        {.sa_handler = SIG_DFL}};
    const int numbers[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM};
    struct sigaction now, before[ARRAY_LENGTH(numbers)];
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        sigaction(numbers[i], &installed[i], NULL);
        sigaction(numbers[i], NULL, &before[i]); /* libc adds a flag */
    }
    trampoline_replace_default(default_handler, 1ull << (SIGTERM - 1), 0, sigaction);
    for (int round = 0; round < 2; round++) {
        trampoline_wrap_installed(sigaction);
        trampoline_replace_again(sigaction);
        sigaction(SIGUSR1, NULL, &now);
        ck_assert(now.sa_handler != plain_handler);
        sigaction(SIGTERM, NULL, &now);
        ck_assert(now.sa_sigaction == default_handler);
        trampoline_unwrap_installed(sigaction);
        for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
            sigaction(numbers[i], NULL, &now);
            ck_assert(now.sa_sigaction == before[i].sa_sigaction);
            ck_assert_int_eq(now.sa_flags | CONTEXT_RESTORER,
                             before[i].sa_flags | CONTEXT_RESTORER);
        }
    }
}
END_TEST

START_TEST(completing_changes_nothing_that_is_no_trampoline)
{
    struct sigaction before, after;
    install(SIGUSR1, 0, false);
    sigaction(SIGUSR1, NULL, &before);
    trampoline_complete_action(SIGUSR1);
    trampoline_complete_action(SIGUSR2);
    trampoline_complete_action(1000);
    sigaction(SIGUSR1, NULL, &after);
    ck_assert(before.sa_flags == after.sa_flags && after.sa_handler == plain);
    sigaction(SIGUSR2, NULL, &after);
    ck_assert(after.sa_handler == SIG_DFL && !(after.sa_flags & SA_SIGINFO));
    install(SIGUSR1, SA_SIGINFO, true); /* asked for: stays */
    trampoline_complete_action(SIGUSR1);
    sigaction(SIGUSR1, NULL, &after);
    trampoline_unwrap_action(&after);
    ck_assert(after.sa_flags & SA_SIGINFO);
}
END_TEST

/* ---- At any instruction ---------------------------------------------------------------------- */

static void take_and_give(void)
{
    struct locked first = lock_take(&outer), second, third;
    if (lock_try(&outer, &second))
        _exit(3);
    second = lock_take(&inner);
    lock_give(&second);
    lock_give(&first);
    if (!lock_try(&inner, &third))
        _exit(4);
    lock_give(&third);
}

static void be_hit(void)
{
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    take_and_give();
    raise(SIGSTOP);
    _exit(seen.calls != 1 || seen.locked || mask_now() || lock_thread.held || lock_thread.put_off ||
          outer.word || inner.word);
}

/* One run: single steps, then the signal. False when the child was through before. */
static bool hit_at(unsigned steps, int *status, bool *refused)
{
    pid_t pid = fork();
    if (pid == 0)
        be_hit();
    waitpid(pid, status, 0);
    *refused = false;
    for (unsigned i = 0; i < steps && WIFSTOPPED(*status); i++) {
        *refused = ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0;
        if (*refused) {
            kill(pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        waitpid(pid, status, 0);
        if (WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGSTOP) {
            kill(pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
    }
    for (int now = SIGUSR1; WIFSTOPPED(*status);) {
        ptrace(PTRACE_CONT, pid, 0, now);
        waitpid(pid, status, 0);
        now =
            WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGUSR1 ? SIGUSR1 : 0; /* put off: again */
    }
    return true;
}

/* 0, 1: with several threads, with one; +2: SA_NODEFER and one call only. */
START_TEST(a_signal_at_any_instruction_of_taking_and_giving_comes_once)
{
    unsigned steps = 1;
    int status;
    bool refused;
    if (!unit_can_trace())
        return UNIT_SKIP(UNIT_NO_TRACE);
    alone = _i & 1;
    install(SIGUSR1, _i & 2 ? SA_NODEFER | SA_RESETHAND : SA_SIGINFO, true);
    while (hit_at(steps, &status, &refused)) {
        ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status),
                      "hit after %u instructions: status %x", steps, status);
        steps++;
    }
    if (refused)
        return UNIT_SKIP("ptrace is not allowed here");
    ck_assert_msg(steps > 50, "only %u instructions", steps);
}
END_TEST

/* ---- A storm --------------------------------------------------------------------------------- */

#define SENT 20000

static volatile int came, out_of_order;

static void count_value(int number UNUSED, siginfo_t *info, void *context UNUSED)
{
    seen.locked = seen.locked || lock_thread.held;
    out_of_order += info->si_value.sival_int != came;
    came++;
}

static void *send_storm(void *argument)
{
    pthread_t target = *(pthread_t *)argument;
    (void)target;
    for (int n = 0; n < SENT; n++) {
        union sigval value = {.sival_int = n};
        while (sigqueue(getpid(), SIGRTMIN, value) != 0)
            sched_yield(); /* the queue is full */
        if (n % 3 == 0)
            pthread_kill(target, SIGUSR1);
    }
    return NULL;
}

/* A thread without the mask of the storm takes every signal, most of them while it holds a lock. */
START_TEST(in_a_storm_of_signals_none_is_lost)
{
    pthread_t sender, self = pthread_self();
    struct sigaction action = {.sa_sigaction = count_value, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t one_signal;
    trampoline_wrap_action(SIGRTMIN, &action);
    sigaction(SIGRTMIN, &action, NULL);
    install(SIGUSR1, SA_RESTART, true);
    sigemptyset(&one_signal);
    sigaddset(&one_signal, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &one_signal, NULL); /* the sender inherits this */
    pthread_create(&sender, NULL, send_storm, &self);
    sigprocmask(SIG_UNBLOCK, &one_signal, NULL);
    uint64_t rounds = 0;
    for (; came < SENT; rounds++) {
        struct locked first = lock_take(&outer), second = lock_take(&inner);
        for (volatile int n = 0; n < 20; n++)
            ;
        lock_give(&second);
        lock_give(&first);
    }
    pthread_join(sender, NULL);
    ck_assert_int_eq(came, SENT);
    ck_assert_int_eq(out_of_order, 0);
    ck_assert_int_gt(seen.calls, 0);
    ck_assert(!seen.locked && !lock_thread.held && !lock_thread.put_off);
    ck_assert_uint_eq(mask_now(), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("signal_trampoline");
    TCase *seeing = tcase_create("seen");
    tcase_set_timeout(seeing, 30);
    tcase_add_checked_fixture(seeing, setup, NULL);
    tcase_add_loop_test(seeing, a_handler_behind_a_trampoline_sees_what_it_would_see_without, 0,
                        1 << ARRAY_LENGTH(flag_of));
    tcase_add_loop_test(seeing, a_signal_of_the_kernels_own_keeps_what_it_carries, 0,
                        ARRAY_LENGTH(events));
    tcase_add_loop_test(seeing, several_signals_come_one_after_the_other_when_the_lock_is_given, 0,
                        2);
    tcase_add_loop_test(seeing, real_time_signals_keep_their_order_and_number, 0, 4);
    tcase_add_loop_test(seeing, a_fault_is_never_put_off, 0, ARRAY_LENGTH(faults));
    tcase_add_test(seeing, a_signal_for_which_there_is_no_room_comes_at_once);
    tcase_add_test(seeing, a_thread_that_holds_nothing_is_not_concerned);
    tcase_add_loop_test(seeing, a_handler_may_leave_by_longjmp, 0, 2);
    suite_add_tcase(suite, seeing);
    TCase *trampolines = tcase_create("trampolines");
    tcase_add_checked_fixture(trampolines, setup, NULL);
    tcase_add_test(trampolines, a_trampoline_leads_to_its_handler_and_to_no_other);
    tcase_add_loop_test(trampolines, what_is_no_handler_of_a_plain_signal_has_no_trampoline, 0,
                        ARRAY_LENGTH(special));
    tcase_add_test(trampolines, without_a_trampoline_left_the_handler_is_called_directly);
    tcase_add_test(trampolines, a_vfork_childs_handlers_are_not_the_parents);
    tcase_add_loop_test(trampolines, handlers_of_the_older_calls_are_put_off_too, 0,
                        ARRAY_LENGTH(olds));
    if (!dlsym(RTLD_DEFAULT, "libleak_version")) /* under libleak these calls are wrapped twice */
        tcase_add_test(trampolines, unwrapped_handlers_are_those_that_the_program_installed);
    tcase_add_test(trampolines, completing_changes_nothing_that_is_no_trampoline);
    suite_add_tcase(suite, trampolines);
    TCase *moments = tcase_create("moments");
    tcase_set_timeout(moments, 120);
    tcase_add_checked_fixture(moments, setup, NULL);
    tcase_add_loop_test(moments, a_signal_at_any_instruction_of_taking_and_giving_comes_once, 0, 4);
    tcase_add_test(moments, in_a_storm_of_signals_none_is_lost);
    suite_add_tcase(suite, moments);
    return unit_main(argc, argv, suite);
}
