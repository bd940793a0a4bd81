/* track_hot.h - the hot path: what every malloc and every free does, inline.
 *
 * The functions are inline for the few hooks in which programs spend their time: a call and the
 * registers that it saves cost a tenth of a malloc/free pair. All other hooks call the functions of
 * track.h, which call these inline functions. Rare cases are calls into track.c. */
#ifndef PRELOAD_TRACK_TRACK_HOT_H
#define PRELOAD_TRACK_TRACK_HOT_H

#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/timeline.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/heap/sample.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/misuse/alloc_watch.h"
#include "preload/misuse/bad_free.h"

/* Tells hooks whether they must leave the hot path. Both members are true until the process has
 * started. */
struct track_state {
    bool selective; /* sample=, min_size= or max_size= is set: not every block is recorded */
    /* sample=, quarantine=, log=, fill= for freed blocks or follow_blocks= is set, or the program
     * has blocks within blocks. */
    bool detour;
};
extern struct track_state track_state HIDDEN;

void track_update_clock(struct guard *guard, struct thread *thread);
void track_flush_live(struct guard *guard, struct thread *thread);
/* Counts an allocation that is not recorded. why: the reason. */
COLD void track_count_untracked(enum leak_untracked why, uintptr_t address, uint64_t size);
/* Do the work of track_alloc_inline and track_free_inline below when guard->thread is NULL. */
COLD void track_alloc_slow(struct guard *guard, const struct frame *caller, void *pointer,
                           size_t size, enum leak_kind kind);
COLD void *track_free_slow(struct guard *guard, const struct frame *caller, void *pointer,
                           uint32_t how);
/* Handles a free of a pointer at which no block begins. Returns the pointer that libc must free;
 * NULL: none. */
COLD void *track_free_unknown(struct guard *guard, const struct frame *caller, void *pointer,
                              uint32_t how);
/* Handles a free that does not fit the block; blocks_take has removed the block. Returns the
 * pointer that libc must free. */
COLD void *track_free_wrong(struct guard *guard, const struct frame *caller, struct block *block,
                            const struct origin *origin, void *pointer, uint32_t how);

/* Makes the thread read the clock if it is due. A busy thread reads it at every 64th allocation and
 * every 64th free, a thread that allocates rarely reads it at each one. With sample=, even a busy
 * thread may be sampled rarely, so it reads the clock at each sample. */
static ALWAYS_INLINE void track_clock(struct guard *guard, struct thread *thread, bool sampled)
{
    if (unlikely(--thread->frees_left < 0) || sampled)
        track_update_clock(guard, thread);
}

/* Does what is due at this allocation (the clock, alloc_watch.h). Returns the block's tick. */
uint32_t track_run_due(struct guard *guard, struct thread *thread, const struct frame *caller,
                       const struct block *block);

/* Counts bytes and blocks as live. header.live_bytes is shared by all threads, so a thread adds its
 * changes in batches, which are small while the heap is small. */
static ALWAYS_INLINE void track_add_live(struct guard *guard, struct thread *thread, int64_t bytes,
                                         int64_t blocks)
{
    thread->delta_blocks += blocks;
    if (unlikely((thread->delta_level += bytes) > thread->delta_top))
        track_flush_live(guard, thread);
}

/* ---- Recording allocations ------------------------------------------------------------------- */

/* Counts an allocation. blocks: the number of blocks that this one represents, 1 unless it is a
 * sample. */
static inline void track_count_alloc(struct guard *guard, struct thread *thread,
                                     struct leak_slot *pair, const struct block *block,
                                     uint64_t blocks)
{
    struct leak_slot *slot = thread_counters_find_in(guard, &thread->slots, pair, block->site);
    thread->slots.newest = slot;
    bump(&slot->counts.allocs, blocks);
    bump(&slot->counts.bytes, blocks * block->size);
    store_relaxed(&slot->last, block->tick);
    track_add_live(guard, thread, blocks * block->size, blocks);
}

/* Says whether the block is one of the last four allocations of the thread. If so, the counters
 * that the thread used last are likely those of the block's site. */
static ALWAYS_INLINE bool track_is_recent(const struct thread *thread, uint32_t identity)
{
    return run_identity(&thread->run, (uint32_t)thread->record->allocations) - identity < 4;
}

/* Counts a free. Returns how many frees of the block's site this thread had counted before. */
static ALWAYS_INLINE uint64_t track_count_free(struct guard *guard, struct thread *thread,
                                               const struct block *block, uint64_t blocks,
                                               bool recent)
{
    /* First the live bytes: if a peak ends with this free, its record must include this block. */
    track_add_live(guard, thread, -(int64_t)(blocks * block->size), -(int64_t)blocks);
    struct leak_slot *slot = likely(recent)
                                 ? thread_counters_find_newest(guard, &thread->slots, block->site)
                                 : thread_counters_find(guard, &thread->slots, block->site);
    uint64_t before = slot->counts.frees;
    bump(&slot->counts.frees, blocks);
    bump(&slot->counts.freed_bytes, blocks * block->size);
    return before;
}

/* Counts as freed an older block at the address of the new one, whose free libleak did not see.
 * Returns the pair of slots for the new block, which may have moved. */
COLD struct leak_slot *track_replace_block(struct guard *guard, struct thread *thread,
                                           const struct block *old, uint64_t blocks, uint32_t site);

/* Counts a block that cannot be recorded, because there is no memory for its site. */
COLD void track_alloc_without_site(struct guard *guard, struct thread *thread,
                                   const struct frame *caller, struct block *block, unsigned kind);

static ALWAYS_INLINE void track_number_block(struct guard *guard, struct thread *thread,
                                             const struct frame *caller, struct block *block,
                                             unsigned kind)
{
    block->kind = kind | guard->kind_flags;
    block->thread = (uint16_t)thread->serial; /* the low bits, as everywhere */
    block->tick = store_header->epoch;
    block->count = bump(&thread->record->allocations, 1);
    if (unlikely((int32_t)(block->count - thread->stop_at) >= 0))
        block->tick = track_run_due(guard, thread, COPY_OF(caller), COPY_OF(block));
}

/* Records an allocation. sampled, and whether pool is NULL, are compile-time constants: so the hot
 * path has no code for samples and pools, and keeps the block in registers. */
static ALWAYS_INLINE void track_record_alloc(struct guard *guard, struct thread *thread,
                                             const struct frame *caller, void *pointer, size_t size,
                                             enum leak_kind kind, bool sampled,
                                             const uint32_t *pool)
{
    struct block old, block;
    unsigned own = pool ? LEAK_KIND_CUSTOM : kind;
    uintptr_t area = blocks_prefetch(arch_address(pointer));
    if (sampled)
        track_update_clock(guard, thread);
    block.address = arch_address(pointer);
    block.size = size;
    block.site = capture_site(guard, thread, caller, kind);
    if (unlikely(!block.site))
        return track_alloc_without_site(guard, thread, COPY_OF(caller), COPY_OF(&block), own);
    /* This is not done before capture_site: the block would not stay in registers across that
     * call. */
    track_number_block(guard, thread, caller, &block, own);
    struct leak_slot *pair = thread_counters_prefetch(&thread->slots, block.site);
    enum blocks_insert done = pool      ? suballoc_insert(guard, &block, *pool, &old)
                              : sampled ? sample_insert(guard, &block, &old)
                                        : blocks_insert_in(guard, area, &thread->run, &block, &old);
    if (unlikely(done == BLOCKS_NO_MEMORY))
        return track_count_untracked(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    if (unlikely(done == BLOCKS_REPLACED))
        pair = track_replace_block(guard, thread, &old, sampled ? sample_count(&old, false) : 1,
                                   block.site);
    track_count_alloc(guard, thread, pair, &block, sampled ? sample_count(&block, true) : 1);
}

/* Does the work of track_alloc, if track_state.selective is false. */
static ALWAYS_INLINE void track_alloc_inline(struct guard *guard, const struct frame *caller,
                                             void *pointer, size_t size, enum leak_kind kind)
{
    if (likely(guard->thread))
        track_record_alloc(guard, guard->thread, caller, pointer, size, kind, false, NULL);
    else
        track_alloc_slow(guard, COPY_OF(caller), pointer, size, kind);
}

/* ---- Recording frees ------------------------------------------------------------------------- */

/* Returns how many frees the call stack of this free stands for; 0: its call stack is not captured.
 * before: frees of the site that this thread has counted in its slot; the slot starts at 0 again
 * after another site used it, and the older frees are in the site. Samples are few, so the call
 * stack of each is captured. */
static inline unsigned track_weight(struct thread *thread, const struct block *block,
                                    uint64_t before, uint64_t blocks, bool sampled)
{
    if (sampled || options_current.free_stacks == FREE_STACKS_ALL)
        return blocks;
    if (unlikely(before < LEAK_FREED_FIRST))
        before += sites_folded_frees(block->site);
    return free_history_weight(&thread->freed, before);
}

/* Captures the call stack of a free. weight: how many frees it stands for; 0: no stack is captured.
 * content: the block's bytes, in which pointers to live blocks are looked for (dropped_pointers.h);
 * NULL: they are not read. Returns the node of the stack, or 0. */
uint32_t track_record_free_stack(struct guard *guard, struct thread *thread,
                                 const struct frame *caller, const struct block *block,
                                 const struct origin *origin, unsigned weight, const void *content);

/* Records a free. pointer: the block, as the program freed it; NULL: its content must not be read
 * any more. */
static ALWAYS_INLINE void track_record_free(struct guard *guard, struct thread *thread,
                                            const struct frame *caller, const struct block *block,
                                            const struct origin *origin, const void *pointer,
                                            uint32_t how, uint64_t blocks, bool sampled)
{
    track_clock(guard, thread, sampled);
    uint64_t before =
        track_count_free(guard, thread, block, blocks, track_is_recent(thread, origin->identity));
    if (options_current.free_stacks == FREE_STACKS_OFF)
        return;
    unsigned weight = track_weight(thread, block, before, blocks, sampled);
    bool all = options_current.free_stacks == FREE_STACKS_ALL;
    bool first = !sampled && !all && free_history_is_new_place(&thread->freed, block->site, caller);
    /* Freed samples are not searched for pointers: they are only few of the blocks. */
    bool look =
        !sampled && pointer && (dropped_pointers_is_due(thread, before, weight, all) || first);
    if (unlikely(weight || first)) {
        thread->freed.credit += weight != 0;
        weight += !weight;
    }
    uint32_t node = 0;
    if (unlikely(weight || look))
        node = track_record_free_stack(guard, thread, COPY_OF(caller), COPY_OF(block),
                                       COPY_OF(origin), weight, look ? pointer : NULL);
    free_history_add_recent(&thread->freed, block, caller->pc, node, store_header->epoch,
                            free_form_of(how));
}

/* Records a free when guard->thread is set. with_size: caller is the first part of a
 * free_form_frame. */
static ALWAYS_INLINE void *track_free_known_thread(struct guard *guard, const struct frame *caller,
                                                   void *pointer, uint32_t how, bool with_size)
{
    struct block block;
    struct origin origin;
    if (unlikely(!blocks_take(guard, arch_address(pointer), &block, &origin)))
        return track_free_unknown(guard, with_size ? caller : COPY_OF(caller), pointer, how);
    if (unlikely(!bad_free_agrees(caller, &block, how, with_size)))
        return track_free_wrong(guard, with_size ? caller : COPY_OF(caller), COPY_OF(&block),
                                COPY_OF(&origin), pointer, how);
    track_record_free(guard, guard->thread, caller, &block, &origin, pointer, how, 1, false);
    return pointer;
}

/* Do the work of track_free and track_free_sized when track_state.detour is false. They also detect
 * blocks of the bootstrap pool. */
static ALWAYS_INLINE void *track_free_inline(struct guard *guard, const struct frame *caller,
                                             void *pointer, uint32_t how)
{
    return likely(guard->thread) ? track_free_known_thread(guard, caller, pointer, how, false)
                                 : track_free_slow(guard, COPY_OF(caller), pointer, how);
}

static ALWAYS_INLINE void *track_free_sized_inline(struct guard *guard,
                                                   const struct free_form_frame *frame,
                                                   void *pointer, uint32_t how)
{
    return likely(guard->thread)
               ? track_free_known_thread(guard, &frame->caller, pointer, how, true)
               : track_free_slow(guard, &frame->caller, pointer, how);
}

#endif
