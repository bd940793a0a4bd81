/* sample.h - sample=BYTES: look at a few blocks, chosen by chance, and say what all come to.
 *
 * Picture the bytes a thread allocates laid end to end, and now and then, on average once in BYTES,
 * one of them is marked. A block with a marked byte is a sample and takes the full way of token,
 * stack, site and table. All others cost a subtraction: no token, no frame, no account. (Each block
 * is one byte longer here than was asked for: an empty block is a block, too.)
 *
 *     chance to be met:   p = 1 - exp(-(size + 1) / BYTES)
 *     what it stands for: weight = 1/p blocks like it, rounded up or down by chance
 *
 * The sums of the weights are right on average, whatever the sizes. The rounding depends on the
 * block alone, so that its free takes away what its allocation added; when all is freed, nothing is
 * left. How far off a sum may be is kept in the store as well (struct leak_variance).
 *
 * A free asks a filter whether its block may be a sample: a row of counters, one for each class of
 * addresses, never 0 while a sample of its class lives. Neighbours in the heap are neighbours in
 * the filter, and its pages are the kernel's shared zeros until a sample comes: it stays in the
 * cache.
 *
 * Off (BYTES 0): no byte is ever left before the mark, there is no filter, every block counts once.
 */
#ifndef PRELOAD_HEAP_SAMPLE_H
#define PRELOAD_HEAP_SAMPLE_H

#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "arch.h"

extern HIDDEN uint64_t sample_bytes; /* the option; 0 = off. Constant after start */

/* A thread's place in its row of bytes. Handlers may come in between: chance is chance. */
struct sampler {
    uint64_t left;   /* the marked byte is that many bytes on; 0 = look at the next block */
    uint64_t random; /* state of the generator; 0 = not seeded yet */
};
extern HIDDEN __thread struct sampler sampler __attribute__((tls_model("initial-exec")));

/* max_memory: the option; the filter takes no more than a sixteenth of it. */
bool sample_start(uint64_t bytes, uint64_t max_memory);
/* In a child, as soon as possible: what comes is not what comes to its parent and its siblings. */
void sample_forked(void);
/* When the child has a store: nothing is counted yet. */
void sample_fork_child(void);

/* ---- Allocations ----------------------------------------------------------------------------- */

/* True for most blocks of a program that is sampled: no sample, and no more to do. */
static inline bool sample_passes(size_t size)
{
    uint64_t bytes = (uint64_t)size + 1, left = sampler.left;
    if (bytes >= left)
        return false;
    sampler.left = left - bytes;
    return true;
}

/* The rest of the question, inside the runtime: is this block to be tracked? */
bool sample_meets(size_t size);

/* A block that would have been a sample and did not come about: on to the next mark. */
void sample_again(void);

/* ---- Frees ---------------------------------------------------------------------------------- */

extern HIDDEN uint8_t *sample_filter; /* NULL = off */
extern HIDDEN uintptr_t sample_filter_mask;

static inline uint8_t *sample_cell(uintptr_t address)
{
    return &sample_filter[(address >> 4 ^ address >> 25) & sample_filter_mask];
}

/* True: certainly no sample. Never true for one that lives, whichever thread asks. */
static inline bool sample_spares(const void *block)
{
    return sample_filter && !load_relaxed(sample_cell(arch_address(block)));
}

/* ---- Samples -------------------------------------------------------------------------------- */

/* blocks_insert and blocks_remove, with the filter. */
enum blocks_insert sample_insert(struct guard *guard, const struct block *block, struct block *old);
bool sample_remove(struct guard *guard, uintptr_t address, struct block *out);

/* How many blocks this one stands for. Always the same answer for the same block. */
uint64_t sample_weight(const struct block *block);
/* Likewise, and its part in the variances comes to its site's, or goes. */
uint64_t sample_count(const struct block *block, bool comes);

#endif
