/* sys_children.c - copies of this process and programs that it runs, for sys.h: none of them sends
 * SIGCHLD, and no plain wait() sees one. */
#include "preload/base/syscall.h"
#include "preload/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

int sys_copy(void)
{
    return CALL(SYS_clone, 0, 0, 0, 0, 0);
}

void sys_be_ordinary(void)
{
    struct sched_param none = {0};
    CALL(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
}

/* CPUs that have no tags do not know it. */
void sys_pass_over_tags(void)
{
    CALL(SYS_prctl, PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0);
}

static bool note_highest(int number, void *highest)
{
    if (number > *(int *)highest)
        *(int *)highest = number;
    return true;
}

void sys_close_from(unsigned first)
{
    int highest = -1;
    if (CALL(SYS_close_range, first, UINT32_MAX, 0) >= 0)
        return;
    if (!sys_each_number("/proc/self/fd", note_highest, &highest)) { /* before Linux 5.9 */
        uint64_t limit = sys_limit(RLIMIT_NOFILE);
        highest = limit < 1u << 20 ? (int)limit : 1 << 20;
    }
    for (int fd = first; fd <= highest; fd++)
        sys_close(fd);
}

void sys_exit(int status)
{
    CALL(SYS_exit_group, status);
    __builtin_unreachable();
}

/* exec makes a child send SIGCHLD, whatever it was born with: so one that does not exec stands
 * between it and us. Signals stay blocked there, the program's handlers are not for it. */
static long run_between(const char *path, char *const argv[], char *const envp[],
                        const struct sys_streams *streams, const uint64_t *mask)
{
    const int now[] = {streams->in, streams->out, streams->err};
    int status = 0;
    long pid = CALL(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0);
    if (pid == 0) {
        sys_signals_restore(mask);
        for (int fd = 0; fd < 3; fd++)
            if (now[fd] >= 0)
                CALL(SYS_dup3, now[fd], fd, 0);
        for (const int *kept = streams->kept; kept && *kept >= 0; kept++)
            CALL(SYS_fcntl, *kept, F_SETFD, 0); /* the table of descriptors is a copy */
        CALL(SYS_execve, path, argv, envp);
        CALL(SYS_exit_group, 127);
    }
    if (pid < 0)
        return 127;
    /* Where SIGCHLD is ignored nobody knows the status. */
    CALL(SYS_wait4, pid, &status, __WALL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

int sys_run(const char *path, char *const argv[], char *const envp[],
            const struct sys_streams *streams)
{
    /* Without CLONE_VM: the child owns a copy of the stack. Exit signal 0: no SIGCHLD. */
    uint64_t mask;
    sys_signals_block(&mask);
    long pid = CALL(SYS_clone, 0, 0, 0, 0, 0);
    if (pid == 0)
        CALL(SYS_exit_group, run_between(path, argv, envp, streams, &mask));
    sys_signals_restore(&mask);
    return (int)pid;
}

int sys_wait(int pid)
{
    int status;
    long result;
    do
        result = CALL(SYS_wait4, pid, &status, __WALL, 0);
    while (result == -EINTR);
    return result < 0 ? (int)result : status;
}

bool sys_has_ended(int pid)
{
    int status;
    return CALL(SYS_wait4, pid, &status, __WALL | WNOHANG, 0) != 0;
}

void sys_kill(int pid, int number)
{
    CALL(SYS_kill, pid, number);
}
