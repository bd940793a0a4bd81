/* process.h - the life of the process under libleak: start, fork, exec, end.
 *
 * One byte decides everything: *process_state.recording is true while this process has a recording.
 * It stands in a page that the kernel clears in a fork child (MADV_WIPEONFORK), so every hook sees,
 * by the load that it does anyway, that the child needs a recording of its own before it writes.
 * Before the start and with enabled=0 it is false as well; process_enter_slow tells the cases
 * apart.
 */
#ifndef PRELOAD_PROCESS_PROCESS_H
#define PRELOAD_PROCESS_PROCESS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

extern struct process_state {
    const bool *recording;
    int exit_status; /* _exit and exit store it here: no register is saved in a frame of libleak */
} process_state HIDDEN;

/* Slow path of process_enter: starts libleak, or the recording of a fork child. False: the hook is
 * only to forward the call. */
bool process_enter_slow(struct guard *guard);
/* Called by the constructor, with the environment, which libc may not know yet. Idempotent. */
void process_start(char **envp);

/* leakctl attach and detach, in a process into which libleak was loaded late. Attaching starts libleak,
 * or the recording of a detached process goes on: what happened meanwhile is unknown, so the blocks
 * from before count as freed; false: it records already. Detaching ends recording, timers and signal
 * handlers; threads inside of hooks go on. False: it was not attached. */
bool process_attach(char **envp);
bool process_detach(void);

/* Enters the reentrancy guard if there is a recording; NULL: only forward the call. */
static inline struct guard *process_enter(const struct frame *caller)
{
    struct guard *guard = guard_enter(caller);
    if (unlikely(!guard))
        return NULL;
    if (likely(*process_state.recording) || process_enter_slow(guard))
        return guard;
    guard_leave(guard);
    return NULL;
}

/* Runs `what` for that caller with `guard` entered, if there is a recording. */
#define WITH_GUARD_FOR(caller, what)                                                               \
    do {                                                                                           \
        struct guard *guard = process_enter(caller);                                               \
        if (!guard)                                                                                \
            break;                                                                                 \
        what;                                                                                      \
        guard_leave(guard);                                                                        \
    } while (0)

/* The same in an exported function, for its `caller`. */
#define WITH_GUARD(what)                                                                           \
    do {                                                                                           \
        struct frame caller = CALLER_FRAME();                                                      \
        WITH_GUARD_FOR(&caller, what);                                                             \
    } while (0)

/* Counts a call that was forwarded without the guard, unless it belongs to an outer call. */
void process_count_missed(void);

/* exec*: true when the attempt was recorded and must be undone if exec returns. */
bool process_exec_begin(void);
void process_exec_undo(void);

/* Does the last work before _exit and _Exit. record: the frame address of the exported function. */
bool process_before_abrupt_exit(const uintptr_t *record);
/* Does the last work after main has returned, or when exit is called. */
bool process_before_exit(const uintptr_t *record);
/* quick_exit runs handlers first: only the status is noted. */
void process_quick_exit(int status);

/* What child programs need: the path of libleak.so, and LIBLEAK_OPTIONS as given. */
const char *process_library_path(void);
/* The path of the library for programs of the other word size: 32/libleak.so beside that of 64
 * bits. The file need not exist. */
const char *process_other_library_path(void);
const char *process_options_text(void);
/* Says whether libleak is at work: true from the start on, also in a fork child that has no
 * recording so far; false with enabled=0. */
bool process_is_running(void);

/* ---- Options at run time: runtime_options.c -----------------------------------------------------
 *
 * All options can be read, some can be changed: those with RUNNING in the table. Their users read
 * them each time, or runtime_options_set applies them. Not for two threads at once.
 */

/* The value in force, as in the environment. False: no such option, or the buffer is too small. */
bool runtime_options_get(const char *name, char *buffer, size_t size);
/* Changes an option. False: the option is unknown, cannot be changed, or has no such value; nothing
 * has changed. */
bool runtime_options_set(struct guard *guard, const char *name, const char *value);

#endif
