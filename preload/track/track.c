#include "preload/track/track.h"
#include "preload/interpose/real_functions.h"
#include "preload/misuse/eventlog.h"
#include "preload/memory/memory_limits.h"
#include "preload/heap/quarantine.h"
#include "preload/memory/arena.h"
#include "preload/base/sys.h"
#include "preload/track/fill.h"
#include "preload/track/track_hot.h"

#include <time.h>

#define EVENTS_PER_CLOCK_MAX 64
/* Number of events (allocations or frees) by which a thread's next reading of the clock comes
 * earlier for each batch of bytes that it adds to header.live_bytes (track_flush_live). */
#define EVENTS_PER_BATCH 2
#define EVENTS_PER_LARGE_BATCH 16
#define DELTA_MIN 1024
#define DELTA_MAX 65536

struct track_state track_state = {.selective = true, .detour = true};
static uint64_t size_span = UINT64_MAX; /* max_size - min_size: one comparison tests both limits */
static uint64_t started_ns;             /* by the monotonic clock, which never jumps */

void track_start(void)
{
    if (!options_current.site_stacks)
        options_current.free_stacks = FREE_STACKS_OFF;
    uint64_t least = options_current.min_size, most = options_current.max_size;
    size_span = (most ? most : UINT64_MAX) - least;
    if (most && most < least) { /* max_size below min_size: no block is recorded */
        options_current.min_size = UINT64_MAX;
        size_span = 0;
    }
    started_ns = sys_clock_ns(CLOCK_MONOTONIC_COARSE);
    fill_restart();
}

void track_select_path(void)
{
    track_state.selective =
        sample_state.bytes || options_current.min_size || size_span != UINT64_MAX;
    track_state.detour = sample_state.bytes || quarantine_is_on() || eventlog_is_on() ||
                         fill_state.frees || alloc_watch_calls.freed;
}

void track_tick(void)
{
    uint64_t elapsed = sys_clock_ns(CLOCK_MONOTONIC_COARSE) - started_ns;
    uint32_t tick = elapsed / (1000000000u / LEAK_TICKS_PER_SECOND);
    uint32_t now = load_relaxed(&store_header->epoch);
    /* Repeat when another thread ticked, or a milestone advanced the epoch. */
    while (tick > now && !cas_acquire(&store_header->epoch, &now, tick))
        ;
}

/* Sets stop_at to what comes first for a thread: reading the clock, or a watched allocation
 * (alloc_watch.h). */
static void set_next_due(struct thread *thread)
{
    uint32_t count = thread->record->allocations, watch = thread->watch_at;
    int32_t left = thread->clock_at - count;
    bool watch_first = watch && left > 0 && watch - count < (uint32_t)left;
    thread->stop_at = watch_first ? watch : thread->clock_at;
}

NOINLINE void track_update_clock(struct guard *guard, struct thread *thread)
{
    uint32_t before = load_relaxed(&store_header->epoch);
    track_tick();
    bool late = load_relaxed(&store_header->epoch) != before;
    if (late)
        thread->events_per_clock = 1;
    else if (thread->events_per_clock < EVENTS_PER_CLOCK_MAX)
        thread->events_per_clock = 2 * thread->events_per_clock + 1;
    thread->frees_left = thread->events_per_clock - 1;
    thread->clock_at = thread->record->allocations + thread->events_per_clock;
    set_next_due(thread);
    if (late) {
        threads_record_name(thread);
        timeline_tick(guard, thread, before);
        memory_limits_tick();
    }
}

NOINLINE uint32_t track_run_due(struct guard *guard, struct thread *thread,
                                const struct frame *caller, const struct block *block)
{
    struct block now = *block;
    if ((int32_t)(now.count - thread->clock_at) >= 0) {
        track_update_clock(guard, thread);
        now.tick = store_header->epoch;
    }
    if (now.count == thread->watch_at)
        alloc_watch_handle(guard, thread, caller, &now);
    set_next_due(thread);
    return now.tick;
}

NOINLINE void track_flush_live(struct guard *guard, struct thread *thread)
{
    struct leak_header *header = store_header;
    int64_t delta = threads_delta(thread);
    uint64_t live, most;
    bool large = (uint64_t)(delta + DELTA_MAX) > 2 * DELTA_MAX;
    uint32_t nearer = large ? EVENTS_PER_LARGE_BATCH : EVENTS_PER_BATCH;
    thread->frees_left -= nearer;
    thread->clock_at -= nearer;
    thread->stop_at -= nearer;
    if (*lock_single_threaded) {
        live = header->live_bytes += delta;
        threads_state.live_blocks += thread->delta_blocks;
    } else {
        live = __atomic_add_fetch(&header->live_bytes, delta, __ATOMIC_RELAXED);
        add_relaxed(&threads_state.live_blocks, thread->delta_blocks);
    }
    most = live >> 10 > DELTA_MAX ? DELTA_MAX : live >> 10 > DELTA_MIN ? live >> 10 : DELTA_MIN;
    thread->delta_level = most;
    thread->delta_top = 2 * most;
    thread->delta_blocks = 0;
    uint64_t peak = load_relaxed(&header->peak_bytes);
    if (delta < 0 && unlikely(peak >= load_relaxed(&threads_state.peak_threshold)) &&
        live < peak - peak / 256)
        timeline_write_peak(guard);
    if ((int64_t)live <= (int64_t)peak)
        return;
    store_relaxed(&header->peak_bytes, live);
    store_relaxed(&header->peak_ns, header->started_ns + (uint64_t)header->epoch *
                                                             (1000000000u / LEAK_TICKS_PER_SECOND));
}

uint32_t track_capture_stack(struct guard *guard, const struct frame *caller, uint32_t *serial)
{
    const struct thread *thread;
    modules_poll_loader();
    if (likely(guard->thread))
        track_clock(guard, guard->thread, false);
    uint32_t node = capture_call(guard, caller, options_current.site_stacks, &thread);
    if (thread)
        *serial = thread->serial;
    return node;
}

void track_count_untracked(enum leak_untracked why, uintptr_t address, uint64_t size)
{
    struct block block = {.address = address, .size = size};
    store_count_untracked(why, sample_weight(&block));
}

static inline bool is_filtered(size_t size)
{
    return unlikely(size - options_current.min_size > size_span);
}

void track_alloc_without_site(struct guard *guard, struct thread *thread,
                              const struct frame *caller, struct block *block, unsigned kind)
{
    track_number_block(guard, thread, caller, block, kind);
    track_count_untracked(LEAK_UNTRACKED_NO_MEMORY, block->address, block->size);
}

struct leak_slot *track_replace_block(struct guard *guard, struct thread *thread,
                                      const struct block *old, uint64_t blocks, uint32_t site)
{
    track_count_free(guard, thread, old, blocks, false);
    return thread_counters_pair(&thread->slots, site);
}

static ALWAYS_INLINE void record_alloc(struct guard *guard, const struct frame *caller,
                                       void *pointer, size_t size, enum leak_kind kind,
                                       bool sampled, const uint32_t *pool)
{
    struct locked shared;
    if (is_filtered(size))
        return track_count_untracked(LEAK_UNTRACKED_FILTERED, (uintptr_t)pointer, size);
    struct thread *thread = threads_self(guard, &shared);
    if (unlikely(!thread))
        return track_count_untracked(LEAK_UNTRACKED_NO_MEMORY, (uintptr_t)pointer, size);
    track_record_alloc(guard, thread, caller, pointer, size, kind, sampled, pool);
    threads_done(thread, &shared);
}

static NOINLINE void record_alloc_sampled(struct guard *guard, const struct frame *caller,
                                          void *pointer, size_t size, enum leak_kind kind)
{
    if (sample_selects(size))
        record_alloc(guard, caller, pointer, size, kind, true, NULL);
}

void track_alloc(struct guard *guard, const struct frame *caller, void *pointer, size_t size,
                 enum leak_kind kind)
{
    if (unlikely(sample_state.bytes))
        record_alloc_sampled(guard, caller, pointer, size, kind);
    else
        record_alloc(guard, caller, pointer, size, kind, false, NULL);
}

void track_alloc_slow(struct guard *guard, const struct frame *caller, void *pointer, size_t size,
                      enum leak_kind kind)
{
    record_alloc(guard, caller, pointer, size, kind, false, NULL);
}

NOINLINE void track_suballoc(struct guard *guard, const struct frame *caller, void *pointer,
                             size_t size, enum leak_kind kind, uint32_t pool)
{
    store_relaxed(&track_state.detour, true);
    record_alloc(guard, caller, pointer, size, kind, false, &pool);
}

/* ---- Free ------------------------------------------------------------------------------------ */

struct block_list {
    struct block *at;
    uint64_t count, room;
};

static void list_block(const struct block *block, void *context)
{
    struct block_list *list = context;
    if (list->count < list->room)
        list->at[list->count++] = *block;
}

void track_forget_blocks(struct guard *guard)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    struct block_list list = {.room = blocks_count()};
    size_t size = round_up(list.room * sizeof *list.at + 1, LEAK_PAGE);
    list.at = thread ? arena_map(size) : NULL;
    if (list.at)
        blocks_each(list_block, &list);
    for (uint64_t i = 0; i < list.count; i++) {
        struct block block;
        if (blocks_remove(guard, list.at[i].address, &block))
            track_count_free(guard, thread, &block,
                             sample_state.bytes ? sample_count(&block, false) : 1, false);
    }
    if (list.at)
        arena_unmap(list.at, size);
    if (thread)
        threads_done(thread, &shared);
}

bool track_remove(struct guard *guard, void *pointer, struct block *out)
{
    return sample_state.bytes ? sample_remove(guard, arch_address(pointer), out)
                              : blocks_remove(guard, arch_address(pointer), out);
}

/* Reports a free to follow.h (option follow_blocks). This must precede the real free, after which a
 * block of another thread may get the address. */
static inline void tell_of_free(struct guard *guard, const struct frame *caller,
                                const struct block *block, uint32_t how)
{
    if (alloc_watch_calls.freed)
        alloc_watch_calls.freed(guard, caller, block, how);
}

static NOINLINE bool remove_with_detour(struct guard *guard, const struct frame *caller,
                                        void *pointer, struct block *out)
{
    bool known = track_remove(guard, pointer, out);
    if (eventlog_is_on() && known)
        eventlog_free(guard, caller, out, FREED_BY_REALLOC);
    else if (eventlog_is_on())
        eventlog_free_unknown(guard, caller, arch_address(pointer), FREED_BY_REALLOC);
    if (known)
        tell_of_free(guard, caller, out, FREED_BY_REALLOC);
    return known;
}

static inline bool is_temporary(const struct thread *thread, const struct block *told)
{
    return told->thread == thread->serial &&
           (uint32_t)thread->record->allocations - told->count < LEAK_TEMPORARY_ALLOCATIONS;
}

NOINLINE uint32_t track_record_free_stack(struct guard *guard, struct thread *thread,
                                          const struct frame *caller, const struct block *block,
                                          const struct origin *origin, unsigned weight,
                                          const void *content)
{
    uint32_t node = 0;
    struct block told = *block;
    if (weight) {
        if (blocks_tell_origin(&told, origin)) {
            timeline_add_death(block->site, weight, store_header->epoch - told.tick);
            if (is_temporary(thread, &told))
                free_history_count_temporary(guard, block->site, weight, block->size);
        }
        if ((node = capture_node(guard, thread, caller)))
            free_history_count(guard, block->site, node, weight, block->size);
    }
    if (content)
        dropped_pointers_scan(guard, thread, caller, block, content, &node);
    return node;
}

/* Counts a free at its site, without the thread's own counters, for which there was no memory.
 * Without this count the block would seem to be a leak. */
static COLD void count_free_at_site(struct guard *guard, uint32_t site, uint64_t blocks,
                                    uint64_t bytes)
{
    sites_count_free(guard, site, blocks, bytes);
    sub_relaxed(&store_header->live_bytes, bytes);
}

/* Records a free. pointer: the block, as the program freed it; NULL: its content must not be read
 * any more. */
static ALWAYS_INLINE void record_free(struct guard *guard, const struct frame *caller,
                                      const struct block *block, const void *pointer, uint32_t how,
                                      bool sampled)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    uint64_t blocks = sampled ? sample_count(block, false) : 1;
    const struct origin told = {.identity = ORIGIN_TOLD};
    if (unlikely(!thread))
        return count_free_at_site(guard, block->site, blocks, blocks * block->size);
    track_record_free(guard, thread, caller, block, &told, pointer, how, blocks, sampled);
    threads_done(thread, &shared);
}

static NOINLINE void record_free_sampled(struct guard *guard, const struct frame *caller,
                                         const struct block *block, uint32_t how)
{
    record_free(guard, caller, block, NULL, how, true);
}

void track_free_removed(struct guard *guard, const struct frame *caller, const struct block *block)
{
    if (unlikely(sample_state.bytes))
        record_free_sampled(guard, caller, block, FREED_BY_REALLOC);
    else
        record_free(guard, caller, block, NULL, FREED_BY_REALLOC, false);
}

NOINLINE void track_suballoc_free(struct guard *guard, const struct frame *caller,
                                  const struct block *block, uint32_t how)
{
    if (eventlog_is_on())
        eventlog_free(guard, caller, block, how);
    record_free(guard, caller, block, NULL, how, false);
}

void track_free_contained(struct guard *guard, const struct frame *caller, uintptr_t start,
                          size_t size, uint32_t how)
{
    struct suballoc_block it;
    while (suballoc_remove_in_range(guard, start, start + size, &it))
        track_suballoc_free(guard, caller, &it.block, how);
}

/* Handles free, delete or realloc of a block that belongs to an allocator of the program: the block
 * counts as freed, and an error is recorded. False: no such block begins there. */
static bool free_suballoc_wrongly(struct guard *guard, const struct frame *caller,
                                  uintptr_t address, uint32_t how)
{
    struct suballoc_block it;
    if (likely(!load_relaxed(&suballoc_count)) ||
        !suballoc_remove(guard, address, SUBALLOC_ANY_POOL, &it))
        return false;
    bad_free_of_suballoc(guard, caller, &it, how, 0);
    track_suballoc_free(guard, caller, &it.block, how);
    return true;
}

bool track_remove_for_realloc(struct guard *guard, const struct frame *caller, void *pointer,
                              struct block *out)
{
    bool known = unlikely(track_state.detour) ? remove_with_detour(guard, caller, pointer, out)
                                              : blocks_remove(guard, arch_address(pointer), out);
    if (unlikely(!known)) {
        if (!free_suballoc_wrongly(guard, caller, arch_address(pointer), FREED_BY_REALLOC) &&
            !bad_free_of_quarantined(guard, caller, arch_address(pointer), FREED_BY_REALLOC))
            bad_free_of_unknown(guard, caller, arch_address(pointer), FREED_BY_REALLOC);
    } else if (unlikely(!bad_free_agrees(caller, out, FREED_BY_REALLOC, false))) {
        bad_free_check_block(guard, caller, out, FREED_BY_REALLOC);
    }
    return known;
}

static void free_sampled(struct guard *guard, const struct frame *caller, void *pointer,
                         uint32_t how)
{
    struct block block;
    if (!sample_remove(guard, arch_address(pointer), &block))
        return;
    if (eventlog_is_on())
        eventlog_free(guard, caller, &block, how);
    bad_free_check_block(guard, caller, &block, how); /* does nothing if the free is correct */
    record_free(guard, caller, &block, pointer, how, true);
    if (fill_state.frees)
        fill_freed(pointer, block.size);
}

static void *free_with_detour(struct guard *guard, const struct frame *caller, void *pointer,
                              uint32_t how)
{
    struct block block;
    uintptr_t address = arch_address(pointer);
    if (!blocks_remove(guard, address, &block)) {
        if (bad_free_of_quarantined(guard, caller, address, how))
            return NULL;
        if (free_suballoc_wrongly(guard, caller, address, how))
            return pointer;
        if (eventlog_is_on())
            eventlog_free_unknown(guard, caller, address, how);
        bad_free_of_unknown(guard, caller, address, how);
        return pointer;
    }
    if (eventlog_is_on())
        eventlog_free(guard, caller, &block, how);
    tell_of_free(guard, caller, &block, how);
    bad_free_check_block(guard, caller, &block, how); /* does nothing if the free is correct */
    if (load_relaxed(&suballoc_count))
        track_free_contained(guard, caller, address, block.size, how);
    record_free(guard, caller, &block, pointer, how, false);
    if (fill_state.frees)
        fill_freed(pointer, block.size);
    return quarantine_is_on() && bad_free_quarantine(guard, caller, pointer, &block, how) ? NULL
                                                                                          : pointer;
}

static NOINLINE void *free_detour(struct guard *guard, const struct frame *caller, void *pointer,
                                  uint32_t how)
{
    if (!sample_state.bytes)
        return free_with_detour(guard, caller, pointer, how);
    free_sampled(guard, caller, pointer, how);
    return pointer;
}

void *track_free_unknown(struct guard *guard, const struct frame *caller, void *pointer,
                         uint32_t how)
{
    if (bootstrap_owns(pointer))
        return NULL;
    bad_free_of_unknown(guard, caller, arch_address(pointer), how);
    return pointer;
}

static void *free_checked(struct guard *guard, const struct frame *caller,
                          const struct block *block, void *pointer, uint32_t how)
{
    bad_free_check_block(guard, caller, block, how); /* does nothing if the free is correct */
    record_free(guard, caller, block, pointer, how, false);
    return pointer;
}

void *track_free_wrong(struct guard *guard, const struct frame *caller, struct block *block,
                       const struct origin *origin, void *pointer, uint32_t how)
{
    blocks_tell_origin(block, origin);
    return free_checked(guard, caller, block, pointer, how);
}

void *track_free_slow(struct guard *guard, const struct frame *caller, void *pointer, uint32_t how)
{
    struct block block;
    if (!blocks_remove(guard, arch_address(pointer), &block))
        return track_free_unknown(guard, caller, pointer, how);
    return free_checked(guard, caller, &block, pointer, how);
}

static ALWAYS_INLINE void *free_inline(struct guard *guard, const struct frame *caller,
                                       void *pointer, uint32_t how, bool with_size)
{
    return unlikely(track_state.detour) ? free_detour(guard, caller, pointer, how)
           : unlikely(!guard->thread)
               ? track_free_slow(guard, caller, pointer, how)
               : track_free_known_thread(guard, caller, pointer, how, with_size);
}

void *track_free(struct guard *guard, const struct frame *caller, void *pointer, uint32_t how)
{
    return free_inline(guard, caller, pointer, how, false);
}

void *track_free_sized(struct guard *guard, const struct free_form_frame *frame, void *pointer,
                       uint32_t how)
{
    return free_inline(guard, &frame->caller, pointer, how, true);
}

void track_reinsert(struct guard *guard, const struct block *block)
{
    struct block old;
    if (unlikely(sample_state.bytes))
        sample_insert(guard, block, &old);
    else
        blocks_put_back(guard, block);
}
