/* lifecycle.h - the parts from which process.c builds the life of the process: the recording of a
 * fork child, the end, and work that a signal requests.
 */
#ifndef PRELOAD_PROCESS_LIFECYCLE_H
#define PRELOAD_PROCESS_LIFECYCLE_H

#include "preload/base/reentry_guard.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* ---- The steps of lifecycle.def ----------------------------------------------------------------- */

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

/* N steps that set the bits 1 to N are 1, 2, 3 ... N. */
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
    bool (*run)(struct guard *guard, char **envp); /* false: no memory */
    bool crash;                                    /* also where only crashes are recorded */
};
enum { FULL, CRASH };

/* run_NAME() calls NAME_VERB(); for HERE the including file defines it. */
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

/* Rows of an array of steps. */
#define LIFECYCLE_ROW(name, step, scope) [step - 1] = {run_##name, scope == CRASH},
#define LIFECYCLE_ROW_ALWAYS LIFECYCLE_ROW
#define LIFECYCLE_ROW_MAY_FAIL LIFECYCLE_ROW
#define LIFECYCLE_ROW_GUARD LIFECYCLE_ROW
#define LIFECYCLE_ROW_HERE LIFECYCLE_ROW
#define LIFECYCLE_ROW_NEVER(name, step, scope)

/* Runs the steps of a list in their order. False: no memory. */
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
 * Everything shared with the parent is left behind. The child's recording has the same ids, and
 * counts as inherited what the block table contains (the child's by copy-on-write). process.c
 * decides when this is done. False: no memory.
 */
bool fork_child_start_recording(struct guard *guard);
/* The same with crash=only, when there is a crash to record. */
bool fork_child_start_crash_only(void);

/* ---- process_exit.c: the last moment of a process -----------------------------------------------
 *
 * Records how the process ended, and reports if asked. The handler is registered first, so it runs
 * last: after every atexit handler and destructor of the program.
 */
void process_exit_register(void);
/* quick_exit does not pass its handlers the status. */
void process_exit_set_status(int status);
/* Writes the report, or says where the recording file is. */
void process_exit_report(void);
/* Records how the process ended. Only for the process that owns the recording file. */
void process_exit_record(enum leak_end how, int value, const struct roots_caller *taker,
                         enum leak_occasion occasion);

/* ---- deferred_work.c: work that needs a moment outside of the runtime ---------------------------
 *
 * The signal that libleak reserves requests it: from outside (a leak check, a request of leakctl),
 * from timers, and from hooks in which it cannot be done. Any thread may receive the signal,
 * anywhere; a thread that is inside the runtime sets a timer to try again.
 */

/* Starts timers and the signal handler, once the options are read, before the first leak check. */
void deferred_work_start(void);
/* fatal_signal_retry will be called in a moment, until it returns true. */
void deferred_work_request_death(void);
void deferred_work_fork_child(void);
/* Stop and restart timers and the signal handler, for process_detach. */
void deferred_work_pause(void);
void deferred_work_resume(void);

#endif
