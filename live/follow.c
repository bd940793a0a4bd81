/* follow.c - see follow.h. */
#include "live/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/proc.h"

/* Takes the default action of sig once. Raised while blocked, so that one of the same kind already
 * pending and this one become one. */
static void take_default_action(int sig)
{
    sigset_t set, mask;
    sigemptyset(&set);
    sigaddset(&set, sig);
    sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(sig);
    sigprocmask(SIG_UNBLOCK, &set, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* The program stopped: so do we, in the same way, for the shell that waits for us. */
static void stop_too(int sig)
{
    struct sigaction before;
    if (sig == SIGSTOP) {
        raise(sig);
        return;
    }
    sigaction(sig, NULL, &before);
    take_default_action(sig);
    sigaction(sig, &before, NULL);
}

/* A ladder: what a signal to leakwatch means for the program. */
static void forward(const struct child *child, const siginfo_t *info)
{
    int sig = info->si_signo;
    if (sig == SIGCHLD)
        return;
    /* From the terminal or another part of the kernel: the whole group has it. */
    if (info->si_code == SI_KERNEL)
        return;
    /* fg and kill -CONT -GROUP wake the program themselves: once is enough. */
    uint64_t start;
    char state;
    if (sig == SIGCONT && proc_read_stat(child->pid, &start, &state) && state != 'T')
        return;
    /* The program's own kill(0, sig) or kill(getppid(), sig) comes back to us: not twice. */
    if (info->si_code <= 0 && info->si_pid == child->pid)
        return;
    if (info->si_code == SI_QUEUE)
        sigqueue(child->pid, sig, info->si_value);
    else
        kill(child->pid, sig);
}

int follow_child(const struct child *child)
{
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        int status;
        pid_t pid = waitpid(child->pid, &status, WUNTRACED | WNOHANG);
        if (pid == child->pid && !WIFSTOPPED(status))
            return status;
        if (pid == child->pid) {
            stop_too(WSTOPSIG(status));
            continue;
        }
        if (pid < 0 && errno != EINTR)
            return 0; /* cannot happen: nobody else waits for it */
        siginfo_t info;
        if (sigwaitinfo(&all, &info) > 0)
            forward(child, &info);
    }
}

void follow_into_the_end(int wait_status)
{
    if (WIFEXITED(wait_status))
        _exit(WEXITSTATUS(wait_status));
    int sig = WTERMSIG(wait_status);
    /* The program left its own core, if any; ours would only stand in its place. */
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (sig == SIGKILL)
        raise(sig);
    take_default_action(sig);
    _exit(128 + sig);
}
