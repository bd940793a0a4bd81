// Where the other blocks of a record are freed: exact with free_stacks=all, within bounds with sample
// (the default), nothing with off; what realloc moves is not freed; a thread frees another one's blocks;
// a path that never frees is distinguished from the others. (A random hundred of 20,000 frees is sampled: one run
// in a hundred meets none of the rare ones.) site_stacks=off knows nothing of frees either. With sample= the
// frees of samples tell of all, as an estimate, and "never" is not said. All that is left is reachable; with
// sample= there is no leak check.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: report() { %report --show=lost,unfreed,reachable --substitute-path=%S=e2e $(ls -tr store/*.leak | tail -n1) | sed "s/^/$1:/"; }; for w in all sample off; do LIBLEAK_OPTIONS=free_stacks=$w; %leak %t; report $w; done
// RUN: LIBLEAK_OPTIONS=site_stacks=off:free_stacks=all; %leak %t; report flat; LIBLEAK_OPTIONS=; %leak %t; LIBLEAK_OPTIONS=sample=10; %leak %t; report some
// EXPECT: ^all: +called by usual at e2e/free_stacks_reported.c:[0-9]+ \(95 % of 20,000\)$
// EXPECT: ^all: +(> )?(others are freed in drop, )?called by lists at e2e/free_stacks_reported.c:[0-9]+ \(all 99\)$
// EXPECT: ^all: +(> )?others are freed in take at e2e/free_stacks_reported.c:[0-9]+ \(all 300\)$
// EXPECT: ^all: +(> )?never freed when allocated here; other blocks from this line are freed in$
// EXPECT: ^all: +usual, called by main at e2e/free_stacks_reported.c:[0-9]+$
// EXPECT: ^all: +lists, called by main at e2e/free_stacks_reported.c:[0-9]+$
// EXPECT: ^sample: +called by usual at e2e/free_stacks_reported.c:[0-9]+ \((about [789][0-9] % of|nearly all) 20,000\)$
// EXPECT: ^sample: +(> )?(others are freed in take )?at .*\(sampled from 300 frees\)$
// EXPECT: ^sample: +(> )?never freed when allocated here; other blocks from this line are freed in$
// EXPECT: ^some: +called by usual at e2e/free_stacks_reported.c:[0-9]+ \(about 95 % of ~(19,[89]|20,[012])00\)$
// EXPECT: ^(all|sample|off):libleak: .* lost=0/0/0 .* reachable=1650/11/5 .* unfreed=0/0/0
// EXPECT: ^some:libleak: .* lost=0/0/0 .* reachable=0/0/0 .* unfreed=[1-9]
// EXPECT: ^off:Note: recorded with free_stacks=off
// EXPECT: ^flat:Note: recorded with site_stacks=off: no stacks of allocations or frees\.
// REFUSE: ^(off|flat): .*freed (in|on)
// REFUSE: freed in grow|others in grow
// REFUSE: ^some:.*never freed
// JSON: [[f.function for f in hits(n)[0].freed_elsewhere if f.user] for n in ("usual", "forgetful", "lists", "one_list", "given")] == [["here"], ["here"], ["drop"], ["drop"], ["take"]]
// JSON: [f.line for f in hits("usual")[0].freed_elsewhere if f.user] == [line("here")]
// JSON: "usual" in [f.function for f in hits("usual")[0].freed_elsewhere] and "worker" in [f.function for f in hits("given")[0].freed_elsewhere]
// JSON: [hits(n)[0].freed_share for n in ("usual", "forgetful", "lists", "one_list", "given")] == [0.95, 0.95, 1, 1, 1]
// JSON: [hits(n)[0].freed_same_path for n in ("usual", "forgetful", "lists", "one_list", "given")] == [True, False, True, False, True]
// JSON: [[hits(n, q)[0].freed_blocks for n in ("usual", "forgetful", "lists", "one_list", "given")] for q in procs[:3]] == [[20000, 0, 99 + 100 * 9, 9, 300]] * 3
// JSON: all(0.75 < hits("usual", q)[0].freed_share <= 1 for q in (procs[1], procs[4]))
// JSON: 0.94 < hits("usual", procs[5])[0].freed_share < 0.96 and 19800 < hits("usual", procs[5])[0].freed_blocks < 20200
// JSON: [f.function for f in hits("usual", procs[1])[0].freed_elsewhere if f.user] == ["here"]
// JSON: hits("forgetful", procs[1])[0].freed_same_path is False and hits("one_list", procs[1])[0].freed_elsewhere is None
// JSON: [(r.freed_elsewhere, r.freed_share, r.freed_same_path) for q in procs[2:4] for r in q.records] == [(None, None, None)] * sum(len(q.records) for q in procs[2:4])

#include <pthread.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR char *make(void)
{
    return malloc(40);
}
FAR char *make_other(void)
{
    return malloc(50);
}
FAR void there(char *block)
{
    free(block);
}
FAR void here(char *block)
{
    free(block); // here
}

char *volatile left[20];

FAR void usual(void)
{
    for (int i = 0; i < 20007; i++) {
        char *block = make();
        if (i >= 20000)
            left[i - 20000] = block;
        else if (i % 20)
            here(block);
        else
            there(block);
    }
}

FAR void forgetful(void)
{
    left[7] = make();
}

FAR char *grow(int times)
{
    char *list = NULL;
    for (int n = 1; n <= times; n++)
        list = realloc(list, n * 64);
    return list;
}

FAR void drop(char *list)
{
    free(list);
}

FAR void lists(void)
{
    for (int i = 0; i < 100; i++) {
        char *list = grow(10);
        if (i)
            drop(list);
        else
            left[8] = list;
    }
}

FAR void one_list(void)
{
    left[9] = grow(10);
}

char *handed[301];

FAR void given(void)
{
    for (int i = 0; i < 301; i++)
        handed[i] = make_other();
}

FAR void take(char *block)
{
    free(block);
}

FAR void *worker(void *unused)
{
    for (int i = 0; i < 300; i++)
        take(handed[i]);
    return unused;
}

int main(void)
{
    pthread_t thread;

    usual();
    forgetful();
    lists();
    one_list();
    given();
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
