/* hook_main.c - what libleak does at the beginning and at the end of a process.
 *
 * The constructor of the library is linked with -z initfirst: it runs before every other
 * constructor of the process, so recording begins before the program's first allocation. libc has
 * not set environ yet, but the loader passes the environment. The library has no destructor:
 * recording ends with the process.
 *
 * main is called through hook_call_main (arch/<cpu>/tail.S). hook_call_main first asks the program
 * for its LeakSanitizer options and suppressions (__lsan_default_options,
 * __lsan_default_suppressions): by then everything that these functions may need is initialised.
 * When main has returned, or exit is called, the leak check runs. It takes the caller's frame as
 * the end of the live stack, because the variables of main no longer exist. The stack below that
 * frame is wiped, so that no pointer that main has left there is found.
 *
 * exit and the return from main end in an exit handler (lifecycle.h), which also gets the exit
 * status. _exit, _Exit and quick_exit do not run exit handlers, so they have hooks.
 */
#include "preload/hooks/hooks.h"
#include "preload/base/strbuf.h"
#include "preload/store/store.h"
#include "preload/process/lsan.h"
#include "preload/interpose/got_patch.h"
#include "preload/interpose/operator_override.h"
#include "preload/process/process.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/leakcheck/stack_scrub.h"
#include "preload/roots/heap_ranges.h"
#include "preload/roots/older_blocks.h"

#include <dlfcn.h>
#include <unistd.h>

void hook_main_redirect(void)
{
    hook_static_malloc_start();
    hook_pair_start();
    if (*process_state.recording && real_functions_loaded_late()) {
        struct frame caller = CALLER_FRAME();
        struct guard *guard = process_enter(&caller);
        heap_ranges_learn_tcache_key();
        if (guard) {
            older_blocks_start(guard);
            guard_leave(guard);
        }
        late_load_patch(); /* from here on the hooks are called */
    }
}

static bool is_from_descriptor(void)
{
    Dl_info info;
    return dladdr((void *)is_from_descriptor, &info) && info.dli_fname &&
           starts_with(info.dli_fname, "/proc/self/fd/");
}

__attribute__((constructor)) static void start_library(int argc UNUSED, char **argv UNUSED,
                                                       char **envp)
{
    if (is_from_descriptor()) /* leakctl attach has loaded the library, and calls libleak_attach */
        return;
    process_start(envp);
    hook_main_redirect();
}

typedef int main_function(int, char **, char **);

static main_function *programs_main;

/* Reads the LeakSanitizer options and suppressions that functions of the program return
 * (__lsan_default_options). These functions are called without the token, because they are code of
 * the program. */
static NOINLINE void read_program_options(void)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (!guard)
        return;
    operator_override_resolve(guard);
    guard_leave(guard);
    struct lsan_defaults words = lsan_call_defaults();
    guard = words.options || words.suppressions ? process_enter(&caller) : NULL;
    if (!guard)
        return;
    if (lsan_apply_defaults(&words))
        process_info_write_options();
    guard_leave(guard);
}

/* hook_call_main, in arch/<cpu>/tail.S, calls hook_main_begins before main and hook_main_ended
 * after main. Not every main returns as a C function does: that of Free Pascal returns with another
 * stack pointer, and with other values in the registers that a function must preserve. libc needs
 * neither, because it calls exit next; hook_call_main does not rely on them, either: it keeps its
 * return address in a variable. */
int hook_call_main(int argc, char **argv, char **envp) HIDDEN;
__attribute__((used)) main_function *hook_main_begins(void);
__attribute__((used)) int hook_main_ended(int status);

main_function *hook_main_begins(void)
{
    read_program_options();
    return programs_main;
}

int hook_main_ended(int status)
{
    process_state.exit_status = status;
    ON_SCRUBBED_STACK(process_before_exit);
    return process_state.exit_status;
}

EXPORT int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
EXPORT int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    real_functions_find();
    programs_main = main;
    return real.__libc_start_main(hook_call_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Defines the hook of a function that ends the process. ends: the function that makes the leak
 * check or ends the recording, and may change the exit status. */
#define EXIT(name, ends)                                                                           \
    SCRUBBED(void, name, (int status))                                                             \
    {                                                                                              \
        process_state.exit_status = status;                                                        \
        ON_SCRUBBED_STACK(ends);                                                                   \
        real_functions_find();                                                                     \
        real.name(process_state.exit_status);                                                      \
        __builtin_unreachable();                                                                   \
    }

EXIT(exit, process_before_exit)
EXIT(_exit, process_before_abrupt_exit)
EXIT(_Exit, process_before_abrupt_exit)

/* Notes the exit status. Then libc's quick_exit runs the program's at_quick_exit handlers and last
 * that of libleak, because it was registered first. */
EXPORT void quick_exit(int status)
{
    process_quick_exit(status);
    real_functions_find();
    real.quick_exit(status);
    __builtin_unreachable();
}
