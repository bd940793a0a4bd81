/* process.h - starts libleak in a process, and handles fork, exec and the end of the process.
 *
 * Each hook tests one byte: *process_state.recording is true while this process has a recording.
 * The byte is in a page that the kernel clears in a fork child (MADV_WIPEONFORK), so the same test
 * shows that the child needs a recording of its own. It is also false before the start and with
 * enabled=0; process_enter_slow distinguishes these cases. */
#ifndef PRELOAD_PROCESS_PROCESS_H
#define PRELOAD_PROCESS_PROCESS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

extern struct process_state {
    const bool *recording;
    /* The status that the hooks of exit and _exit pass to libc. It is stored here while the leak
     * check runs, because these hooks must keep nothing in registers or on the stack
     * (stack_scrub.h). */
    int exit_status;
} process_state HIDDEN;

/* The slow path of process_enter: starts libleak, or the recording of a fork child. False: nothing
 * is recorded, so the hook must only forward the call. */
bool process_enter_slow(struct guard *guard);
/* Starts libleak, unless it is started already; called by the constructor with the environment,
 * which libc may not know yet. */
void process_start(char **envp);

/* Do what leakctl attach and detach request, in a process into which libleak was loaded late.
 * process_attach starts libleak, or continues the recording of a detached process: frees since then
 * are unknown, so the blocks from before count as freed. False: the process is already recording.
 * process_detach ends recording, timers and signal handlers; threads inside of hooks continue.
 * False: the process was not attached. */
bool process_attach(char **envp);
bool process_detach(void);

/* Enters the runtime if there is a recording. NULL: the hook must only forward the call. */
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

/* Runs `what` inside the runtime for that caller, with `guard` as token, if there is a
 * recording. */
#define WITH_GUARD_FOR(caller, what)                                                               \
    do {                                                                                           \
        struct guard *guard = process_enter(caller);                                               \
        if (!guard)                                                                                \
            break;                                                                                 \
        what;                                                                                      \
        guard_leave(guard);                                                                        \
    } while (0)

/* Does the work of WITH_GUARD_FOR in an exported function, for its caller. */
#define WITH_GUARD(what)                                                                           \
    do {                                                                                           \
        struct frame caller = CALLER_FRAME();                                                      \
        WITH_GUARD_FOR(&caller, what);                                                             \
    } while (0)

/* Counts a call that was forwarded without recording, unless an outer call of the allocator records
 * it. */
void process_count_missed(void);

/* Record that the process calls exec. True: the attempt was recorded, and process_exec_undo must be
 * called if exec returns. */
bool process_exec_begin(void);
void process_exec_undo(void);

/* Does the last work before _exit or _Exit ends the process. record: the frame address of the
 * exported function. False: this process does not own the recording, so nothing was done. */
bool process_before_abrupt_exit(const uintptr_t *record);
/* Does the last work when main has returned or exit is called, before exit handlers run; parameter
 * and result as for process_before_abrupt_exit. */
bool process_before_exit(const uintptr_t *record);
/* Stores the status of quick_exit, which runs its own handlers first. */
void process_quick_exit(int status);

/* Returns the path of libleak.so, which child programs need in LD_PRELOAD. */
const char *process_library_path(void);
/* Returns the path of the library for programs of the other word size: 32/libleak.so in the
 * directory of the 64-bit library. The file need not exist. */
const char *process_other_library_path(void);
const char *process_options_text(void);
/* Says whether libleak is active: true from its start on, also in a fork child that has no
 * recording yet; false with enabled=0. */
bool process_is_running(void);

/* ---- Options at run time: runtime_options.c -----------------------------------------------------
 *
 * A program can read all options, and change those with RUNNING in the table. These are read at
 * each use, or runtime_options_set applies the change. Two threads must not call these functions at
 * the same time. */

/* Writes the value of an option as in the environment. False: there is no such option, or the
 * buffer is too small. */
bool runtime_options_get(const char *name, char *buffer, size_t size);
/* Changes an option. False: the option is unknown, cannot be changed, or has no such value; nothing
 * has changed. */
bool runtime_options_set(struct guard *guard, const char *name, const char *value);

#endif
