/* tail.c (generic) - what other CPUs have in tail.S: hooks that must leave no frame between the
 * caller and the real function. dlopen, dlsym and others look at their return address, and vfork
 * returns twice (tail.S of x86_64).
 *
 * Each hook ends with a call whose value it returns. gcc and clang turn that call into a jump, with
 * -O1 and -foptimize-sibling-calls or with higher optimisation.
 */
#include "preload/base/base.h"

#include <sys/types.h>

void *hook_dlopen_notice(const char *path, int flags);
void *hook_dlmopen_notice(long space, const char *path, int flags);
void *hook_dlclose_notice(void *handle);
void *hook_vfork_notice(void);
void *hook_pair_dlsym_notice(void *handle, const char *name);

#if defined(__clang__)
#define TAIL_CALL __attribute__((musttail)) return
#else
#define TAIL_CALL return
#endif

/* Defines a hook: it calls a function of the runtime (notice), which returns the address of the
 * real function, and jumps there. */
#define TAIL_HOOK(type, name, notice, parameters, arguments)                                       \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real_function) parameters = (type(*) parameters)notice arguments;                    \
        TAIL_CALL real_function arguments;                                                         \
    }

EXPORT TAIL_HOOK(void *, dlopen, hook_dlopen_notice, (const char *path, int flags),
                 (path, flags)) EXPORT
    TAIL_HOOK(void *, dlmopen, hook_dlmopen_notice, (long space, const char *path, int flags),
              (space, path, flags)) EXPORT
    TAIL_HOOK(int, dlclose, hook_dlclose_notice, (void *handle), (handle)) EXPORT
    TAIL_HOOK(pid_t, vfork, hook_vfork_notice, (void), ()) HIDDEN
    TAIL_HOOK(void *, hook_pair_dlsym, hook_pair_dlsym_notice, (void *handle, const char *name),
              (handle, name))

        typedef int main_function(int, char **, char **);

main_function *hook_main_begins(void);
int hook_main_ended(int status);
int hook_call_main(int argc, char **argv, char **envp) HIDDEN;

/* Calls the program's main between two functions of the runtime: one learns that main begins, the
 * other that it has returned. Unlike the versions of other CPUs it requires that main returns as a
 * C function does. */
int hook_call_main(int argc, char **argv, char **envp)
{
    int status = hook_main_begins()(argc, argv, envp);
    return hook_main_ended(status);
}
