// With log_format=mtrace glibc's own mtrace reads the event log, stacks or not, and finds the blocks that are left with
// file and line: none is allocated twice, none freed that was not there, and what realloc could not move is
// still there.
// NEEDS: mtrace
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: for level in 1 3; do (export LIBLEAK_OPTIONS=log=$level:log_format=mtrace:log_file=m$level; %leak %t); mtrace %t m$level | sed "s/^/$level: /"; done; head -n 1 m1; grep -c '^    /' m1; grep -c '^    /' m3; %report log m1 | diff - m1 && echo unchanged
// EXPECT: ^1: 0x[0-9a-f]+ +0x29  at .*event_log_is_read_by_mtrace.c:[0-9]+
// EXPECT: ^1: 0x[0-9a-f]+ +0x2b  at .*event_log_is_read_by_mtrace.c:[0-9]+
// EXPECT: ^3: 0x[0-9a-f]+ +0x29  at .*event_log_is_read_by_mtrace.c:[0-9]+
// EXPECT: ^@ /.*/t:\[0x[0-9a-f]+\] \+ 0x[0-9a-f]+ 0x29$
// EXPECT: ^0$
// EXPECT: ^[0-9]{4,}$
// EXPECT: ^unchanged$
// REFUSE: (duplicate|never alloc|0x10c|0xa )

#include <pthread.h>
#include <stdlib.h>

void *volatile sink;

static void *work(void *passed)
{
    for (int i = 0; i < 1000; i++)
        free(realloc(malloc(10), 20 + i));
    return passed;
}

int main(void)
{
    pthread_t threads[3];
    sink = malloc(41);
    free(realloc(malloc(42), 4300));
    sink = malloc(43);
    sink = realloc(sink, (size_t)-100);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
