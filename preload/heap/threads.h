/* threads.h - what the runtime keeps for each thread: its record in the store, counters, scratch.
 *
 * A thread is met at its first hook, or at its start when pthread_create was seen; then its number
 * is the order of creation and the same in every run. It leaves by a key destructor. What it still
 * does afterwards (other destructors, libc's own clean-up) is counted on one shared stand-in under
 * a lock.
 */
#ifndef PRELOAD_HEAP_THREADS_H
#define PRELOAD_HEAP_THREADS_H

#include "preload/heap/free_history.h"
#include "preload/base/reentry_guard.h"
#include "preload/unwind/stack_cache.h"
#include "preload/base/lock.h"
#include "preload/unwind/unwind_check.h"
#include "preload/unwind/thread_counters.h"
#include "preload/unwind/context_tree.h"
#include "preload/unwind/unwind.h"

struct thread {
    uint32_t serial;
    int32_t frees_left;        /* releases until the coarse clock is read again, … */
    uint32_t clock_at;         /* … the allocation at which it is, … */
    uint32_t events_per_clock; /* … and so many of either from there on */
    uint32_t stop_at;          /* clock_at or watch_at, which is sooner, or before both */
    uint64_t delta_level;      /* bytes not yet added to header.live_bytes, and half of … */
    uint64_t delta_top;        /* … this: there may be so many, half of it either way */
    int64_t delta_blocks;      /* not yet added to threads_blocks: goes with the bytes */
    uint32_t watch_at; /* the allocation at which somebody wants to be called (alloc_watch.h) */
    struct leak_thread *record; /* in the store, or where there was no room the next one … */
    struct leak_thread unread;  /* … which is its own, too: allocations are counted there alone */
    struct slots slots;
    struct freed freed;
    struct unwind_bounds bounds;
    struct oracle oracle;
    uintptr_t moving; /* event log: the realloc there has taken its block; 0 = none */
    struct thread *next_free, *next_made;
    bool stand_in;
    bool lives; /* somebody's: not among the free ones */
    /* Without stacks: one site a kind, 0 = not made yet. */
    uint32_t flat_sites[LEAK_KIND_MAX], disabled_sites[LEAK_KIND_MAX];
    struct leaves leaves;
    struct unwind_trace trace;
};

/* Bytes that came, or went, and are not yet added to header.live_bytes. */
static inline int64_t threads_delta(const struct thread *thread)
{
    return (int64_t)(thread->delta_level - thread->delta_top / 2);
}

bool threads_start(struct guard *guard);

/* Blocks that live in all, as far as threads have brought them: what header.live_bytes is of bytes.
 */
extern uint64_t threads_blocks HIDDEN;

/* 1: from the first allocation of each thread on somebody may wait for one; 0: nobody ever. */
extern uint32_t threads_watch_from HIDDEN;

/* This thread's state; NULL when there is no memory for one. For the stand-in the shared lock is
 * held: give it back with threads_done. */
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

/* What a new thread must be told; our own memory, so the program's heap stays as it was. */
struct thread_start {
    void *(*routine)(void *);
    void *argument;
    size_t stack_size;
    uint32_t serial;
    struct thread_start *next_free;
};

/* pthread_create: a note with the number of the thread to be, and the thread's coming to life. */
struct thread_start *threads_announce(struct guard *guard);
void threads_forget(struct guard *guard, struct thread_start *start);
void threads_begin(struct guard *guard, const struct thread_start *start);
/* Writes the thread's name to its record: names may be given late. */
void threads_note_name(struct thread *thread);

/* The pages of such notes: a thread's argument may be held by nothing else yet. */
void threads_each_note_page(void (*visit)(uintptr_t start, uintptr_t end, void *context),
                            void *context);
/* The stacks that ended threads had: libc may keep them for the next ones. */
void threads_each_left(void (*visit)(const struct unwind_bounds *bounds, void *context),
                       void *context);
/* Does a stack pointer of the calling thread's point to the stack that it was made with? */
bool threads_on_own_stack(uintptr_t sp);
/* Every state that is some thread's; nobody may come or go meanwhile. */
void threads_each(void (*visit)(const struct thread *thread, void *context), void *context);

void threads_fork_lock(void);
void threads_fork_unlock(void);
/* The forking thread is the child's only one, T1. */
bool threads_fork_child(struct guard *guard);

#endif
