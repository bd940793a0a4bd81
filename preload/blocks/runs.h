/* runs.h - who allocated a live block, and when, in 28 bits.
 *
 * A run is up to 32 allocations of one thread, in one tick, whose numbers differ in their last five
 * bits only. Its record says what they have in common; a block has the run's number and those five
 * bits:
 *
 *     identity of a block = number of its run (23 bits) << 5 | count % 32
 *     thread, tick, count of the block = thread, tick of the run, first of the run + count % 32
 *
 * A thread takes 64 runs at a time, a word of the map of used runs. Runs are not counted as their
 * blocks are freed: a free would touch one more cache line. When no run is left a sweep reads the
 * identities of all live blocks and makes the runs that none of them has free again. A sweep is
 * due only after so many allocations that it costs less than a nanosecond for each of them:
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
    uint32_t first; /* a multiple of RUN_PLACES */
    uint32_t tick;
    uint16_t thread;
};

struct run_chunk {
    struct run_record record[RUN_CHUNK_RUNS];
    uint64_t used[RUN_CHUNK_RUNS / 64]; /* a bit for each run: a thread or a block has it */
    uint64_t seen[RUN_CHUNK_RUNS / 64]; /* by the sweep */
};

extern struct runs_state {
    struct run_chunk *chunk[RUN_CHUNKS];
    uint32_t sweeps; /* that have ended */
} runs_state HIDDEN;

/* A thread's current run, and the runs that it may use next. All zero: none yet. */
struct run {
    uint32_t tick;     /* of the current run … */
    uint32_t numbers;  /* … and run_numbers of its counts; 0: there is none */
    uint32_t identity; /* of its first block */
    uint32_t base;     /* number of the first run of the word of the map … */
    uint64_t left;     /* … and which of its 64 runs are unused */
    struct run *next;  /* of all that ever had a word */
    bool listed;
};

/* What the numbers of a run have in common; not 0. */
static ALWAYS_INLINE uint32_t run_numbers(uint32_t count)
{
    return count | (RUN_PLACES - 1);
}

/* Is the n-th allocation of its thread, in that tick, part of the current run? */
static ALWAYS_INLINE bool run_has(const struct run *run, uint32_t tick, uint32_t count)
{
    return likely(run->numbers == run_numbers(count) && run->tick == tick);
}

static ALWAYS_INLINE uint32_t run_identity(const struct run *run, uint32_t count)
{
    return run->identity | (count & (RUN_PLACES - 1));
}

/* The record of a run, by the run's number. */
static ALWAYS_INLINE struct run_record *run_record_at(uint32_t number)
{
    return &runs_state.chunk[number >> RUN_CHUNK_BITS]->record[number & (RUN_CHUNK_RUNS - 1)];
}

static ALWAYS_INLINE const struct run_record *run_record_of(uint32_t identity)
{
    return run_record_at(identity >> RUN_PLACE_BITS);
}

/* The next block is another thread's. */
static inline void run_end(struct run *run)
{
    run->numbers = 0;
}

/* The run that a removed block had: who allocated it, and when, is read only where it matters, since it
 * is in one more cache line. It is known until a sweep ends, after which others may get the run. */
struct origin {
    uint32_t identity; /* ORIGIN_TOLD: the block itself tells */
    uint32_t sweeps;   /* that had ended while the block was in its place */
};

#define ORIGIN_TOLD UINT32_MAX
_Static_assert(ORIGIN_TOLD >> RUN_IDENTITY_BITS, "no block has this identity");

/* Reads the live blocks for a sweep: calls visit with every identity. */
typedef void run_each_identity(void (*visit)(uint32_t identity));

/* Makes a run current that has the given allocation. areas: how much a sweep has to read. False:
 * there is no memory for more runs, or 2^23 of them are in use. */
bool run_renew(struct run *run, uint16_t thread, uint32_t tick, uint32_t count, uint64_t areas,
               run_each_identity *each);

/* Makes a run current that other blocks of that allocation's run have, or had until just now. Slow:
 * reads all records. Needs no memory; false: there is none. */
bool run_find(struct run *run, uint16_t thread, uint32_t tick, uint32_t count);

/* Every run that a live block has is marked as used. */
bool runs_check(run_each_identity *each);

void runs_fork_lock(void);
void runs_fork_unlock(void);
void runs_fork_child(void);

#endif
