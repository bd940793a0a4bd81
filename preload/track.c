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
#define DELTA_MAX 65536

struct options track_options;

static uint64_t began_ns; /* monotonic: the wall clock may be set */

void track_begin(void)
{
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
static void note_live(struct thread *thread, int64_t change)
{
    struct leak_header *header = store_header;
    thread->delta += change;
    uint64_t size = thread->delta < 0 ? -thread->delta : thread->delta;
    uint64_t live = load_relaxed(&header->live_bytes);
    if (likely(size < DELTA_MAX && size < live >> 10))
        return;
    live = __atomic_add_fetch(&header->live_bytes, thread->delta, __ATOMIC_RELAXED);
    thread->delta = 0;
    uint64_t peak = load_relaxed(&header->peak_bytes);
    if ((int64_t)live <= (int64_t)peak)
        return;
    store_relaxed(&header->peak_bytes, live);
    store_relaxed(&header->peak_ns, header->started_ns + (uint64_t)header->epoch *
                                                             (1000000000u / LEAK_TICKS_PER_SECOND));
}

static bool filtered(size_t size)
{
    return size < track_options.min_size ||
           (track_options.max_size && size > track_options.max_size);
}

static uint32_t find_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                          enum leak_kind kind)
{
    struct unwind_trace *trace = &thread->trace;
    if (track_options.site_stacks) {
        modules_refresh(guard);
        unwind(guard, &thread->bounds, caller, track_options.depth, trace);
    } else {
        trace->depth = trace->shared = 0;
        trace->end = LEAK_ROOT_NO_STACKS;
    }
    return tree_site(guard, trace, kind);
}

static void count_alloc(struct guard *guard, struct thread *thread, uint32_t site, uint64_t size)
{
    struct leak_slot *slot = slots_find(guard, &thread->slots, site);
    bump(&slot->counts.allocs, 1);
    bump(&slot->counts.bytes, size);
    store_relaxed(&slot->last, store_header->epoch);
    note_live(thread, size);
}

static void count_free(struct guard *guard, struct thread *thread, const struct block *block)
{
    struct leak_slot *slot = slots_find(guard, &thread->slots, block->site);
    bump(&slot->counts.frees, 1);
    bump(&slot->counts.freed_bytes, block->size);
    note_live(thread, -(int64_t)block->size);
}

void track_alloc(struct guard *guard, const struct frame *caller, void *pointer, size_t size,
                 enum leak_kind kind)
{
    if (unlikely(filtered(size))) {
        store_untracked(LEAK_UNTRACKED_FILTERED, 1);
        return;
    }
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread)) {
        store_untracked(LEAK_UNTRACKED_NO_MEMORY, 1);
        return;
    }
    blocks_prefetch((uintptr_t)pointer);
    clock_now_and_then(thread);
    struct block old, block = {.address = (uintptr_t)pointer,
                               .size = size,
                               .kind = kind,
                               .thread = (uint16_t)thread->serial,
                               .tick = store_header->epoch};
    block.site = find_site(guard, thread, caller, kind);
    if (oracle_due(&thread->oracle) && block.site)
        oracle_compare(guard, &thread->oracle, &thread->bounds, caller, sites_node(block.site));
    if (thread->record) {
        block.count = load_relaxed(&thread->record->allocations) + 1;
        store_relaxed(&thread->record->allocations, block.count);
    }
    enum blocks_insert done = block.site ? blocks_insert(guard, &block, &old) : BLOCKS_NO_MEMORY;
    if (likely(done != BLOCKS_NO_MEMORY))
        count_alloc(guard, thread, block.site, size);
    else
        store_untracked(LEAK_UNTRACKED_NO_MEMORY, 1);
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

void track_gone(struct guard *guard, const struct block *block)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread)) {
        /* No memory for this thread: straight into the site, or the block would look like a leak.
         */
        struct leak_slot slot = {.site = block->site,
                                 .counts = {.frees = 1, .freed_bytes = block->size}};
        sites_fold(guard, &slot, 0);
        sub_relaxed(&store_header->live_bytes, block->size);
        return;
    }
    clock_now_and_then(thread);
    count_free(guard, thread, block);
    threads_done(thread, &shared);
}

void track_free(struct guard *guard, void *pointer)
{
    struct block block;
    if (track_take(guard, pointer, &block))
        track_gone(guard, &block);
}

void track_put_back(struct guard *guard, const struct block *block)
{
    struct block old;
    blocks_insert(guard, block, &old);
}
