/* measure.c - measures the cost of one command, to the microsecond.
 *
 *   measure [-t SECONDS] [-w MIB] [-o FILE] [-e FILE] RESULT [NAME=VALUE...] COMMAND [ARG...]
 *
 * The program runs the command with NAME=VALUE added to the environment and its output in the files
 * of -o and -e, and writes one line to RESULT:
 *
 *   cpu=1.234567 wall=1.240000 rss_kb=51200 end=exit value=0
 *
 * cpu is user + system time of the command and of every descendant: measure is the subreaper of
 * orphans (PR_SET_CHILD_SUBREAPER), so it waits for all of them. rss_kb is the peak of the largest
 * of these processes. end is exit, signal, or timeout, after which all of them are killed. The
 * result contains the end of the command; measure itself exits with 0, or with 2 after an error of
 * its own.
 *
 * A virtual machine may have returned free memory to its host. Then the first access to it waits
 * for the host, ten times as long as for the kernel. -w touches this much memory first and releases
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A descendant that still runs this long after the end of the command is a daemon, and is
 * killed. */
#define ORPHAN_SECONDS 10

static pid_t command;
static volatile sig_atomic_t expired;

static void stop(int number)
{
    if (number != SIGALRM)
        signal(number, SIG_DFL);
    expired = 1;
    kill(-command, SIGKILL);
    if (number != SIGALRM)
        raise(number);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* Touches memory in a child process, whose end releases it. */
static void warm(size_t bytes)
{
    pid_t toucher = bytes ? fork() : -1;
    if (toucher == 0) {
        char *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            _exit(1);
        madvise(memory, bytes, MADV_HUGEPAGE);
        for (size_t i = 0; i < bytes; i += 4096)
            ((volatile char *)memory)[i] = 1;
        _exit(0);
    }
    if (toucher > 0)
        waitpid(toucher, NULL, 0);
}

static void redirect(const char *path, int flags, int number)
{
    if (!path)
        return;
    int fd = open(path, flags, 0600);
    if (fd < 0 || dup2(fd, number) < 0) {
        dprintf(2, "measure: %s: %s\n", path, strerror(errno));
        _exit(126);
    }
    close(fd);
}

static void become(char **words, const char *output, const char *errors)
{
    setpgid(0, 0);
    for (; *words && strchr(*words, '='); words++)
        putenv(*words);
    redirect("/dev/null", O_RDONLY, 0);
    redirect(output, O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(errors, O_WRONLY | O_CREAT | O_TRUNC, 2);
    if (*words)
        execvp(*words, words);
    dprintf(2, "measure: %s: %s\n", *words ? *words : "(no command)", strerror(errno));
    _exit(127);
}

static void on_signal(int number, void (*handler)(int))
{
    /* without SA_RESTART, so that wait4 returns */
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    unsigned limit = 0;
    size_t touched = 0;
    const char *output = NULL, *errors = NULL;
    for (int option; (option = getopt(argc, argv, "+t:w:o:e:")) != -1;)
        switch (option) {
        case 't':
            limit = (unsigned)atoi(optarg);
            break;
        case 'w':
            touched = strtoul(optarg, NULL, 10) << 20;
            break;
        case 'o':
            output = optarg;
            break;
        case 'e':
            errors = optarg;
            break;
        default:
            return 2;
        }
    if (argc - optind < 2) {
        dprintf(2, "usage: measure [-t SECONDS] [-w MIB] [-o FILE] [-e FILE] RESULT "
                   "[NAME=VALUE...] COMMAND\n");
        return 2;
    }
    warm(touched);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    double begin = now(), end = 0;
    command = fork();
    if (command < 0)
        return 2;
    if (command == 0)
        become(argv + optind + 1, output, errors);
    setpgid(command, command);
    on_signal(SIGALRM, stop);
    on_signal(SIGINT, stop);
    on_signal(SIGTERM, stop);
    alarm(limit);

    double cpu = 0;
    long rss = 0;
    int status, answer = 0;
    struct rusage usage;
    for (;;) {
        pid_t pid = wait4(-1, &status, 0, &usage);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        cpu += seconds(&usage);
        rss = usage.ru_maxrss > rss ? usage.ru_maxrss : rss;
        if (pid != command)
            continue;
        answer = status;
        end = now();
        if (!expired)
            alarm(ORPHAN_SECONDS);
    }
    FILE *result = fopen(argv[optind], "w");
    if (!result)
        return 2;
    const char *how = WIFSIGNALED(answer) ? expired ? "timeout" : "signal" : "exit";
    fprintf(result, "cpu=%.6f wall=%.6f rss_kb=%ld end=%s value=%d\n", cpu, end - begin, rss, how,
            WIFSIGNALED(answer) ? WTERMSIG(answer) : WEXITSTATUS(answer));
    return fclose(result) ? 2 : 0;
}
