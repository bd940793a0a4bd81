#include "preload/process/crash.h"
#include "preload/signals/altstack.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/base/sys.h"
#include "context.h"

/* Nanoseconds that another crashing thread waits, while the thread that crashed first ends the
 * process. */
#define DEATH_TIMEOUT 10000000000ull

#define FATAL_SIGNALS                                                                              \
    (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) |  \
     1ull << (SIGABRT - 1) | 1ull << (SIGSYS - 1) | 1ull << (SIGTRAP - 1))

/* Signals that do not occur again when the handler returns, so libleak must send them again. */
#define SENT_BY_US (1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))

/* The stack of the handler, and one for a fault on that stack. Their pages are not touched before a
 * crash. */
static char crash_stack[256 << 10] __attribute__((aligned(64)));
static char nested_stack[64 << 10] __attribute__((aligned(64)));

static bool (*ensure_recording)(void);
static void (*when_recorded)(void);

/* The tid of the thread whose crash is being recorded; it stays set when the process is about to
 * end. */
static uint32_t crashing_thread;
static volatile bool is_recording; /* the crashing thread is in run_steps */
static uint64_t record_place;      /* offset of the crash record in the recording file */
static struct crash_report report;
static volatile unsigned current_step;
static void *volatile after_fault[5]; /* where the handler continues after a fault of its own */

/* ---- Recording the crash, step by step ------------------------------------------------------- */

enum { STEP_RECORDING, STEP_RECORD, STEP_REPORT = STEP_RECORD + CRASH_STEPS, STEPS };

/* Runs one step of the handler. True: no step follows. */
static bool run_step(unsigned number)
{
    if (number == STEP_RECORDING)
        return !ensure_recording();
    if (number == STEP_REPORT) {
        if (report.state == LEAK_CRASH_FATAL && !lock_thread.held)
            when_recorded();
        return true;
    }
    if (number > STEP_RECORD && !report.crash)
        return true;
    crash_record_step(&report, number - STEP_RECORD);
    return false;
}

static void run_steps(void)
{
    for (current_step = STEP_RECORDING; current_step < STEPS; current_step++) {
        if (__builtin_setjmp((void **)after_fault)) {
            /* After a fault in STEP_RECORDING, the recording file may be that of the parent: record
             * nothing. */
            if (current_step == STEP_RECORDING)
                break;
            continue;
        }
        if (run_step(current_step))
            break;
    }
}

/* Records the crash, on crash_stack. The kernel may have put the signal frame on the alternate
 * stack; so another alternate stack is installed until the record is complete. */
static void record_on_stack(void *argument UNUSED)
{
    const stack_t second = {.ss_sp = nested_stack, .ss_size = sizeof nested_stack};
    stack_t before;
    bool changed = sys_signal_stack(&second, &before) >= 0;
    modules_forbid_waiting(1);
    is_recording = true;
    run_steps();
    is_recording = false;
    modules_forbid_waiting(-1);
    if (changed)
        sys_signal_stack(&before, NULL);
}

/* Records the crash of the calling thread. False: another thread is recording its own crash. */
static bool record_crash(const siginfo_t *info, const ucontext_t *context,
                         enum leak_crash_state state)
{
    uint32_t self = sys_gettid(), owner = 0;
    if (!cas_acquire(&crashing_thread, &owner, self) && owner != self)
        return false;
    report = (struct crash_report){.info = info,
                                   .context = context,
                                   .state = state,
                                   .has_look = snapshot_is_busy(),
                                   .place = &record_place};
    arch_call_on(crash_stack + sizeof crash_stack, record_on_stack, NULL);
    /* If no record was made, the process may be a vfork child, which shares crashing_thread with
     * its parent: clear it. */
    if (state == LEAK_CRASH_FATAL && report.crash)
        return true;
    store_release(&crashing_thread, 0); /* pairs with cas_acquire of the next crashing thread */
    sys_futex_wake(&crashing_thread, INT32_MAX);
    return true;
}

/* ---- Ending the process by the signal -------------------------------------------------------- */

static bool fault_recurs(const siginfo_t *info)
{
    int number = info->si_signo;
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

/* Makes the process die by the signal. When the handler returns, the thread is where it was, and
 * the signal is pending with all its data. That is needed if the fault would not recur: for a trap,
 * a signal from another process, or memory that another thread has mapped meanwhile. */
void crash_die(int number, const siginfo_t *info, ucontext_t *context)
{
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    const uint64_t all = ~0ull, others = ~(1ull << (number - 1));
    sys_sigaction(number, &fatal, NULL);
    sys_signals_restore(&all);
    memcpy(&context->uc_sigmask, &others, sizeof others);
    /* The fault will recur by itself. (Do not send it: qemu-user would take the signal for a fault
     * of qemu's own.) */
    if (fault_recurs(info) && sys_peek_may_fault())
        return;
    if (sys_signal_self(number, info) < 0 && !sys_signal_is_fault(number))
        sys_kill(sys_getpid(), number);
}

bool crash_is_init(void)
{
    return sys_getpid() == 1;
}

static void on_fatal_signal(int number, siginfo_t *info, void *context)
{
    uint32_t self = sys_gettid(), other;
    if (trampoline_owns_fault(number, info, context))
        return;
    if (info->si_code <= 0 && crash_is_init())
        return;
    if (is_recording && load_relaxed(&crashing_thread) == self)
        __builtin_longjmp((void **)after_fault, 1);
    while (!record_crash(info, context, LEAK_CRASH_FATAL)) {
        other = load_relaxed(&crashing_thread);
        if (other && !sys_futex_wait_for(&crashing_thread, other, DEATH_TIMEOUT))
            break;
    }
    crash_die(number, info, context);
}

/* Records the crash before the program's own handler runs. When that has returned, abort() ends the
 * process without libleak's handler. */
static void before_program_handler(int number, siginfo_t *info, void *context)
{
    uint64_t mask;
    if (number != SIGABRT || crash_is_init() ||
        (is_recording && load_relaxed(&crashing_thread) == (uint32_t)sys_gettid()))
        return;
    sys_signals_block(&mask);
    record_crash(info, context, LEAK_CRASH_HANDED);
    sys_signals_restore(&mask);
}

static bool no_recording(void)
{
    return false;
}

void crash_install_handler(int number)
{
    if (!ensure_recording)
        ensure_recording = no_recording;
    trampoline_replace_default(on_fatal_signal, 1ull << (number - 1), 0, real_sigaction);
}

void crash_start(struct guard *guard, bool (*ensure)(void), void (*recorded)(void))
{
    ensure_recording = ensure;
    when_recorded = recorded;
    altstack_start(guard);
    trampoline_callbacks.before_handler = before_program_handler;
    uint64_t signals = crash_is_init() ? FATAL_SIGNALS & ~SENT_BY_US : FATAL_SIGNALS;
    trampoline_replace_default(on_fatal_signal, signals, 0, real_sigaction);
}

void crash_fork_child(void)
{
    record_place = 0;
    crashing_thread = 0;
}
