// live_errors=on: one line for each kind of wrong release when it is met, before libc's word about it, with
// file and line; without debug information object+offset. By default not a word. The program sees no
// child, no descriptor more and its own errno.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// AFTER: strip -g -o %d/bare %t
// RUN: (%leak %t) >plain 2>&1; (LIBLEAK_OPTIONS=live_errors=on; %leak %t) >live 2>&1; (%t) >alone 2>&1; diff alone plain >/dev/null && echo "quiet by default"; grep -v ^libleak: live | diff - alone && echo "the rest is the same"; cat live; (LIBLEAK_OPTIONS=live_errors=on; %leak %d/bare) 2>&1 | sed "s/^/bare: /"; mkdir away; cp %O/libleak.so away; (LIBLEAK_OPTIONS=live_errors=on:dir=%d/away; LD_PRELOAD=%d/away/libleak.so LIBLEAK_OPTIONS=$LIBLEAK_OPTIONS %t) 2>&1 | sed "s/^/away: /"
// EXPECT: ^quiet by default$
// EXPECT: ^the rest is the same$
// EXPECT: ^libleak: mismatched-free: 40 bytes of new\[\] released by free, in release\(.*\) at .*wrong_frees_are_reported_at_once.cc:[0-9]+ \(T1\); allocated in make\(\) at .*wrong_frees_are_reported_at_once.cc:[0-9]+$
// EXPECT: ^libleak: interior-free: free at 4 bytes inside of 24 bytes of malloc, in inside\(\) at .*:[0-9]+ \(T1\); allocated in inside\(\) at .*:[0-9]+$
// EXPECT: ^libleak: double-free: a block of malloc freed a second time, by free, in twice\(\) at .*:[0-9]+ \(T1\); allocated in twice\(\) at .*:[0-9]+; freed before in twice\(\) at .*:[0-9]+ \(T1\)$
// EXPECT: ^bare: libleak: mismatched-free: 40 bytes of new\[\] released by free, in release\(char\*\) \(T1\); allocated in make\(\)$
// EXPECT: ^away: libleak: mismatched-free: 40 bytes of new\[\] released by free, in .*0x[0-9a-f]+.* \(T1\); allocated in .*0x[0-9a-f]+
// EXPECT: ^errno 77, descriptors [0-9]+, children 0, signals 0$
// JSON: sorted(sorted((e.type, e.count) for e in misuse(q)) for q in procs) == [[("double-free", 1), ("mismatched-free", 2)]] * 3 + [[("interior-free", 1)]] * 3

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
static volatile int signals;

FAR char *make() { char *p = new char[40]; asm("" : "+r"(p)); return p; }
FAR void release(char *p) { free(p); asm(""); }
FAR void inside()
{
    char *volatile p = (char *)malloc(24);
    if (fork() == 0) { /* libc ends it there */
        free(p + 4);
        _exit(0);
    }
    while (wait(NULL) < 0)
        ;
}
FAR void twice()
{
    char *volatile p = (char *)malloc(24);
    free(p);
    free(p);
}
static void child_ended(int) { signals++; }

int main()
{
    signal(SIGCHLD, child_ended);
    errno = 77;
    for (volatile int i = 0; i < 2; i++)
        release(make());
    int error = errno, lowest = dup(0), child = waitpid(-1, NULL, WNOHANG);
    dprintf(1, "errno %d, descriptors %d, children %d, signals %d\n", error, lowest, child > 0, signals);
    signal(SIGCHLD, SIG_DFL);
    inside();
    twice();
}
