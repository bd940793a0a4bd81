// Hard case 23: freed twice, freed again after its memory was given to another, an address inside of a
// block, of a stack, of data, of nothing, of another heap. Each is reported as what it is and from where, and
// libc prints what it prints without libleak.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo "case $n"; (%t $n >want 2>&1); w=$?; (%leak %t $n >got 2>&1); g=$?; cat got; diff want got && [ $w = $g ] || echo "case $n differs: $w $g"; done
// REFUSE: differs
// EXPECT: free\(\): double free detected
// EXPECT: free\(\): invalid pointer
// EXPECT: ^passed by$
// JSON: len(procs) == 15 and all(named(q) for q in procs)
// JSON: wrongs(procs[0]) == {} and procs[0].coverage.unknown_frees == 0
// JSON: wrongs(procs[1]) == {("double-free", "make", "again"): 1} and first("again", procs[1]) == ("once", line("once"))
// JSON: wrongs(procs[2]) == {("double-free", "make_other", "again"): 1} and first("again", procs[2]) == ("old_owner", line("old owner"))
// JSON: wrongs(procs[3]) == {("invalid-free", "", "stack"): 1} and wrongs(procs[4]) == {("invalid-free", "", "global"): 1}
// JSON: wrongs(procs[5]) == {("interior-free", "make", "inside"): 1} and [e.offset for e in misuse(procs[5])] == [1]
// JSON: wrongs(procs[6]) == {("interior-free", "make", "inside"): 1} and [e.offset for e in misuse(procs[6])] == [16]
// JSON: wrongs(procs[7]) == {("invalid-free", "", "wild"): 1} and [e.address for e in misuse(procs[7])] == ["0x87654321"]
// JSON: wrongs(procs[8]) == {} and procs[8].coverage.unknown_frees == 1
// JSON: wrongs(procs[9]) == {("invalid-free", "", "other_stack"): 1}
// JSON: wrongs(procs[10]) == {("invalid-free", "", "constant"): 1}
// JSON: wrongs(procs[11]) == {("double-free", "make", "grow_again"): 1} and first("grow_again", procs[11]) == ("once", line("once"))
// JSON: wrongs(procs[12]) == {("double-free", "make", "again"): 1} and first("again", procs[12]) == ("moved", line("moved"))
// JSON: wrongs(procs[13]) == {("double-free", "make", "again"): 1} and first("again", procs[13]) == ("once", line("once")) and misuse(procs[13])[0].thread == "T2"
// JSON: wrongs(procs[14]) == {("interior-free", "make_large", "far_inside"): 1} and misuse(procs[14])[0].offset == 3 << 20
// JSON: [e.allocated.form for q in procs[1:] for e in misuse(q) if e.allocated] == ["malloc"] * 8
// JSON: all(not e.allocated and e.size is None for q in procs for e in misuse(q) if e.type == "invalid-free")

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline))

char data[64];
const char text[64] = "constant";
char *volatile other;
static volatile int no;

FAR char *make(void) { return malloc(40); }
FAR char *make_other(void) { return malloc(40); }
FAR char *make_large(void) { return malloc(8 << 20); }
FAR void once(char *p) { free(p); } // once
FAR void again(char *p) { free(p); }
FAR void old_owner(char *p) { free(p); } // old owner
FAR void stack(void) { char local[64]; free(local + (no & 1)); }
FAR void global(void) { free(data); }
FAR void constant(void) { free((char *)text); }
FAR void inside(char *p, int offset) { free(p + offset); }
FAR void far_inside(char *p) { free(p + (3 << 20)); }
FAR void wild(void) { free((void *)0x87654321); }
FAR void other_stack(void) { free(other); }
FAR void grow_again(char *p) { other = realloc(p, 50); }
FAR void moved(char *p) { other = realloc(p, 100000); } // moved

void *owner(void *unused)
{
    char local[64];
    other = local;
    while (!no)
        ;
    return unused;
}

void *releases(void *p)
{
    again(p);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char *p = make(), *q;

    setvbuf(stdout, NULL, _IONBF, 0);
    memset(p, 0, 40);
    switch (atoi(argv[1])) {
    case 0: once(p); break;
    case 1: once(p); again(p); break;
    case 2: /* the memory is another's when it is freed again: the victim is the one to notice */
        once(p);
        q = make_other();
        if (q != p)
            abort();
        old_owner(p);
        again(q);
        break;
    case 3: stack(); break;
    case 4: global(); break;
    case 5: inside(p, 1); break;
    case 6: inside(p, 16); break;
    case 7: wild(); break;
    case 8: /* a mapping of the program: only libc can detect it */
        q = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        q[8] = 1; /* a block with a mapping of its own, as libc sees it */
        again(q + 16);
        break;
    case 9:
        pthread_create(&thread, NULL, owner, NULL);
        while (!other)
            ;
        other_stack();
        break;
    case 10: constant(); break;
    case 11: once(p); grow_again(p); break;
    case 12: make_other(); moved(p); again(p); break;
    case 13:
        once(p);
        pthread_create(&thread, NULL, releases, p);
        pthread_join(thread, NULL);
        break;
    case 14: far_inside(make_large()); break;
    }
    puts("passed by");
}
