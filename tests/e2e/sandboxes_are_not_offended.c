// From the moment a process restricts itself it may be killed for each call that its filter does not list: the filters here
// list what the program itself calls, and nothing more. With every action of a filter, and in strict mode, each way of
// allocating ends as it does without libleak: same output, same status.
// CFLAGS: -O1 -g -fno-builtin
// RUN: for a in kill thread trap errno notify strict; do for m in grow threads forks signals timer loads exit segv abort; do
// RUN: if [ $a = strict ] && [ $m != grow ]; then continue; fi
// RUN: %t $a $m >bare 2>/dev/null; echo "status $?" >>bare
// RUN: %leak %t $a $m >ours 2>e; echo "status $?" >>ours
// RUN: cmp -s bare ours || { echo "$a $m differs:"; cat bare; echo ---; cat ours e; }; done; done; echo compared
// EXPECT: ^compared$
// REFUSE: differs

#include "../filter.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST(...) ((const int[]){__VA_ARGS__, -1})

static const struct mode {
    const char *name;
    const int *calls; // beside those of malloc, write and exit
} modes[] = {
    {"grow", LIST(SYS_write)},
    {"threads", LIST(SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask, SYS_sched_getaffinity)},
    {"forks", LIST(SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_rseq, SYS_gettid)},
    {"signals", LIST(SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_tgkill, SYS_gettid, SYS_getpid)},
    {"timer", LIST(SYS_write)},
    {"loads", LIST(SYS_openat, SYS_read, SYS_pread64, SYS_close, SYS_fstat, SYS_newfstatat)},
    {"exit", LIST(SYS_write)},
    {"segv", LIST(SYS_write)},
    {"abort", LIST(SYS_rt_sigprocmask, SYS_tgkill, SYS_gettid, SYS_getpid)},
};
static const int of_malloc[] = {SYS_write, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex,
                                SYS_getrandom, SYS_exit, SYS_exit_group, SYS_rt_sigreturn};

static struct sock_filter code[200];
static int length;

static void add(struct sock_filter one) { code[length++] = one; }

static void allow(int number)
{
    add((struct sock_filter)FILTER_UNLESS(number, 1));
    add((struct sock_filter)FILTER_RETURN(SECCOMP_RET_ALLOW));
}

static int restrict_to(const struct mode *mode, const char *action)
{
    unsigned answer = !strcmp(action, "kill")     ? SECCOMP_RET_KILL_PROCESS
                      : !strcmp(action, "thread") ? SECCOMP_RET_KILL_THREAD
                      : !strcmp(action, "trap")   ? SECCOMP_RET_TRAP
                      : !strcmp(action, "notify") ? SECCOMP_RET_USER_NOTIF
                                                  : SECCOMP_RET_ERRNO | EPERM;
    if (!strcmp(action, "strict"))
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0;
    add((struct sock_filter)FILTER_LOAD(nr));
    for (size_t i = 0; i < sizeof of_malloc / sizeof *of_malloc; i++)
        allow(of_malloc[i]);
    for (const int *call = mode->calls; *call >= 0; call++)
        allow(*call);
    add((struct sock_filter)FILTER_RETURN(answer));
    return filter_set(code, length);
}

static void say(const char *words) { write(1, words, strlen(words)); }

static void allocate(void)
{
    void *block[2000];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 2000; i++)
            block[i] = realloc(malloc(i % 300 + 1), i % 500 + 20);
        for (int i = 0; i < 2000; i++)
            free(block[i]);
    }
}

static void *in_thread(void *unused)
{
    allocate();
    return unused;
}

static volatile int handled;
static void on_signal(int number)
{
    if (number == SIGUSR1) // SIGALRM may come inside of malloc
        free(malloc(100));
    handled++;
}

int main(int count, char **argument)
{
    const struct mode *mode = modes;
    const char *name = count > 2 ? argument[2] : "grow";
    struct itimerval often = {{0, 300}, {0, 300}};
    pthread_t thread[3];
    int status;

    setvbuf(stdout, NULL, _IONBF, 0);
    while (strcmp(mode->name, name))
        mode++;
    free(malloc(4 << 20)); // strict: what is freed here serves what comes
    allocate();
    if (!strcmp(name, "timer")) {
        signal(SIGALRM, on_signal);
        setitimer(ITIMER_REAL, &often, NULL);
    }
    if (!restrict_to(mode, argument[1]))
        say("no filter\n");
    allocate();
    if (!strcmp(name, "threads")) {
        for (int i = 0; i < 3; i++)
            pthread_create(&thread[i], NULL, in_thread, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
    } else if (!strcmp(name, "forks")) {
        if (fork() == 0) {
            allocate();
            _exit(7);
        }
        wait(&status);
        say(WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "child ended\n" : "child died\n");
    } else if (!strcmp(name, "signals")) {
        signal(SIGUSR1, on_signal);
        for (int i = 0; i < 50; i++)
            raise(SIGUSR1);
        say(handled == 50 ? "handled\n" : "lost signals\n");
    } else if (!strcmp(name, "timer")) {
        while (handled < 200)
            allocate();
        say("handled\n");
    } else if (!strcmp(name, "loads")) {
        say(dlopen("libm.so.6", RTLD_NOW) ? "loaded\n" : "not loaded\n");
    } else if (!strcmp(name, "segv")) {
        *(volatile int *)8 = 1;
    } else if (!strcmp(name, "abort")) {
        abort();
    }
    allocate();
    say("ends\n");
    if (!strcmp(name, "exit"))
        return 3;
    syscall(SYS_exit, 4);
}
