/* child.c - starts programs, and forwards signals to them; described in child.h. */
#include "live/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/proc.h"

/* ---- Starting a child ------------------------------------------------------------------------ */

static sigset_t callers_mask;
static struct sigaction callers_sigchld;

void child_block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &callers_mask);
    /* If SIGCHLD was ignored, the kernel would discard the child's wait status. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &callers_sigchld);
}

static void child_restore_signals(void)
{
    sigaction(SIGCHLD, &callers_sigchld, NULL);
    sigprocmask(SIG_SETMASK, &callers_mask, NULL);
}

/* Says which step failed in the child. The child sends it through a pipe, which a successful exec
 * closes. */
struct exec_failure {
    enum { TROUBLE_CWD, TROUBLE_OUTPUT, TROUBLE_EXEC } step;
    int error;
};

static char **make_shell_argv(const struct launch *launch)
{
    size_t count = 0;
    while (launch->argv[count])
        count++;
    char **argv = calloc(count + 3, sizeof *argv);
    if (!argv)
        return NULL;
    argv[0] = (char *)"/bin/sh";
    argv[1] = (char *)launch->path;
    for (size_t i = 1; i < count; i++)
        argv[i + 1] = launch->argv[i];
    return argv;
}

static bool redirect_output(int output)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return false;
    /* dup2 of a descriptor onto itself would leave O_CLOEXEC set. */
    return output == STDOUT_FILENO ? fcntl(output, F_SETFD, 0) == 0
                                   : dup2(output, STDOUT_FILENO) >= 0;
}

/* Makes the child the leader of a session on that terminal, which replaces its standard input and
 * output, and standard error if that is a terminal. */
static bool take_terminal(int terminal, int null)
{
    bool errors = isatty(STDERR_FILENO);
    return setsid() >= 0 && ioctl(terminal, TIOCSCTTY, 0) == 0 &&
           dup2(terminal, STDIN_FILENO) >= 0 && dup2(terminal, STDOUT_FILENO) >= 0 &&
           dup2(errors ? terminal : null, STDERR_FILENO) >= 0;
}

/* Prepares the child for a repeated run: no output, no input unless keeps_input is set, or another
 * terminal; and, if the kernel allows that, the same addresses in each repeated run. False: it
 * failed, and errno says why. */
static bool prepare_repeated_run(const struct launch *launch)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    personality(ADDR_NO_RANDOMIZE);
    if (launch->terminal)
        return take_terminal(launch->terminal, null);
    return null >= 0 && dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
           (launch->keeps_input || dup2(null, STDIN_FILENO) >= 0);
}

static void exec_program(const struct launch *launch, struct exec_failure *trouble)
{
    *trouble = (struct exec_failure){TROUBLE_CWD, 0};
    if (launch->cwd && chdir(launch->cwd) != 0) {
        trouble->error = errno;
        return;
    }
    trouble->step = TROUBLE_OUTPUT;
    if ((launch->output >= 0 && !redirect_output(launch->output)) ||
        (launch->repeats && !prepare_repeated_run(launch))) {
        trouble->error = errno;
        return;
    }
    trouble->step = TROUBLE_EXEC;
    child_restore_signals();
    if (launch->no_sigpipe)
        signal(SIGPIPE, SIG_IGN);
    execve(launch->path, launch->argv, launch->envp);
    if (errno == ENOEXEC) {
        char **argv = make_shell_argv(launch);
        if (argv)
            execve("/bin/sh", argv, launch->envp);
    }
    trouble->error = errno;
}

static int report_exec_failure(const struct launch *launch, const struct exec_failure *trouble)
{
    const char *why = strerror(trouble->error);
    if (trouble->step == TROUBLE_CWD) {
        print_notice("cannot change to the directory %s: %s", launch->cwd, why);
        return STATUS_INTERNAL_ERROR;
    }
    if (trouble->step == TROUBLE_OUTPUT) {
        print_notice("cannot set up the output of %s: %s", launch->path, why);
        return STATUS_INTERNAL_ERROR;
    }
    print_notice("cannot run %s: %s", launch->path, why);
    return trouble->error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

int child_start(struct child *child, const struct launch *launch)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        print_notice("cannot create a pipe: %m");
        return STATUS_INTERNAL_ERROR;
    }
    struct exec_failure trouble;
    child->apart = launch->terminal > 0;
    child->pid = fork();
    if (child->pid < 0) {
        print_notice("cannot start a process: %m");
        close(ends[0]);
        close(ends[1]);
        return STATUS_INTERNAL_ERROR;
    }
    if (child->pid == 0) {
        close(ends[0]);
        exec_program(launch, &trouble);
        (void)!write(ends[1], &trouble, sizeof trouble);
        _exit(STATUS_CANNOT_RUN);
    }
    close(ends[1]);
    char state;
    if (!proc_read_stat(child->pid, &child->start_time, &state))
        child->start_time = 0;
    ssize_t n;
    do
        n = read(ends[0], &trouble, sizeof trouble);
    while (n < 0 && errno == EINTR);
    close(ends[0]);
    if (n != (ssize_t)sizeof trouble)
        return -1;
    child_wait(child);
    return report_exec_failure(launch, &trouble);
}

int child_wait(const struct child *child)
{
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* ---- Forwarding signals and stops ------------------------------------------------------------ */

/* Takes the default action of a signal. The signal is raised while it is blocked, so that it
 * merges with a pending one and the action is taken only once. */
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

void child_stop_like(int sig)
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

static bool end_requested, end_forced;

bool child_asks_for_end(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

bool child_end_was_requested(void)
{
    return end_requested;
}

bool child_end_was_forced(void)
{
    return end_forced;
}

/* What the user has asked a program on another terminal to do. */
struct wishes {
    bool end;  /* a signal has asked it to end */
    bool stop; /* it shall stop, and leakwatch with it */
};

/* Does to a program on another terminal what the user's terminal does to those on it. The user does
 * not see the program, so a second Ctrl-C kills it. */
static void forward_to_apart(const struct child *child, int sig, struct wishes *wishes)
{
    if (child_asks_for_end(sig)) {
        kill(-child->pid, wishes->end ? SIGKILL : sig);
        end_forced |= wishes->end;
        wishes->end = true;
    } else if (sig == SIGTSTP) {
        wishes->stop = true;
        kill(-child->pid, SIGSTOP);
    } else if (sig != SIGWINCH) {
        kill(-child->pid, sig);
    }
}

/* Sends a signal to the program, unless the program has received it already. */
static void forward_signal(const struct child *child, const siginfo_t *info, struct wishes *wishes)
{
    int sig = info->si_signo;
    if (sig == SIGCHLD)
        return;
    end_requested |= child_asks_for_end(sig);
    if (child->apart)
        return forward_to_apart(child, sig, wishes);
    /* The kernel sends a signal from the terminal to the whole process group, so the program has
     * received it already. */
    if (info->si_code == SI_KERNEL)
        return;
    /* fg and kill -CONT -GROUP send SIGCONT to the program as well; if it runs, it has received the
     * signal. */
    uint64_t start;
    char state;
    if (sig == SIGCONT && proc_read_stat(child->pid, &start, &state) && state != 'T')
        return;
    /* The program itself sent the signal, by kill(0, sig) or kill(getppid(), sig). */
    if (info->si_code <= 0 && info->si_pid == child->pid)
        return;
    if (info->si_code == SI_QUEUE)
        sigqueue(child->pid, sig, info->si_value);
    else
        kill(child->pid, sig);
}

/* Stops leakwatch by the signal that stopped the program, because the shell waits for leakwatch. A
 * program on another terminal goes on, unless the user has stopped it. */
static void handle_stop(const struct child *child, int sig, struct wishes *wishes)
{
    if (!child->apart)
        return child_stop_like(sig);
    if (wishes->stop)
        child_stop_like(SIGTSTP);
    wishes->stop = false;
    kill(-child->pid, SIGCONT);
}

int child_supervise(const struct child *child)
{
    return child_watch(child, NULL, NULL);
}

int child_watch(const struct child *child, void (*look)(void *context), void *context)
{
    const struct timespec second = {.tv_sec = 1};
    struct wishes wishes = {0};
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        int status;
        pid_t pid = waitpid(child->pid, &status, WUNTRACED | WNOHANG);
        if (pid == child->pid && !WIFSTOPPED(status))
            return status;
        if (pid == child->pid) {
            handle_stop(child, WSTOPSIG(status), &wishes);
            continue;
        }
        if (pid < 0 && errno != EINTR)
            return 0; /* cannot happen: only this function waits for the child */
        siginfo_t info;
        if (sigtimedwait(&all, &info, look ? &second : NULL) > 0)
            forward_signal(child, &info, &wishes);
        else if (look)
            look(context);
    }
}

void exit_like_child(int wait_status)
{
    if (WIFEXITED(wait_status))
        _exit(WEXITSTATUS(wait_status));
    int sig = WTERMSIG(wait_status);
    /* Prevents a core file of leakwatch, which would replace that of the program. */
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (sig == SIGKILL)
        raise(sig);
    take_default_action(sig);
    _exit(128 + sig);
}
