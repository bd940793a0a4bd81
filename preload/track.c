#include "preload/track.h"
#include "preload/atomic.h"
#include "preload/capture.h"
#include "preload/carved.h"
#include "preload/eventlog.h"
#include "preload/history.h"
#include "preload/limits.h"
#include "preload/orphans.h"
#include "preload/quarantine.h"
#include "preload/sample.h"
#include "preload/sites.h"
#include "preload/store.h"
#include "preload/sys.h"
#include "preload/watch.h"
#include "preload/wrongs.h"

#include <time.h>

#define EVENTS_PER_CLOCK_MAX 64
/* A batch of bytes brings the next look at the clock as much nearer, a large one more. */
#define EVENTS_PER_BATCH 2
#define EVENTS_PER_LARGE_BATCH 16
#define DELTA_LEAST 1024
#define DELTA_MOST 65536

static uint64_t track_size_span = UINT64_MAX; /* max_size - min_size: one comparison for both */

static bool detour;       /* sample=, quarantine=, log=, or there are blocks in blocks */
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

void track_ready(void)
{
    detour = sample_bytes || quarantine_is_on() || eventlog_level;
}

void track_tick(void)
{
    uint64_t elapsed = sys_clock_ns(CLOCK_MONOTONIC_COARSE) - began_ns;
    uint32_t tick = elapsed / (1000000000u / LEAK_TICKS_PER_SECOND);
    uint32_t now = load_relaxed(&store_header->epoch);
    while (tick > now && !cas_acquire(&store_header->epoch, &now, tick))
        ; /* somebody ticks as well, or a milestone has pushed it on */
}

static NOINLINE void ask_clock(struct guard *guard, struct thread *thread)
{
    uint32_t before = load_relaxed(&store_header->epoch);
    track_tick();
    bool late = load_relaxed(&store_header->epoch) != before;
    thread->events = 0;
    if (late)
        thread->events_per_clock = 1;
    else if (thread->events_per_clock < EVENTS_PER_CLOCK_MAX)
        thread->events_per_clock = 2 * thread->events_per_clock + 1;
    if (late) {
        threads_note_name(thread);
        history_tick(guard, thread, before);
        limits_tick();
    }
}

/* A busy thread asks the clock every 64th time, one that allocates now and then each time. Samples
 * may be far apart in time, however many a thread has had. */
static ALWAYS_INLINE void clock_now_and_then(struct guard *guard, struct thread *thread,
                                             bool sampled)
{
    if (unlikely(++thread->events >= thread->events_per_clock) || sampled)
        ask_clock(guard, thread);
}

/* live_bytes is shared: each thread brings its changes in batches, small while the heap is small.
 */
static NOINLINE void bring_live(struct guard *guard, struct thread *thread)
{
    struct leak_header *header = store_header;
    bool falls = thread->delta < 0;
    uint64_t live;
    thread->events += (uint64_t)(thread->delta + DELTA_MOST) > 2 * DELTA_MOST
                          ? EVENTS_PER_LARGE_BATCH
                          : EVENTS_PER_BATCH;
    if (*lock_alone) {
        live = header->live_bytes += thread->delta;
        threads_blocks += thread->delta_blocks;
    } else {
        live = __atomic_add_fetch(&header->live_bytes, thread->delta, __ATOMIC_RELAXED);
        add_relaxed(&threads_blocks, thread->delta_blocks);
    }
    thread->delta = thread->delta_blocks = 0;
    thread->delta_most = live >> 10 > DELTA_MOST    ? DELTA_MOST
                         : live >> 10 > DELTA_LEAST ? live >> 10
                                                    : DELTA_LEAST;
    uint64_t peak = load_relaxed(&header->peak_bytes);
    if (falls && unlikely(peak >= load_relaxed(&history_peak_from)) && live < peak - peak / 256)
        history_peak(guard);
    if ((int64_t)live <= (int64_t)peak)
        return;
    store_relaxed(&header->peak_bytes, live);
    store_relaxed(&header->peak_ns, header->started_ns + (uint64_t)header->epoch *
                                                             (1000000000u / LEAK_TICKS_PER_SECOND));
}

static ALWAYS_INLINE void note_live(struct guard *guard, struct thread *thread, int64_t bytes,
                                    int64_t blocks)
{
    thread->delta += bytes;
    thread->delta_blocks += blocks;
    if (unlikely((uint64_t)(thread->delta + thread->delta_most) > 2 * (uint64_t)thread->delta_most))
        bring_live(guard, thread);
}

static inline bool filtered(size_t size)
{
    return unlikely(size - track_options.min_size > track_size_span);
}

/* blocks: how many this one stands for, 1 unless it is a sample. */
static inline void count_alloc(struct guard *guard, struct thread *thread, struct leak_slot *pair,
                               uint32_t site, uint64_t size, uint64_t blocks)
{
    struct leak_slot *slot = slots_find_in(guard, &thread->slots, pair, site);
    bump(&slot->counts.allocs, blocks);
    bump(&slot->counts.bytes, blocks * size);
    store_relaxed(&slot->last, store_header->epoch);
    note_live(guard, thread, blocks * size, blocks);
}

/* Returns how many frees of that site this thread had counted before. */
static ALWAYS_INLINE uint64_t count_free(struct guard *guard, struct thread *thread,
                                         const struct block *block, uint64_t blocks)
{
    /* First: what is written down of a peak that ends here has this block in it. */
    note_live(guard, thread, -(int64_t)(blocks * block->size), -(int64_t)blocks);
    struct leak_slot *slot = slots_find(guard, &thread->slots, block->site);
    uint64_t before = slot->counts.frees;
    bump(&slot->counts.frees, blocks);
    bump(&slot->counts.freed_bytes, blocks * block->size);
    return before;
}

uint32_t track_stack(struct guard *guard, const struct frame *caller, uint32_t *serial)
{
    const struct thread *thread;
    modules_notice();
    if (likely(guard->thread))
        clock_now_and_then(guard, guard->thread, false);
    uint32_t node = capture_call(guard, caller, track_options.site_stacks, &thread);
    if (thread)
        *serial = thread->serial;
    return node;
}

/* For how many frees does this one stand? Samples are few: each is looked at. A slot that was taken
 * over by another site meanwhile counts from nothing; the site knows better. */
static inline unsigned weight_of_free(struct thread *thread, const struct block *block,
                                      uint64_t before, uint64_t blocks, bool sampled)
{
    if (sampled || track_options.free_stacks == FREE_STACKS_ALL)
        return blocks;
    if (unlikely(before < LEAK_FREED_FIRST))
        before += sites_folded_frees(block->site);
    return freed_weight(&thread->freed, before);
}

/* Where did it go? content: what it held is looked at; NULL: it is not. */
static inline void note_freed(struct guard *guard, struct thread *thread,
                              const struct frame *caller, const struct block *block,
                              unsigned weight, uint32_t how, const void *content)
{
    uint32_t node = 0;
    if (unlikely(weight)) {
        history_died(block->site, weight, store_header->epoch - block->tick);
        if ((node = capture_node(guard, thread, caller)))
            freed_count(guard, block->site, node, weight, block->size);
    }
    if (unlikely(content)) {
        struct block copy = *block; /* the block itself stays in registers */
        orphans_look(guard, thread, caller, &copy, content, &node);
    }
    freed_remember(&thread->freed, block, caller->pc, node, store_header->epoch, release_form(how));
}

/* What cannot be helped is counted. */
static COLD void left_out(enum leak_untracked why, uintptr_t address, uint64_t size)
{
    struct block block = {.address = address, .size = size};
    store_untracked(why, sample_weight(&block));
}

/* sampled, and whether there is a pool, is known when this is compiled: the usual way carries nothing
 * of the others, and keeps its block in registers. */
static ALWAYS_INLINE void came(struct guard *guard, const struct frame *caller, void *pointer,
                               size_t size, enum leak_kind kind, bool sampled, const uint32_t *pool)
{
    struct locked shared;
    struct block old, block;
    if (filtered(size))
        return left_out(LEAK_UNTRACKED_FILTERED, (uintptr_t)pointer, size);
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread))
        return left_out(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(!*lock_alone))
        blocks_prefetch(arch_address(pointer)); /* else it waits among the young first */
    clock_now_and_then(guard, thread, sampled);
    block.address = arch_address(pointer);
    block.size = size;
    block.kind = (pool ? LEAK_KIND_CUSTOM : kind) | guard->kind_flags;
    block.thread = thread->serial;
    block.tick = store_header->epoch;
    block.count = ++thread->allocations;
    store_relaxed(&thread->record->allocations, block.count);
    block.site = capture_site(guard, thread, caller, kind);
    if (watch_due(thread, block.count)) {
        struct block copy = block; /* the block itself stays in registers */
        watch_allocation(guard, thread, caller, &copy);
    }
    struct leak_slot *pair = slots_prefetch(&thread->slots, block.site);
    enum blocks_insert done = !block.site ? BLOCKS_NO_MEMORY
                              : pool      ? carved_insert(guard, &block, *pool, &old)
                              : sampled   ? sample_insert(guard, &block, &old)
                                          : blocks_insert(guard, &block, &old);
    if (likely(done != BLOCKS_NO_MEMORY))
        count_alloc(guard, thread, pair, block.site, size, sampled ? sample_count(&block, true) : 1);
    else
        left_out(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(done == BLOCKS_REPLACED)) /* its free did not pass by us */
        count_free(guard, thread, &old, sampled ? sample_count(&old, false) : 1);
    threads_done(thread, &shared);
}

static NOINLINE void came_sampled(struct guard *guard, const struct frame *caller, void *pointer,
                                  size_t size, enum leak_kind kind)
{
    if (sample_meets(size))
        came(guard, caller, pointer, size, kind, true, NULL);
}

void track_alloc(struct guard *guard, const struct frame *caller, void *pointer, size_t size,
                 enum leak_kind kind)
{
    if (unlikely(sample_bytes))
        came_sampled(guard, caller, pointer, size, kind);
    else
        came(guard, caller, pointer, size, kind, false, NULL);
}

NOINLINE void track_carved(struct guard *guard, const struct frame *caller, void *pointer,
                           size_t size, enum leak_kind kind, uint32_t pool)
{
    store_relaxed(&detour, true);
    came(guard, caller, pointer, size, kind, false, &pool);
}

/* ---- Going ---------------------------------------------------------------------------------- */

bool track_take(struct guard *guard, void *pointer, struct block *out)
{
    return sample_bytes ? sample_remove(guard, arch_address(pointer), out)
                        : blocks_remove(guard, arch_address(pointer), out);
}

static NOINLINE bool move_otherwise(struct guard *guard, const struct frame *caller, void *pointer,
                                    struct block *out)
{
    bool known = track_take(guard, pointer, out);
    if (eventlog_level && known)
        eventlog_went(guard, caller, out, BY_REALLOC);
    else if (eventlog_level)
        eventlog_unknown(guard, caller, arch_address(pointer), BY_REALLOC);
    return known;
}

/* No memory for this thread: straight into the site, or the block would look like a leak. */
static COLD void count_free_at_site(struct guard *guard, uint32_t site, uint64_t blocks,
                                    uint64_t bytes)
{
    sites_count_free(guard, site, blocks, bytes);
    sub_relaxed(&store_header->live_bytes, bytes);
}

/* pointer: as the program freed it, or NULL: what was there is gone as well. */
static ALWAYS_INLINE void gone(struct guard *guard, const struct frame *caller,
                               const struct block *block, const void *pointer, uint32_t how,
                               bool sampled)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    uint64_t blocks = sampled ? sample_count(block, false) : 1;
    if (unlikely(!thread))
        return count_free_at_site(guard, block->site, blocks, blocks * block->size);
    clock_now_and_then(guard, thread, sampled);
    uint64_t before = count_free(guard, thread, block, blocks);
    if (track_options.free_stacks != FREE_STACKS_OFF) {
        unsigned weight = weight_of_free(thread, block, before, blocks, sampled);
        bool all = track_options.free_stacks == FREE_STACKS_ALL;
        /* Samples know few of the blocks. */
        bool look = !sampled && pointer && orphans_due(thread, before, weight, all);
        note_freed(guard, thread, caller, block, weight, how, look ? pointer : NULL);
    }
    threads_done(thread, &shared);
}

static NOINLINE void gone_sampled(struct guard *guard, const struct frame *caller,
                                  const struct block *block, uint32_t how)
{
    gone(guard, caller, block, NULL, how, true);
}

void track_gone(struct guard *guard, const struct frame *caller, const struct block *block)
{
    if (unlikely(sample_bytes))
        gone_sampled(guard, caller, block, BY_REALLOC);
    else
        gone(guard, caller, block, NULL, BY_REALLOC, false);
}

NOINLINE void track_carved_gone(struct guard *guard, const struct frame *caller,
                                const struct block *block, uint32_t how)
{
    if (eventlog_level)
        eventlog_went(guard, caller, block, how);
    gone(guard, caller, block, NULL, how, false);
}

void track_content_gone(struct guard *guard, const struct frame *caller, uintptr_t start,
                        size_t size, uint32_t how)
{
    struct carved it;
    while (carved_remove_in(guard, start, start + size, &it))
        track_carved_gone(guard, caller, &it.block, how);
}

/* free and its like of a block that is carved from another: it goes, and that is an error. */
static bool went_wrongly(struct guard *guard, const struct frame *caller, uintptr_t address,
                         uint32_t how)
{
    struct carved it;
    if (likely(!load_relaxed(&carved_count)) ||
        !carved_remove(guard, address, CARVED_ANY, &it))
        return false;
    wrongs_of_carved(guard, caller, &it, how, 0);
    track_carved_gone(guard, caller, &it.block, how);
    return true;
}

bool track_move(struct guard *guard, const struct frame *caller, void *pointer, struct block *out)
{
    bool known = unlikely(detour) ? move_otherwise(guard, caller, pointer, out)
                                  : blocks_remove(guard, arch_address(pointer), out);
    if (unlikely(!known)) {
        if (!went_wrongly(guard, caller, arch_address(pointer), BY_REALLOC) &&
            !wrongs_of_waiting(guard, caller, arch_address(pointer), BY_REALLOC))
            wrongs_of_unknown(guard, caller, arch_address(pointer), BY_REALLOC);
    } else if (unlikely(!misuse_agrees(caller, out, BY_REALLOC, false))) {
        wrongs_of_block(guard, caller, out, BY_REALLOC);
    }
    return known;
}

static void free_sampled(struct guard *guard, const struct frame *caller, void *pointer,
                         uint32_t how)
{
    struct block block;
    if (!sample_remove(guard, arch_address(pointer), &block))
        return;
    if (eventlog_level)
        eventlog_went(guard, caller, &block, how);
    wrongs_of_block(guard, caller, &block, how); /* if at all */
    gone(guard, caller, &block, pointer, how, true);
}

static void *free_later(struct guard *guard, const struct frame *caller, void *pointer,
                        uint32_t how)
{
    struct block block;
    uintptr_t address = arch_address(pointer);
    if (!blocks_remove(guard, address, &block)) {
        if (wrongs_of_waiting(guard, caller, address, how))
            return NULL;
        if (went_wrongly(guard, caller, address, how))
            return pointer;
        if (eventlog_level)
            eventlog_unknown(guard, caller, address, how);
        wrongs_of_unknown(guard, caller, address, how);
        return pointer;
    }
    if (eventlog_level)
        eventlog_went(guard, caller, &block, how);
    wrongs_of_block(guard, caller, &block, how); /* if at all */
    if (load_relaxed(&carved_count))
        track_content_gone(guard, caller, address, block.size, how);
    gone(guard, caller, &block, pointer, how, false);
    return quarantine_is_on() && wrongs_put_off(guard, caller, pointer, &block, how) ? NULL
                                                                                     : pointer;
}

static NOINLINE void *free_otherwise(struct guard *guard, const struct frame *caller, void *pointer,
                                     uint32_t how)
{
    if (!sample_bytes)
        return free_later(guard, caller, pointer, how);
    free_sampled(guard, caller, pointer, how);
    return pointer;
}

static ALWAYS_INLINE void *free_now(struct guard *guard, const struct frame *caller, void *pointer,
                                    uint32_t how, bool said)
{
    struct block block;
    if (unlikely(detour))
        return free_otherwise(guard, caller, pointer, how);
    if (unlikely(!blocks_remove(guard, arch_address(pointer), &block))) {
        wrongs_of_unknown(guard, caller, arch_address(pointer), how);
        return pointer;
    }
    if (unlikely(!misuse_agrees(caller, &block, how, said))) {
        struct block copy = block; /* the block itself stays in registers */
        wrongs_of_block(guard, caller, &copy, how);
    }
    gone(guard, caller, &block, pointer, how, false);
    return pointer;
}

void *track_free(struct guard *guard, const struct frame *caller, void *pointer, uint32_t how)
{
    return free_now(guard, caller, pointer, how, false);
}

void *track_free_said(struct guard *guard, const struct release_frame *frame, void *pointer,
                      uint32_t how)
{
    return free_now(guard, &frame->caller, pointer, how, true);
}

void track_put_back(struct guard *guard, const struct block *block)
{
    struct block old;
    if (unlikely(sample_bytes))
        sample_insert(guard, block, &old);
    else
        blocks_insert(guard, block, &old);
}
