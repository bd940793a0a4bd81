// libleak_count and libleak_count_thread are exact for each way to allocate, freed and not, also when the stacks
// are more than a thread's counters have room for, and when one thread frees what another has allocated.
// CFLAGS: -O0 -g -fno-builtin -faligned-new
// CFLAGS: -O2 -g -fno-builtin -faligned-new
// EXPECT: ^malloc +1 0 100 0  1 1 100 100$
// EXPECT: ^new +1 0 40 0  1 1 40 40$
// EXPECT: ^new\[\] +1 0 30 0  1 1 30 30$
// EXPECT: ^calloc +1 0 77 0  1 1 77 77$
// EXPECT: ^realloc +2 1 60 10  2 2 60 60$
// EXPECT: ^aligned +1 0 128 0  1 1 128 128$
// EXPECT: ^aligned new +1 0 64 0  1 1 64 64$
// EXPECT: ^strdup +1 0 6 0  1 1 6 6$
// EXPECT: ^dlsym +1 0 100 0  1 1 100 100$
// EXPECT: ^sites 40000 39600 live 400$
// EXPECT: ^thread 1000 0 live 1000, the other 0 1000 live -1000, all 0$
// REFUSE: differs

#include "../../include/libleak.h"

#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile sink;
static void *(*found_malloc)(size_t);
struct alignas(64) aligned { char bytes[64]; };

static void make_malloc() { sink = malloc(100); }
static void make_new() { sink = ::operator new(40); }
static void make_new_array() { sink = new char[30]; }
static void make_calloc() { sink = calloc(7, 11); }
static void make_realloc() { sink = realloc(malloc(10), 50); }
static void make_aligned() { sink = aligned_alloc(64, 128); }
static void make_aligned_new() { sink = new aligned; }
static void make_strdup() { sink = strdup("hello"); }
static void make_dlsym() { sink = found_malloc(100); }

static void free_it() { free(sink); }
static void delete_it() { ::operator delete(sink); }
static void delete_array() { delete[] (char *)sink; }
static void delete_aligned() { delete (aligned *)sink; }

/* The process and its only thread say the same. */
static libleak_counts so_far()
{
    libleak_counts all, mine;
    if (libleak_count(&all) || libleak_count_thread(&mine) || memcmp(&all, &mine, sizeof all))
        puts("differs");
    return all;
}

static void note(libleak_counts before, libleak_counts now, const char *end)
{
    printf("%lld %lld %lld %lld%s", now.allocations - before.allocations, now.frees - before.frees,
           now.allocated_bytes - before.allocated_bytes, now.freed_bytes - before.freed_bytes, end);
    if (now.live_blocks != now.allocations - now.frees || now.live_bytes != now.allocated_bytes - now.freed_bytes)
        puts("differs");
}

static void both(const char *name, void (*make)(), void (*release)())
{
    libleak_counts before = so_far();
    make();
    libleak_counts kept = so_far();
    sink = NULL;
    libleak_counts again = so_far();
    make();
    release();
    libleak_counts freed = so_far();
    printf("%-12s", name);
    note(before, kept, "  ");
    note(again, freed, "\n");
}

static void *kept[1000];

/* Each depth is a call stack of its own. */
__attribute__((noinline)) static void deep(int depth)
{
    kept[depth] = malloc(10);
    if (depth)
        deep(depth - 1);
    sink = NULL;
}

static void many_sites()
{
    libleak_counts before = so_far();
    for (int round = 0; round < 100; round++) {
        deep(399);
        for (int i = 0; i < 400 && round < 99; i++)
            free(kept[i]);
    }
    libleak_counts now = so_far();
    printf("sites %lld %lld live %lld\n", now.allocations - before.allocations, now.frees - before.frees,
           now.live_blocks - before.live_blocks);
}

static void *allocate_all(void *out)
{
    for (int i = 0; i < 1000; i++)
        kept[i] = malloc(50);
    libleak_count_thread((libleak_counts *)out);
    return NULL;
}

static void *free_all(void *out)
{
    for (int i = 0; i < 1000; i++)
        free(kept[i]);
    libleak_count_thread((libleak_counts *)out);
    return NULL;
}

static void run(void *(*routine)(void *), libleak_counts *out)
{
    pthread_t thread;
    pthread_create(&thread, NULL, routine, out);
    pthread_join(thread, NULL);
}

int main()
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    found_malloc = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    both("malloc", make_malloc, free_it);
    both("new", make_new, delete_it);
    both("new[]", make_new_array, delete_array);
    both("calloc", make_calloc, free_it);
    both("realloc", make_realloc, free_it);
    both("aligned", make_aligned, free_it);
    both("aligned new", make_aligned_new, delete_aligned);
    both("strdup", make_strdup, free_it);
    both("dlsym", make_dlsym, free_it);
    many_sites();
    libleak_counts one, other, before, after;
    run(allocate_all, &one);
    libleak_count(&before);
    run(free_all, &other);
    libleak_count(&after);
    printf("thread %lld %lld live %lld, the other %lld %lld live %lld, all %lld\n", one.allocations, one.frees,
           one.live_blocks, other.allocations, other.frees, other.live_blocks,
           after.live_blocks - before.live_blocks + 1000);
    return 0;
}
