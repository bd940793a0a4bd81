#include "preload/heap/sample.h"
#include "preload/base/arena.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#define FILTER_MOST (2u << 20) /* a byte each for 32 MiB of addresses before they repeat */
#define FILTER_LEAST (64u << 10)
#define STUCK UINT8_MAX /* a cell that has counted so far counts no more */

uint64_t sample_bytes;
uint8_t *sample_filter;
uintptr_t sample_filter_mask;
__thread struct sampler sampler;

static uint64_t seed;         /* of this process … */
static uint64_t seeds;        /* … and how many threads have taken theirs from it */
static uint64_t rounding_key; /* for ever: a fork child has its parent's blocks */

static struct segments variances = {.type = LEAK_CHUNK_VARIANCES,
                                    .record_size = sizeof(struct leak_variance),
                                    .first_id = 1,
                                    .first_bits = 7,
                                    .split_bits = 15};

/* ---- Chance ---------------------------------------------------------------------------------
 * In whole numbers: the program may trap on inexact results, round its own way, or look at the
 * flags that floating point leaves behind. */

typedef unsigned __int128 wide;

static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

/* -log2(word / 2^64), times 2^32. A number from 1 up to 2 has a logarithm from 0 up to 1, whose
 * first binary digit says whether its square reaches 2, and so on. */
static uint64_t minus_log2(uint64_t word)
{
    unsigned zeros = __builtin_clzll(word | 1);
    uint64_t number = (word | 1) << zeros, log = 0; /* number / 2^63: from 1 up to 2 */
    for (int digit = 0; digit < 32; digit++) {
        wide square = (wide)number * number;
        bool two = square >> 127;
        number = square >> (two ? 64 : 63);
        log = log << 1 | two;
    }
    return ((uint64_t)(zeros + 1) << 32) - log;
}

#define LN2 2977044471ull /* 2^32 log(2) */

/* Bytes up to and including the next marked one. */
static uint64_t draw(void)
{
    if (sample_bytes == 1)
        return 0;
    sampler.random += 0x9e3779b97f4a7c15ull;
    return ((wide)minus_log2(mix(sampler.random)) * sample_bytes * LN2 >> 64) + 1;
}

/* p = 1 - exp(-x), times 2^64; 0 stands for 1. Taylor where x is small, and
 * 1 - exp(-2x) = p (2 - p). */
static uint64_t chance_of(uint64_t size)
{
    const wide one = (wide)1 << 64;
    unsigned doublings = 0;
    uint64_t bytes = size + 1, p = 0;
    if (sample_bytes == 1 || bytes / 32 >= sample_bytes)
        return 0;
    while (bytes * 8 >> doublings > sample_bytes)
        doublings++;
    uint64_t x = ((wide)bytes << (64 - doublings)) / sample_bytes;
    for (int i = 10; i >= 1; i--)
        p = ((one - p) * x >> 64) / i;
    while (doublings--)
        p = 2 * (wide)p - ((wide)p * p >> 64);
    return p;
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void make_seed(uint64_t word)
{
    seed = mix(word ^ sys_clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)sys_getpid() << 40);
    seeds = 0;
}

bool sample_start(uint64_t bytes, uint64_t max_memory)
{
    size_t size = FILTER_MOST;
    if (!bytes)
        return true;
    uint64_t word[2] = {0, 0};
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, anywhere */
    if (random)
        memcpy(word, random, sizeof word);
    make_seed(word[0] ^ mix(word[1]));
    rounding_key = mix(seed + 1);
    while (max_memory && size > FILTER_LEAST && size > max_memory / 16)
        size /= 2;
    uint8_t *filter = arena_map(size);
    if (!filter)
        return false;
    sys_advise(filter, size, MADV_NOHUGEPAGE); /* one sample is not to cost two megabytes */
    store_header->sample = sample_bytes = bytes;
    sample_filter_mask = size - 1;
    sample_filter = filter;
    return true;
}

void sample_forked(void)
{
    sampler = (struct sampler){0, 0};
}

void sample_fork_child(void)
{
    if (!sample_bytes)
        return;
    make_seed(seed);
    sample_forked();
    store_header->sample = sample_bytes;
    /* What stands there is the parent's. */
    variances.lock.word = 0;
    memset(variances.origin, 0, sizeof variances.origin);
}

bool sample_meets(size_t size)
{
    if (sample_passes(size))
        return false;
    bool first = !sampler.random;
    if (first) {
        sampler.random = mix(seed + 0x9e3779b97f4a7c15ull * add_relaxed(&seeds, 1));
        store_set_flag(LEAK_FLAG_ASKED);
    }
    sampler.left = draw();
    /* Before the first draw there was no mark that this block could have met. */
    return !first || !sample_passes(size);
}

void sample_again(void)
{
    if (sampler.random)
        sampler.left = draw();
}

/* ---- The filter ----------------------------------------------------------------------------- */

static void cell_add(uintptr_t address)
{
    uint8_t *cell = sample_cell(address), before = load_relaxed(cell);
    while (before != STUCK && !cas_acquire(cell, &before, before + 1))
        ;
}

static void cell_take(uintptr_t address)
{
    uint8_t *cell = sample_cell(address), before = load_relaxed(cell);
    while (before != STUCK && !cas_acquire(cell, &before, before - 1))
        ;
}

/* The filter knows of a block before the table does and until after: another thread may fork in
 * between, and the child must not lose what the table has. */
enum blocks_insert sample_insert(struct guard *guard, const struct block *block, struct block *old)
{
    cell_add(block->address);
    enum blocks_insert done = blocks_insert(guard, block, old);
    if (done != BLOCKS_NEW)
        cell_take(done == BLOCKS_REPLACED ? old->address : block->address);
    return done;
}

bool sample_remove(struct guard *guard, uintptr_t address, struct block *out)
{
    bool found = blocks_remove(guard, address, out);
    if (found)
        cell_take(address);
    return found;
}

/* ---- Weights -------------------------------------------------------------------------------- */

struct weight {
    uint64_t blocks;
    uint64_t exact; /* 1/p, times 2^32 */
};

static struct weight weigh(const struct block *block)
{
    uint64_t p = chance_of(block->size);
    if (!p)
        return (struct weight){1, 1ull << 32};
    uint64_t exact = ((wide)1 << 96) / p;
    uint64_t place = (uint64_t)block->thread << 32 | block->count;
    uint32_t chance = mix(mix(block->address ^ rounding_key) ^ place) >> 32;
    return (struct weight){(exact >> 32) + (chance < (uint32_t)exact), exact};
}

uint64_t sample_weight(const struct block *block)
{
    return sample_bytes ? weigh(block).blocks : 1;
}

/* What a sample adds to the variances, without bias, in their units. Chance decided whether it was
 * met, 1/p (1/p - 1), and how its weight f = frac(1/p) was rounded, f (1 - f). Each of these
 * factors is multiplied with size / BYTES for the bytes: none grows large when 1/p does. */
static struct leak_variance variance_of(const struct weight *weight, uint64_t size)
{
    uint64_t one = 1ull << 32, up = (uint32_t)weight->exact;
    uint64_t blocks = ((wide)weight->exact * (weight->exact - one) + up * (one - up)) >> 56;
    if (weight->exact == one)
        return (struct leak_variance){.samples = 1};
    uint64_t ratio = ((wide)size << 32) / sample_bytes;
    uint64_t met = (wide)weight->exact * ratio >> 32,
             not_met = (wide)(weight->exact - one) * ratio >> 32;
    uint64_t rounded_up = (wide)up * ratio >> 32, rounded_down = (wide)(one - up) * ratio >> 32;
    return (struct leak_variance){
        .samples = 1,
        .blocks = blocks,
        .bytes = ((wide)met * not_met + (wide)rounded_up * rounded_down) >> 32};
}

uint64_t sample_count(const struct block *block, bool comes)
{
    struct weight weight = weigh(block);
    struct leak_variance *sum = segmented_array_ensure(&variances, block->site);
    if (!sum)
        return weight.blocks; /* no memory: the sums stand, nobody knows how well */
    struct leak_variance own = variance_of(&weight, block->size);
    uint64_t sign = comes ? 1 : -1; /* what went is taken away, to the last bit */
    add_relaxed(&sum->samples, sign);
    add_relaxed(&sum->blocks, sign * own.blocks);
    add_relaxed(&sum->bytes, sign * own.bytes);
    return weight.blocks;
}
