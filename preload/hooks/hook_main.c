/* hook_main.c - main returns, exit is called: the moment when everything a program has is still
 * there.
 *
 * Main is called through a function of ours, which first asks the program for what it would say to
 * LeakSanitizer: by then all that its answer may need is there. When main has returned it looks at
 * the heap, with its own frame for the top of what counts as stack: main's locals are gone. What
 * lies below is wiped, so that no later frame of the exit machinery is laid over a pointer that
 * main has left behind.
 */
#include "preload/store/store.h"
#include "preload/process/lsan.h"
#include "preload/interpose/operator_override.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/leakcheck/snapshot.h"

typedef int main_function(int, char **, char **);

static main_function *programs_main;

/* What it says is the program's own code: called without a token. */
static NOINLINE void hear_program(void)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (!guard)
        return;
    operators_settle(guard);
    guard_leave(guard);
    struct lsan_defaults words = lsan_call_defaults();
    guard = words.options || words.suppressions ? process_enter(&caller) : NULL;
    if (!guard)
        return;
    if (lsan_apply_defaults(&words))
        process_info_write_options();
    guard_leave(guard);
}

static int call_main(int argc, char **argv, char **envp)
{
    hear_program();
    process_state.exit_status = programs_main(argc, argv, envp);
    ON_SCRUBBED_STACK(process_before_exit);
    return process_state.exit_status;
}

EXPORT int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
EXPORT int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    real_find();
    programs_main = main;
    return real.__libc_start_main(call_main, argc, argv, init, fini, rtld_fini, stack_end);
}

EXPORT void exit(int status)
{
    process_state.exit_status = status;
    ON_SCRUBBED_STACK(process_before_exit);
    real_find();
    real.exit(process_state.exit_status);
    __builtin_unreachable();
}
