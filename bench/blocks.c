/* blocks.c - measures the memory of the table of live blocks, and the longest insert.
 *
 * The program grows the table from one to sixteen million live blocks, with addresses as an
 * allocator assigns them: a main heap and the heaps of seven threads, blocks of 16 bytes to some
 * KiB next to each other, large blocks in separate mappings. One block in five is freed and its
 * place reused. The mean is taken over the growth, with one sample per 10 000 blocks, and includes
 * the unused space of tables, also of those that have just grown. Memory is measured in two ways:
 * bytes allocated from the arena, and growth of the resident set of the process. The table has a
 * word for each 32 bytes of addresses, so its memory follows the size of the heap more than the
 * number of blocks: the limit is a share of the heap.
 *
 *   blocks [MILLIONS]      default 16
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "preload/memory/arena.h"
#include "preload/blocks/blocks.h"

#define HEAPS 8
#define FIRST 1000000ull
#define SAMPLE 10000
#define LIMIT 27.0 /* limit for the table's memory, in percent of the heap */

static struct guard token = {.sp = 1};
static struct run run;
static uint64_t random_state = 42;

static uint64_t random_u64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Returns the CPU time of this thread, because other load on the machine does not change it. */
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

static uint64_t resident(void)
{
    char buffer[128];
    int fd = open("/proc/self/statm", O_RDONLY);
    ssize_t length = read(fd, buffer, sizeof buffer - 1);
    close(fd);
    buffer[length > 0 ? length : 0] = '\0';
    char *second = strchr(buffer, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* ---- Choosing addresses ---------------------------------------------------------------------- */

static uintptr_t top[HEAPS];
static uintptr_t mapped = 0x7f2a00000000;
static uint64_t heap_bytes; /* bytes of all heaps and mappings */

static void make_heaps(void)
{
    top[0] = 0x555555580000;
    for (int i = 1; i < HEAPS; i++)
        top[i] = 0x7f3000000000 + (uintptr_t)i * (4ull << 30);
}

static uintptr_t next_address(uint64_t size)
{
    if (size >= 128 << 10) {
        mapped -= (size + 16 + 4095) & ~4095ull;
        heap_bytes += (size + 16 + 4095) & ~4095ull;
        return mapped + 16;
    }
    uint64_t heap = random_u64() % 16;
    uintptr_t *at = &top[heap < HEAPS ? heap : 0];
    uint64_t chunk = ((size + 8 + 15) & ~15ull) < 32 ? 32 : (size + 8 + 15) & ~15ull;
    uintptr_t address = *at;
    *at += chunk;
    heap_bytes += chunk;
    return address;
}

/* Returns a random size. Most blocks are small, as in real programs. */
static uint64_t next_size(void)
{
    uint64_t dice = random_u64() % 1000;
    if (dice < 700)
        return 8 + random_u64() % 120;
    if (dice < 950)
        return 128 + random_u64() % 900;
    if (dice < 999)
        return 1024 + random_u64() % 8000;
    return (128 << 10) + random_u64() % (1 << 20);
}

/* ---- Growing the table ----------------------------------------------------------------------- */

struct series {
    double sum, least, most;
    uint64_t samples;
};

static void add(struct series *series, double value)
{
    if (!series->samples || value < series->least)
        series->least = value;
    if (value > series->most)
        series->most = value;
    series->sum += value;
    series->samples++;
}

static void show(const char *name, const struct series *series)
{
    dprintf(1, "%-22s %6.2f mean  %6.2f least  %6.2f most\n", name,
            series->sum / (double)series->samples, series->least, series->most);
}

static uint64_t longest, inserts;

static void insert(uintptr_t address, uint64_t size)
{
    struct block old, block = {.address = address,
                               .size = size,
                               .site = 1 + random_u64() % 20000,
                               .count = inserts,
                               .kind = 1,
                               .thread = 1,
                               .tick = inserts >> 16};
    uint64_t begin = now_ns();
    enum blocks_insert done = blocks_insert(&token, &run, &block, &old);
    uint64_t took = now_ns() - begin;
    longest = took > longest ? took : longest;
    inserts++;
    if (done != BLOCKS_NEW) {
        dprintf(2, "blocks: insert %" PRIu64 " returned %d\n", inserts, done);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 16, last = millions * 1000000;
    struct series handed_out = {0}, in_memory = {0}, heap = {0}, share = {0};
    /* Blocks that may be freed next, spread over the whole heap. */
    static struct {
        uintptr_t address;
        uint64_t size;
    } recent[1 << 16];
    if (last <= FIRST) {
        dprintf(2, "usage: blocks [MILLIONS], at least 2\n");
        return 2;
    }
    make_heaps();
    memset(recent, 0, sizeof recent);
    uint64_t used_before = arena_used(), resident_before = resident();
    blocks_start();
    blocks_set_spacing(true); /* blocks have the spacing of glibc */
    for (uint64_t live = 0; live < last;) {
        uint64_t size = next_size();
        uintptr_t address = next_address(size);
        insert(address, size);
        live++;
        size_t place = random_u64() % ARRAY_LENGTH(recent);
        if (random_u64() % 5 == 0 && recent[place].address) {
            struct block out;
            if (!blocks_remove(&token, recent[place].address, &out))
                return 1;
            /* another block reuses the address */
            insert(recent[place].address, recent[place].size);
        }
        recent[place].address = address;
        recent[place].size = size;
        if (live < FIRST || live % SAMPLE)
            continue;
        add(&handed_out, (double)(arena_used() - used_before) / (double)live);
        uint64_t grown = resident() - resident_before;
        add(&in_memory, (double)grown / (double)live);
        add(&heap, (double)heap_bytes / (double)live);
        add(&share, 100.0 * (double)grown / (double)heap_bytes);
    }
    if (!blocks_check() || blocks_count() != last) {
        dprintf(2, "blocks: the table is damaged\n");
        return 1;
    }
    dprintf(1, "bytes per live block, 1 to %" PRIu64 " million blocks:\n", millions);
    show("  arena", &handed_out);
    show("  resident set", &in_memory);
    show("  the heap itself", &heap);
    show("percent of the heap", &share);
    dprintf(1, "longest of %" PRIu64 " inserts: %.2f ms of CPU time\n", inserts,
            (double)longest / 1e6);
    bool good = share.sum / (double)share.samples <= LIMIT;
    dprintf(1, "%s: the limit is %.0f %% of the heap on average\n", good ? "good" : "TOO MUCH",
            LIMIT);
    return good ? 0 : 1;
}
