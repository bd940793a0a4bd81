// mlockall locks the program's memory as without us: the recording, a gigabyte of empty mapping, is neither filled nor
// counted against RLIMIT_MEMLOCK, nor is what we map later. So the same calls succeed and fail, with the privilege and
// without, and VmLck differs by less than 4 MB.
// NEEDS: setpriv
// CFLAGS: -O1 -g -pthread
// BUILD: echo 'for limit in $limits; do for how in now now+later on-fault later; do rm -rf store; (ulimit -l $limit; %t $how >bare; %leak %t $how >ours); paste bare ours | awk -v at="$1 $limit $how" "{ n++; d = \$5 - \$2 } \$1 != \$4 || \$3 != \$6 || d > 4096 || d < -4096 { print at, \"differs:\", \$0; bad = 1 } END { if (!bad && n == 7) print at, \"is as bare\" }"; done; done' >compare
// RUN: limits='8192' sh ./compare all
// RUN: [ "$(id -u)" = 0 ] && drop='setpriv --bounding-set=-ipc_lock'; limits='8192 4096 1024 0' $drop sh ./compare limited
// REFUSE: differs
// EXPECT: ^all 8192 now is as bare$
// EXPECT: ^all 8192 now\+later is as bare$
// EXPECT: ^all 8192 on-fault is as bare$
// EXPECT: ^all 8192 later is as bare$
// EXPECT: ^limited 8192 now is as bare$
// EXPECT: ^limited 8192 now\+later is as bare$
// EXPECT: ^limited 8192 on-fault is as bare$
// EXPECT: ^limited 4096 now\+later is as bare$
// EXPECT: ^limited 4096 later is as bare$
// EXPECT: ^limited 1024 now is as bare$
// EXPECT: ^limited 1024 later is as bare$
// EXPECT: ^limited 0 now is as bare$
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void say(const char *what, int failed)
{
    char line[256], *locked = NULL;
    int error = failed ? errno : 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmLck:", 6) == 0)
            locked = strdup(line + 6);
    printf("%s %d %d\n", what, locked ? atoi(locked) : -1, error);
    free(locked);
    fclose(status);
}

static void *allocate(void *unused)
{
    char *volatile block = malloc(3000);
    free(block);
    return unused;
}

static int run_threads(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        if ((errno = pthread_create(&thread, &small, allocate, NULL)))
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}

static int map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int flags = strcmp(how, "now") == 0          ? MCL_CURRENT
                : strcmp(how, "now+later") == 0 ? MCL_CURRENT | MCL_FUTURE
                : strcmp(how, "on-fault") == 0  ? MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT
                                                : MCL_FUTURE;
    say("lock", mlockall(flags));
    say("threads", run_threads());
    for (int i = 0; i < 2000; i++)
        free(malloc(i * 16));
    say("map", map(2 << 20));
    say("map-much", map(64 << 20));
    say("lock-again", mlockall(MCL_CURRENT));
    say("nonsense", mlockall(0x1000));
    say("unlock", munlockall() | map(1 << 20));
    return 0;
}
