// libc ends the process for a wrong free: the report begins with the free and its stacks, the crash refers to it in two
// lines, and they are one error in the text, in the last line and in JSON. So for a second free, by delete as well, for a
// pointer into a block, realloc, a pointer to no block, in a thread and in a child.
// CFLAGS: -O0 -g -fno-builtin -w
// RUN: for what in twice delete interior realloc wild thread child; do %leak %t $what; done; %report store/*.leak
// EXPECT: ^1 error in freeing memory:$
// EXPECT: ^  the allocator ended the process for error 1 \(-v shows stack and registers\)$
// EXPECT: ^CRASH: SIGABRT in T2 \(t\), tid [0-9]+:$
// REFUSE: besides the crash|probably overwritten|raised by the program itself|Registers:
// EXPECT: errors=7 
// REFUSE: errors=([2-689]|1[0-9])
// JSON: sum(e.type == "crash" for q in procs for e in q.errors) == 7
// JSON: all(e.crash.answers_wrong_free for q in procs for e in q.errors if e.type == "crash")
// JSON: all([e.type for e in q.errors if e.type != "crash"] in (["double-free"], ["interior-free"], ["invalid-free"], ["bad-realloc"]) for q in procs if q.errors)

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct thing { char text[40]; };

static void *twice(void *)
{
    char *volatile p = (char *)malloc(100);
    free(p);
    free(p);
    return NULL;
}

int main(int, char **argv)
{
    const char *what = argv[1];
    char *volatile p = (char *)malloc(200);
    pthread_t thread;

    if (!strcmp(what, "twice"))
        twice(NULL);
    if (!strcmp(what, "delete")) {
        thing *volatile it = new thing;
        delete it;
        delete it;
    }
    if (!strcmp(what, "interior"))
        free(p + 24);
    if (!strcmp(what, "realloc"))
        p = (char *)realloc(p + 24, 300);
    if (!strcmp(what, "wild"))
        free((void *)((size_t)&p + 4 & ~7ul | 4));
    if (!strcmp(what, "thread"))
        pthread_create(&thread, NULL, twice, NULL), pthread_join(thread, NULL);
    if (!strcmp(what, "child")) {
        if (!fork())
            twice(NULL);
        wait(NULL);
    }
    return 0;
}
