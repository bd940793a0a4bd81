// A pointer that the kernel cannot read gets the answer that it gets alone, EFAULT, from every call that libleak
// stands in front of: exec with a bad path, list or string first of all. Where libc itself dies of it, so it does here.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %t >want; %leak %t >got; diff want got || exit 1; LIBLEAK_OPTIONS=follow=force %leak %t >got; diff want got || exit 1
// RUN: LIBLEAK_OPTIONS=enabled=0 %leak %t >got; diff want got && cat got
// EXPECT: ^execve envp: -1 Bad address$
// EXPECT: ^posix_spawn string at the end: 14 Success$
// REFUSE: ^(exec[a-z]*|posix_spawnp?) [^:]*: (signal|0)
// JSON: all(not q.errors for q in procs if q.end.how == "exit")

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *good[] = {"true", NULL}, *program = "/bin/true";

static void answer(const char *call, const char *which, long result)
{
    char line[200];
    write(1, line, snprintf(line, sizeof line, "%s %s: %ld %s\n", call, which, result, strerror(result < 0 ? errno : 0)));
    _exit(result != -1 || errno != EFAULT);
}

/* Each call in a child of its own; it may be the end of it. */
#define TRY(call, which, expression)                                                               \
    do {                                                                                           \
        int status_;                                                                               \
        pid_t child_ = fork();                                                                     \
        if (!child_) {                                                                             \
            errno = 0;                                                                             \
            answer(call, which, (long)(expression));                                               \
        }                                                                                          \
        waitpid(child_, &status_, 0);                                                              \
        if (WIFSIGNALED(status_))                                                                  \
            printf("%s %s: signal %d\n", call, which, WTERMSIG(status_)), fflush(stdout);          \
    } while (0)

#define EXECS(what, list)                                                                          \
    do {                                                                                           \
        TRY("execve", what, execve(program, good, (char **)(list)));                               \
        TRY("execvpe", what, execvpe("true", good, (char **)(list)));                              \
        TRY("fexecve", what, fexecve(open(program, O_RDONLY), good, (char **)(list)));             \
        TRY("execveat", what, execveat(AT_FDCWD, program, good, (char **)(list), 0));              \
        TRY("execle", what, execle(program, "true", NULL, (char **)(list)));                       \
        TRY("execv", what, (environ = (char **)(list), execv(program, good)));                     \
        TRY("execl", what, (environ = (char **)(list), execl(program, "true", NULL)));             \
        TRY("posix_spawn", what, posix_spawn(NULL, program, NULL, NULL, good, (char **)(list)));   \
        TRY("posix_spawnp", what, posix_spawnp(NULL, program, NULL, NULL, good, (char **)(list))); \
    } while (0)

static void bad_exec(char *end)
{
    char **last = (char **)end - 2, *bad_string[] = {"A=1", (char *)8, NULL};
    char *bad_end[] = {"A=1", memcpy(end - 12, "LD_PRELOAD=x", 12), NULL};
    char *cut[] = {"A=1", end - 5, NULL};

    last[0] = last[1] = "B=1";
    EXECS("envp", 8);
    EXECS("string", bad_string);
    EXECS("list without an end", last);
    EXECS("string at the end", (bad_end[1] = memcpy(end - 12, "LD_PRELOAD=x", 12), bad_end));
    EXECS("cut name", (memcpy(end - 5, "LD_PR", 5), cut));
    memset(end - 32, 0, 32);
    EXECS("list across the end", end - sizeof(char *) / 2);
    TRY("execve", "argv", execve(program, (char **)8, environ));
    TRY("execve", "string of argv", execve(program, bad_string, environ));
    TRY("execve", "path", execve((char *)8, good, environ));
    TRY("execve", "no path", execve(NULL, good, environ));
    TRY("execv", "path", execv((char *)8, good));
    TRY("execveat", "path", execveat(AT_FDCWD, (char *)8, good, environ, 0));
    TRY("posix_spawn", "path", posix_spawn(NULL, (char *)8, NULL, NULL, good, environ));
    TRY("posix_spawn", "string of argv", posix_spawn(NULL, program, NULL, NULL, bad_string, environ));
}

/* Too long for the kernel, which says so. */
static void huge_exec(void)
{
    size_t count = 1000000;
    char **list = malloc((count + 1) * sizeof *list), *text = malloc(1 << 20), *one[] = {text, NULL};

    for (size_t i = 0; i < count; i++)
        list[i] = "C=1";
    list[count] = NULL;
    memset(text, 'x', (1 << 20) - 1);
    text[(1 << 20) - 1] = '\0';
    EXECS("a million entries", list);
    EXECS("a string of a megabyte", one);
}

static void bad_others(void *bad)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), poller = epoll_create1(0), status;
    struct timespec soon = {0, 1};
    struct epoll_event event;
    struct sembuf operation = {0};
    sigset_t none;

    sigemptyset(&none);
    listen(fd, 1);
    TRY("open", "path", open(bad, O_RDONLY));
    TRY("openat", "path", openat(AT_FDCWD, bad, O_RDONLY));
    TRY("creat", "path", creat(bad, 0600));
    TRY("memfd_create", "name", memfd_create(bad, 0));
    TRY("pipe", "pair", pipe(bad));
    TRY("pipe2", "pair", pipe2(bad, O_CLOEXEC));
    TRY("socketpair", "pair", socketpair(AF_UNIX, SOCK_STREAM, 0, bad));
    TRY("bind", "address", bind(fd, bad, 16));
    TRY("connect", "address", connect(fd, bad, 16));
    TRY("accept", "address", accept(fd, bad, bad));
    TRY("fopen", "path", fopen(bad, "r"));
    TRY("opendir", "path", opendir(bad));
    TRY("freopen", "path", freopen(bad, "r", stdin));
    TRY("sigaction", "old", sigaction(SIGUSR1, NULL, bad));
    TRY("sigaction", "new", sigaction(SIGUSR1, bad, NULL));
    TRY("sigaltstack", "new", sigaltstack(bad, NULL));
    TRY("sigaltstack", "old", sigaltstack(NULL, bad));
    TRY("sigprocmask", "new", sigprocmask(SIG_BLOCK, bad, NULL));
    TRY("sigprocmask", "old", sigprocmask(SIG_BLOCK, NULL, bad));
    TRY("pthread_sigmask", "new", pthread_sigmask(SIG_BLOCK, bad, NULL));
    TRY("pthread_sigmask", "old", pthread_sigmask(SIG_BLOCK, NULL, bad));
    TRY("signalfd", "mask", signalfd(-1, bad, 0));
    TRY("sigsuspend", "mask", sigsuspend(bad));
    TRY("ppoll", "array", ppoll(bad, 1, &soon, NULL));
    TRY("ppoll", "mask", ppoll(NULL, 0, &soon, bad));
    TRY("ppoll", "time", ppoll(NULL, 0, bad, NULL));
    TRY("pselect", "set", pselect(1, bad, NULL, NULL, &soon, NULL));
    TRY("pselect", "mask", pselect(0, NULL, NULL, NULL, &soon, bad));
    TRY("pselect", "time", pselect(0, NULL, NULL, NULL, bad, NULL));
    TRY("epoll_pwait", "mask", epoll_pwait(poller, &event, 1, 0, bad));
    TRY("epoll_pwait2", "time", epoll_pwait2(poller, &event, 1, bad, NULL));
    TRY("epoll_pwait2", "mask", epoll_pwait2(poller, &event, 1, &soon, bad));
    TRY("sigtimedwait", "mask", sigtimedwait(bad, NULL, &soon));
    TRY("sigtimedwait", "time", sigtimedwait(&none, NULL, bad));
    TRY("sigwaitinfo", "mask", sigwaitinfo(bad, NULL));
    TRY("sigwait", "mask", sigwait(bad, &status));
    TRY("semtimedop", "operation", semtimedop(0, bad, 1, &soon));
    TRY("semtimedop", "time", semtimedop(0, &operation, 1, bad));
    TRY("waitpid", "status", (fork() ?: (_exit(0), 0), waitpid(-1, bad, 0)));
    TRY("wait4", "usage", (fork() ?: (_exit(0), 0), wait4(-1, &status, 0, bad)));
    TRY("waitid", "siginfo", (fork() ?: (_exit(0), 0), waitid(P_ALL, 0, bad, WEXITED)));
    TRY("madvise", "range", madvise(bad, 4096, MADV_DONTNEED));

    TRY("pthread_setname_np", "name", pthread_setname_np(pthread_self(), bad));
}

int main(void)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    mprotect(pages + 4096, 4096, PROT_NONE);
    bad_exec(pages + 4096);
    huge_exec();
    bad_others((void *)8);
    bad_others(pages + 4096);
    return 0;
}
