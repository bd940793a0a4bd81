// break_at takes back the serial that a report has said: where that very block is allocated, in a thread too, its
// stack is printed and the program goes on; or it stops, traps or dies as asked. A debugger stops in malloc
// whatever is asked. A bad value prints one line and stops nothing; an unused serial stops nothing either.
// NEEDS: gdb jq
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: run() { want=$1; (LIBLEAK_OPTIONS=content=0:break_at=$want; %leak %t) >o 2>&1; echo "$2: $?"; sed "s/^/$2: /" o; }
// RUN: %leak %t; serial() { %report --format=json store/*.leak | jq -r ".processes[].records[].samples[]? | select(.size == $1) | .serial"; }; a=$(serial 777); b=$(serial 888); echo "serials $a $b"
// RUN: run "$a" main; run "$b" thread; run "$a,$b" both; run "$a=abort" abort; run "$b=trap" trap; run "T9#1,T1#9999999" unused; run "$a," comma
// RUN: for bad in 4213 T1 T1# 'T1#0' 'T#5' "$a=explode" 'T1#5x' ',T1#5' 'T1#99999999999'; do run "$bad" "bad $bad"; done
// RUN: (LIBLEAK_OPTIONS=break_at=$a=stop; %leak %t >o 2>&1 & pid=$!; until grep -q "^State:.T" /proc/$pid/status 2>/dev/null; do sleep 0.05; done; echo stopped; grep -c "^on" o; kill -CONT $pid; wait $pid; echo "went on: $?")
// RUN: gdb -q -nx -batch -ex "set exec-wrapper env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store:break_at=$a" -ex run -ex "echo at\ " -ex bt -ex "frame function here" -ex "print size" -ex continue %t </dev/null 2>&1 | grep -v '^\[' | sed 's/^/gdb: /'
// EXPECT: ^serials T1#[0-9]+ T2#1[0-9]$
// EXPECT: ^main: 0$
// EXPECT: ^main: libleak: T1#[0-9]+: 777 bytes of malloc$
// EXPECT: ^main: libleak:     in here at .*option_break_at.c:[0-9]+$
// EXPECT: ^main: libleak:     called by main at .*option_break_at.c:[0-9]+$
// EXPECT: ^main: on$
// EXPECT: ^thread: libleak: T2#1[0-9]: 888 bytes of malloc$
// EXPECT: ^thread: libleak:     called by work at .*option_break_at.c:[0-9]+$
// EXPECT: ^both: libleak: T2#1[0-9]: 888 bytes of malloc$
// EXPECT: ^both: libleak: T1#[0-9]+: 777 bytes of malloc$
// EXPECT: ^abort: 134$
// EXPECT: ^abort: libleak: T1#[0-9]+: 777 bytes of malloc \(break_at: abort\)$
// EXPECT: ^trap: 133$
// EXPECT: ^unused: 0$
// EXPECT: ^comma: libleak: T1#[0-9]+: 777 bytes of malloc$
// EXPECT: ^bad 4213: libleak: bad value in 'break_at=4213': it takes the serials of up to 64 blocks
// EXPECT: ^bad T1: libleak: bad value
// EXPECT: ^bad T1#: libleak: bad value
// EXPECT: ^bad T1#0: libleak: bad value
// EXPECT: ^bad T#5: libleak: bad value
// EXPECT: ^bad T1#[0-9]+=explode: libleak: bad value
// EXPECT: ^bad T1#5x: libleak: bad value
// EXPECT: ^bad ,T1#5: libleak: bad value
// EXPECT: ^bad T1#99999999999: libleak: bad value
// REFUSE: ^unused: libleak
// REFUSE: ^bad.* bytes of
// REFUSE: ^abort: on$
// EXPECT: ^stopped$
// EXPECT: ^0$
// EXPECT: ^went on: 0$
// EXPECT: ^gdb: .*received signal SIGTRAP
// EXPECT: ^gdb: #[0-9]+ .* malloc_slow|^gdb: #[0-9]+ .* malloc
// EXPECT: ^gdb: #[0-9]+ .* in here
// EXPECT: ^gdb: \$1 = 777$
// EXPECT: ^gdb: on$
// JSON: all(q.end.how == "exit" and q.end.value == 0 for q in (procs[0], procs[-1]))
// JSON: [q.end.how for q in procs].count("signal") == 2

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))
void *volatile sink;

FAR void here(size_t size)
{
    sink = malloc(size);
    __asm__("" ::"r"(size));
    sink = (void *)(size + (size_t)sink); /* so that size is still there for gdb */
    sink = NULL;
}
FAR void *work(void *passed)
{
    for (int i = 0; i < 10; i++)
        free(malloc(10));
    here(888);
    __asm__("");
    return passed;
}

int main(void)
{
    pthread_t thread;
    setvbuf(stdout, NULL, _IONBF, 0);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++)
        free(realloc(malloc(10), 20));
    here(777);
    puts("on");
    return 0;
}
