/* sample.c - draws random marks, keeps the filter of samples, computes weights and variances. */
#include "preload/heap/sample.h"
#include "preload/memory/arena.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/wide.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

/* Largest size of the filter in bytes. Each byte stands for 16 bytes of addresses, and for the
 * addresses at multiples of 32 MiB from these. */
#define FILTER_MOST (2u << 20)
#define FILTER_LEAST (64u << 10)
/* A counter of the filter that has reached this value never changes again. */
#define STUCK UINT8_MAX

struct sample_state sample_state;
__thread struct sampler sampler;

/* Random number of this process, from which the threads' generators are seeded. */
static uint64_t seed;
static uint64_t seeds; /* number of threads whose generators were seeded */
/* Key of the random rounding of weights. A fork child keeps it, because it has its parent's blocks,
 * whose weights must not change. */
static uint64_t rounding_key;

static struct segmented_array variances = {.type = LEAK_CHUNK_VARIANCES,
                                           .record_size = sizeof(struct leak_variance),
                                           .first_id = 1,
                                           .first_bits = 7,
                                           .split_bits = 15};

/* ---- Random numbers -------------------------------------------------------------------------
 * Random numbers are computed with integers, because the program may have enabled floating-point
 * traps, set another rounding mode, or read the floating-point flags. */

static uint64_t mix_bits(uint64_t word)
{
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

/* Returns -log2(word / 2^64), times 2^32. The logarithm of a number in [1, 2) is in [0, 1); its
 * first binary digit is 1 if the square of the number is at least 2, and so on for the next
 * digits. */
static uint64_t minus_log2(uint64_t word)
{
    unsigned zeros = __builtin_clzll(word | 1);
    /* Number / 2^63 is at least 1 and less than 2. */
    uint64_t number = (word | 1) << zeros, log = 0;
    for (int digit = 0; digit < 32; digit++) {
        wide square = wide_multiply(number, number);
        bool two = wide_shift(square, 127);
        number = wide_shift(square, two ? 64 : 63);
        log = log << 1 | two;
    }
    return ((uint64_t)(zeros + 1) << 32) - log;
}

#define LN2 2977044471ull /* log(2), times 2^32 */

/* Returns a random number: how many bytes the thread allocates up to and including the next mark,
 * which makes the block that contains it a sample. */
static uint64_t draw_distance(void)
{
    if (sample_state.bytes == 1)
        return 0;
    sampler.random += 0x9e3779b97f4a7c15ull;
    wide nats = wide_multiply(minus_log2(mix_bits(sampler.random)), LN2);
    return wide_shift(nats, 64) * sample_state.bytes +
           wide_product(wide_shift(nats, 0), sample_state.bytes, 64) + 1;
}

/* Returns the probability p = 1 - exp(-x) that a block of that size is a sample, times 2^64; 0
 * stands for p = 1. x = (size + 1) / BYTES is halved until it is small, for a Taylor series, and
 * then 1 - exp(-2x) = p (2 - p) is applied as often. */
static uint64_t inclusion_probability(uint64_t size)
{
    unsigned doublings = 0;
    uint64_t bytes = size + 1, p = 0;
    if (sample_state.bytes == 1 || bytes / 32 >= sample_state.bytes)
        return 0;
    while (bytes * 8 >> doublings > sample_state.bytes)
        doublings++;
    wide scaled =
        doublings ? wide_make(bytes >> doublings, bytes << (64 - doublings)) : wide_make(bytes, 0);
    uint64_t x = wide_divide(scaled, sample_state.bytes);
    for (int i = 10; i >= 1; i--)
        p = (p ? wide_product(-p, x, 64) : x) / i;
    while (doublings--)
        p = 2 * p - wide_product(p, p, 64);
    return p;
}

/* ---- Start and fork -------------------------------------------------------------------------- */

static void reseed(uint64_t word)
{
    seed = mix_bits(word ^ sys_clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)sys_getpid() << 40);
    seeds = 0;
}

bool sample_start(uint64_t bytes, uint64_t max_memory)
{
    size_t size = FILTER_MOST;
    if (!bytes)
        return true;
    uint64_t word[2] = {0, 0};
    /* 16 random bytes from the kernel, at an address that may not be aligned. */
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(word, random, sizeof word);
    reseed(word[0] ^ mix_bits(word[1]));
    rounding_key = mix_bits(seed + 1);
    while (max_memory && size > FILTER_LEAST && size > max_memory / 16)
        size /= 2;
    uint8_t *filter = arena_map(size);
    if (!filter)
        return false;
    /* Without huge pages the first sample populates one page of the filter, and not 2 MiB. */
    sys_advise(filter, size, MADV_NOHUGEPAGE);
    store_header->sample = sample_state.bytes = bytes;
    sample_state.filter_mask = size - 1;
    sample_state.filter = filter;
    return true;
}

void sample_reset_thread(void)
{
    sampler = (struct sampler){0, 0};
}

void sample_fork_child(void)
{
    if (!sample_state.bytes)
        return;
    reseed(seed);
    sample_reset_thread();
    store_header->sample = sample_state.bytes;
    /* The old variances are in the parent's recording file. */
    variances.lock.word = 0;
    memset(variances.origin, 0, sizeof variances.origin);
}

bool sample_selects(size_t size)
{
    if (sample_passes(size))
        return false;
    bool first = !sampler.random;
    if (first) {
        sampler.random = mix_bits(seed + 0x9e3779b97f4a7c15ull * add_relaxed(&seeds, 1));
        store_set_flag(LEAK_FLAG_ASKED);
    }
    sampler.left = draw_distance();
    /* At the thread's first allocation there was no mark before this draw, so the block is compared
     * with the new mark. */
    return !first || !sample_passes(size);
}

void sample_redraw(void)
{
    if (sampler.random)
        sampler.left = draw_distance();
}

/* ---- The filter ------------------------------------------------------------------------------ */

/* Adds "change" (1 or -1) to the filter's counter for an address. */
static void change_filter(uintptr_t address, int change)
{
    uint8_t *cell = sample_cell(address), before = load_relaxed(cell);
    while (before != STUCK && !cas_acquire(cell, &before, before + change))
        ;
}

/* Inserts a sample. The block enters the filter before it enters the block table, and leaves the
 * filter after it has left the table: another thread may fork in between, and the child's filter
 * must cover all blocks in its table. */
enum blocks_insert sample_insert(struct guard *guard, const struct block *block, struct block *old)
{
    change_filter(block->address, 1);
    enum blocks_insert done = blocks_insert(guard, NULL, block, old);
    if (done != BLOCKS_NEW)
        change_filter(done == BLOCKS_REPLACED ? old->address : block->address, -1);
    return done;
}

bool sample_remove(struct guard *guard, uintptr_t address, struct block *out)
{
    bool found = blocks_remove(guard, address, out);
    if (found)
        change_filter(address, -1);
    return found;
}

/* ---- Weights --------------------------------------------------------------------------------- */

struct weight {
    uint64_t blocks;
    uint64_t exact; /* 1/p, times 2^32 */
};

static struct weight compute_weight(const struct block *block)
{
    uint64_t p = inclusion_probability(block->size);
    if (!p)
        return (struct weight){1, 1ull << 32};
    uint64_t exact = wide_divide(wide_make(1ull << 32, 0), p);
    uint64_t place = (uint64_t)block->thread << 32 | block->count;
    uint32_t chance = mix_bits(mix_bits(block->address ^ rounding_key) ^ place) >> 32;
    return (struct weight){(exact >> 32) + (chance < (uint32_t)exact), exact};
}

uint64_t sample_weight(const struct block *block)
{
    return sample_state.bytes ? compute_weight(block).blocks : 1;
}

/* Returns what a sample adds to the variances of its site (an unbiased estimate), in the units of
 * struct leak_variance, with p = probability that a block of this size is a sample: 1/p (1/p - 1)
 * for its random selection, and f (1 - f) with f = frac(1/p) for the random rounding of its weight.
 * For the variance of bytes each of these factors is multiplied by size / BYTES, so that no factor
 * becomes large when 1/p is large. */
static struct leak_variance variance_of(const struct weight *weight, uint64_t size)
{
    uint64_t one = 1ull << 32, up = (uint32_t)weight->exact;
    wide selection = wide_multiply(weight->exact, weight->exact - one);
    uint64_t blocks = wide_shift(wide_add(selection, wide_multiply(up, one - up)), 56);
    if (weight->exact == one)
        return (struct leak_variance){.samples = 1};
    uint64_t ratio = wide_divide(wide_make(size >> 32, size << 32), sample_state.bytes);
    uint64_t met = wide_product(weight->exact, ratio, 32),
             not_met = wide_product(weight->exact - one, ratio, 32);
    uint64_t rounded_up = wide_product(up, ratio, 32),
             rounded_down = wide_product(one - up, ratio, 32);
    return (struct leak_variance){
        .samples = 1,
        .blocks = blocks,
        .bytes = wide_shift(
            wide_add(wide_multiply(met, not_met), wide_multiply(rounded_up, rounded_down)), 32)};
}

uint64_t sample_count(const struct block *block, bool comes)
{
    struct weight weight = compute_weight(block);
    struct leak_variance *sum = segmented_array_ensure(&variances, block->site);
    /* No memory for the variance: the site's sums stay unbiased, but their variance is unknown. */
    if (!sum)
        return weight.blocks;
    struct leak_variance own = variance_of(&weight, block->size);
    /* A free subtracts exactly what the allocation has added. */
    uint64_t sign = comes ? 1 : -1;
    add_relaxed(&sum->samples, sign);
    add_relaxed(&sum->blocks, sign * own.blocks);
    add_relaxed(&sum->bytes, sign * own.bytes);
    return weight.blocks;
}
