// No /proc (an early boot, a bare container), then chroot to nowhere, privileges dropped, not dumpable,
// then fork: the program goes on, at most one line for each process that cannot keep an account.
// NEEDS: root unshare
// CFLAGS: -O1 -g -fno-builtin
// RUN: unshare -m sh -c 'mount -t tmpfs none /proc && LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store exec %t plain' 2>e; echo "noproc=$? lines=$(grep -c . e) $(head -n1 e)"
// RUN: mkdir -p nowhere; %leak %t chroot 2>e; echo "chroot=$? lines=$(grep -c . e) $(head -n1 e)"
// RUN: %leak %t drop 2>e; echo "drop=$? lines=$(grep -c . e) $(head -n1 e)"
// EXPECT: ^noproc=4 lines=0
// EXPECT: ^chroot=4 lines=[01]
// EXPECT: ^drop=4 lines=[01]
// JSON: len(procs) >= 3 and all(q.totals.live_blocks >= 3 for q in procs if not q.argv)
// JSON: all(of("leak", q).blocks == 3 for q in procs if q.argv and not q.end.value == 9)

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    int status;

    leak();
    if (!strcmp(argv[1], "chroot") && (chroot("nowhere") || chdir("/")))
        return 1;
    if (!strcmp(argv[1], "drop") && (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 0)))
        return 1;
    leak();
    if (strcmp(argv[1], "plain")) {
        if (!fork()) {
            for (int i = 0; i < 1000; i++)
                free(malloc(i));
            _exit(9);
        }
        if (wait(&status) < 0 || WEXITSTATUS(status) != 9)
            return 2;
    }
    leak();
    return 4;
}
