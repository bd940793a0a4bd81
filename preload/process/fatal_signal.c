/* fatal_signal.c - see crash.h. */
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

#define TRIES_MOST 100         /* a millisecond apart */
#define NO_TRY 1000000000ull   /* ns until the process dies when there was no try at all */
#define IMPATIENT 100000000ull /* ns; timeout(1) sends its signal twice, to process and group */
#define SYNCHRONOUS (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1))

/* All whose default action is to kill, but crashes and SIGKILL; 32 and 33 are libc's own. */
#define KILLING_SIGNALS                                                                            \
    (1ull << (SIGHUP - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGQUIT - 1) | 1ull << (SIGUSR1 - 1) | \
     1ull << (SIGUSR2 - 1) | 1ull << (SIGPIPE - 1) | 1ull << (SIGALRM - 1) |                       \
     1ull << (SIGTERM - 1) | 1ull << (SIGSTKFLT - 1) | 1ull << (SIGXCPU - 1) |                     \
     1ull << (SIGXFSZ - 1) | 1ull << (SIGVTALRM - 1) | 1ull << (SIGPROF - 1) |                     \
     1ull << (SIGIO - 1) | 1ull << (SIGPWR - 1) | ~0ull << (34 - 1))

static char check_stack[128 << 10] __attribute__((aligned(64))); /* untouched until then */

static int dying; /* the pid of the process that a signal is killing; a fork child has another */
static siginfo_t first; /* the first such signal */
static uint64_t first_at;
static unsigned tries;
static int last_resort; /* a timer */

struct death {
    int number;
    struct roots_caller taker;
};

/* The signal frame may lie on the alternate stack: a second signal must not overwrite it. */
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

/* Checks for leaks on a stack of libleak's: the handler may run on a small one of the program. */
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

/* A signal of a write that this thread makes: it may be in the middle of a hook of the program's
 * streams, which must not go on. */
static bool is_of_write(const siginfo_t *info)
{
    return SYNCHRONOUS >> (info->si_signo - 1) & 1 && info->si_code == SI_USER &&
           info->si_pid == sys_getpid();
}

/* Says whether this thread may take the leak check here. */
static bool can_check(const siginfo_t *info)
{
    return is_of_write(info) ? !lock_thread.held : !world_thread_is_busy();
}

static void die(int number, const siginfo_t *info, ucontext_t *context)
{
    struct leak_header *header = store_header;
    if (header->end_how == LEAK_END_NONE) { /* without a check */
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

/* The thread goes on until it has left the runtime; the signal comes again if no thread can try. */
static void put_off(int number)
{
    tries = 0;
    last_resort = sys_timer_create(0, number, 0);
    sys_timer_set(last_resort, NO_TRY, 0);
    deferred_work_request_death();
}

/* Takes the first fatal signal. False: put off. */
static bool take_first(int number, siginfo_t *info, ucontext_t *context)
{
    first = *info;
    first.si_signo = number;
    store_release(&first_at, sys_clock_ns(CLOCK_MONOTONIC)); /* pairs with is_impatient */
    bool can = can_check(&first);
    if (!can && !is_of_write(&first)) {
        put_off(number);
        return false;
    }
    if (can)
        check(number, context);
    return true;
}

/* Is this a second signal of somebody who does not want to wait? */
static bool is_impatient(void)
{
    uint64_t since = load_acquire(&first_at);
    return since && sys_clock_ns(CLOCK_MONOTONIC) - since > IMPATIENT;
}

static void on_killing_signal(int number, siginfo_t *info, void *context)
{
    int other = load_relaxed(&dying), self = sys_getpid();
    if (!store_header || store_header->pid != self) /* a vfork child, or a fork child like it */
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
