// RUN: for c in off on only; do export LIBLEAK_OPTIONS=crash=$c; %leak %t caught; %leak %t 2>/dev/null; echo "$c: $?"; done
// RUN: export LIBLEAK_OPTIONS=crash=only:report=exit; %leak %t
// RUN: %report store/*.leak
// EXPECT: ^off: 139$
// EXPECT: ^on: 139$
// EXPECT: ^only: 139$
// EXPECT: ^caught 0 of 7, off
// EXPECT: ^caught 7 of 7, on
// EXPECT: ^caught 7 of 7, only
// EXPECT: CRASH: SIGSEGV, write to a null pointer
// EXPECT: ^  t caught \(pid [0-9]+\): no crash \(crash=only
// EXPECT: recorded with crash=only: its heap was not tracked
// EXIT: 0
// JSON: [len(q.errors) for q in procs if len(q.argv) == 1] == [0, 1, 1, 1]
// JSON: [q.totals.allocations > 0 for q in procs if len(q.argv) == 1] == [True, True, False, False]
// JSON: [q.end.value for q in procs if len(q.argv) == 1][1:] == [11, 11, 11]
// JSON: [q.errors[0].thread for q in procs if q.errors] == ["T2", None, None]

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;

static void *crash_here(void *argument)
{
    *(volatile int *)(long)zero = 1;
    return argument;
}

/* How many of the signals that kill have a handler, by what the kernel says. */
static void caught(void)
{
    static const int numbers[] = {4, 5, 6, 7, 8, 11, 31};
    char line[256];
    unsigned long long set = 0;
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        sscanf(line, "SigCgt: %llx", &set);
    for (int i = 0; i < 7; i++)
        count += set >> (numbers[i] - 1) & 1;
    printf("caught %d of 7, %s\n", count, strstr(getenv("LIBLEAK_OPTIONS"), "crash=") + 6);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    free(malloc(1000));
    if (argc > 1) {
        caught();
        return 0;
    }
    pthread_create(&thread, NULL, crash_here, NULL);
    pthread_join(thread, NULL);
    return 0;
}
