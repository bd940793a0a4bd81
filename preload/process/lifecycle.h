/* lifecycle.h - the steps at which modules start, fork and end, and the functions for these
 * moments: the recording of a fork child, the end, and work that a signal requests. */
#ifndef PRELOAD_PROCESS_LIFECYCLE_H
#define PRELOAD_PROCESS_LIFECYCLE_H

#include "preload/base/reentry_guard.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* ---- The steps of lifecycle.def -------------------------------------------------------------- */

enum {
    LIFECYCLE_STARTS = 0
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    +(start_step > 0)
#include "preload/lifecycle.def"
    ,
    LIFECYCLE_CHILDREN = 0
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    +(child_step > 0)
#include "preload/lifecycle.def"
    ,
    LIFECYCLE_ENDS = 0
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    +(end_step > 0)
#include "preload/lifecycle.def"
};

/* Checks that the steps are numbered without a gap: the bits 1 to N are all set only if N steps are
 * 1, 2, 3 ... N. */
_Static_assert((1
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    | 1ull << start_step
#include "preload/lifecycle.def"
                ) == (2ull << LIFECYCLE_STARTS) - 1,
               "preload/lifecycle.def: the steps of the start are 1, 2, 3 ... without a gap");
_Static_assert((1
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    | 1ull << child_step
#include "preload/lifecycle.def"
                ) == (2ull << LIFECYCLE_CHILDREN) - 1,
               "preload/lifecycle.def: the steps of fork children are 1, 2, 3 ... without a gap");
_Static_assert((1
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    | 1ull << end_step
#include "preload/lifecycle.def"
                ) == (2ull << LIFECYCLE_ENDS) - 1,
               "preload/lifecycle.def: the steps of the end are 1, 2, 3 ... without a gap");

struct lifecycle_step {
    bool (*run)(struct guard *guard, char **envp); /* runs the step; false: there was no memory */
    bool crash; /* the step also runs in processes where only crashes are recorded */
};
enum { FULL, CRASH };

/* Define run_NAME(), which calls NAME_VERB(); with HERE the including file defines run_NAME()
 * itself. */
#define LIFECYCLE_RUN(name) static bool run_##name(struct guard *guard UNUSED, char **envp UNUSED)
#define LIFECYCLE_ALWAYS(name, verb)                                                               \
    void name##_##verb(void);                                                                      \
    LIFECYCLE_RUN(name)                                                                            \
    {                                                                                              \
        name##_##verb();                                                                           \
        return true;                                                                               \
    }
#define LIFECYCLE_MAY_FAIL(name, verb)                                                             \
    bool name##_##verb(void);                                                                      \
    LIFECYCLE_RUN(name)                                                                            \
    {                                                                                              \
        return name##_##verb();                                                                    \
    }
#define LIFECYCLE_GUARD(name, verb)                                                                \
    bool name##_##verb(struct guard *guard);                                                       \
    LIFECYCLE_RUN(name)                                                                            \
    {                                                                                              \
        return name##_##verb(guard);                                                               \
    }
#define LIFECYCLE_HERE(name, verb)
#define LIFECYCLE_NEVER(name, verb)

/* Make the elements of an array of struct lifecycle_step, one for each row of lifecycle.def. */
#define LIFECYCLE_ROW(name, step, scope) [step - 1] = {run_##name, scope == CRASH},
#define LIFECYCLE_ROW_ALWAYS LIFECYCLE_ROW
#define LIFECYCLE_ROW_MAY_FAIL LIFECYCLE_ROW
#define LIFECYCLE_ROW_GUARD LIFECYCLE_ROW
#define LIFECYCLE_ROW_HERE LIFECYCLE_ROW
#define LIFECYCLE_ROW_NEVER(name, step, scope)

/* Runs the steps of an array in order. False: a step failed for lack of memory. */
static inline bool lifecycle_run(const struct lifecycle_step *steps, size_t count, bool only_crash,
                                 struct guard *guard, char **envp)
{
    for (size_t i = 0; i < count; i++)
        if ((steps[i].crash || !only_crash) && !steps[i].run(guard, envp))
            return false;
    return true;
}

/* ---- fork_child.c: a fork child gets a recording of its own -------------------------------------
 *
 * The child begins a new recording file with the same ids. It counts the blocks in its copy of the
 * block table as inherited. process.c decides when that happens. False: there is no memory. */
bool fork_child_start_recording(struct guard *guard);
/* Begins a recording that contains only a crash, in a fork child with crash=only. False: there is
 * no memory. */
bool fork_child_start_crash_only(void);

/* ---- process_exit.c: the last moment of a process -----------------------------------------------
 *
 * Records how the process ends, and writes a report if the options request it. The exit handler is
 * registered before all others, so it runs after every atexit handler and destructor of the
 * program. */
void process_exit_register(void);
/* Stores the exit status: quick_exit does not pass it to its handlers. */
void process_exit_set_status(int status);
/* Writes the report that the options request; otherwise logs the path of the recording file, if
 * verbose. */
void process_exit_report(void);
/* Records how the process ended; called only in the process that owns the recording file. */
void process_exit_record(enum leak_end how, int value, const struct roots_caller *taker,
                         enum leak_occasion occasion);

/* ---- deferred_work.c: work that needs a moment outside of the runtime ---------------------------
 *
 * The reserved signal starts such work: leak checks and requests of leakctl from other processes,
 * work of timers, and work for hooks, which cannot do it themselves. Any thread may receive the
 * signal at any point; if it is inside the runtime, it sets a timer to try again. */

/* Installs the signal handler and starts the timers; called after the options are read and before
 * the first leak check. */
void deferred_work_start(void);
/* Requests that fatal_signal_retry is called in a moment, and again until it returns true. */
void deferred_work_request_death(void);
void deferred_work_fork_child(void);
/* Stop and start timers and the signal handler, for process_detach and process_attach. */
void deferred_work_pause(void);
void deferred_work_resume(void);

#endif
