// log=1 to 3: a line for each block that comes or goes, with stacks where it comes and where it goes; the sum of
// the lines is the account. Two of threads are never mixed, one address is free before it is given again. A fork
// child has a file of its own, a file that is there stays as it is, kill -9 loses nothing, and log=0 writes nothing.
// leakreport log puts names in.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: with() { (export LIBLEAK_OPTIONS=$1; shift; %leak %t "$@"); }; log() { with log=$1:log_file=$2 $3; }
// RUN: log 0 none plain; ls none* 2>/dev/null; log 1 one plain; cat one; log 2 two plain; %report log two | sed 's/^/two: /'; log 3 three plain; %report log three | sed 's/^/three: /'
// RUN: log 3 %e.%n.x fork; ls t.*.x | wc -l; grep -c ' 91 at' t.1.x t.2.x; log 1 one plain; ls one* | wc -l
// RUN: log 1 kill kill; echo "kill: $?"; grep -c 'malloc 500 at' kill; tr -d '\n' <kill | tr -dc '\000' | wc -c; log 1 exit _exit; echo "_exit: $?"; tail -c 1 exit | od -An -c; grep -c . exit; grep -vc . exit
// RUN: log 3 threads threads; /usr/bin/python3 %S/lib/log_adds_up.py threads
// RUN: log 3 exec exec; grep -c . exec; with log=1:log_file=/nowhere/x plain; echo "nowhere: $?"; with log=4 plain; echo "four: $?"
// EXPECT: ^[0-9]+\.[0-9]{6} T1#1 malloc 41 at 0x[0-9a-f]+ in /.*/t\+0x[0-9a-f]+$
// EXPECT: ^[0-9]+\.[0-9]{6} T1#2 malloc 42 at 0x[0-9a-f]+ in /
// EXPECT: ^[0-9]+\.[0-9]{6} T1 realloc takes 42 at 0x[0-9a-f]+, T1#2, in /
// EXPECT: ^[0-9]+\.[0-9]{6} T1#3 realloc gives 4300 at 0x[0-9a-f]+ in /
// EXPECT: ^[0-9]+\.[0-9]{6} T1 free 4300 at 0x[0-9a-f]+, T1#3, in /
// EXPECT: ^[0-9]+\.[0-9]{6} T1#4 memalign 64 at 0x[0-9a-f]+00 in /
// EXPECT: ^[0-9]+\.[0-9]{6} T1 realloc leaves 64 at 0x[0-9a-f]+, T1#4, in /
// EXPECT: ^two:     make at .*option_log.c:[0-9]+$
// EXPECT: ^two: [0-9.]+ T1 free 4300 at 0x[0-9a-f]+, T1#3, in plain at .*option_log.c:[0-9]+$
// EXPECT: ^three: [0-9.]+ T1 free 4300 at 0x[0-9a-f]+, T1#3$
// EXPECT: ^three:     main at .*option_log.c:[0-9]+$
// EXPECT: ^2$
// EXPECT: ^t.1.x:0$
// EXPECT: ^t.2.x:2$
// EXPECT: ^kill: 137$
// EXPECT: ^1000$
// EXPECT: ^_exit: 5$
// RUN: log 1 names names; awk '{ print "names: " $2, $3, $4 }' names | tail -3
// EXPECT: ^names: T1#[0-9]+ malloc 61$
// EXPECT: ^names: T1 free 61$
// EXPECT: ^threads add up: 80000 came, 80000 went$
// EXPECT: ^libleak: no log in /nowhere/x from here on: no such directory$
// EXPECT: ^nowhere: 0$
// EXPECT: ^libleak: bad value in 'log=4'
// EXPECT: ^four: 0$
// REFUSE: ^none
// REFUSE: ^two: .* in /
// JSON: all(q.totals.live_blocks == 1 for q in procs[:4])

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
void *volatile sink;
void *__libc_malloc(size_t);
void __libc_free(void *);

FAR void *make(size_t size)
{
    void *block = malloc(size);
    __asm__("");
    return block;
}
FAR void plain(void)
{
    make(41);
    free(realloc(make(42), 4300));
    sink = memalign(256, 64);
    if (!realloc(sink, (size_t)-100))
        free(sink);
}
static void *work(void *passed)
{
    void *kept[32] = {0};
    for (int i = 0; i < 10000; i++) {
        free(kept[i % 32]);
        kept[i % 32] = malloc(16 + i % 100);
    }
    for (int i = 0; i < 32; i++)
        free(kept[i]);
    for (int i = 0; i < 5000; i++)
        free(realloc(malloc(10), 1000 + i));
    return passed;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t threads[4];

    if (!strcmp(what, "plain")) {
        plain();
    } else if (!strcmp(what, "fork")) {
        make(1);
        if (fork() == 0) {
            free(make(91));
            _exit(0);
        }
        wait(NULL);
    } else if (!strcmp(what, "names")) {
        __libc_free(__libc_malloc(61));
    } else if (!strcmp(what, "kill")) {
        for (int i = 0; i < 1000; i++)
            make(500);
        raise(SIGKILL);
    } else if (!strcmp(what, "_exit")) {
        make(1);
        _exit(5);
    } else if (!strcmp(what, "exec")) {
        make(1);
        execl("/nowhere", "x", NULL);
        make(2);
        execl(argv[0], argv[0], NULL);
    } else if (!strcmp(what, "threads")) {
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}
