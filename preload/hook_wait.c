/* hook_wait.c - waiting for every child there is: the child of a look is none of the program's.
 *
 * It sends no signal and a plain wait() does not see it; only who asks for clones too (__WALL,
 * __WCLONE) would. Such a call is made again when it has found one of ours.
 */
#include "preload/process.h"
#include "preload/real.h"
#include "preload/snapshot.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define SEES_CLONES (__WALL | __WCLONE)

#define UNTIL_NOT_OURS(options, call, pid_of_result)                                               \
    ({                                                                                             \
        __auto_type result_ = call;                                                                \
        while ((options)&SEES_CLONES && result_ >= 0 && snapshot_is_child(pid_of_result))          \
            result_ = call;                                                                        \
        result_;                                                                                   \
    })

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    real_find();
    return UNTIL_NOT_OURS(options, real.waitpid(pid, status, options), result_);
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    real_find();
    return UNTIL_NOT_OURS(options, real.wait4(pid, status, options, usage), result_);
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    real_find();
    return UNTIL_NOT_OURS(options, real.wait3(status, options, usage), result_);
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    real_find();
    return UNTIL_NOT_OURS(options, real.waitid(type, id, info, options), info ? info->si_pid : 0);
}
