// leakreport --freed says by whom an address was freed and where it came from: with its stack, or with
// the return address alone; what is older than a thread's last 123 frees is said to be forgotten. With -v
// the JSON report lists them all.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: LIBLEAK_OPTIONS=free_stacks=all; %leak %t; for n in 1 2 3; do %report --freed=$(sed -n ${n}p addresses) store/*.leak | sed "s/^/$n:/"; done
// RUN: %report --freed 1234567g store/*.leak || echo "status $?"
// RUN: %report -v --format=json store/*.leak >json; /usr/bin/python3 -c 'import json; r = json.load(open("json"))["processes"][0]["recent_frees"]; n = [x["address"] for x in r]; print("listed:", len(n), all(x["whole_stack"] for x in r), [a.strip() in n for a in open("addresses")], {x["thread"]["name"] for x in r} >= {"worker"})'
// RUN: LIBLEAK_OPTIONS=free_stacks=sample; %leak %t; %report --freed=$(sed -n 2p addresses) $(ls -tr store/*.leak | tail -n1) | sed "s/^/sample:/"
// EXPECT: ^1:0x[0-9a-f]+ is not among the recorded frees\.$
// EXPECT: ^2:0x[0-9a-f]+ was freed .*by T1 \(t\):$
// EXPECT: ^2: +release +.*who_freed_an_address.c:[0-9]+$
// EXPECT: ^2: +many +.*who_freed_an_address.c:[0-9]+$
// EXPECT: ^2: +allocated \(malloc\):$
// EXPECT: ^2: +make +.*who_freed_an_address.c:[0-9]+$
// EXPECT: ^3:0x[0-9a-f]+ was freed .*by T2 \(worker\):$
// EXPECT: ^[123]:Recorded: the last 123 frees of each thread
// EXPECT: --freed takes an address in hex digits, not: 1234567g
// EXPECT: ^status 2$
// EXPECT: ^listed: 124 True \[False, True, True\] True$
// EXPECT: ^sample:0x[0-9a-f]+ was freed .*by T1 \(t\):$
// EXPECT: ^sample: +release +.*who_freed_an_address.c:[0-9]+$
// EXPECT: ^3:libleak: pid=
// REFUSE: ^2:.*T2
// JSON: all(q.recent_frees == [] for q in procs)

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR char *make(void) { return malloc(40); }
FAR void release(char *block) { free(block); }

char *blocks[400];

FAR void many(void)
{
    for (int i = 0; i < 300; i++)
        release(blocks[i]);
}

void *worker(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    release(blocks[300]);
    return unused;
}

int main(void)
{
    FILE *f = fopen("addresses", "w");
    pthread_t thread;

    for (int i = 0; i < 400; i++)
        blocks[i] = make();
    fprintf(f, "%p\n%p\n%p\n", blocks[0], blocks[299], blocks[300]);
    fclose(f);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    many();
    _exit(0);
}
