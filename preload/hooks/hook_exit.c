/* hook_exit.c - the ways out that run no exit handlers.
 *
 * exit and return from main end in our exit handler (process_exit.h), which also learns the status.
 * These do not.
 */
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"

#include <unistd.h>

EXPORT void _exit(int status)
{
    process_state.exit_status = status;
    ON_SCRUBBED_STACK(process_before_abrupt_exit);
    real_find();
    real._exit(process_state.exit_status);
    __builtin_unreachable();
}

EXPORT void _Exit(int status)
{
    process_state.exit_status = status;
    ON_SCRUBBED_STACK(process_before_abrupt_exit);
    real_find();
    real._Exit(process_state.exit_status);
    __builtin_unreachable();
}

/* Runs the program's at_quick_exit handlers, then ours (registered first, so last). */
EXPORT void quick_exit(int status)
{
    process_quick_exit(status);
    real_find();
    real.quick_exit(status);
    __builtin_unreachable();
}
