/* child.c - see child.h. */
#include "live/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/proc.h"

static sigset_t callers_mask;
static struct sigaction callers_sigchld;

void child_block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &callers_mask);
    /* An ignored SIGCHLD would have the kernel reap our child before we see how it ended. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &callers_sigchld);
}

void child_restore_signals(void)
{
    sigaction(SIGCHLD, &callers_sigchld, NULL);
    sigprocmask(SIG_SETMASK, &callers_mask, NULL);
}

/* What the child could not do, sent over a pipe that a successful exec closes. */
struct trouble {
    enum { TROUBLE_CWD, TROUBLE_OUTPUT, TROUBLE_EXEC } step;
    int error;
};

static char **shell_argv(const struct launch *launch)
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

static bool output_redirect(int output)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return false;
    /* dup2 onto itself would leave O_CLOEXEC set. */
    return output == STDOUT_FILENO ? fcntl(output, F_SETFD, 0) == 0
                                   : dup2(output, STDOUT_FILENO) >= 0;
}

static void child_exec(const struct launch *launch, struct trouble *trouble)
{
    *trouble = (struct trouble){TROUBLE_CWD, 0};
    if (launch->cwd && chdir(launch->cwd) != 0) {
        trouble->error = errno;
        return;
    }
    trouble->step = TROUBLE_OUTPUT;
    if (launch->output >= 0 && !output_redirect(launch->output)) {
        trouble->error = errno;
        return;
    }
    trouble->step = TROUBLE_EXEC;
    child_restore_signals();
    execve(launch->path, launch->argv, launch->envp);
    if (errno == ENOEXEC) {
        char **argv = shell_argv(launch);
        if (argv)
            execve("/bin/sh", argv, launch->envp);
    }
    trouble->error = errno;
}

static int trouble_say(const struct launch *launch, const struct trouble *trouble)
{
    const char *why = strerror(trouble->error);
    if (trouble->step == TROUBLE_CWD) {
        print_notice("cannot go to the directory %s: %s", launch->cwd, why);
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
        print_notice("cannot make a pipe: %m");
        return STATUS_INTERNAL_ERROR;
    }
    struct trouble trouble;
    child->pid = fork();
    if (child->pid < 0) {
        print_notice("cannot start a process: %m");
        close(ends[0]);
        close(ends[1]);
        return STATUS_INTERNAL_ERROR;
    }
    if (child->pid == 0) {
        close(ends[0]);
        child_exec(launch, &trouble);
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
    return trouble_say(launch, &trouble);
}

int child_wait(const struct child *child)
{
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}
