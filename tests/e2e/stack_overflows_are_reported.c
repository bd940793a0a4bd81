// RUN: for m in main thread handler alternate pair; do
// RUN:   %t $m 2>/dev/null; a=$?; %leak %t $m 2>/dev/null; b=$?
// RUN:   [ $a = 139 ] && [ $a = $b ] || echo "$m: status $a, with libleak $b"; done
// RUN: %report store/*.leak
// REFUSE: status
// EXPECT: STACK OVERFLOW: SIGSEGV, write to 0x[0-9a-f]+, just below the stack,
// EXPECT: \.\.\. this frame [0-9,]+ times more
// EXPECT: \.\.\. these 2 frames [0-9,]+ times more
// EXPECT: The stack was [0-9,]+ frames deep
// EXPECT: bytes below the stack, which has
// JSON: [e.type for q in procs for e in q.errors] == ["stack-overflow"] * 5
// JSON: all(q.errors[0].frames[0].function in ("down", "ping", "pong") for q in procs)
// JSON: all(any(f.function == "start" for f in q.errors[0].frames) for q in procs if q.argv[1] != "alternate")
// JSON: {q.argv[1]: q.errors[0].thread for q in procs} == {"main": "T1", "thread": "T2", "handler": "T1", "alternate": "T1", "pair": "T1"}
// JSON: all(q.errors[0].crash.repeats[0].times > 100 for q in procs if q.argv[1] != "alternate")
// JSON: all(q.errors[0].crash.depth > q.errors[0].crash.repeats[0].times for q in procs if q.errors[0].crash.repeats)
// JSON: [q.errors[0].crash.repeats[0].frames for q in procs if q.argv[1] == "pair"] == [2]
// JSON: all(q.errors[0].frames[-1].function in ("_start", "start_thread", "clone3", "clone") for q in procs if q.argv[1] != "alternate")

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) static int down(volatile int n)
{
    volatile char room[100];
    room[0] = n;
    return down(n + 1) + room[0];
}

static int pong(volatile int n);
__attribute__((noinline)) static int ping(volatile int n)
{
    return pong(n + 1) + n;
}
__attribute__((noinline)) static int pong(volatile int n)
{
    return ping(n + 1) + n;
}

__attribute__((noinline)) static void *start(void *argument)
{
    static volatile int result;
    result = argument ? ping(0) : down(0);
    return argument;
}

static void on_signal(int number)
{
    start(NULL);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    free(malloc(10));
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        pthread_create(&thread, &small, start, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(how, "alternate")) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
        char *memory = mmap(NULL, 1 << 17, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t stack = {.ss_sp = memory + 65536, .ss_size = 65536};
        mprotect(stack.ss_sp, 65536, PROT_READ | PROT_WRITE);
        sigaltstack(&stack, NULL);
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
    } else if (!strcmp(how, "handler")) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    } else {
        start(!strcmp(how, "pair") ? argv : NULL);
    }
    return 0;
}
