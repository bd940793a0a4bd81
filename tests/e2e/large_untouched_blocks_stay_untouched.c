// A large block that the program does not touch takes no memory: a gigabyte that libc maps, blocks at the end of the
// heap, in a thread's heap, after a realloc that adds 30 MB, and in memory that was given back. In a block that has
// had another owner only the pages that this one had used are cleared, and what it left there holds nothing.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t && (export LIBLEAK_OPTIONS=fill=off; %leak %t off)
// EXPECT: ^all stayed untouched$
// REFUSE: RSS
// JSON: [verdict("dropped", q) for q in procs] == [{"lost": (1, 56)}, {"reachable": (1, 56)}]

#include "lib/verdicts.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>

#define MB (1 << 20)

TAKE(dropped, 56)
static char *volatile held[64];
static int count;

static long resident(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    ssize_t got = read(fd, text, sizeof text - 1);

    close(fd);
    return got > 0 ? atol(strchr(text, ' ')) * 4096L : -1;
}

static void check(const char *what, long before)
{
    long now = resident();

    if (now - before > 3 * MB)
        printf("%s: RSS grew by %ld\n", what, now - before);
}

static void *take_large(void *passed)
{
    long before = resident();

    for (int i = 0; i < 8; i++)
        held[count++] = malloc(20 * MB);
    check(passed, before);
    before = resident();
    held[count] = malloc(1000);
    held[count] = realloc(held[count], 30 * MB);
    check("realloc", before);
    count++;
    return NULL;
}

FAR static void use_again(void)
{
    char *block = malloc(25 * MB), *wall = malloc(100);
    long before;

    for (int i = 0; i < 9000; i++)
        ((void **)block)[i] = i == 8192 ? dropped() : NULL;
    free(block);
    before = resident();
    held[count++] = malloc(25 * MB);
    if (held[count - 1] != block)
        puts("not the same memory");
    check("used again", before);
    held[count++] = wall;
}

int main(void)
{
    pthread_t thread;
    long before = resident();

    held[count++] = malloc(1 << 30);
    check("a gigabyte", before);
    mallopt(M_MMAP_THRESHOLD, 32 * MB);
    mallopt(M_TRIM_THRESHOLD, 256 * MB);
    use_again();
    take_large("end of the heap");
    pthread_create(&thread, NULL, take_large, "a thread's heap");
    pthread_join(thread, NULL);
    for (int i = 3; i < count; i++) {
        free(held[i]);
        held[i] = NULL;
    }
    malloc_trim(0);
    take_large("given back");
    puts("all stayed untouched");
    return 0;
}
