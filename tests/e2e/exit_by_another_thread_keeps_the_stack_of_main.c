// Hard case 3: another thread calls exit while main waits for it: main's locals and those of the thread
// that ends the process are alive.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("in_main") == {"reachable": (1, 40)} and verdict("in_thread") == {"reachable": (1, 24)}
// JSON: root("in_main").cls == "stacks" and root("in_thread").cls == "stacks"
// JSON: root("in_thread").function == "thread"
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.snapshot.threads_parked == 1 and p.snapshot.threads_missed == 0

#include "lib/verdicts.h"
#include <pthread.h>

TAKE(in_main, 40)
TAKE(in_thread, 24)
LOSE(dropped, 56)

FAR static void *thread(void *x)
{
    void *volatile local = in_thread();

    dropped();
    exit(!local);
    return local;
}

int main(void)
{
    void *volatile local = in_main();
    pthread_t t;

    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    return !local;
}
