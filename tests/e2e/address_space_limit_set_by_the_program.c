// A program that limits its own address space (RLIMIT_AS) has as much of it as without libleak, but for a tenth: the
// recording, a gigabyte of empty mapping, gives way, and all is counted. A child that limits itself does not take the
// parent's.
// CFLAGS: -O1 -g -fno-builtin
// RUN: for how in setrlimit prlimit fork vfork; do %leak %t $how; done
// EXPECT: ^setrlimit: 0 of 4 failed$
// EXPECT: ^prlimit: 0 of 4 failed$
// EXPECT: ^fork: 0 of 4 failed$
// EXPECT: ^vfork: 0 of 4 failed$
// REFUSE: no room left|no recording file
// JSON: all(of("leak", q).blocks == 20000 for q in procs)
// JSON: len(procs) == 5

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT (100u << 20)

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

static void limit(const char *how)
{
    struct rlimit space = {LIMIT, LIMIT};
    if (strcmp(how, "prlimit") ? setrlimit(RLIMIT_AS, &space) : prlimit(0, RLIMIT_AS, &space, NULL))
        abort();
}

static int fails(size_t size, int by_mmap)
{
    if (by_mmap)
        return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
    char *volatile block = malloc(size);
    free(block);
    return !block;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    if (strcmp(how, "vfork") == 0) {
        if (vfork() == 0) {
            limit(how);
            _exit(0);
        }
        wait(NULL);
    } else if (strcmp(how, "fork")) {
        limit(how);
    } else if (fork() == 0) {
        limit(how);
    } else {
        wait(NULL);
        for (int i = 0; i < 20000; i++)
            leak();
        return 0;
    }
    int failed = fails(80 << 20, 0) + fails(30 << 20, 1) + fails(30 << 20, 1);
    for (int i = 0; i < 20000; i++)
        leak();
    /* above the limit, if there is one */
    failed += fails(LIMIT, 0) != (strcmp(how, "vfork") != 0);
    printf("%s: %d of 4 failed\n", how, failed);
    return 0;
}
