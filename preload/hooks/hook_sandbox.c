/* hook_sandbox.c - hooks of prctl and syscall, for a process that restricts itself with seccomp
 * (sandbox.h).
 *
 * Before the kernel gets the filter, libleak stops making system calls that the filter forbids, so
 * that no thread is killed for one.
 */
#include "preload/hooks/hooks.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/resources/resource_records.h"
#include "preload/signals/signal_trampoline.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

struct restriction {
    bool is_strict;
    /* Copy of the program's filter; NULL: strict mode, or a filter that cannot be read. */
    struct sandbox_filter *filter;
};

/* Copies memory of the program. False: it cannot be read. A process with an earlier filter may not
 * be allowed to make the system call of sys_peek; then the memory is read directly. */
static bool read_programs_memory(const void *from, void *to, size_t size)
{
    if (sys_peek((uintptr_t)from, to, size))
        return true;
    if (!sandbox_restricts || (uintptr_t)from < LEAK_PAGE)
        return false;
    memcpy(to, from, size);
    return true;
}

/* Copies the program's filter. NULL: the filter cannot be read (then the kernel will refuse it), or
 * there is no memory. */
static struct sandbox_filter *copy_filter(const struct sock_fprog *given)
{
    struct sock_fprog program;
    if (!read_programs_memory(given, &program, sizeof program) || !program.len ||
        program.len > BPF_MAXINSNS)
        return NULL;
    struct sandbox_filter *filter = sandbox_new_filter(program.len);
    size_t size = program.len * sizeof filter->code[0];
    return filter && read_programs_memory(program.filter, filter->code, size) ? filter : NULL;
}

static void prepare_store(const struct frame *caller, const struct sandbox_filter *filter)
{
    WITH_GUARD_FOR(caller, modules_poll_loader(); store_prepare_restriction(filter));
}

static struct restriction begin_restriction(const struct frame *caller, bool is_strict,
                                            const struct sock_fprog *program)
{
    struct restriction restriction = {.is_strict = is_strict};
    /* A vfork child runs in the memory of its parent, which is not restricted. */
    if (!process_is_running() || resource_is_vfork_child(&guard_self))
        return restriction;
    if (!is_strict && !(restriction.filter = copy_filter(program)))
        return restriction;
    prepare_store(caller, restriction.filter);
    if (is_strict || !sys_may_die_by_signal(restriction.filter))
        trampoline_restore_defaults();
    if (is_strict)
        sandbox_install_strict();
    else
        sandbox_install(restriction.filter);
    return restriction;
}

static void end_restriction(const struct restriction *restriction, bool accepted)
{
    if (accepted)
        return;
    if (restriction->is_strict)
        sandbox_remove_strict();
    else if (restriction->filter)
        sandbox_remove(restriction->filter);
}

EXPORT int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;
    va_start(list, option);
    for (size_t i = 0; i < ARRAY_LENGTH(argument); i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    real_functions_find();
    struct frame caller = CALLER_FRAME();
    bool restricts = option == PR_SET_SECCOMP;
    struct restriction restriction = {.is_strict = false};
    if (restricts)
        restriction = begin_restriction(&caller, argument[0] == SECCOMP_MODE_STRICT,
                                        (const struct sock_fprog *)argument[1]);
    int result = real.prctl(option, argument[0], argument[1], argument[2], argument[3]);
    if (restricts)
        end_restriction(&restriction, result >= 0);
    return result;
}

/* ---- syscall(SYS_seccomp) and syscall(SYS_prctl) --------------------------------------------- */

__attribute__((used)) long hook_restricting_syscall(long number, unsigned long a, unsigned long b,
                                                    unsigned long c, unsigned long d,
                                                    unsigned long e);

/* Called by the hook of syscall() (arch/<cpu>/stack.S) for SYS_seccomp and SYS_prctl with
 * PR_SET_SECCOMP. The arguments are those of syscall(). */
long hook_restricting_syscall(long number, unsigned long a, unsigned long b, unsigned long c,
                              unsigned long d, unsigned long e)
{
    struct frame caller = CALLER_FRAME();
    bool restricts = number == SYS_prctl || a <= SECCOMP_SET_MODE_FILTER;
    bool is_strict = number == SYS_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT;
    struct restriction restriction = {.is_strict = false};
    if (restricts)
        restriction = begin_restriction(&caller, is_strict, (const struct sock_fprog *)c);
    long result = arch_syscall(number, a, b, c, d, e, 0);
    if (restricts)
        end_restriction(&restriction, result >= 0);
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}
