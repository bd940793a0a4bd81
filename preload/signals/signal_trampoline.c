#include "preload/signals/signal_trampoline.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "context.h"

#define TRAMPOLINES 256
#define SIGNALS 64 /* the highest signal number */

typedef void action(int number, siginfo_t *info, void *context);

__thread struct trampoline_thread trampoline_thread;
struct trampoline_callbacks trampoline_callbacks;

static int reserved_fault; /* signal that trampoline_reserve_fault reserved; 0: none */
static bool (*fault_is_ours)(const siginfo_t *info, ucontext_t *context);

int trampoline_reserved_fault(void)
{
    return load_relaxed(&reserved_fault);
}

bool trampoline_owns_fault(int number, const siginfo_t *info, void *context)
{
    return number == load_relaxed(&reserved_fault) && fault_is_ours(info, context);
}

/* The program's handlers, by index of their trampoline; filled from the front, an entry never
 * changes. */
static void *handlers[TRAMPOLINES];
/* For each trampoline; true: its handler runs on the stack that the kernel chose. */
static bool keeps_stack[TRAMPOLINES];

/* A flag that the kernel stores but ignores: since Linux 5.11 it has a meaning, but only for ARM
 * faults, which have no trampolines. */
#ifndef SA_EXPOSE_TAGBITS
#define SA_EXPOSE_TAGBITS 0x800
#endif
/* Marks a handler that the program installed without SA_SIGINFO. */
#define INFO_ADDED SA_EXPOSE_TAGBITS
/* The kernel's first real-time signal. SIGRTMIN is higher, because libc reserves some signals for
 * itself. */
#define FIRST_REAL_TIME 32

/* Sends the signal to this thread again. A real-time signal goes to the end of its queue; so all
 * others in the queue are then taken out and sent again behind it, which keeps their order. A
 * marker shows where to stop. */
static bool send_again(int number, const siginfo_t *info)
{
    siginfo_t marker = {.si_code = SI_QUEUE}, next;
    if (number < FIRST_REAL_TIME)
        return sys_signal_self(number, info) >= 0;
    marker.si_pid = -1;
    marker.si_value.sival_ptr = &marker;
    if (sys_signal_self(number, &marker) < 0)
        return false;
    bool sent = sys_signal_self(number, info) >= 0;
    while (sys_take_signal(number, &next) == number &&
           !(next.si_pid == marker.si_pid && next.si_value.sival_ptr == &marker))
        sys_signal_self(number, &next);
    return sent;
}

/* Installs a one-shot handler again (SA_RESETHAND). The kernel has reset it, because it took the
 * deferred signal for the one call. */
static void rearm_one_shot(int number, struct sys_sigaction *now, action *trampoline)
{
    if (now->handler != (uintptr_t)SIG_DFL || !(now->flags & SA_RESETHAND))
        return;
    now->handler = (uintptr_t)trampoline;
    sys_sigaction(number, now, NULL);
}

/* Defers a signal: blocks all signals and sends it again. False: the kernel or a sandbox refused
 * that; or the handler has no siginfo yet, because it was just installed by signal(), before
 * trampoline_complete_action. */
static bool defer_signal(int number, siginfo_t *info, ucontext_t *context, action *trampoline)
{
    uint64_t all, mask;
    struct sys_sigaction now;
    if (!sys_may_defer_signals() || sys_sigaction(number, NULL, &now) < 0 ||
        !(now.flags & SA_SIGINFO))
        return false;
    /* Blocks all signals: the handler may have SA_NODEFER, and then the signal that send_again
     * sends would interrupt this function. */
    sys_signals_block(&mask);
    if (!send_again(number, info)) {
        sys_signals_restore(&mask);
        return false;
    }
    rearm_one_shot(number, &now, trampoline);
    memcpy(&lock_thread.mask, &context->uc_sigmask, sizeof lock_thread.mask);
    lock_thread.put_off = true;
    /* The mask of the interrupted code is replaced, too: all signals stay blocked after this
     * handler returns. */
    sys_signals_block(&all);
    memcpy(&context->uc_sigmask, &all, sizeof all);
    return true;
}

/* ---- Handlers of libleak for fatal signals --------------------------------------------------- */

/* Signals whose default action libleak's handler replaces: bit N - 1 stands for signal N. */
static uint64_t replaced_signals;
static struct replacement {
    action *handler;
    /* signals: those that the handler handles; open: those other than faults that may interrupt
     * it. */
    uint64_t signals, open;
} replacements[2]; /* libleak's handlers for fatal signals, filled from the front */
static struct trampoline_default program_default[SIGNALS + 1];

static inline bool is_replaced(int number)
{
    return number > 0 && number <= SIGNALS && load_relaxed(&replaced_signals) >> (number - 1) & 1;
}

static const struct replacement *replacement_of(int number)
{
    return &replacements[replacements[0].signals >> (number - 1) & 1 ? 0 : 1];
}

static bool is_replacement(sighandler_t handler)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(replacements); i++)
        if (replacements[i].handler && (void *)handler == (void *)replacements[i].handler)
            return true;
    return false;
}

static inline bool on_our_stack(uintptr_t address)
{
    return address - trampoline_thread.altstack.low < trampoline_thread.altstack.size;
}

/* Returns the signals that are blocked while libleak's handler runs. Faults are not blocked,
 * because a fault inside of the handler must be reported, too. */
static uint64_t blocked_by(const struct replacement *replacement)
{
    uint64_t mask = 0;
    for (int number = 1; number <= SIGNALS; number++)
        if (!sys_signal_is_fault(number))
            mask |= 1ull << (number - 1);
    return mask & ~replacement->open;
}

#define FATAL_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)
/* Flags that libleak leaves in the kernel's table as the program set them: siginterrupt changes
 * SA_RESTART there. */
#define KEPT_FLAGS SA_RESTART

static void install_fatal_handler(int number, struct sys_sigaction *now)
{
    program_default[number] = (struct trampoline_default){now->flags, now->mask};
    now->handler = (uintptr_t)replacement_of(number)->handler;
    now->flags = (now->flags & (CONTEXT_RESTORER | KEPT_FLAGS)) | FATAL_FLAGS;
    now->mask = blocked_by(replacement_of(number));
    sys_sigaction(number, now, NULL);
}

/* Installs libleak's handler again, after a one-shot handler of the program: the kernel has reset
 * the action to the default. Its restorer is still in the kernel's table. */
static void reinstall_fatal_handler(int number)
{
    struct sys_sigaction now;
    if (sys_sigaction(number, NULL, &now) >= 0 && now.handler == (uintptr_t)SIG_DFL &&
        now.flags & SA_RESETHAND)
        install_fatal_handler(number, &now);
}

void trampoline_run_handler(action *handler, int number, siginfo_t *info, void *context)
{
    uintptr_t top = trampoline_thread.altstack.low + trampoline_thread.altstack.size;
    bool move = CONTEXT_FRAMES_MOVE && on_our_stack((uintptr_t)context) &&
                !on_our_stack(context_sp(context));
    if (move)
        context_move(number, info, context, top, (void *)handler);
    handler(number, info, context);
}

/* Handles a signal that the program ignores. It has a trampoline only if it is the reserved fault;
 * a real fault kills the process, as it does without libleak. */
static void handle_ignored(int number, const siginfo_t *info)
{
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    if (info->si_code > 0)
        sys_sigaction(number, &fatal, NULL);
}

static NOINLINE void run_on_slow_path(action *handler, action *trampoline, int number,
                                      siginfo_t *info, void *context, bool keep_stack)
{
    if (trampoline_owns_fault(number, info, context)) {
        struct sys_sigaction now;
        sys_sigaction(number, NULL, &now);
        rearm_one_shot(number, &now, trampoline);
        return;
    }
    if (handler == (action *)(void *)SIG_IGN)
        return handle_ignored(number, info);
    if (is_replaced(number)) {
        reinstall_fatal_handler(number);
        if (trampoline_callbacks.before_handler)
            trampoline_callbacks.before_handler(number, info, context);
    }
    if (keep_stack)
        handler(number, info, context);
    else
        trampoline_run_handler(handler, number, info, context);
}

/* Runs the handler of a signal whose frame has no siginfo and no context: it came while signal() or
 * sigset() had installed the trampoline, before trampoline_complete_action. Where other frames have
 * the arguments of the handler, this one has registers of the interrupted code: nothing may be
 * written there, as a call at the end of a function (a tail call) would do. */
static NOINLINE void run_without_info(action *handler, int number)
{
    bump(&trampoline_thread.entered, 1);
    if (is_replaced(number))
        reinstall_fatal_handler(number);
    if (handler != (action *)(void *)SIG_IGN)
        ((void (*)(int))(void *)handler)(number);
}

static inline void run_trampoline(unsigned index, action *trampoline, int number, siginfo_t *info,
                                  void *context)
{
    action *handler = (action *)load_relaxed(&handlers[index]);
    if (unlikely(!CONTEXT_HAS_INFO(info))) {
        run_without_info(handler, number);
        return;
    }
    if (unlikely(lock_thread.held) && !sys_signal_is_fault(number) &&
        defer_signal(number, info, context, trampoline))
        return;
    bump(&trampoline_thread.entered, 1);
    if (unlikely(is_replaced(number) || on_our_stack((uintptr_t)context)))
        run_on_slow_path(handler, trampoline, number, info, context,
                         load_relaxed(&keeps_stack[index]));
    else
        handler(number, info, context);
}

/* ---- The trampolines: 256 functions that differ in one number -------------------------------- */

#define TRAMPOLINE(n)                                                                              \
    static void trampoline_##n(int number, siginfo_t *info, void *context)                         \
    {                                                                                              \
        run_trampoline(0x##n, trampoline_##n, number, info, context);                              \
    }
/* clang-format off */
#define FOR_4(X, a, b, c, d) X(a) X(b) X(c) X(d)
#define FOR_16(X, h)                                                                               \
    FOR_4(X, h##0, h##1, h##2, h##3) FOR_4(X, h##4, h##5, h##6, h##7)                              \
    FOR_4(X, h##8, h##9, h##a, h##b) FOR_4(X, h##c, h##d, h##e, h##f)
#define FOR_64(X, a, b, c, d) FOR_16(X, a) FOR_16(X, b) FOR_16(X, c) FOR_16(X, d)
#define FOR_256(X)                                                                                 \
    FOR_64(X, 0, 1, 2, 3) FOR_64(X, 4, 5, 6, 7) FOR_64(X, 8, 9, a, b) FOR_64(X, c, d, e, f)
/* clang-format on */
#define NAME(n) trampoline_##n,

FOR_256(TRAMPOLINE)

static action *const trampolines[TRAMPOLINES] = {FOR_256(NAME)};

/* ---- Assigning trampolines to handlers ------------------------------------------------------- */

static void *find_trampoline(void *handler)
{
    for (unsigned i = 0; i < TRAMPOLINES; i++) {
        void *there = NULL;
        bool assigned = cas_acquire(&handlers[i], &there, handler);
        if (assigned && trampoline_callbacks.wants_altstack)
            store_relaxed(&keeps_stack[i], trampoline_callbacks.wants_altstack((uintptr_t)handler));
        if (assigned || there == handler)
            return (void *)trampolines[i];
    }
    return handler;
}

static bool is_special(sighandler_t handler)
{
    return handler == SIG_DFL || handler == SIG_IGN || handler == SIG_HOLD || handler == SIG_ERR;
}

static bool is_reserved(int number)
{
    return number == load_relaxed(&reserved_fault);
}

sighandler_t trampoline_get(int number, sighandler_t handler)
{
    if (handler == SIG_DFL && is_replaced(number))
        return (sighandler_t)(void *)replacement_of(number)->handler;
    if (is_reserved(number) ? handler == SIG_DFL || handler == SIG_HOLD || handler == SIG_ERR
                            : is_special(handler) || sys_signal_is_fault(number))
        return handler;
    return (sighandler_t)find_trampoline((void *)handler);
}

/* Chooses what to install for a handler with these flags. Fault handlers may be called a million
 * times, so they get a trampoline only if they need one. */
static sighandler_t get_with_flags(int number, sighandler_t handler, uint64_t flags)
{
    if (sys_signal_is_fault(number) && is_replaced(number) && !is_special(handler) &&
        flags & (SA_ONSTACK | SA_RESETHAND))
        return (sighandler_t)find_trampoline((void *)handler);
    return trampoline_get(number, handler);
}

sighandler_t trampoline_get_handler(sighandler_t trampoline)
{
    if (is_replacement(trampoline))
        return SIG_DFL;
    for (unsigned i = 0; i < TRAMPOLINES && load_relaxed(&handlers[i]); i++)
        if ((void *)trampoline == (void *)trampolines[i])
            return (sighandler_t)handlers[i];
    return trampoline;
}

void trampoline_wrap_action(int number, struct sigaction *given)
{
    sighandler_t handler = given->sa_handler;
    given->sa_handler = get_with_flags(number, handler, given->sa_flags);
    if (given->sa_handler == handler)
        return;
    if (handler == SIG_DFL) {
        struct trampoline_default *now = &program_default[number];
        uint64_t mask = blocked_by(replacement_of(number));
        now->flags = given->sa_flags | CONTEXT_LIBC_FLAGS;
        memcpy(&now->mask, &given->sa_mask, sizeof now->mask);
        given->sa_flags = (given->sa_flags & KEPT_FLAGS) | FATAL_FLAGS;
        memcpy(&given->sa_mask, &mask, sizeof mask);
    } else if (!(given->sa_flags & SA_SIGINFO)) {
        given->sa_flags |= SA_SIGINFO | INFO_ADDED;
    }
}

void trampoline_unwrap_action(struct sigaction *given)
{
    given->sa_handler = trampoline_get_handler(given->sa_handler);
    if (given->sa_flags & INFO_ADDED)
        given->sa_flags &= ~(SA_SIGINFO | INFO_ADDED);
}

struct trampoline_default trampoline_get_default(int number)
{
    return is_replaced(number) ? program_default[number] : (struct trampoline_default){0};
}

void trampoline_unwrap_default(struct sigaction *given, struct trampoline_default was)
{
    if (!is_replacement(given->sa_handler))
        return;
    given->sa_handler = SIG_DFL;
    given->sa_flags = (was.flags & ~KEPT_FLAGS) | (given->sa_flags & KEPT_FLAGS);
    memcpy(&given->sa_mask, &was.mask, sizeof was.mask);
}

/* Completes an action that libc has installed with the result of trampoline_get: adds the flags
 * that a trampoline or libleak's handler needs. */
static void complete_action(int number, struct sys_sigaction *now)
{
    sighandler_t handler = (sighandler_t)now->handler;
    if (is_replaced(number) && is_replacement(handler)) {
        if ((now->flags & FATAL_FLAGS) != FATAL_FLAGS)
            install_fatal_handler(number, now);
        return;
    }
    if (trampoline_get_handler(handler) == handler && sys_signal_is_fault(number))
        handler = get_with_flags(number, handler, now->flags);
    if (now->flags & SA_SIGINFO || trampoline_get_handler(handler) == handler)
        return;
    now->handler = (uintptr_t)handler;
    now->flags |= SA_SIGINFO | INFO_ADDED;
    sys_sigaction(number, now, NULL);
}

void trampoline_complete_action(int number)
{
    uint64_t mask;
    struct sys_sigaction now;
    /* Signals are blocked: otherwise a one-shot handler could run between reading and writing the
     * action. */
    sys_signals_block(&mask);
    if (sys_sigaction(number, NULL, &now) >= 0)
        complete_action(number, &now);
    sys_signals_restore(&mask);
}

void trampoline_replace_default(action *handler, uint64_t signals, uint64_t open,
                                trampoline_sigaction *install)
{
    if (!sys_may_die_by_signal(NULL))
        return;
    struct replacement *replacement = &replacements[0];
    if (replacement->handler && replacement->handler != handler)
        replacement++;
    replacement->handler = handler;
    replacement->signals |= signals;
    replacement->open |= open;
    for (int number = 1; number <= SIGNALS; number++) {
        struct sigaction now;
        if (!(signals >> (number - 1) & 1))
            continue;
        or_relaxed(&replaced_signals, 1ull << (number - 1));
        if (install(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
            continue;
        struct trampoline_default given = {.flags = now.sa_flags};
        memcpy(&given.mask, &now.sa_mask, sizeof given.mask);
        trampoline_wrap_action(number, &now);
        program_default[number] = given;
        install(number, &now, NULL);
    }
}

void trampoline_restore_defaults(void)
{
    uint64_t replaced = exchange_relaxed(&replaced_signals, 0);
    struct sys_sigaction now;
    for (int number = 1; number <= SIGNALS; number++)
        if (replaced >> (number - 1) & 1 && sys_sigaction(number, NULL, &now) >= 0 &&
            is_replacement((sighandler_t)now.handler)) {
            now.handler = (uintptr_t)SIG_DFL;
            now.flags = (now.flags & CONTEXT_RESTORER) | program_default[number].flags;
            now.mask = program_default[number].mask;
            sys_sigaction(number, &now, NULL);
        }
}

static void wrap_installed(int number, trampoline_sigaction *install)
{
    struct sigaction now;
    if (install(number, NULL, &now) != 0 ||
        trampoline_get_handler(now.sa_handler) != now.sa_handler)
        return;
    sighandler_t handler = now.sa_handler;
    trampoline_wrap_action(number, &now);
    if (now.sa_handler != handler)
        install(number, &now, NULL);
}

void trampoline_wrap_installed(trampoline_sigaction *install)
{
    for (int number = 1; install && number < NSIG; number++)
        wrap_installed(number, install);
}

static void unwrap_installed(int number, trampoline_sigaction *install)
{
    struct sigaction now;
    if (install(number, NULL, &now) != 0 ||
        trampoline_get_handler(now.sa_handler) == now.sa_handler || is_replacement(now.sa_handler))
        return;
    trampoline_unwrap_action(&now);
    install(number, &now, NULL);
}

void trampoline_unwrap_installed(trampoline_sigaction *install)
{
    trampoline_restore_defaults();
    for (int number = 1; install && number < NSIG; number++)
        unwrap_installed(number, install);
}

void trampoline_replace_again(trampoline_sigaction *install)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(replacements); i++)
        if (replacements[i].handler)
            trampoline_replace_default(replacements[i].handler, replacements[i].signals,
                                       replacements[i].open, install);
}

void trampoline_reserve_fault(int number, bool (*is_ours)(const siginfo_t *, ucontext_t *),
                              trampoline_sigaction *install)
{
    fault_is_ours = is_ours;
    store_release(&reserved_fault, number);
    /* Gives a trampoline to a handler that the program installed before. */
    wrap_installed(number, install);
}
