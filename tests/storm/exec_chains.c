// Exec storms: 20 processes at once, each a chain of 20 good execs with failing ones between; the last
// exec comes from a thread: a store for each program image, exact counts in each
// (a child that execs before it allocates has none).
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t 20
// JSON: len(procs) == 1 + 20 * 21
// JSON: sum(1 for q in procs if q.end.how == "exec") == 20 * 20
// JSON: sum(1 for q in procs if q.end.how == "exit") == 21 and all(q.end.value == 0 for q in procs if q.end.how == "exit")
// JSON: all(of("in_image", q).blocks == 5 for q in procs if len(q.argv) > 2)
// JSON: all(of("after_failed_exec", q).blocks == 3 for q in procs if q.end.how == "exec" and len(q.argv) > 2)

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
static __thread void *volatile sink;
static char **args;
FAR void in_image(void) { for (int i = 0; i < 5; i++) sink = malloc(50); sink = NULL; }
FAR void after_failed_exec(void) { sink = malloc(60); sink = NULL; }

static void *from_thread(void *x)
{
    execv("/proc/self/exe", args);
    _exit(9);
}

int main(int argc, char **argv)
{
    char left[16];
    pthread_t t;
    int n = atoi(argv[1]), status, bad = 0;

    args = argv;
    if (argc == 2) {
        for (int i = 0; i < 20; i++)
            if (!fork()) {
                execl("/proc/self/exe", argv[0], argv[1], "go", NULL);
                _exit(9);
            }
        while (wait(&status) > 0)
            bad |= status;
        return bad != 0;
    }
    in_image();
    if (n == 0)
        return 0;
    for (int i = 0; i < 3; i++) {
        execl("/no/such", "x", NULL);
        after_failed_exec();
    }
    snprintf(left, sizeof left, "%d", n - 1);
    argv[1] = left;
    if (n % 5 == 0) {
        pthread_create(&t, NULL, from_thread, NULL);
        pthread_join(t, NULL);
    }
    execv("/proc/self/exe", argv);
    return 8;
}
