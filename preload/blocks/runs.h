/* runs.h - the thread, tick and number of a live block's allocation, in 28 bits.
 *
 * A run is up to 32 allocations of one thread, in one tick, whose numbers differ in their last five
 * bits only. The record of a run has what its allocations have in common. A block stores the number
 * of its run and the five bits (count is the number of the allocation in its thread):
 *
 *     identity of a block = number of its run (23 bits) << 5 | count % 32
 *     thread, tick, count of the block = thread, tick of the run, first of the run + count % 32
 *
 * A thread takes 64 runs at a time: one word of the map of used runs. A free does not count how
 * many blocks of a run are left, because it would touch one more cache line. Instead, when no run
 * is left, a sweep reads the identities of all live blocks; runs that no live block has are unused
 * again. Enough allocations lie between two sweeps that a sweep costs less than a nanosecond for
 * each allocation:
 *
 *     runs between two sweeps >= half of all runs, and >= SWEEP_RUNS for each area to be read
 */
#ifndef PRELOAD_BLOCKS_RUNS_H
#define PRELOAD_BLOCKS_RUNS_H

#include "preload/base/base.h"

#define RUN_PLACE_BITS 5
#define RUN_BITS 23
#define RUN_IDENTITY_BITS (RUN_BITS + RUN_PLACE_BITS)
#define RUN_PLACES (1u << RUN_PLACE_BITS)
#define RUN_CHUNK_BITS 12
#define RUN_CHUNKS (1u << (RUN_BITS - RUN_CHUNK_BITS))
#define RUN_CHUNK_RUNS (1u << RUN_CHUNK_BITS)

struct run_record {
    uint32_t first; /* number of the first allocation, a multiple of RUN_PLACES */
    uint32_t tick;
    uint16_t thread;
};

struct run_chunk {
    struct run_record record[RUN_CHUNK_RUNS];
    uint64_t used[RUN_CHUNK_RUNS / 64]; /* one bit for each run: a thread or a live block has it */
    /* One bit for each run: the current sweep has found a live block with it. */
    uint64_t seen[RUN_CHUNK_RUNS / 64];
};

extern struct runs_state {
    struct run_chunk *chunk[RUN_CHUNKS];
    uint32_t sweeps; /* number of sweeps that have ended */
} runs_state HIDDEN;

/* The current run of a thread, and the runs that the thread may use next. All zero: the thread has
 * no run yet. */
struct run {
    uint32_t tick; /* tick of the current run */
    /* Result of run_numbers for the allocations of the current run; 0: there is no current run. */
    uint32_t numbers;
    uint32_t identity; /* identity of the first allocation of the current run */
    uint32_t base;     /* number of the first of the 64 runs that the thread has taken */
    /* one bit for each of the 64 runs from "base" on; 1: the run is not used yet */
    uint64_t left;
    struct run *next; /* the next element in the list of all threads that have ever taken runs */
    bool listed;
};

/* Returns a value that is the same for all allocations of one run: their number with the lowest
 * five bits set. Never 0. */
static ALWAYS_INLINE uint32_t run_numbers(uint32_t count)
{
    return count | (RUN_PLACES - 1);
}

/* Says whether an allocation, by its number in its thread and its tick, belongs to the current run. */
static ALWAYS_INLINE bool run_has(const struct run *run, uint32_t tick, uint32_t count)
{
    return likely(run->numbers == run_numbers(count) && run->tick == tick);
}

static ALWAYS_INLINE uint32_t run_identity(const struct run *run, uint32_t count)
{
    return run->identity | (count & (RUN_PLACES - 1));
}

static ALWAYS_INLINE struct run_record *run_record_at(uint32_t number)
{
    return &runs_state.chunk[number >> RUN_CHUNK_BITS]->record[number & (RUN_CHUNK_RUNS - 1)];
}

static ALWAYS_INLINE const struct run_record *run_record_of(uint32_t identity)
{
    return run_record_at(identity >> RUN_PLACE_BITS);
}

/* Ends the current run, because the next block belongs to another thread. */
static inline void run_end(struct run *run)
{
    run->numbers = 0;
}

/* The run of a removed block, for finding the thread, tick and number of its allocation later.
 * These are read only where they are needed, because they lie in one more cache line. They are
 * known until a sweep ends; after that another thread may get the run. */
struct origin {
    /* Identity of the block; ORIGIN_TOLD: struct block itself has the thread, tick and number */
    uint32_t identity;
    uint32_t sweeps; /* number of sweeps that had ended when the block was removed */
};

#define ORIGIN_TOLD UINT32_MAX
_Static_assert(ORIGIN_TOLD >> RUN_IDENTITY_BITS, "no block has this identity");

/* Calls visit with the identity of every live block, for a sweep. */
typedef void run_each_identity(void (*visit)(uint32_t identity));

/* Gives the thread a current run that contains the given allocation. areas: number of areas that a
 * sweep has to read. False: there is no memory for more runs, or 2^23 runs are in use. */
bool run_renew(struct run *run, uint16_t thread, uint32_t tick, uint32_t count, uint64_t areas,
               run_each_identity *each);

/* Makes an existing run current that contains the given allocation: other live blocks have it, or
 * had it until just now. Slow, because it reads all records; needs no memory. False: there is no
 * such run. */
bool run_find(struct run *run, uint16_t thread, uint32_t tick, uint32_t count);

/* Says whether every run that a live block has is marked as used. */
bool runs_check(run_each_identity *each);

void runs_fork_lock(void);
void runs_fork_unlock(void);
void runs_fork_child(void);

#endif
