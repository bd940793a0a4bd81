/* sample.h - sample=BYTES: records a random sample of the blocks and estimates the totals.
 *
 * Imagine the bytes that a thread allocates laid end to end, with random marks, on average one in
 * BYTES (Poisson sampling). A block with a mark in its bytes is a sample and is recorded in full:
 * with its stack, its site and an entry in the table. All other blocks cost one subtraction. (Each
 * block counts as one byte longer than requested, so that an empty block can be a sample.)
 *
 *     inclusion probability:  p = 1 - exp(-(size + 1) / BYTES)
 *     weight of a sample:     it stands for 1/p blocks, rounded up or down at random
 *
 * The sums of the weights are unbiased estimates of the totals, whatever the blocks' sizes. The
 * rounding depends only on the block, so a free subtracts exactly what the allocation has added:
 * when all blocks are freed, the sums are 0. The variances of the sums are in the recording file as
 * well (struct leak_variance).
 *
 * A free asks a filter whether its block may be a sample. The filter is an array of counters, one
 * for each class of addresses, never 0 while a sample with such an address is live. Neighbours in
 * the heap are neighbours in the filter, and its pages are the kernel's shared zero page until a
 * sample is added, so it stays in the CPU's cache.
 *
 * Without sample= (BYTES is 0): sampler.left stays 0, there is no filter, every block counts
 * once.
 */
#ifndef PRELOAD_HEAP_SAMPLE_H
#define PRELOAD_HEAP_SAMPLE_H

#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "arch.h"

/* The state of sampling, which is constant after sample_start. */
extern HIDDEN struct sample_state {
    uint64_t bytes;  /* the value of the option sample=; 0: off */
    uint8_t *filter; /* NULL: sampling is off */
    uintptr_t filter_mask;
} sample_state;

/* The position of a thread between two marks: random points in the bytes that it allocates; a block
 * that contains one is a sample. A signal handler may allocate, and change it, while the thread
 * computes with it: the value that results is just as random. */
struct sampler {
    uint64_t left;   /* number of bytes up to the next mark; 0: sample_selects must be called */
    uint64_t random; /* state of the random number generator; 0: not seeded yet */
};
extern HIDDEN __thread struct sampler sampler __attribute__((tls_model("initial-exec")));

/* Starts sampling. max_memory: the option max_memory=; the filter takes at most a sixteenth of it.
 * False: no memory. */
bool sample_start(uint64_t bytes, uint64_t max_memory);
/* Resets the random numbers of the calling thread, so that a fork child draws other marks than its
 * parent and its siblings. Call it as early as possible in the child. */
void sample_reset_thread(void);
/* Clears the variances of the sites in a fork child that has its own recording file. */
void sample_fork_child(void);

/* ---- Allocations ----------------------------------------------------------------------------- */

/* Says whether a block certainly is no sample, so that the hook has nothing more to do. True for
 * most blocks of a program with sample=. */
static inline bool sample_passes(size_t size)
{
    uint64_t bytes = (uint64_t)size + 1, left = sampler.left;
    if (bytes >= left)
        return false;
    sampler.left = left - bytes;
    return true;
}

/* Decides whether a block is a sample, after sample_passes has returned false. True: it is. */
bool sample_selects(size_t size);

/* Draws the distance to the next sample again, because the allocation of a block that was selected
 * as a sample has failed. */
void sample_redraw(void);

/* ---- Frees ----------------------------------------------------------------------------------- */

static inline uint8_t *sample_cell(uintptr_t address)
{
    return &sample_state.filter[(address >> 4 ^ address >> 25) & sample_state.filter_mask];
}

/* Says whether the block at an address certainly is no sample. Never true for a live sample of any
 * thread. */
static inline bool sample_excludes(const void *block)
{
    return sample_state.filter && !load_relaxed(sample_cell(arch_address(block)));
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Insert or remove a sample: in the block table and in the filter. */
enum blocks_insert sample_insert(struct guard *guard, const struct block *block, struct block *old);
bool sample_remove(struct guard *guard, uintptr_t address, struct block *out);

/* Returns the weight of a sample: how many blocks it stands for. The same block always has the same
 * weight. */
uint64_t sample_weight(const struct block *block);
/* Returns the weight of a sample. comes: the sample was allocated and is added to the variances of
 * its site; else it was freed and is subtracted from them. */
uint64_t sample_count(const struct block *block, bool comes);

#endif
