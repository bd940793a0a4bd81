/* threads.h - the state of each thread: its record in the recording file, counters, caches,
 * scratch.
 *
 * A thread gets its state at its start, when pthread_create was hooked, or else at its first hook.
 * In the first case its number is the order of creation and the same in every run. A key destructor
 * returns the state. What the thread still does afterwards (other destructors, libc's own clean-up)
 * is counted in one shared stand-in under a lock.
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
    /* The coarse clock is read again after that many frees, or at that allocation number;
     * then after events_per_clock more of either. */
    int32_t frees_left;
    uint32_t clock_at;
    uint32_t events_per_clock;
    uint32_t stop_at; /* <= clock_at and watch_at: hooks compare with this alone */
    /* Bytes not yet added to header.live_bytes = delta_level - delta_top / 2, between -delta_top /
     * 2 and delta_top / 2. */
    uint64_t delta_level, delta_top;
    int64_t delta_blocks;       /* likewise for threads_state.live_blocks, added with the bytes */
    uint32_t watch_at;          /* the allocation at which alloc_watch.h is called */
    struct leak_thread *record; /* in the recording file; without memory there it is … */
    struct leak_thread
        private_record; /* … this one: hooks count allocations in *record in any case */
    struct thread_counters slots;
    struct free_history freed;
    struct unwind_bounds bounds;
    struct run run; /* for the blocks it allocates */
    struct unwind_check oracle;
    uintptr_t moving; /* event log: the realloc there has taken its block; 0 = none */
    struct thread *next_free, *next_of_all;
    bool stand_in;
    bool lives; /* in use, not on the free list */
    /* Sites without stacks: one for each kind, 0 = not created yet. */
    struct python_thread *python; /* NULL: it was never found in Python code */
    uint32_t flat_sites[LEAK_KIND_MAX], disabled_sites[LEAK_KIND_MAX];
    struct stack_cache stack_cache;
    struct unwind_trace trace;
};

/* Bytes allocated minus bytes freed that are not yet added to header.live_bytes. */
static inline int64_t threads_delta(const struct thread *thread)
{
    return (int64_t)(thread->delta_level - thread->delta_top / 2);
}

bool threads_start(struct guard *guard);

#define THREADS_PEAK_LEAST (256u << 10) /* smaller peaks are of no interest */
extern struct threads_state {
    uint64_t live_blocks;    /* of all threads, without their delta_blocks; cf. header.live_bytes */
    uint64_t peak_threshold; /* bytes of a peak that timeline.h records */
    uint32_t watch_from;     /* the initial watch_at of each thread: 1, or 0: never */
} threads_state HIDDEN;

/* Takes the state of this thread; NULL when there is no memory for one. While a thread uses the
 * stand-in, the shared lock is held: threads_done releases it. */
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

/* What a new thread needs at its start; not in the program's heap. */
struct thread_start {
    void *(*routine)(void *);
    void *argument;
    size_t stack_size;
    uint32_t serial;
    struct thread_start *next_free;
};

/* The hook of pthread_create prepares a start, with the number of the new thread; the thread itself
 * calls threads_enter and frees it. */
struct thread_start *threads_prepare_start(struct guard *guard);
void threads_free_start(struct guard *guard, struct thread_start *start);
void threads_enter(struct guard *guard, const struct thread_start *start);
/* Writes the thread's name to its record; called again at its end, since names may be set late. */
void threads_record_name(struct thread *thread);

/* The pages of struct thread_start are roots: they may hold the only pointer to a new thread's
 * argument. */
void threads_each_start_page(void (*visit)(uintptr_t start, uintptr_t end, void *context),
                             void *context);
/* The stacks of ended threads, which libc may keep mapped for new ones. */
void threads_each_old_stack(void (*visit)(const struct unwind_bounds *bounds, void *context),
                            void *context);
/* The stack of a thread that libc mapped begins at bounds->low or below, but not below this. */
uintptr_t threads_least_stack_start(const struct unwind_bounds *bounds);
/* Does sp point into the stack that the calling thread was created with? */
bool threads_on_own_stack(uintptr_t sp);
/* Calls visit for every thread; none may start or end meanwhile. */
void threads_each(void (*visit)(const struct thread *thread, void *context), void *context);

/* The forking thread becomes the child's only one, T1. */
bool threads_fork_child(struct guard *guard);

#endif
