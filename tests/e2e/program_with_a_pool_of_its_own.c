// Promise 3.8: a program that cuts its memory from mappings of its own: the report says how much of it is untracked.
// One whose memory is malloc's, one with the stacks of many threads, one with a big file and one with a small
// pool has no such word, nor one that has as much in blocks.
// CFLAGS: -O1 -g
// RUN: head -c 64M /dev/zero >file; %leak %t pool && %report store/*.leak; for what in blocks stacks file private small both freed; do %leak %t $what || exit; done
// EXPECT: of 101 MB of private memory [0-9.]+ (bytes|kB) are in known blocks
// JSON: len(procs) == 8 and all(q.end.value == 0 for q in procs)
// JSON: [any("its own allocator" in str(n) for n in q.notes) for q in procs] == [True] + [False] * 7

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MB (1 << 20)
static char *pool, *volatile blocks[100];
static pthread_barrier_t all_there, all_done;

static void fill_pool(size_t size)
{
    pool = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(pool, 1, size);
}

static void fill_blocks(void)
{
    for (int i = 0; i < 100; i++)
        memset(blocks[i] = malloc(i % 2 ? MB : 60000), 1, i % 2 ? MB : 60000);
}

static void free_blocks(void)
{
    for (int i = 0; i < 100; i++)
        free(blocks[i]);
}

static void *fill_stack(void *unused)
{
    char room[MB];

    memset(room, 1, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_done);
    return unused;
}

static void fill_stacks(void)
{
    pthread_t thread;

    pthread_barrier_init(&all_there, NULL, 31);
    pthread_barrier_init(&all_done, NULL, 31); /* and never is */
    for (int i = 0; i < 30; i++)
        pthread_create(&thread, NULL, fill_stack, NULL);
    pthread_barrier_wait(&all_there);
}

static void map_file(int how)
{
    char *file = mmap(NULL, 64 * MB, PROT_READ | PROT_WRITE, how, open("file", O_RDWR), 0);
    memset(file, 2, 64 * MB);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];

    if (!strcmp(what, "pool")) fill_pool(96 * MB);
    if (!strcmp(what, "blocks")) fill_blocks();
    if (!strcmp(what, "stacks")) fill_stacks();
    if (!strcmp(what, "file")) map_file(MAP_SHARED);
    if (!strcmp(what, "private")) map_file(MAP_PRIVATE);
    if (!strcmp(what, "small")) fill_pool(4 * MB);
    if (!strcmp(what, "both")) fill_blocks(), fill_pool(40 * MB);
    if (!strcmp(what, "freed")) fill_blocks(), free_blocks();
    return argc != 2;
}
