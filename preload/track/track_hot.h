/* track_hot.h - the usual way of track.h: what every malloc and every free does.
 *
 * Inline, for the few hooks that programs spend their time in: a call and what it saves of
 * registers is a tenth of a pair. All others call track.h's functions, which are made of the same.
 * What hardly ever happens is a call, into track.c.
 */
#ifndef PRELOAD_TRACK_TRACK_HOT_H
#define PRELOAD_TRACK_TRACK_HOT_H

#include "preload/base/atomic.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/timeline.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/heap/sample.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/misuse/alloc_watch.h"
#include "preload/misuse/bad_free.h"

/* Until the process has started nobody knows: both are true. */
extern bool track_choosy HIDDEN; /* sample=, min_size=, max_size=: not every block is kept */
extern bool track_detour HIDDEN; /* sample=, quarantine=, log=, or there are blocks in blocks */

void track_ask_clock(struct guard *guard, struct thread *thread);
void track_bring_live(struct guard *guard, struct thread *thread);
/* What cannot be helped is counted. */
COLD void track_left_out(enum leak_untracked why, uintptr_t address, uint64_t size);
/* The same as the two below, for a thread that is not at hand. */
COLD void track_alloc_first(struct guard *guard, const struct frame *caller, void *pointer,
                            size_t size, enum leak_kind kind);
COLD void *track_free_first(struct guard *guard, const struct frame *caller, void *pointer,
                            uint32_t how);
/* Of what no block begins at: what libc is to free. */
COLD void *track_free_unknown(struct guard *guard, const struct frame *caller, void *pointer,
                              uint32_t how);
/* The same of a block that blocks_take has answered, and that the call does not agree with. */
COLD void *track_free_wrong(struct guard *guard, const struct frame *caller,
                            const struct block *taken, void *pointer, uint32_t how);

/* A busy thread asks the clock at every 64th allocation and every 64th release, one that allocates
 * now and then each time. Samples may be far apart in time, however many a thread has had. */
static ALWAYS_INLINE void track_clock(struct guard *guard, struct thread *thread, bool sampled)
{
    if (unlikely(--thread->frees_left < 0) || sampled)
        track_ask_clock(guard, thread);
}

/* An allocation at which there is more to do: the clock, and who waits for this very one. The tick.
 */
uint32_t track_stop(struct guard *guard, struct thread *thread, const struct frame *caller,
                    const struct block *block);

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
                                     struct leak_slot *pair, const struct block *block,
                                     uint64_t blocks)
{
    struct leak_slot *slot = slots_find_in(guard, &thread->slots, pair, block->site);
    thread->slots.newest = slot;
    bump(&slot->counts.allocs, blocks);
    bump(&slot->counts.bytes, blocks * block->size);
    store_relaxed(&slot->last, block->tick);
    track_live(guard, thread, blocks * block->size, blocks);
}

/* Returns how many frees of that site this thread had counted before. young: it has just come. */
static ALWAYS_INLINE uint64_t track_count_free(struct guard *guard, struct thread *thread,
                                               const struct block *block, uint64_t blocks,
                                               bool young)
{
    /* First: what is written down of a peak that ends here has this block in it. */
    track_live(guard, thread, -(int64_t)(blocks * block->size), -(int64_t)blocks);
    struct leak_slot *slot = likely(young) ? slots_find_newest(guard, &thread->slots, block->site)
                                           : slots_find(guard, &thread->slots, block->site);
    uint64_t before = slot->counts.frees;
    bump(&slot->counts.frees, blocks);
    bump(&slot->counts.freed_bytes, blocks * block->size);
    return before;
}

/* An older block stood where this one is: its free did not pass by us. The pair of slots for the
 * new one, which may be elsewhere by now. */
COLD struct leak_slot *track_replaced(struct guard *guard, struct thread *thread,
                                      const struct block *old, uint64_t blocks, uint32_t site);

/* There is no memory for its site. */
COLD void track_without_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                             struct block *block, unsigned kind);

static ALWAYS_INLINE void track_number(struct guard *guard, struct thread *thread,
                                       const struct frame *caller, struct block *block,
                                       unsigned kind)
{
    block->kind = kind | guard->kind_flags;
    block->thread = thread->serial;
    block->tick = store_header->epoch;
    block->count = bump(&thread->record->allocations, 1);
    if (unlikely((int32_t)(block->count - thread->stop_at) >= 0))
        block->tick = track_stop(guard, thread, COPY_OF(caller), COPY_OF(block));
}

/* sampled, and whether there is a pool, is known when this is compiled: the usual way carries
 * nothing of the others, and keeps its block in registers. */
static ALWAYS_INLINE void track_came(struct guard *guard, struct thread *thread,
                                     const struct frame *caller, void *pointer, size_t size,
                                     enum leak_kind kind, bool sampled, const uint32_t *pool)
{
    struct block old, block;
    unsigned own = pool ? LEAK_KIND_CUSTOM : kind;
    if (unlikely(!*lock_alone))
        blocks_prefetch(arch_address(pointer)); /* else it waits among the young first */
    if (sampled)
        track_ask_clock(guard, thread);
    block.address = arch_address(pointer);
    block.size = size;
    block.site = capture_site(guard, thread, caller, kind);
    if (unlikely(!block.site))
        return track_without_site(guard, thread, COPY_OF(caller), COPY_OF(&block), own);
    track_number(guard, thread, caller, &block, own); /* by now: few registers survive a call */
    struct leak_slot *pair = slots_prefetch(&thread->slots, block.site);
    enum blocks_insert done = pool      ? carved_insert(guard, &block, *pool, &old)
                              : sampled ? sample_insert(guard, &block, &old)
                                        : blocks_insert(guard, &block, &old);
    if (unlikely(done == BLOCKS_NO_MEMORY))
        return track_left_out(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(done == BLOCKS_REPLACED))
        pair = track_replaced(guard, thread, &old, sampled ? sample_count(&old, false) : 1,
                              block.site);
    track_count_alloc(guard, thread, pair, &block, sampled ? sample_count(&block, true) : 1);
}

/* As track_alloc, where track_choosy is false. */
static ALWAYS_INLINE void track_alloc_here(struct guard *guard, const struct frame *caller,
                                           void *pointer, size_t size, enum leak_kind kind)
{
    if (likely(guard->thread))
        track_came(guard, guard->thread, caller, pointer, size, kind, false, NULL);
    else
        track_alloc_first(guard, COPY_OF(caller), pointer, size, kind);
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

/* A block that blocks_take has answered, whole. */
static inline struct block track_copy(const struct block *taken, uintptr_t address)
{
    struct block copy = *taken;
    copy.address = address;
    return copy;
}

/* Where did it go? Its stack, which stands for weight frees (0: is not taken), and if content is
 * not NULL what it held is looked at. The stack's node, or 0. */
uint32_t track_look(struct guard *guard, struct thread *thread, const struct frame *caller,
                    const struct block *taken, uintptr_t address, unsigned weight,
                    const void *content);

/* block: all but the address. pointer: as the program freed it, or NULL: what was there is gone as
 * well. */
static ALWAYS_INLINE void track_went(struct guard *guard, struct thread *thread,
                                     const struct frame *caller, const struct block *block,
                                     uintptr_t address, const void *pointer, uint32_t how,
                                     uint64_t blocks, bool sampled, bool young)
{
    track_clock(guard, thread, sampled);
    uint64_t before = track_count_free(guard, thread, block, blocks, young);
    if (track_options.free_stacks == FREE_STACKS_OFF)
        return;
    unsigned weight = track_weight(thread, block, before, blocks, sampled);
    bool all = track_options.free_stacks == FREE_STACKS_ALL;
    /* Samples know few of the blocks. */
    bool look = !sampled && pointer && orphans_due(thread, before, weight, all);
    uint32_t node = 0;
    if (unlikely(weight || look))
        node = track_look(guard, thread, COPY_OF(caller), block, address, weight,
                          look ? pointer : NULL);
    freed_remember(&thread->freed, block, address, caller->pc, node, store_header->epoch,
                   release_form(how));
}

/* The thread is at hand. said: caller is the first part of a release_frame. */
static ALWAYS_INLINE void *track_free_now(struct guard *guard, const struct frame *caller,
                                          void *pointer, uint32_t how, bool said)
{
    struct block room;
    uintptr_t address = arch_address(pointer);
    const struct block *block = blocks_take(guard, address, &room);
    if (unlikely(!block))
        return track_free_unknown(guard, said ? caller : COPY_OF(caller), pointer, how);
    if (unlikely(!misuse_agrees(caller, block, how, said)))
        return track_free_wrong(guard, said ? caller : COPY_OF(caller), block, pointer, how);
    track_went(guard, guard->thread, caller, block, address, pointer, how, 1, false,
               block != &room);
    return pointer;
}

/* As track_free, where track_detour is false. A block of the boot pool is found out here. */
static ALWAYS_INLINE void *track_free_here(struct guard *guard, const struct frame *caller,
                                           void *pointer, uint32_t how)
{
    return likely(guard->thread) ? track_free_now(guard, caller, pointer, how, false)
                                 : track_free_first(guard, COPY_OF(caller), pointer, how);
}

#endif
