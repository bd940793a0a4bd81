// Hard case 18: return, exit, exit by a thread, pthread_exit of the last thread, quick_exit, _exit, _Exit: at
// each a look is made, the status is the program's.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: n=10; for how in return exit thread pthread_exit quick_exit _exit _Exit; do %leak %t $how; [ $? = $n ] || [ $how = pthread_exit ] || echo "status of $how: $?"; n=$((n + 1)); done
// REFUSE: status of
// JSON: [q.argv[1] for q in procs if verdict("dropped", q) == {"lost": (3, 120)}] == ["return", "exit", "thread", "pthread_exit", "quick_exit", "_exit", "_Exit"]
// JSON: all(q.snapshot.rung == "parked" and q.end.how == "exit" for q in procs)
// JSON: [q.argv[1] for q in procs if verdict("held_by_main", q) == {"reachable": (1, 56)}] == ["exit", "thread", "quick_exit", "_exit", "_Exit"]
// JSON: [verdict("held_by_main", q) for q in procs if q.argv[1] == "return"] == [{"lost": (1, 56)}]

#include "lib/verdicts.h"
#include <pthread.h>

LOSE(dropped, 40)
TAKE(held_by_main, 56)
static void *ends(void *x) { exit(12); }

int main(int argc, char **argv)
{
    void *volatile local = held_by_main();
    const char *how = argv[1];
    pthread_t t;

    dropped(), dropped(), dropped();
    if (!strcmp(how, "return"))
        return 10;
    if (!strcmp(how, "exit"))
        exit(11);
    if (!strcmp(how, "thread")) {
        pthread_create(&t, NULL, ends, NULL);
        pthread_join(t, NULL);
    }
    if (!strcmp(how, "pthread_exit"))
        pthread_exit(NULL);
    if (!strcmp(how, "quick_exit"))
        quick_exit(14);
    if (!strcmp(how, "_exit"))
        _exit(15);
    if (!strcmp(how, "_Exit"))
        _Exit(16);
    return !local;
}
