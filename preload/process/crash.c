#include "preload/process/crash.h"
#include "preload/signals/altstack.h"
#include "preload/base/atomic.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/base/sys.h"
#include "preload/process/crash_record.h"
#include "context.h"

/* ns that a second thread waits for the end that the first one brings */
#define PATIENCE 10000000000ull

#define SIGNALS                                                                                    \
    (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) |  \
     1ull << (SIGABRT - 1) | 1ull << (SIGSYS - 1) | 1ull << (SIGTRAP - 1))

/* Whoever returns from a handler of these does not meet them again: they have to be sent. */
#define SENT_BY_US (1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))

/* The stack it all happens on, and one for a fault up there. Pages that nobody touches before. */
static char stack[256 << 10] __attribute__((aligned(64)));
static char second_stack[64 << 10] __attribute__((aligned(64)));

static bool (*account_of)(void);
static void (*tell_end)(void);

static uint32_t taker; /* the thread that crashes; once it is to die nobody else ever will be */
static volatile bool at_it; /* … is writing */
static uint64_t place;      /* of the record in the store */
static struct witness witness;
static volatile unsigned step;
static void *volatile after_fault[5]; /* where a fault in the handler goes on */

/* ---- The record ----------------------------------------------------------------------------- */

enum { ACCOUNT, FIRST_STEP, TELL = FIRST_STEP + WITNESS_STEPS, STEPS };

/* The last step of all is this one. */
static bool take_step(unsigned number)
{
    if (number == ACCOUNT)
        return !account_of();
    if (number == TELL) {
        if (witness.state == LEAK_CRASH_FATAL && !lock_thread.held)
            tell_end();
        return true;
    }
    if (number > FIRST_STEP && !witness.crash)
        return true;
    witness_steps[number - FIRST_STEP](&witness);
    return false;
}

static void take_steps(void)
{
    for (step = ACCOUNT; step < STEPS; step++) {
        if (__builtin_setjmp((void **)after_fault)) {
            if (step == ACCOUNT)
                break; /* what there is may be the parent's */
            continue;
        }
        if (take_step(step))
            break;
    }
}

/* On our own stack. The alternate stack is where the kernel has put what we are to tell of, or may
 * have: another one, until we are done. */
static void run(void *argument UNUSED)
{
    const stack_t second = {.ss_sp = second_stack, .ss_size = sizeof second_stack};
    stack_t before;
    bool changed = sys_signal_stack(&second, &before) >= 0;
    modules_wait_for_nobody(1);
    at_it = true;
    take_steps();
    at_it = false;
    modules_wait_for_nobody(-1);
    if (changed)
        sys_signal_stack(&before, NULL);
}

/* False: another thread is at it. */
static bool record(const siginfo_t *info, const ucontext_t *context, enum leak_crash_state state)
{
    uint32_t self = sys_gettid(), owner = 0;
    if (!cas_acquire(&taker, &owner, self) && owner != self)
        return false;
    witness = (struct witness){.info = info,
                               .context = context,
                               .state = state,
                               .has_look = snapshot_is_busy(),
                               .place = &place};
    arch_call_on(stack + sizeof stack, run, NULL);
    if (state == LEAK_CRASH_FATAL && witness.crash)
        return true; /* without a record it may be a vfork child's death: not ours to keep */
    store_release(&taker, 0); /* pairs with the next one's acquire */
    sys_futex_wake(&taker, INT32_MAX);
    return true;
}

/* ---- The end -------------------------------------------------------------------------------- */

static bool comes_again(const siginfo_t *info)
{
    int number = info->si_signo;
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

/* When the handler returns the thread stands where it was, and the signal is there with all it
 * carried: also where the fault would not come again (a trap, what another process has sent, memory
 * that a second thread has mapped meanwhile). */
static void die(int number, const siginfo_t *info, ucontext_t *context)
{
    const struct sys_action fatal = {.handler = (uintptr_t)SIG_DFL};
    const uint64_t all = ~0ull, others = ~(1ull << (number - 1));
    sys_action(number, &fatal, NULL);
    sys_signals_restore(&all);
    memcpy(&context->uc_sigmask, &others, sizeof others);
    if (comes_again(info) && sys_peek_guesses())
        return; /* qemu-user takes a fault that is sent for one of its own */
    if (sys_signal_self(number, info) < 0 && !sys_signal_is_fault(number))
        sys_kill(sys_getpid(), number);
}

/* The first process of a container, or of the machine: what the default action of a signal that was
 * sent to it would be, the kernel does not do. */
static bool is_first(void)
{
    return sys_getpid() == 1;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    uint32_t self = sys_gettid(), other;
    if (handlers_keeps(number, context))
        return;
    if (info->si_code <= 0 && is_first())
        return;
    if (at_it && load_relaxed(&taker) == self)
        __builtin_longjmp((void **)after_fault, 1);
    while (!record(info, context, LEAK_CRASH_FATAL)) {
        other = load_relaxed(&taker);
        if (other && !sys_futex_wait_for(&taker, other, PATIENCE))
            break;
    }
    die(number, info, context);
}

/* abort() dies without our handler after the program's has returned. */
static void on_programs_handler(int number, siginfo_t *info, void *context)
{
    uint64_t mask;
    if (number != SIGABRT || is_first() ||
        (at_it && load_relaxed(&taker) == (uint32_t)sys_gettid()))
        return;
    sys_signals_block(&mask);
    record(info, context, LEAK_CRASH_HANDED);
    sys_signals_restore(&mask);
}

static bool no_account(void)
{
    return false;
}

void crash_stand_in(int number)
{
    if (!account_of)
        account_of = no_account;
    if (real.sigaction)
        handlers_stand_in(on_signal, 1ull << (number - 1), real.sigaction);
}

void crash_start(struct guard *guard, bool (*account)(void), void (*ended)(void))
{
    account_of = account;
    tell_end = ended;
    altstack_start(guard);
    handlers_passing = on_programs_handler;
    uint64_t signals = is_first() ? SIGNALS & ~SENT_BY_US : SIGNALS;
    if (real.sigaction)
        handlers_stand_in(on_signal, signals, real.sigaction);
}

void crash_fork_child(void)
{
    place = 0;
    taker = 0;
}
