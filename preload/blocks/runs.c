/* runs.c - gives runs to threads, and finds the runs that no live block has any more. */
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/blocks/runs.h"

/* Least number of runs between two sweeps for each area that a sweep reads: reading an area takes
 * 10 us, and a run serves 32 allocations. */
#define SWEEP_RUNS 512
#define CHUNK_WORDS (RUN_CHUNK_RUNS / 64)

struct runs_state runs_state;

static struct lock lock; /* guards the variables below, and the maps of used runs */
static uint32_t chunks;  /* number of chunks; runs_state.chunk[0] to chunk[chunks - 1] exist */
/* Index, over all chunks, of the next word in the maps of used runs that a thread may take. The
 * words before it have been taken since the last sweep, or had no unused run. */
static uint32_t cursor;
/* Number of runs that were unused after the last sweep, or were added later. */
static uint64_t unused_then;
/* list of the threads that have taken a word of the maps of used runs */
static struct run *holders;
/* Number of requests for runs that will be refused before the next sweep: the last one found few
 * unused runs, so sweeping again soon would cost much and find little. */
static uint64_t refusals;

/* ---- Sweep: finding unused runs -------------------------------------------------------------- */

static void see_identity(uint32_t identity)
{
    uint32_t number = identity >> RUN_PLACE_BITS;
    struct run_chunk *chunk = runs_state.chunk[number >> RUN_CHUNK_BITS];
    chunk->seen[number / 64 % CHUNK_WORDS] |= 1ull << number % 64;
}

/* Finds the unused runs. Threads that allocate meanwhile use runs of the words that they have
 * taken, which stay marked as used; to take another word a thread needs the lock. */
static void sweep(run_each_identity *each)
{
    for (uint32_t i = 0; i < chunks; i++)
        memset(runs_state.chunk[i]->seen, 0, sizeof runs_state.chunk[i]->seen);
    each(see_identity);
    for (struct run *run = holders; run; run = run->next)
        runs_state.chunk[run->base >> RUN_CHUNK_BITS]->seen[run->base / 64 % CHUNK_WORDS] =
            UINT64_MAX;
    unused_then = 0;
    for (uint32_t i = 0; i < chunks; i++)
        for (uint32_t word = 0; word < CHUNK_WORDS; word++) {
            runs_state.chunk[i]->used[word] = runs_state.chunk[i]->seen[word];
            unused_then += 64 - __builtin_popcountll(runs_state.chunk[i]->used[word]);
        }
    cursor = 0;
    store_release(&runs_state.sweeps, runs_state.sweeps + 1);
}

static bool add_chunk(void)
{
    if (chunks == RUN_CHUNKS || !(runs_state.chunk[chunks] = arena_map(sizeof(struct run_chunk))))
        return false;
    chunks++;
    unused_then += RUN_CHUNK_RUNS;
    return true;
}

static uint64_t runs_between_sweeps(uint64_t areas)
{
    uint64_t half = (uint64_t)chunks * RUN_CHUNK_RUNS / 2;
    return half > areas * SWEEP_RUNS ? half : areas * SWEEP_RUNS;
}

/* Makes unused runs available, when all runs are in use or were handed out since the last sweep. It
 * sweeps, adds chunks, or both. */
static void find_unused_runs(uint64_t areas, run_each_identity *each)
{
    if (unused_then >= runs_between_sweeps(areas) || chunks == RUN_CHUNKS)
        sweep(each);
    while (unused_then < runs_between_sweeps(areas) && add_chunk())
        continue;
    /* If no chunk could be added, for lack of memory, only a sweep can find unused runs. */
    if (cursor == chunks * CHUNK_WORDS)
        sweep(each);
    if (unused_then <= runs_between_sweeps(areas) / 2)
        refusals = (areas + 1) * SWEEP_RUNS;
}

/* ---- The runs of a thread -------------------------------------------------------------------- */

static bool take_next_word(struct run *run)
{
    for (; cursor < chunks * CHUNK_WORDS; cursor++) {
        uint64_t *used = &runs_state.chunk[cursor / CHUNK_WORDS]->used[cursor % CHUNK_WORDS];
        if (*used == UINT64_MAX)
            continue;
        run->base = cursor++ * 64;
        run->left = ~*used;
        *used = UINT64_MAX;
        return true;
    }
    return false;
}

/* Adds a thread's struct run to the list of holders. The caller holds the lock. */
static void list_holder(struct run *run)
{
    if (run->listed)
        return;
    run->next = holders;
    holders = run;
    run->listed = true;
}

static NOINLINE bool take_word(struct run *run, uint64_t areas, run_each_identity *each)
{
    struct locked locked = lock_take(&lock);
    bool found = take_next_word(run);
    if (!found && refusals) {
        refusals--;
    } else if (!found) {
        find_unused_runs(areas, each);
        found = take_next_word(run);
    }
    if (found)
        list_holder(run);
    lock_give(&locked);
    return found;
}

static bool is_used(uint32_t number)
{
    return runs_state.chunk[number >> RUN_CHUNK_BITS]->used[number / 64 % CHUNK_WORDS] >>
               number % 64 &
           1;
}

static void make_current(struct run *run, uint32_t number)
{
    run->identity = number << RUN_PLACE_BITS;
    run->tick = run_record_at(number)->tick;
    run->numbers = run_numbers(run_record_at(number)->first);
}

bool run_renew(struct run *run, uint16_t thread, uint32_t tick, uint32_t count, uint64_t areas,
               run_each_identity *each)
{
    if (!run->left && !take_word(run, areas, each))
        return false;
    uint32_t number = run->base + __builtin_ctzll(run->left);
    /* While a record is written, 0 says that the thread has no current run: a signal handler may
     * leave this function by longjmp. */
    run->numbers = 0;
    run->left &= run->left - 1;
    *run_record_at(number) =
        (struct run_record){.first = count & ~(RUN_PLACES - 1), .tick = tick, .thread = thread};
    make_current(run, number);
    return true;
}

bool run_find(struct run *run, uint16_t thread, uint32_t tick, uint32_t count)
{
    struct locked locked = lock_take(&lock);
    uint32_t number = 0, end = chunks * RUN_CHUNK_RUNS;
    for (; number < end; number++) {
        const struct run_record *record = run_record_at(number);
        if (record->thread == thread && record->tick == tick &&
            record->first == (count & ~(RUN_PLACES - 1)) && is_used(number))
            break;
    }
    if (number < end) {
        /* Marks the word of this run as taken, so that a sweep leaves it alone. */
        run->base = number & ~63u;
        run->left = 0;
        list_holder(run);
        make_current(run, number);
    }
    lock_give(&locked);
    return number < end;
}

/* ---- Checking the invariant; locking around fork --------------------------------------------- */

static bool all_used;

static void check_identity(uint32_t identity)
{
    uint32_t number = identity >> RUN_PLACE_BITS;
    all_used = all_used && number >> RUN_CHUNK_BITS < chunks && is_used(number);
}

bool runs_check(run_each_identity *each)
{
    all_used = true;
    each(check_identity);
    return all_used;
}

LOCK_FOR_FORK(runs, &lock)

void runs_fork_child(void)
{
    lock.word = 0;
}
