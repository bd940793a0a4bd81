/* sample.h - sample=BYTES: records a random sample of the blocks and estimates the totals.
 *
 * Imagine the bytes that a thread allocates laid end to end, with random marks, on average one in
 * BYTES (Poisson sampling). A block with a mark is a sample and is recorded in full: guard, stack,
 * site and table. All others cost a subtraction: no guard, no frame, no recording. (Each block
 * counts as one byte longer than requested, so that an empty block can be sampled.)
 *
 *     inclusion probability:  p = 1 - exp(-(size + 1) / BYTES)
 *     weight of a sample:     1/p blocks like it, rounded up or down at random
 *
 * The sums of the weights are unbiased, whatever the sizes. The rounding depends on the block
 * alone, so a free subtracts what the allocation added; when all is freed, the sums are 0. The
 * variances of the sums are in the recording file as well (struct leak_variance).
 *
 * A free consults a filter: may its block be a sample? The filter is an array of counters, one for
 * each class of addresses, never 0 while a sample of its class lives. Neighbours in the heap are
 * neighbours in the filter, and its pages are the kernel's shared zero page until a sample is
 * added: it stays in the CPU's cache.
 *
 * Off (BYTES 0): sampler.left stays 0, there is no filter, every block counts once.
 */
#ifndef PRELOAD_HEAP_SAMPLE_H
#define PRELOAD_HEAP_SAMPLE_H

#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "arch.h"

/* Constant after start. */
extern HIDDEN struct sample_state {
    uint64_t bytes;  /* the option; 0 = off */
    uint8_t *filter; /* NULL = off */
    uintptr_t filter_mask;
} sample_state;

/* A thread's position. A signal handler may allocate at any point in between: any value is random.
 */
struct sampler {
    uint64_t left;   /* bytes up to the next mark; 0 = call sample_selects */
    uint64_t random; /* state of the generator; 0 = not seeded yet */
};
extern HIDDEN __thread struct sampler sampler __attribute__((tls_model("initial-exec")));

/* Begins sampling. max_memory: the option; the filter takes at most a sixteenth of it. */
bool sample_start(uint64_t bytes, uint64_t max_memory);
/* Makes a fork child draw other marks than its parent and siblings. Call it as soon as possible. */
void sample_reset_thread(void);
/* Sets the variances to 0, when the child has a recording file. */
void sample_fork_child(void);

/* ---- Allocations ----------------------------------------------------------------------------- */

/* True for most blocks of a sampled program: the block is no sample, and there is nothing more to
 * do. */
static inline bool sample_passes(size_t size)
{
    uint64_t bytes = (uint64_t)size + 1, left = sampler.left;
    if (bytes >= left)
        return false;
    sampler.left = left - bytes;
    return true;
}

/* Says whether a block is to be recorded, when sample_passes is false. */
bool sample_selects(size_t size);

/* Draws the next mark after a selected allocation has failed. */
void sample_redraw(void);

/* ---- Frees ---------------------------------------------------------------------------------- */

static inline uint8_t *sample_cell(uintptr_t address)
{
    return &sample_state.filter[(address >> 4 ^ address >> 25) & sample_state.filter_mask];
}

/* True if a block is certainly no sample. Never true for a live sample, in any thread. */
static inline bool sample_excludes(const void *block)
{
    return sample_state.filter && !load_relaxed(sample_cell(arch_address(block)));
}

/* ---- Samples -------------------------------------------------------------------------------- */

/* blocks_insert and blocks_remove that also update the filter. */
enum blocks_insert sample_insert(struct guard *guard, const struct block *block, struct block *old);
bool sample_remove(struct guard *guard, uintptr_t address, struct block *out);

/* The weight of a block; the same block has always the same weight. */
uint64_t sample_weight(const struct block *block);
/* Returns the weight, and adds the block to the variances of its site, or (comes false) subtracts
 * it. */
uint64_t sample_count(const struct block *block, bool comes);

#endif
