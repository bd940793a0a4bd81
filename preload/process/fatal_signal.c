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

#define TRIES_MOST 100 /* a millisecond apart */
#define SYNCHRONOUS (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1))

/* All whose default action is to kill, but crashes and SIGKILL; 32 and 33 are libc's own. */
#define KILLING_SIGNALS                                                                            \
    (1ull << (SIGHUP - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGQUIT - 1) | 1ull << (SIGUSR1 - 1) | \
     1ull << (SIGUSR2 - 1) | 1ull << (SIGPIPE - 1) | 1ull << (SIGALRM - 1) |                       \
     1ull << (SIGTERM - 1) | 1ull << (SIGSTKFLT - 1) | 1ull << (SIGXCPU - 1) |                     \
     1ull << (SIGXFSZ - 1) | 1ull << (SIGVTALRM - 1) | 1ull << (SIGPROF - 1) |                     \
     1ull << (SIGIO - 1) | 1ull << (SIGPWR - 1) | ~0ull << (34 - 1))

static char check_stack[128 << 10] __attribute__((aligned(64))); /* untouched until then */

static int
    dying; /* the pid of the process that a first signal is killing; a fork child has another */
static siginfo_t first; /* that signal */
static unsigned tries;

struct death {
    int number;
    struct roots_caller taker;
};

static void check_and_record(void *argument)
{
    const struct death *death = argument;
    process_exit_record(LEAK_END_SIGNAL, death->number, &death->taker, LEAK_OCCASION_FATAL);
}

/* On a stack of libleak's: the handler may run on a small one of the program. */
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

/* May this thread take the leak check here? A signal of a write is raised in the middle of a hook of
 * the program's streams, which must not go on. */
static bool can_check(int number)
{
    bool in_write = SYNCHRONOUS >> (number - 1) & 1;
    return in_write ? !lock_thread.held : !world_thread_is_busy();
}

bool fatal_signal_retry(ucontext_t *context)
{
    int number = first.si_signo;
    if (load_relaxed(&dying) != sys_getpid())
        return true;
    bool can = can_check(number);
    if (!can && ++tries < TRIES_MOST)
        return false;
    if (can)
        check(number, context);
    crash_die(number, &first, context);
    return true;
}

static void on_killing_signal(int number, siginfo_t *info, void *context)
{
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    int nobody = load_relaxed(&dying), self = sys_getpid();
    if (!store_header || store_header->pid != self) /* a vfork child, or a fork child like it */
        return crash_die(number, info, context);
    if (nobody == self || !cas_acquire(&dying, &nobody, self)) /* the second one does not wait */
        return crash_die(first.si_signo ? first.si_signo : number, info, context);
    first = *info;
    first.si_signo = number;
    tries = 0;
    sys_sigaction(number, &fatal, NULL); /* the next one kills, whatever becomes of the check */
    if (can_check(number) || SYNCHRONOUS >> (number - 1) & 1) {
        if (can_check(number))
            check(number, context);
        return crash_die(number, info, context);
    }
    deferred_work_request_death();
    syscall_restart(context, &(struct syscall_interrupted){.number = -1});
}

void fatal_signal_start(void)
{
    uint64_t signals = KILLING_SIGNALS & ~(1ull << (world_signal() - 1));
    if (!crash_is_init())
        trampoline_replace_default(on_killing_signal, signals, signals, real_sigaction);
}
