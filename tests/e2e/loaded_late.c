// Promise 4.41: dlopen of libleak in a running process: later leaks are reported exactly, blocks from before by size alone, apart from
// those: they are freed without an error, and blocks that only they point to are reachable. Threads that run meanwhile are tracked, so is what a
// plugin allocates that comes later, its constructor too, and what libc allocates for them; dlclose does nothing. Stale pointers in a
// freed block from before may turn a lost block into a possibly lost one: it is still reported.
// CFLAGS: -O1 -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin -no-pie -Wl,-z,lazy
// CFLAGS: -O1 -g -fno-builtin -Wl,-z,now
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -o %d/plugin.so %S/lib/late_plugin.c
// ENV: LIBLEAK_OPTIONS=dir=%d/store
// RUN: %t %O/libleak.so returns; %t %O/libleak.so exits; %t %O/libleak.so deep; cd %O; LD_LIBRARY_PATH=. %t libleak.so global %d/plugin.so; cd -; %report store/*
// EXPECT: loaded late, while the process ran: older blocks have a size and a verdict, but no stack
// EXPECT: Frees of blocks allocated before libleak was loaded: 1,?005\.
// JSON: len(procs) == 4 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: all((of(f, q).blocks, of(f, q).bytes) == n for q in procs for f, n in {"lose_after": (10, 1000), "lose_in_thread": (5, 205), "lose_in_plugin": (2, 123), "lose_in_constructor": (1, 70)}.items())
// JSON: all(sum(r.blocks for r in q.records if r.verdict in ("lost", "indirect", "possible", "hidden") and r.kind != "before attach") == 18 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.verdict == "lost" and r.kind == "before attach") == 7 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.verdict == "lost" and r.kind != "before attach") > 9 for q in procs)
// JSON: all(verdict("hang_below_old_block", q) == {"reachable": (3, 300)} for q in procs)
// JSON: all(of("give_from_plugin", q).blocks == of("kept_for_a_while", q).blocks == of("lose_before", q).blocks == 0 for q in procs)
// JSON: all(q.coverage.unknown_frees == 1005 and not q.coverage.untracked for q in procs)

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile sink;
static void **old[1000];
static pthread_barrier_t loaded, lost;
static volatile int handled;

__attribute__((noinline)) static void lose_before(void)
{
    for (int i = 0; i < 7; i++)
        sink = malloc(100);
    sink = NULL;
}

__attribute__((noinline)) static void lose_after(void)
{
    for (int i = 0; i < 10; i++)
        sink = malloc(100);
    sink = NULL;
}

__attribute__((noinline)) static void kept_for_a_while(void)
{
    void *block = malloc(200);
    block = realloc(block, 300);
    free(block);
}

__attribute__((noinline)) static void lose_in_thread(void)
{
    for (int i = 0; i < 5; i++)
        sink = malloc(41);
    sink = NULL;
}

/* Nothing else points there. */
__attribute__((noinline)) static void hang_below_old_block(void **holder)
{
    for (int i = 0; i < 3; i++)
        holder[i] = malloc(100);
}

static void *run(void *argument)
{
    void *before[5];
    for (int i = 0; i < 5; i++)
        before[i] = malloc(60);
    pthread_barrier_wait(&loaded); /* they are there */
    pthread_barrier_wait(&loaded);
    lose_in_thread();
    for (int i = 0; i < 5; i++)
        free(before[i]);
    pthread_barrier_wait(&lost);
    return argument;
}

static void allocate_before(void)
{
    for (int i = 0; i < 1000; i++)
        old[i] = malloc(24 + i);
    lose_before();
}

static void free_half(void)
{
    for (int i = 0; i < 1000; i++)
        if (i != 500)
            free(old[i]);
        else
            old[i] = realloc(old[i], 8);
    free(old[500]);
    memset(old, 0, sizeof old); /* others will lie there */
}

static void use_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    ((void (*)(void))dlsym(plugin, "lose_in_plugin"))();
    free(((void *(*)(void))dlsym(plugin, "give_from_plugin"))());
}

int main(int argc, char **argv)
{
    const char *how = argv[2];
    pthread_t thread;
    void ***keep = malloc(sizeof(void *));
    *keep = calloc(3, sizeof(void *)); /* an old block holds an old block */
    allocate_before();
    pthread_barrier_init(&loaded, NULL, 2);
    pthread_barrier_init(&lost, NULL, 2);
    pthread_create(&thread, NULL, run, NULL);
    pthread_barrier_wait(&loaded);
    int flags = strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : strcmp(how, "global") == 0 ? RTLD_GLOBAL : 0;
    void *leak = dlopen(argv[1], RTLD_NOW | flags);
    if (!leak)
        return printf("%s\n", dlerror()), 1;
    pthread_barrier_wait(&loaded);
    lose_after();
    kept_for_a_while();
    hang_below_old_block(*keep);
    pthread_barrier_wait(&lost);
    pthread_join(thread, NULL);
    free_half();
    use_plugin(argc > 3 ? argv[3] : "./plugin.so");
    dlclose(leak);
    dlclose(leak);
    free(malloc(10));
    sink = keep;
    if (strcmp(how, "exits") == 0)
        exit(0);
    return 0;
}
