// Promise 4.14: with start_at= nothing is a leak until that function is called: a static one of the program, one of a
// library, one of a plugin that comes later; by two threads at once, in a fork child as well, with every signal blocked. The program's own
// handlers of SIGILL and SIGTRAP are as ever, and its code is as it was, protection and all.
// CFLAGS: -O1 -g -rdynamic
// CFLAGS: -O2 -g -no-pie -fno-optimize-sibling-calls
// CFLAGS: -O1 -g %protect
// BUILD: cc -w -g -O1 -shared -fPIC -o %d/awaited.so %S/lib/awaited.c
// BUILD: cc -w -g -O1 -shared -fPIC -o %d/plugin.so %S/lib/awaited.c
// BUILD: cc -w -g -O0 -fno-omit-frame-pointer -shared -fPIC -o %d/other.so %S/lib/awaited.c
// RUN: at() { LIBLEAK_OPTIONS=start_at=$1; export LIBLEAK_OPTIONS; shift; %leak "$@" || exit 1; }
// RUN: for how in once threads fork blocked ignored handled trapped again; do at begin %t $how; at begin:crash=off %t $how; done
// RUN: at begin_in_library env LD_PRELOAD=%O/libleak.so:%d/awaited.so %t library
// RUN: at begin_in_library %t plugin; at begin_static_in_library %t plugin; at begin_in_library %t reloaded
// EXPECT: every one ended well
// JSON: len([q for q in procs if len(q.argv) < 3]) == 2 * 9 + 4
// JSON: all(q.end.value == 0 and not q.errors for q in procs if len(q.argv) < 3)
// JSON: all(verdict("lose_after", q) == {"lost": (1, 100)} and q.summary.lost.bytes == 100 for q in procs if len(q.argv) < 3)

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;
static volatile int calls, handled;

__attribute__((noinline)) static void lose(size_t size)
{
    sink = malloc(size);
    sink = NULL;
}

__attribute__((noinline)) static void lose_before(void)
{
    lose(20);
}

__attribute__((noinline)) static void lose_after(void)
{
    lose(100);
}

__attribute__((noinline)) static int begin(int n)
{
    __asm__ volatile("");
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return n + 1;
}

/* What may be done to the page that a function is in. */
static void access_of(void *function, char out[5])
{
    char line[512];
    unsigned long start, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s", &start, &end, out) == 3 &&
            (unsigned long)function >= start && (unsigned long)function < end)
            break;
    fclose(maps);
}

static void *run(void *barrier)
{
    pthread_barrier_wait(barrier);
    return (void *)(long)begin(41);
}

static int in_threads(void)
{
    pthread_barrier_t barrier;
    pthread_t thread[8];
    int right = 0;
    void *result;
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, run, &barrier);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], &result);
        right += (long)result == 42;
    }
    return right == 8 && calls == 8;
}

static int in_child(void)
{
    int status;
    if (fork() == 0) {
        int right = begin(1) == 2;
        lose_after();
        exit(!right);
    }
    return wait(&status) > 0 && status == 0 && begin(1) == 2;
}

static int while_blocked(void)
{
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int right =
        begin(1) == 2 && sigprocmask(SIG_BLOCK, NULL, &old) == 0 && sigismember(&old, SIGILL);
    sigprocmask(SIG_UNBLOCK, &all, &old);
    return right && sigismember(&old, SIGILL);
}

static int while_ignored(void)
{
    struct sigaction now;
    signal(SIGILL, SIG_IGN);
    raise(SIGILL);
    int right = begin(1) == 2;
    raise(SIGILL);
    sigaction(SIGILL, NULL, &now);
    return right && now.sa_handler == SIG_IGN && !(now.sa_flags & SA_SIGINFO);
}

static void handle(int number)
{
    handled += number;
}

/* For one call, and that one is not ours. */
static int while_handled(int number)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESETHAND}, now;
    sigaction(number, &action, NULL);
    int right = begin(1) == 2 && !handled;
    sigaction(number, NULL, &now);
    right = right && now.sa_handler == handle;
    raise(number);
    right = right && handled == number;
    sigaction(number, NULL, &now);
    return right && now.sa_handler == SIG_DFL;
}

static int in_library(void *where, const char *name, int wanted)
{
    int (*function)(int) = dlsym(where, name);
    return function && function(1) == wanted && function(1) >= wanted;
}

static int in_plugin(void)
{
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    lose_before();
    return plugin && in_library(plugin, "begin_in_library", 2) &&
           in_library(plugin, "call_static", 4);
}

/* Another library, where one was that is waited for. */
static int in_place_of_another(void)
{
    dlclose(dlopen("./plugin.so", RTLD_NOW));
    void *other = dlopen("./other.so", RTLD_NOW);
    return other && in_library(other, "begin_in_library", 2);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    char before[5] = "", after[5] = "";
    int right = 0;
    access_of((void *)lose_after, before);
    lose_before();
    if (!strcmp(how, "once"))
        right = begin(1) == 2;
    else if (!strcmp(how, "again"))
        right = begin(1) == 2 && begin(2) == 3 && calls == 2;
    else if (!strcmp(how, "threads"))
        right = in_threads();
    else if (!strcmp(how, "fork"))
        right = in_child();
    else if (!strcmp(how, "blocked"))
        right = while_blocked();
    else if (!strcmp(how, "ignored"))
        right = while_ignored();
    else if (!strcmp(how, "handled"))
        right = while_handled(SIGILL);
    else if (!strcmp(how, "trapped"))
        right = while_handled(SIGTRAP);
    else if (!strcmp(how, "library"))
        right = in_library(RTLD_DEFAULT, "begin_in_library", 2);
    else if (!strcmp(how, "plugin"))
        right = in_plugin();
    else if (!strcmp(how, "reloaded"))
        right = in_place_of_another();
    lose_after();
    access_of((void *)begin, after);
    if (!right || strcmp(before, "r-xp") || strcmp(after, before))
        return printf("%s went wrong: %s, then %s\n", how, before, after), 1;
    if (!strcmp(how, "plugin"))
        puts("every one ended well");
    return 0;
}
