// Hard case 16: a process of many threads forks; the child has one, makes another, and that one calls
// exit: the look in the child has its threads, and no ghosts of the parent's. (LeakSanitizer: fork_threaded.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: len(procs) == 2
// JSON: sorted(str(verdict("in_child", q)) for q in procs) == [str({"lost": (1, 40)}), str({})]
// JSON: sorted(str(verdict("held", q)) for q in procs) == [str({"reachable": (1, 72)}), str({})]
// JSON: sorted((q.snapshot.threads_parked, q.snapshot.threads_missed) for q in procs) == [(1, 0), (5, 0)]
// JSON: all(q.end.value == 0 and q.snapshot.rung == "parked" for q in procs)
// JSON: verdict("in_parent") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <pthread.h>
#include <sys/wait.h>

LOSE(in_child, 40)
LOSE(in_parent, 56)
TAKE(held, 72)

static void *sleeps(void *x)
{
    for (;;)
        pause();
}

static void *ends(void *x)
{
    in_child();
    exit(0);
}

int main(void)
{
    pthread_t t;

    for (int i = 0; i < 5; i++)
        pthread_create(&t, NULL, sleeps, NULL);
    usleep(20000);
    if (!fork()) {
        void *volatile local = held();
        pthread_create(&t, NULL, ends, NULL);
        pthread_join(t, NULL);
        return !local;
    }
    wait(NULL);
    in_parent();
    return 0;
}
