/* threads.h - the state of each thread: its record in the recording file, counters, caches,
 * scratch.
 *
 * A thread gets its state at its start, when pthread_create was hooked, or else at its first hook.
 * If pthread_create was hooked, its number is the order of creation, which is the same in every
 * run. A destructor of a pthread key gives the state back. What the thread allocates and frees
 * after that (in other destructors and libc's own clean-up) is counted in one state that all such
 * threads share, the stand-in; a lock guards it.
 */
#ifndef PRELOAD_HEAP_THREADS_H
#define PRELOAD_HEAP_THREADS_H

#include "preload/blocks/runs.h"
#include "preload/heap/free_history.h"
#include "preload/base/reentry_guard.h"
#include "preload/unwind/stack_cache.h"
#include "preload/base/lock.h"
#include "preload/python/python.h"
#include "preload/contexts/unwind_check.h"
#include "preload/contexts/thread_counters.h"
#include "preload/contexts/context_tree.h"
#include "preload/unwind/unwind.h"

struct thread {
    uint32_t serial;
    /* The thread reads the coarse clock again after frees_left more frees or at its allocation
     * number clock_at, whichever comes first. Each reading puts the next one events_per_clock frees
     * or allocations later. */
    int32_t frees_left;
    uint32_t clock_at;
    uint32_t events_per_clock;
    /* Number of the allocation at which a hook does rare work. It is not greater than clock_at and
     * watch_at, so hooks compare only with this number. */
    uint32_t stop_at;
    /* Bytes that this thread has not yet added to the recording file's header.live_bytes:
     * delta_level - delta_top / 2, which is between -delta_top / 2 and delta_top / 2. */
    uint64_t delta_level, delta_top;
    /* Blocks that this thread has not yet added to threads_state.live_blocks. It adds them together
     * with the bytes. */
    int64_t delta_blocks;
    /* Number of the thread's allocation at which alloc_watch_handle is called next; 0: at none. */
    uint32_t watch_at;
    /* The record in the recording file, or private_record if the recording file has no room for
     * it. */
    struct leak_thread *record;
    /* The record that is used if there is none in the file, because hooks always count allocations
     * in *record. */
    struct leak_thread private_record;
    struct thread_counters slots;
    struct free_history freed;
    struct unwind_bounds bounds;
    struct run run; /* the run of the blocks that this thread allocates (runs.h) */
    struct unwind_check oracle;
    /* For the event log: return address of the realloc in progress that has already removed its
     * block from the block table; 0: none. */
    uintptr_t moving;
    struct thread *next_free, *next_of_all;
    bool stand_in;
    bool lives; /* a thread uses this state: it is not on the free list */
    /* State for reading Python frames; NULL: this thread was never found in Python code. */
    struct python_thread *python;
    /* For each kind, the site that has no call stack: flat_sites with site_stacks=off,
     * disabled_sites while recording is disabled. 0: not made yet. */
    uint32_t flat_sites[LEAK_KIND_MAX], disabled_sites[LEAK_KIND_MAX];
    struct stack_cache stack_cache;
    struct unwind_trace trace;
};

/* Returns the bytes that a thread has allocated minus those that it has freed, as far as it has not
 * yet added them to header.live_bytes. */
static inline int64_t threads_delta(const struct thread *thread)
{
    return (int64_t)(thread->delta_level - thread->delta_top / 2);
}

bool threads_start(struct guard *guard);

/* bytes of the smallest peak of the heap that is recorded */
#define THREADS_PEAK_LEAST (256u << 10)
extern struct threads_state {
    /* Number of live blocks of all threads, without the delta_blocks of each thread.
     * header.live_bytes is the sum of their sizes, without what threads have not yet added to
     * it. */
    uint64_t live_blocks;
    /* Bytes that the heap must have for timeline.h to record the next peak. */
    uint64_t peak_threshold;
    /* Value of watch_at for a new thread. 1: alloc_watch_handle is called at its first allocation,
     * and computes the next one; 0: at none. */
    uint32_t watch_from;
} threads_state HIDDEN;

/* Returns the state of the calling thread, which is made if necessary; NULL: no memory. If the
 * thread uses the state that ended threads share (the stand-in), its lock is taken: *shared, which
 * threads_done releases. */
struct thread *threads_attach(struct guard *guard, struct locked *shared);

static inline struct thread *threads_self(struct guard *guard, struct locked *shared)
{
    if (likely(guard->thread))
        return guard->thread;
    return threads_attach(guard, shared);
}

static inline void threads_done(const struct thread *thread, struct locked *shared)
{
    if (unlikely(thread->stand_in))
        lock_give(shared);
}

/* What a new thread needs at its start (a start note). It lies in libleak's memory, not in the
 * program's heap. */
struct thread_start {
    void *(*routine)(void *);
    void *argument;
    size_t stack_size;
    uint32_t serial;
    struct thread_start *next_free;
};

/* Announce and start a thread: the hook of pthread_create calls threads_prepare_start, which gives
 * the new thread its number; the new thread calls threads_enter, then threads_free_start. */
struct thread_start *threads_prepare_start(struct guard *guard);
void threads_free_start(struct guard *guard, struct thread_start *start);
void threads_enter(struct guard *guard, const struct thread_start *start);
/* Writes the name of the thread to its record. Called again at the end of the thread, because
 * programs may set the name late. */
void threads_record_name(struct thread *thread);

/* Visits the pages of struct thread_start. They are roots, because they may have the only pointer
 * to the argument of a new thread. */
void threads_each_start_page(void (*visit)(uintptr_t start, uintptr_t end, void *context),
                             void *context);
/* Visits the stacks of ended threads, which libc may keep mapped for new threads. */
void threads_each_old_stack(void (*visit)(const struct unwind_bounds *bounds, void *context),
                            void *context);
/* Returns the lowest address at which the mapping of a thread's stack can begin. libc has mapped
 * that stack; it begins between this address and bounds->low. */
uintptr_t threads_least_stack_start(const struct unwind_bounds *bounds);
/* Says whether a stack pointer points into the stack that the calling thread was created with, and
 * not into a stack of its own making (a fibre, a signal stack). */
bool threads_on_own_stack(uintptr_t sp);
/* Visits every thread. No thread may start or end meanwhile. */
void threads_each(void (*visit)(const struct thread *thread, void *context), void *context);

/* Called in a fork child: makes the forking thread the only thread, with the number 1. False: no
 * memory. */
bool threads_fork_child(struct guard *guard);

#endif
