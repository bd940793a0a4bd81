// fork takes libc's lock of the list of streams, after libleak's locks; a thread that holds that list allocates, or
// waits for a stream whose owner does. Neither waits for the other for ever, and the children use streams as alone.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t && LIBLEAK_OPTIONS=enabled=0 %leak %t
// EXPECT: ^100 children of 100 wrote$
// JSON: all(q.end.how == "exit" for q in procs) and all(not q.errors for q in procs)
// JSON: all(of("child", process=q).blocks == 1 for q in procs if q.forked and q.totals.allocations) and len([q for q in procs if q.forked]) >= 100

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static void *volatile sink;

static void *open_and_close(void *none)
{
    while (!stop) {
        FILE *f = fopen("/dev/null", "w");
        fputs("a word", f);
        fclose(f);
    }
    return none;
}

static void *flush_all(void *none)
{
    while (!stop)
        fflush(NULL);
    return none;
}

static void *write_to_memory(void *none)
{
    while (!stop) {
        char *text;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        fprintf(f, "%d", 1);
        fclose(f);
        free(text);
    }
    return none;
}

static void child(void)
{
    alarm(30);
    FILE *f = fopen("/dev/null", "w");
    fputs("another word", f);
    fflush(NULL);
    fclose(f);
    sink = malloc(100);
    exit(7);
}

int main(void)
{
    void *(*const work[])(void *) = {open_and_close, flush_all, write_to_memory};
    pthread_t threads[6];
    int status, wrote = 0;

    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, work[i % 3], NULL);
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (!pid)
            child();
        wrote += waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    stop = 1;
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    printf("%d children of 100 wrote\n", wrote);
    return 0;
}
