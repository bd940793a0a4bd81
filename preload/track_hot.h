/* track_hot.h - the usual way of track.h: what every malloc and every free does.
 *
 * Inline, for the few hooks that programs spend their time in: a call and what it saves of
 * registers is a tenth of a pair. All others call track.h's functions, which are made of the same.
 * What hardly ever happens is a call, into track.c.
 */
#ifndef PRELOAD_TRACK_HOT_H
#define PRELOAD_TRACK_HOT_H

#include "preload/atomic.h"
#include "preload/capture.h"
#include "preload/carved.h"
#include "preload/history.h"
#include "preload/orphans.h"
#include "preload/sample.h"
#include "preload/sites.h"
#include "preload/store.h"
#include "preload/watch.h"
#include "preload/wrongs.h"

/* Until the process has started nobody knows: both are true. */
extern bool track_choosy HIDDEN; /* sample=, min_size=, max_size=: not every block that comes is kept */
extern bool track_detour HIDDEN; /* sample=, quarantine=, log=, or there are blocks in blocks */

void track_ask_clock(struct guard *guard, struct thread *thread);
void track_bring_live(struct guard *guard, struct thread *thread);
/* What cannot be helped is counted. */
COLD void track_left_out(enum leak_untracked why, uintptr_t address, uint64_t size);
/* No memory for this thread: straight into the site, or the block would look like a leak. */
COLD void track_count_free_at_site(struct guard *guard, uint32_t site, uint64_t blocks,
                                   uint64_t bytes);
/* Of what no block begins at: what libc is to free. */
COLD void *track_free_unknown(struct guard *guard, const struct frame *caller, void *pointer,
                              uint32_t how);

/* A busy thread asks the clock every 64th time, one that allocates now and then each time. Samples
 * may be far apart in time, however many a thread has had. */
static ALWAYS_INLINE void track_clock(struct guard *guard, struct thread *thread, bool sampled)
{
    if (unlikely(--thread->events_left <= 0) || sampled)
        track_ask_clock(guard, thread);
}

/* live_bytes is shared: each thread brings its changes in batches, small while the heap is small.
 */
static ALWAYS_INLINE void track_live(struct guard *guard, struct thread *thread, int64_t bytes,
                                     int64_t blocks)
{
    thread->delta_blocks += blocks;
    if (unlikely((thread->delta_level += bytes) > thread->delta_top))
        track_bring_live(guard, thread);
}

/* ---- Coming ---------------------------------------------------------------------------------- */

/* blocks: how many this one stands for, 1 unless it is a sample. */
static inline void track_count_alloc(struct guard *guard, struct thread *thread,
                                     struct leak_slot *pair, uint32_t site, uint64_t size,
                                     uint64_t blocks)
{
    struct leak_slot *slot = slots_find_in(guard, &thread->slots, pair, site);
    bump(&slot->counts.allocs, blocks);
    bump(&slot->counts.bytes, blocks * size);
    store_relaxed(&slot->last, store_header->epoch);
    track_live(guard, thread, blocks * size, blocks);
}

/* Returns how many frees of that site this thread had counted before. */
static ALWAYS_INLINE uint64_t track_count_free(struct guard *guard, struct thread *thread,
                                               const struct block *block, uint64_t blocks)
{
    /* First: what is written down of a peak that ends here has this block in it. */
    track_live(guard, thread, -(int64_t)(blocks * block->size), -(int64_t)blocks);
    struct leak_slot *slot = slots_find(guard, &thread->slots, block->site);
    uint64_t before = slot->counts.frees;
    bump(&slot->counts.frees, blocks);
    bump(&slot->counts.freed_bytes, blocks * block->size);
    return before;
}

/* sampled, and whether there is a pool, is known when this is compiled: the usual way carries
 * nothing of the others, and keeps its block in registers. */
static ALWAYS_INLINE void track_came(struct guard *guard, const struct frame *caller, void *pointer,
                                     size_t size, enum leak_kind kind, bool sampled,
                                     const uint32_t *pool)
{
    struct locked shared;
    struct block old, block;
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread))
        return track_left_out(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(!*lock_alone))
        blocks_prefetch(arch_address(pointer)); /* else it waits among the young first */
    track_clock(guard, thread, sampled);
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
        track_count_alloc(guard, thread, pair, block.site, size,
                          sampled ? sample_count(&block, true) : 1);
    else
        track_left_out(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(done == BLOCKS_REPLACED)) /* its free did not pass by us */
        track_count_free(guard, thread, &old, sampled ? sample_count(&old, false) : 1);
    threads_done(thread, &shared);
}

/* As track_alloc, where track_choosy is false. */
static ALWAYS_INLINE void track_alloc_here(struct guard *guard, const struct frame *caller,
                                           void *pointer, size_t size, enum leak_kind kind)
{
    track_came(guard, caller, pointer, size, kind, false, NULL);
}

/* ---- Going ----------------------------------------------------------------------------------- */

/* For how many frees does this one stand? Samples are few: each is looked at. A slot that was taken
 * over by another site meanwhile counts from nothing; the site knows better. */
static inline unsigned track_weight(struct thread *thread, const struct block *block,
                                    uint64_t before, uint64_t blocks, bool sampled)
{
    if (sampled || track_options.free_stacks == FREE_STACKS_ALL)
        return blocks;
    if (unlikely(before < LEAK_FREED_FIRST))
        before += sites_folded_frees(block->site);
    return freed_weight(&thread->freed, before);
}

/* Where did it go? content: what it held is looked at; NULL: it is not. */
static inline void track_note_freed(struct guard *guard, struct thread *thread,
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

/* pointer: as the program freed it, or NULL: what was there is gone as well. */
static ALWAYS_INLINE void track_went(struct guard *guard, const struct frame *caller,
                                     const struct block *block, const void *pointer, uint32_t how,
                                     bool sampled)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    uint64_t blocks = sampled ? sample_count(block, false) : 1;
    if (unlikely(!thread))
        return track_count_free_at_site(guard, block->site, blocks, blocks * block->size);
    track_clock(guard, thread, sampled);
    uint64_t before = track_count_free(guard, thread, block, blocks);
    if (track_options.free_stacks != FREE_STACKS_OFF) {
        unsigned weight = track_weight(thread, block, before, blocks, sampled);
        bool all = track_options.free_stacks == FREE_STACKS_ALL;
        /* Samples know few of the blocks. */
        bool look = !sampled && pointer && orphans_due(thread, before, weight, all);
        track_note_freed(guard, thread, caller, block, weight, how, look ? pointer : NULL);
    }
    threads_done(thread, &shared);
}

/* said: caller is the first part of a release_frame. */
static ALWAYS_INLINE void *track_free_now(struct guard *guard, const struct frame *caller,
                                          void *pointer, uint32_t how, bool said)
{
    struct block block;
    if (unlikely(!blocks_remove(guard, arch_address(pointer), &block)))
        return track_free_unknown(guard, caller, pointer, how);
    if (unlikely(!misuse_agrees(caller, &block, how, said))) {
        struct block copy = block; /* the block itself stays in registers */
        wrongs_of_block(guard, caller, &copy, how);
    }
    track_went(guard, caller, &block, pointer, how, false);
    return pointer;
}

/* As track_free, where track_detour is false. A block of the boot pool is found out here. */
static ALWAYS_INLINE void *track_free_here(struct guard *guard, const struct frame *caller,
                                           void *pointer, uint32_t how)
{
    return track_free_now(guard, caller, pointer, how, false);
}

#endif
