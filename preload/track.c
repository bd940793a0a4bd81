#include "preload/track.h"
#include "preload/atomic.h"
#include "preload/modules.h"
#include "preload/sites.h"
#include "preload/store.h"
#include "preload/sys.h"
#include "preload/threads.h"
#include "preload/tree.h"
#include "preload/unwind.h"

#include <time.h>

#define EVENTS_PER_CLOCK_MAX 64
#define DELTA_LEAST 1024
#define DELTA_MOST 65536

struct options track_options;
static uint64_t track_size_span = UINT64_MAX; /* max_size - min_size: one comparison for both */

static uint64_t began_ns; /* monotonic: the wall clock may be set */

void track_begin(void)
{
    if (!track_options.site_stacks)
        track_options.free_stacks = FREE_STACKS_OFF;
    uint64_t least = track_options.min_size, most = track_options.max_size;
    track_size_span = (most ? most : UINT64_MAX) - least;
    if (most && most < least) { /* nothing can be both */
        track_options.min_size = UINT64_MAX;
        track_size_span = 0;
    }
    began_ns = sys_clock_ns(CLOCK_MONOTONIC_COARSE);
}

void track_tick(void)
{
    uint64_t elapsed = sys_clock_ns(CLOCK_MONOTONIC_COARSE) - began_ns;
    uint32_t tick = elapsed / (1000000000u / LEAK_TICKS_PER_SECOND);
    if (tick > load_relaxed(&store_header->epoch))
        store_relaxed(&store_header->epoch, tick);
}

/* A busy thread asks the clock every 64th time, one that allocates now and then each time. */
static void clock_now_and_then(struct thread *thread)
{
    if (likely(++thread->events < thread->events_per_clock))
        return;
    uint32_t before = load_relaxed(&store_header->epoch);
    track_tick();
    bool late = load_relaxed(&store_header->epoch) != before;
    thread->events = 0;
    if (late)
        thread->events_per_clock = 1;
    else if (thread->events_per_clock < EVENTS_PER_CLOCK_MAX)
        thread->events_per_clock = 2 * thread->events_per_clock + 1;
    if (late)
        threads_note_name(thread);
}

/* live_bytes is shared: each thread brings its changes in batches, small while the heap is small.
 */
static NOINLINE void bring_live(struct thread *thread)
{
    struct leak_header *header = store_header;
    uint64_t live = *lock_alone
                        ? header->live_bytes += thread->delta
                        : __atomic_add_fetch(&header->live_bytes, thread->delta, __ATOMIC_RELAXED);
    thread->delta = 0;
    thread->delta_most = live >> 10 > DELTA_MOST    ? DELTA_MOST
                         : live >> 10 > DELTA_LEAST ? live >> 10
                                                    : DELTA_LEAST;
    uint64_t peak = load_relaxed(&header->peak_bytes);
    if ((int64_t)live <= (int64_t)peak)
        return;
    store_relaxed(&header->peak_bytes, live);
    store_relaxed(&header->peak_ns, header->started_ns + (uint64_t)header->epoch *
                                                             (1000000000u / LEAK_TICKS_PER_SECOND));
}

static void note_live(struct thread *thread, int64_t change)
{
    thread->delta += change;
    if (unlikely(thread->delta >= thread->delta_most || thread->delta <= -thread->delta_most))
        bring_live(thread);
}

static inline bool filtered(size_t size)
{
    return unlikely(size - track_options.min_size > track_size_span);
}

static NOINLINE uint32_t flat_site(struct guard *guard, struct thread *thread, enum leak_kind kind)
{
    struct unwind_trace *trace = &thread->trace;
    trace->depth = trace->shared = 0;
    trace->end = LEAK_ROOT_NO_STACKS;
    return thread->flat_sites[kind] = tree_site(guard, trace, kind);
}

static void walk(struct guard *guard, struct thread *thread, const struct frame *caller)
{
    struct unwind_trace *trace = &thread->trace;
    unwind(guard, &thread->bounds, caller, track_options.depth, trace);
    bump(&thread->record->walks, 1);
    bump(&thread->record->frames_walked, trace->depth - trace->shared);
    bump(&thread->record->frames_shared, trace->shared);
}

static NOINLINE uint32_t walk_to_site(struct guard *guard, struct thread *thread,
                                      const struct frame *caller, enum leak_kind kind)
{
    struct unwind_trace *trace = &thread->trace;
    walk(guard, thread, caller);
    uint32_t site = tree_site(guard, trace, kind);
    if (likely(site))
        leaves_keep(&thread->leaves, trace, kind, site);
    return site;
}

static inline uint32_t find_site(struct guard *guard, struct thread *thread,
                                 const struct frame *caller, enum leak_kind kind)
{
    uint32_t site;
    if (unlikely(!track_options.site_stacks)) {
        site = thread->flat_sites[kind];
        return likely(site) ? site : flat_site(guard, thread, kind);
    }
    modules_refresh(guard);
    site = leaves_find(&thread->leaves, thread->bounds.high, caller, kind);
    return likely(site) ? site : walk_to_site(guard, thread, caller, kind);
}

static void count_alloc(struct guard *guard, struct thread *thread, uint32_t site, uint64_t size)
{
    struct leak_slot *slot = slots_find(guard, &thread->slots, site);
    bump(&slot->counts.allocs, 1);
    bump(&slot->counts.bytes, size);
    store_relaxed(&slot->last, store_header->epoch);
    note_live(thread, size);
}

/* Returns how many frees of that site this thread had counted before. */
static uint64_t count_free(struct guard *guard, struct thread *thread, const struct block *block)
{
    struct leak_slot *slot = slots_find(guard, &thread->slots, block->site);
    uint64_t before = slot->counts.frees;
    bump(&slot->counts.frees, 1);
    bump(&slot->counts.freed_bytes, block->size);
    note_live(thread, -(int64_t)block->size);
    return before;
}

static NOINLINE uint32_t find_free_node(struct guard *guard, struct thread *thread,
                                        const struct frame *caller)
{
    struct unwind_trace *trace = &thread->trace;
    freed_captured(&thread->freed);
    modules_refresh(guard);
    uint32_t node = leaves_find(&thread->leaves, thread->bounds.high, caller, LEAVES_FREE);
    if (node)
        return node;
    walk(guard, thread, caller);
    node = tree_free_node(guard, trace);
    if (node)
        leaves_keep(&thread->leaves, trace, LEAVES_FREE, node);
    return node;
}

/* Where did it go? */
static inline void note_freed(struct guard *guard, struct thread *thread,
                              const struct frame *caller, const struct block *block,
                              uint64_t before)
{
    uint32_t node = 0;
    if (track_options.free_stacks == FREE_STACKS_OFF)
        return;
    unsigned weight =
        track_options.free_stacks == FREE_STACKS_ALL ? 1 : freed_weight(&thread->freed, before);
    if (unlikely(weight) && (node = find_free_node(guard, thread, caller)))
        freed_count(guard, block->site, node, weight, block->size);
    freed_remember(&thread->freed, block, caller->pc, node, store_header->epoch);
}

/* What cannot be helped is counted. */
static COLD void left_out(enum leak_untracked why)
{
    store_untracked(why, 1);
}

void track_alloc(struct guard *guard, const struct frame *caller, void *pointer, size_t size,
                 enum leak_kind kind)
{
    struct locked shared;
    struct block old, block;
    if (filtered(size))
        return left_out(LEAK_UNTRACKED_FILTERED);
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread))
        return left_out(LEAK_UNTRACKED_NO_MEMORY);
    if (unlikely(!*lock_alone))
        blocks_prefetch((uintptr_t)pointer); /* else it waits among the young first */
    clock_now_and_then(thread);
    block.address = (uintptr_t)pointer;
    block.size = size;
    block.kind = kind;
    block.thread = thread->serial;
    block.tick = store_header->epoch;
    block.count = ++thread->allocations;
    store_relaxed(&thread->record->allocations, block.count);
    block.site = find_site(guard, thread, caller, kind);
    enum blocks_insert done = block.site ? blocks_insert(guard, &block, &old) : BLOCKS_NO_MEMORY;
    if (likely(done != BLOCKS_NO_MEMORY))
        count_alloc(guard, thread, block.site, size);
    else
        left_out(LEAK_UNTRACKED_NO_MEMORY);
    if (unlikely(done == BLOCKS_REPLACED))
        count_free(guard, thread, &old); /* its free did not pass by us */
    threads_done(thread, &shared);
}

bool track_take(struct guard *guard, void *pointer, struct block *out)
{
    if (likely(blocks_remove(guard, (uintptr_t)pointer, out)))
        return true;
    /* Left-out blocks are unknown as well: then the number would mean nothing. */
    if (!track_options.min_size && !track_options.max_size)
        add_relaxed(&store_header->unknown_frees, 1);
    return false;
}

/* No memory for this thread: straight into the site, or the block would look like a leak. */
static COLD void count_free_at_site(struct guard *guard, const struct block *block)
{
    sites_count_free(guard, block->site, block->size);
    sub_relaxed(&store_header->live_bytes, block->size);
}

void track_gone(struct guard *guard, const struct frame *caller, const struct block *block)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread))
        return count_free_at_site(guard, block);
    clock_now_and_then(thread);
    note_freed(guard, thread, caller, block, count_free(guard, thread, block));
    threads_done(thread, &shared);
}

void track_free(struct guard *guard, const struct frame *caller, void *pointer)
{
    struct block block;
    if (track_take(guard, pointer, &block))
        track_gone(guard, caller, &block);
}

void track_put_back(struct guard *guard, const struct block *block)
{
    struct block old;
    blocks_insert(guard, block, &old);
}
