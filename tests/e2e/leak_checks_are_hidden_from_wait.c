// Hard case 19: a program that reaps with waitpid(-1), with __WALL and with __WCLONE, by wait4 and waitid, while
// looks are taken all the time: it meets its own children alone, has none when it made none, and its
// SIGCHLD handler runs for its own only.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// Eight of them at once: a thread that has found a child of ours may wait for a CPU until that child is known to be gone.
// ENV: LIBLEAK_OPTIONS=snapshot_every=20ms
// RUN: for i in 1 2 3 4 5 6 7 8; do %leak %t >got.$i & done; wait; cat got.*
// EXPECT: ^own: 20, strange: 0, signals: [1-9][0-9]*, too many: 0$
// REFUSE: own: 1?[0-9],|strange: [1-9]|too many: [1-9]
// JSON: all(verdict("dropped", q) == {"lost": (1, 40)} for q in procs) and p.snapshot.rung == "parked"
// JSON: len(procs) == 8 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)

#include "lib/verdicts.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

LOSE(dropped, 40)
static volatile int signals;
static void handler(int s) { signals++; }

static long reap(int i, int *status)
{
    siginfo_t info = { 0 };

    switch (i % 5) {
    case 0: return waitpid(-1, status, WNOHANG);
    case 1: return waitpid(-1, status, WNOHANG | __WALL);
    case 2: return waitpid(-1, status, WNOHANG | __WCLONE);
    case 3: return wait4(-1, status, WNOHANG | __WALL, NULL);
    default:
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL))
            return -1;
        return info.si_pid;
    }
}

int main(void)
{
    int own = 0, strange = 0, before, status;

    signal(SIGCHLD, handler);
    dropped();
    for (int i = 0; i < 2000; i++) { /* no child there: ECHILD, always */
        long r = reap(i, &status);
        strange += r >= 0 || errno != ECHILD;
        if (i % 5 == 0)
            usleep(1000);
    }
    before = signals;
    for (int i = 0; i < 20; i++) {
        pid_t got, pid = fork();
        if (!pid)
            _exit(5);
        while ((got = waitpid(-1, &status, i & 1 ? __WALL : 0)) < 0 && errno == EINTR)
            ;
        own += got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5;
    }
    printf("own: %d, strange: %d, signals: %d, too many: %d\n", own, strange, signals - before,
           before + (signals - before > 20));
    return 0;
}
