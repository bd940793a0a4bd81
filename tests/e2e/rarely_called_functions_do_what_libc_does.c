// Hooks that few programs call: mkostemps, epoll_pwait, epoll_pwait2, wait3, posix_spawnp and execveat. They answer as
// libc does, a signal mask of theirs holds while they wait and not after, and what they open and start is recorded.
// RUN: %leak %t
// EXPECT: ^mkostemps 1 1 epoll_pwait 1 0 1 epoll_pwait2 1 0 1 wait3 1 7 posix_spawnp 0 5 posix_spawnp 2 execveat 6 2$
// JSON: opened("leaks_mkostemps", procs[0]) == {"fd": 1}
// JSON: len(procs) >= 3

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t handled;

static void on_signal(int number) { handled = number; }

__attribute__((noinline)) static void leaks_mkostemps(void)
{
    char name[] = "rare-XXXXXX.tmp", longer[] = "short.tmp";
    int fd = mkostemps(name, 4, O_CLOEXEC);
    printf("mkostemps %d ", fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && access(name, F_OK) == 0);
    unlink(name);
    printf("%d ", mkostemps(longer, 4, 0) == -1 && errno == EINVAL);
}

/* SIGUSR1 waits outside, and is delivered inside: EINTR. */
static void waits(const char *what, int (*wait)(int epoll, const sigset_t *mask))
{
    sigset_t blocked, none, now;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    handled = 0;
    raise(SIGUSR1);
    int result = wait(epoll, &none);
    printf("%s %d ", what, result == -1 && errno == EINTR && handled == SIGUSR1);
    printf("%d ", wait(epoll, &none));
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d ", sigismember(&now, SIGUSR1));
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    close(epoll);
}

static int pwait(int epoll, const sigset_t *mask)
{
    struct epoll_event event;
    return epoll_pwait(epoll, &event, 1, 1, mask);
}

static int pwait2(int epoll, const sigset_t *mask)
{
    struct epoll_event event;
    struct timespec time = {.tv_nsec = 1000000};
    return epoll_pwait2(epoll, &event, 1, &time, mask);
}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(void)
{
    struct rusage usage = {.ru_maxrss = -1};
    int status = 0;
    pid_t child, spawned;

    signal(SIGUSR1, on_signal);
    leaks_mkostemps();
    waits("epoll_pwait", pwait);
    waits("epoll_pwait2", pwait2);
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(7);
    printf("wait3 %d ", wait3(&status, 0, &usage) == child && usage.ru_maxrss >= 0);
    printf("%d ", WEXITSTATUS(status));
    printf("posix_spawnp %d ", posix_spawnp(&spawned, "sh", NULL, NULL, (char *[]){"sh", "-c", "exit 5", NULL}, environ));
    printf("%d ", status_of(spawned));
    printf("posix_spawnp %d ", posix_spawnp(&spawned, "no-such-program", NULL, NULL, (char *[]){"no", NULL}, environ));
    fflush(stdout);
    if ((child = fork()) == 0) {
        execveat(AT_FDCWD, "/bin/sh", (char *[]){"sh", "-c", "exit 6", NULL}, environ, 0);
        _exit(99);
    }
    printf("execveat %d ", status_of(child));
    printf("%d\n", execveat(AT_FDCWD, "/no/such", (char *[]){"no", NULL}, environ, 0) == -1 ? errno : 0);
    return 0;
}
