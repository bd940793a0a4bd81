/* process.h - the life of the process under libleak: start, fork, exec, end.
 *
 * One byte decides everything: *process_alive is true while this process has an account. It stands
 * in a page that the kernel wipes in a fork child (MADV_WIPEONFORK), so every hook sees, by the
 * load it does anyway, that it must take a store of its own before it writes. Before the start and
 * after "enabled=0" it is false as well; process_wake tells the cases apart.
 */
#ifndef PRELOAD_PROCESS_PROCESS_H
#define PRELOAD_PROCESS_PROCESS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

extern const bool *process_alive HIDDEN;

/* Slow path of process_enter: starts, or takes a fork child's store. False: forward only. */
bool process_wake(struct guard *guard);
/* The constructor's call, with the environment that libc may not know yet. Idempotent. */
void process_start(char **envp);

/* The token, when there is an account to write to; else NULL: forward only. */
static inline struct guard *process_enter(const struct frame *caller)
{
    struct guard *guard = guard_enter(caller);
    if (unlikely(!guard))
        return NULL;
    if (likely(*process_alive) || process_wake(guard))
        return guard;
    guard_leave(guard);
    return NULL;
}

/* In an exported function: does it with the token, as guard, if there is one. */
#define WITH_TOKEN(what)                                                                           \
    do {                                                                                           \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (!guard)                                                                                \
            break;                                                                                 \
        what;                                                                                      \
        guard_leave(guard);                                                                        \
    } while (0)

/* A call that was forwarded without a token: counted unless it belongs to an outer call of ours. */
void process_missed(void);

/* exec*: true when the attempt was marked and must be undone if exec comes back. */
bool process_exec_begin(void);
void process_exec_undo(void);
/* record: the frame address of the exported function (stack_scrub.h). _exit and its kin: the last
 * moment to write anything down. Main has returned, or exit was called. */
bool process_ends(const uintptr_t *record);
bool process_exit_called(const uintptr_t *record);
/* What it ends with: in no register that would have to be saved in a frame of ours. */
extern int process_status HIDDEN;
/* quick_exit runs handlers first: only the status is noted. */
void process_quick_exit(int status);

/* How a child program finds us: the path we were loaded from, and LIBLEAK_OPTIONS as given. */
const char *process_library(void);
const char *process_options_text(void);
/* True from the start on, also in a fork child that has no account yet; false with enabled=0. */
bool process_running(void);

#endif
