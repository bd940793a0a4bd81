// Static functions of a program that are called malloc, free, realloc and take what they like are no allocator: they get
// what they are called with, also when libc's malloc is not asked for, and also beside a malloc that is one.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin -no-pie
// BUILD: cc -w -O1 -g -fno-builtin -fvisibility=hidden -c -o %d/allocator.o %S/lib/linked_malloc.c && cc -w -O1 -g -fno-builtin -DBESIDE -o %d/beside %s %d/allocator.o -pthread
// RUN: export LIBLEAK_OPTIONS=verbosity=1; %leak %t && %leak %d/beside
// EXPECT: ^30 words$
// EXPECT: ^30 words beside an allocator$
// REFUSE: not tracked
// JSON: len(procs) == 2 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: of("main", procs[0]).blocks == 0 and of("take_and_lose", procs[1]).blocks == 1

#include <string.h>
#include <unistd.h>

struct pool {
    char bytes[4096];
    unsigned used, freed;
};
static struct pool pool;

#define FAR __attribute__((noinline, noclone))

FAR static char *malloc(struct pool *from, unsigned size, const char *text)
{
    char *block = from->bytes + from->used;
    from->used += size;
    return strcpy(block, text);
}

FAR static void free(struct pool *from, char *block, int mark)
{
    memset(block, mark, 4);
    from->freed++;
}

#ifdef BESIDE
extern void *calloc(unsigned long, unsigned long);
static void *volatile sink;

FAR static void take_and_lose(void)
{
    sink = calloc(1, 100);
    sink = 0;
}
#else
static void take_and_lose(void) {}
#endif

int main(void)
{
    int right = 0;
    take_and_lose();
    for (int i = 0; i < 30; i++) {
        char *block = malloc(&pool, 16, "something");
        free(&pool, block, '-');
        right += !strcmp(block, "----thing");
    }
    if (right != 30 || pool.used != 30 * 16 || pool.freed != 30)
        return 1;
#ifdef BESIDE
    return write(1, "30 words beside an allocator\n", 29) != 29;
#else
    return write(1, "30 words\n", 9) != 9;
#endif
}
