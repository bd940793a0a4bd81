/* hook_wait.c - waiting for every child there is: the child of a look is none of the program's.
 *
 * It sends no signal and a plain wait() does not see it; only who asks for clones too (__WALL,
 * __WCLONE) would. Such a call is made again when it has found one of ours.
 */
#include "preload/base/children.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SEES_CLONES (__WALL | __WCLONE)

/* Of these, the numbers separated by spaces, is any not a look's? */
static bool any_of_the_program(const char *list)
{
    for (uint64_t pid; *list; list += strspn(list, " \n")) {
        size_t length = strcspn(list, " \n");
        if (!parse_number(list, length, &pid) || !children_contain(pid))
            return true;
        list += length;
    }
    return false;
}

static bool has_children_of_the_program(int tid, void *found)
{
    char list[512];
    ssize_t length = sys_read_task_file(0, tid, "children", list, sizeof list);
    *(bool *)found = length < 0 || length == sizeof list - 1 || any_of_the_program(list);
    return !*(bool *)found;
}

/* Who did not wait was told "none yet", but there is none but a look's: that is no child at all. */
static bool only_a_look(int options)
{
    bool found = false;
    return options & WNOHANG && options & SEES_CLONES && children_any() &&
           sys_each_numbered_entry("/proc/self/task", has_children_of_the_program, &found) && !found;
}

static int no_child(void)
{
    errno = ECHILD;
    return -1;
}

#define UNTIL_NOT_OURS(options, call, pid_of_result)                                               \
    ({                                                                                             \
        __auto_type result_ = call;                                                                \
        while ((options)&SEES_CLONES && result_ >= 0 && children_contain(pid_of_result)) {            \
            if ((options)&WNOWAIT)                                                                 \
                sys_wait_child(pid_of_result); /* or it would be found for ever */                       \
            result_ = call;                                                                        \
        }                                                                                          \
        result_ == 0 && !(pid_of_result) && only_a_look(options) ? no_child() : result_;           \
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
