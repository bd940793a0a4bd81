#include "preload/process/crash.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/interpose/real_functions.h"
#include "preload/process/lifecycle.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/signals/stop_the_world.h"
#include "preload/signals/syscall_restart.h"
#include "preload/store/store.h"
#include "context.h"

#include <time.h>

/* Number of tries of the leak check, a millisecond apart; after the last one the process dies. */
#define TRIES_MOST 500
/* Nanoseconds until the process dies if no thread can try the leak check. */
#define NO_TRY 1000000000ull
/* Nanoseconds within which a second signal is ignored: timeout(1) sends its signal twice, to the
 * process and to its group. */
#define IMPATIENT 100000000ull
#define SYNCHRONOUS (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1))

/* The signals whose default action is to end the process, without crashes and SIGKILL; libc uses 32
 * and 33 itself. */
#define KILLING_SIGNALS                                                                            \
    (1ull << (SIGHUP - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGQUIT - 1) | 1ull << (SIGUSR1 - 1) | \
     1ull << (SIGUSR2 - 1) | 1ull << (SIGPIPE - 1) | 1ull << (SIGALRM - 1) |                       \
     1ull << (SIGTERM - 1) | 1ull << (SIGSTKFLT - 1) | 1ull << (SIGXCPU - 1) |                     \
     1ull << (SIGXFSZ - 1) | 1ull << (SIGVTALRM - 1) | 1ull << (SIGPROF - 1) |                     \
     1ull << (SIGIO - 1) | 1ull << (SIGPWR - 1) | ~0ull << (34 - 1))

/* The stack on which the leak check runs; not touched before a fatal signal. */
static char check_stack[128 << 10] __attribute__((aligned(64)));

/* The pid of the process in which a fatal signal was handled; a fork child has another pid. */
static int dying;
static siginfo_t first; /* the first fatal signal */
static uint64_t first_at;
static unsigned tries;
static int last_resort; /* a timer that ends the process if the check cannot be tried */

struct death {
    int number;
    struct roots_caller taker;
};

/* Runs the check without an alternate stack: the signal frame may lie on that stack, where a second
 * signal would overwrite it. */
static void check_and_record(void *argument)
{
    const struct death *death = argument;
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t before;
    bool changed = sys_signal_stack(&none, &before) >= 0;
    process_exit_record(LEAK_END_SIGNAL, death->number, &death->taker, LEAK_OCCASION_FATAL);
    if (changed)
        sys_signal_stack(&before, NULL);
}

/* Runs the leak check on a stack of libleak, because the handler may run on a small stack of the
 * program. */
static void check(int number, ucontext_t *context)
{
    struct death death = {.number = number,
                          .taker = {.tid = sys_gettid(),
                                    .sp = context_sp(context),
                                    .frame = context_sp(context),
                                    .pc = context_pc(context),
                                    .fp = context_fp(context),
                                    .context = context}};
    arch_call_on(check_stack + sizeof check_stack, check_and_record, &death);
}

/* Says whether the signal comes from a write of this thread. Then the thread may be in a hook for
 * the program's streams, which must not continue. */
static bool is_of_write(const siginfo_t *info)
{
    return SYNCHRONOUS >> (info->si_signo - 1) & 1 && info->si_code == SI_USER &&
           info->si_pid == sys_getpid();
}

/* Says whether this thread may run the leak check at this point. */
static bool can_check(const siginfo_t *info)
{
    return is_of_write(info) ? !lock_thread.held : !world_thread_is_busy();
}

static void die(int number, const siginfo_t *info, ucontext_t *context)
{
    struct leak_header *header = store_header;
    if (header->end_how == LEAK_END_NONE) { /* no check has recorded the end */
        header->end_value = number;
        header->ended_ns = sys_clock_ns(CLOCK_REALTIME);
        store_release(&header->end_how, LEAK_END_SIGNAL);
    }
    crash_die(number, info, context);
}

bool fatal_signal_retry(ucontext_t *context)
{
    int number = first.si_signo;
    if (load_relaxed(&dying) != sys_getpid())
        return true;
    bool can = can_check(&first);
    if (!can && ++tries < TRIES_MOST)
        return false;
    sys_timer_delete(last_resort);
    if (can)
        check(number, context);
    die(number, &first, context);
    return true;
}

/* Defers the fatal signal: the thread continues until it has left the runtime. A timer sends the
 * signal again if no thread can try the check. */
static void put_off(int number)
{
    tries = 0;
    last_resort = sys_timer_create(0, number, 0);
    sys_timer_set(last_resort, NO_TRY, 0);
    deferred_work_request_death();
}

/* Handles the first fatal signal. False: it is deferred. */
static bool take_first(int number, siginfo_t *info, ucontext_t *context)
{
    first = *info;
    first.si_signo = number;
    /* Pairs with load_acquire in is_impatient. */
    store_release(&first_at, sys_clock_ns(CLOCK_MONOTONIC));
    bool can = can_check(&first);
    if (!can && !is_of_write(&first)) {
        put_off(number);
        return false;
    }
    if (can)
        check(number, context);
    return true;
}

/* Says whether a second fatal signal came so late after the first one that it is a request to end
 * the process without waiting. */
static bool is_impatient(void)
{
    uint64_t since = load_acquire(&first_at);
    return since && sys_clock_ns(CLOCK_MONOTONIC) - since > IMPATIENT;
}

static void on_killing_signal(int number, siginfo_t *info, void *context)
{
    int other = load_relaxed(&dying), self = sys_getpid();
    /* A vfork child, or a fork child without a recording, dies without a leak check. */
    if (!store_header || store_header->pid != self)
        return crash_die(number, info, context);
    bool is_first = other != self && cas_acquire(&dying, &other, self);
    if (is_first ? take_first(number, info, context) : is_impatient())
        die(first.si_signo, &first, context);
    else
        syscall_restart(context, &(struct syscall_interrupted){.number = -1});
}

void fatal_signal_start(void)
{
    uint64_t signals = KILLING_SIGNALS & ~(1ull << (world_signal() - 1));
    if (!crash_is_init())
        trampoline_replace_default(on_killing_signal, signals, signals, real_sigaction);
}
