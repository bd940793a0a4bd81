/* test_track.c - blocks come and go, in several threads: the account of the store adds up.
 *
 *     sum over sites of (allocs - frees) = blocks in the table, and likewise for bytes
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/heap/free_history.h"
#include "preload/memory/arena.h"
#include "preload/interpose/real_functions.h"
#include "preload/heap/capture.h"
#include "preload/interpose/modules.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "preload/contexts/context_tree.h"

/* Every hook's way in: where it was called from, and the token. */
#define ENTER()                                                                                    \
    struct frame caller = CALLER_FRAME();                                                          \
    struct guard *guard = guard_enter(&caller)

/* Blocks that are freed are looked at: so there is memory. */
#define HEAP_BYTES (64u << 20)
static uintptr_t heap;
#define AT(offset) (heap + (offset))

/* As in a process of several threads … */
static void setup_many(void)
{
    ENTER();
    heap = (uintptr_t)sys_map_lazily(HEAP_BYTES);
    ck_assert_uint_ne(heap, 0);
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "track", environ));
    track_start();
    track_select_path();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    guard_leave(guard);
}

/* … and as libc says, which is: of one. */
static void setup(void)
{
    lock_start();
    setup_many();
}

static NOINLINE void came(uintptr_t address, size_t size, enum leak_kind kind)
{
    ENTER();
    track_alloc(guard, &caller, (void *)address, size, kind);
    guard_leave(guard);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void went(uintptr_t address)
{
    ENTER();
    track_free(guard, &caller, (void *)address, FREED_BY_FREE);
    guard_leave(guard);
    __asm__ volatile("" ::: "memory");
}

static struct leak_counts all_sites(void)
{
    struct leak_counts sum = {0, 0, 0, 0};
    for (uint32_t site = 1; site <= store_header->sites; site++) {
        struct leak_counts one = view_counts(store_header, site);
        sum.allocs += one.allocs;
        sum.bytes += one.bytes;
        sum.frees += one.frees;
        sum.freed_bytes += one.freed_bytes;
    }
    return sum;
}

static void expect_all(uint64_t allocs, uint64_t bytes, uint64_t frees, uint64_t freed_bytes)
{
    struct leak_counts got = all_sites();
    ck_assert_msg(got.allocs == allocs && got.bytes == bytes && got.frees == frees &&
                      got.freed_bytes == freed_bytes,
                  "wanted %" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 ", got %" PRIu64 "/%" PRIu64
                  "/%" PRIu64 "/%" PRIu64,
                  allocs, bytes, frees, freed_bytes, got.allocs, got.bytes, got.frees,
                  got.freed_bytes);
}

static const struct leak_thread *record_of(uint32_t serial)
{
    uint64_t offset = 0;
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_THREADS, &offset))) {
        const struct leak_thread *record = (const struct leak_thread *)(chunk + 1);
        for (uint64_t i = 0; i < (chunk->size - sizeof *chunk) / sizeof *record; i++)
            if (record[i].serial == serial)
                return &record[i];
    }
    return NULL;
}

/* ---- One thread ------------------------------------------------------------------------------ */

START_TEST(a_block_that_came_is_in_table_and_account)
{
    struct block block;
    came(AT(0x1000), 100, LEAK_KIND_NEW_ARRAY);
    came(AT(0x2000), 50, LEAK_KIND_MALLOC);
    expect_all(2, 150, 0, 0);
    ck_assert_uint_eq(blocks_count(), 2);
    ck_assert(track_remove(&guard_self, (void *)AT(0x2000), &block));
    ck_assert_uint_eq(block.size, 50);
    ck_assert_uint_eq(block.kind, LEAK_KIND_MALLOC);
    ck_assert_uint_eq(block.thread, 1);
    ck_assert_uint_eq(block.count, 2);
    ck_assert(track_remove(&guard_self, (void *)AT(0x1000), &block));
    ck_assert_uint_eq(block.kind, LEAK_KIND_NEW_ARRAY);
    ck_assert_uint_eq(view_site(store_header, block.site)->kind, LEAK_KIND_NEW_ARRAY);
    ck_assert_uint_eq(record_of(1)->allocations, 2);
    ck_assert_int_eq(record_of(1)->tid, getpid());
}
END_TEST

START_TEST(a_block_that_went_is_counted_where_it_came_from)
{
    came(AT(0x1000), 100, LEAK_KIND_MALLOC);
    came(AT(0x2000), 50, LEAK_KIND_MALLOC);
    went(AT(0x1000));
    expect_all(2, 150, 1, 100);
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
    void *somebodys = malloc(16);
    went((uintptr_t)somebodys); /* only an address that no allocator knows is unknown */
    went(AT(0x1000));
    ck_assert_uint_eq(store_header->unknown_frees, 1);
    expect_all(2, 150, 1, 100);
    free(somebodys);
}
END_TEST

START_TEST(a_block_of_the_boot_pool_never_goes_to_libc)
{
    ENTER();
    void *block = bootstrap_alloc(16, 16);
    ck_assert(block);
    ck_assert(!track_free(guard, &caller, block, FREED_BY_FREE));
    guard_leave(guard);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
}
END_TEST

#ifdef __aarch64__
START_TEST(a_pointer_with_a_tag_is_the_block_it_points_to)
{
    came(AT(0x1000) | 0x0bull << 56, 100, LEAK_KIND_MALLOC);
    ck_assert_uint_eq(blocks_count(), 1);
    went(AT(0x1000) | 0x05ull << 56);
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
}
END_TEST
#endif

START_TEST(a_block_put_back_is_as_it_was)
{
    struct block before, after;
    came(AT(0x1000), 100, LEAK_KIND_MALLOC);
    ck_assert(track_remove(&guard_self, (void *)AT(0x1000), &before));
    ck_assert_uint_eq(blocks_count(), 0);
    track_reinsert(&guard_self, &before);
    expect_all(1, 100, 0, 0);
    ck_assert(track_remove(&guard_self, (void *)AT(0x1000), &after));
    ck_assert(before.address == after.address && before.size == after.size &&
              before.site == after.site && before.count == after.count &&
              before.tick == after.tick && before.thread == after.thread &&
              before.kind == after.kind);
    ck_assert_uint_eq(record_of(1)->allocations, 1);
    struct frame caller = CALLER_FRAME();
    track_free_removed(&guard_self, &caller, &after);
    expect_all(1, 100, 1, 100);
}
END_TEST

START_TEST(an_address_that_comes_twice_was_freed_unseen)
{
    came(AT(0x1000), 100, LEAK_KIND_MALLOC);
    came(AT(0x1000), 30, LEAK_KIND_NEW);
    expect_all(2, 130, 1, 100);
    ck_assert_uint_eq(blocks_count(), 1);
    went(AT(0x1000));
    expect_all(2, 130, 2, 130);
}
END_TEST

static const struct {
    uint64_t min, max;
    size_t size;
    bool tracked;
} filters[] = {{0, 0, 0, true},     {0, 0, 1 << 30, true}, {10, 0, 9, false},
               {10, 0, 10, true},   {0, 100, 100, true},   {0, 100, 101, false},
               {10, 100, 50, true}, {10, 100, 5, false},   {10, 100, 500, false}};

START_TEST(forgotten_blocks_count_as_freed_and_their_frees_as_unknown)
{
    for (uintptr_t i = 0; i < 5000; i++)
        came(AT(0x1000 + i * 512), 100 + i % 400, LEAK_KIND_MALLOC);
    struct leak_counts before = all_sites();
    ENTER();
    track_forget_blocks(guard);
    guard_leave(guard);
    ck_assert_uint_eq(blocks_count(), 0);
    expect_all(5000, before.bytes, 5000, before.bytes);
    went(AT(0x1000));
    ck_assert_uint_eq(store_header->unknown_frees, 1);
    came(AT(0x1000), 100, LEAK_KIND_MALLOC);
    expect_all(5001, before.bytes + 100, 5000, before.bytes);
}
END_TEST

START_TEST(sizes_that_were_filtered_are_counted_and_not_tracked)
{
    options_current.min_size = filters[_i].min;
    options_current.max_size = filters[_i].max;
    track_start();
    track_select_path();
    came(AT(0x1000), filters[_i].size, LEAK_KIND_MALLOC);
    ck_assert_msg(blocks_count() == filters[_i].tracked, "size %zu, min %" PRIu64 ", max %" PRIu64,
                  filters[_i].size, filters[_i].min, filters[_i].max);
    ck_assert_uint_eq(store_header->untracked[LEAK_UNTRACKED_FILTERED], !filters[_i].tracked);
    ck_assert_uint_eq(all_sites().allocs, filters[_i].tracked);
}
END_TEST

START_TEST(without_stacks_there_is_one_site_for_each_kind)
{
    options_current.site_stacks = _i;
    capture_start();
    for (volatile int n = 0; n < 10; n++) { /* volatile: unrolled, it is ten sites */
        came(AT(0x1000) + n * 64, 8, LEAK_KIND_MALLOC);
        came(AT(0x9000) + n * 64, 8, LEAK_KIND_NEW);
    }
    ck_assert_uint_eq(store_header->sites, 2);
    uint32_t node = view_site(store_header, 1)->node;
    ck_assert_msg(_i ? node >= LEAK_NODE_FIRST : node == LEAK_ROOT_NO_STACKS, "node %u", node);
}
END_TEST

static uint32_t node_of_next(uintptr_t address)
{
    struct block block;
    came(AT(address), 8, LEAK_KIND_MALLOC);
    ENTER();
    ck_assert(blocks_find_containing(guard, AT(address), &block));
    guard_leave(guard);
    return view_site(store_header, block.site)->node;
}

START_TEST(a_disabled_thread_takes_no_stacks_until_enabled_as_often)
{
    ck_assert_uint_ge(node_of_next(0x1000), LEAK_NODE_FIRST);
    capture_disable(&guard_self, true);
    capture_disable(&guard_self, true);
    ck_assert_uint_eq(node_of_next(0x1040), LEAK_ROOT_DISABLED);
    capture_disable(&guard_self, false);
    ck_assert_uint_eq(node_of_next(0x1080), LEAK_ROOT_DISABLED);
    capture_disable(&guard_self, false);
    ck_assert_uint_ge(node_of_next(0x10c0), LEAK_NODE_FIRST);
    ck_assert(!capture_disable(&guard_self, false));
    ck_assert_uint_eq(capture_state.reasons, 0);
}
END_TEST

START_TEST(all_are_disabled_once_and_enabled_once)
{
    ck_assert(capture_disable_all(true));
    ck_assert(!capture_disable_all(true));
    ck_assert_uint_eq(node_of_next(0x1000), LEAK_ROOT_DISABLED);
    ck_assert(capture_disable_all(false));
    ck_assert(!capture_disable_all(false));
    ck_assert_uint_ge(node_of_next(0x1040), LEAK_NODE_FIRST);
    ck_assert_uint_eq(capture_state.reasons, 0);
}
END_TEST

START_TEST(the_option_depth_cuts_what_is_stored)
{
    options_current.depth = 2;
    came(AT(0x1000), 8, LEAK_KIND_MALLOC);
    uint32_t node = view_site(store_header, 1)->node, frames = 0;
    for (; node >= LEAK_NODE_FIRST; node = view_node(store_header, node).parent)
        frames++;
    ck_assert_uint_eq(frames, 2);
    ck_assert_uint_eq(node, LEAK_ROOT_DEPTH);
}
END_TEST

START_TEST(live_bytes_and_peak_follow_the_heap)
{
    uint64_t live = 0, peak = 0;
    for (uintptr_t n = 1; n <= 2000; n++) {
        came(AT(n << 12), 1000, LEAK_KIND_MALLOC);
        live += 1000;
        peak = live > peak ? live : peak;
        if (n % 3 == 0) {
            went(AT((n - 1) << 12));
            live -= 1000;
        }
        int64_t off = (int64_t)(store_header->live_bytes - live);
        ck_assert_msg(off > -65536 && off < 65536, "step %d: live %" PRIu64 ", said %" PRIu64,
                      (int)n, live, store_header->live_bytes);
    }
    ck_assert_msg(store_header->peak_bytes + 65536 > peak && store_header->peak_bytes <= peak,
                  "peak %" PRIu64 ", said %" PRIu64, peak, store_header->peak_bytes);
}
END_TEST

START_TEST(ticks_only_go_forward)
{
    track_tick();
    store_header->epoch = 1000000;
    track_tick();
    ck_assert_uint_eq(store_header->epoch, 1000000);
    store_header->epoch = 0;
    struct timespec nap = {0, 300000000};
    nanosleep(&nap, NULL);
    track_tick();
    ck_assert(store_header->epoch >= 1 && store_header->epoch < 80);
}
END_TEST

START_TEST(hooks_tick_without_being_asked)
{
    struct timespec nap = {0, 300000000};
    for (uintptr_t n = 1; n < 200; n++)
        came(AT(n << 12), 8, LEAK_KIND_MALLOC);
    ck_assert_uint_lt(store_header->epoch, 2);
    nanosleep(&nap, NULL);
    for (uintptr_t n = 1; n < 200; n++)
        went(AT(n << 12));
    ck_assert_uint_ge(store_header->epoch, 2);
}
END_TEST

/* The clock of a thread that was busy is asked seldom; a release that finds it late says so to the
 * allocations as well. */
START_TEST(the_first_block_after_a_pause_is_as_old_as_it_is)
{
    struct timespec nap = {0, 300000000};
    struct block block;
    for (uintptr_t n = 1; n < 400; n++)
        came(AT(n << 12), 8, LEAK_KIND_MALLOC);
    uint32_t before = store_header->epoch;
    nanosleep(&nap, NULL);
    for (uintptr_t n = 1; n < 400 && store_header->epoch == before; n++)
        went(AT(n << 12));
    before = store_header->epoch;
    nanosleep(&nap, NULL);
    came(AT(1 << 12), 8, LEAK_KIND_MALLOC);
    ck_assert(blocks_find(&unit_guard, (uintptr_t)AT(1 << 12), &block));
    ck_assert_uint_gt(store_header->epoch, before);
    ck_assert_uint_eq(block.tick, store_header->epoch);
}
END_TEST

START_TEST(without_memory_blocks_are_counted_as_untracked)
{
    arena_set_limit(arena_used() + (64 << 10));
    enum { MANY = 8000 };
    /* In memory that may be a heap's. */
    uintptr_t many = (uintptr_t)mmap(NULL, (MANY + 1) << 5, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uintptr_t n = 1; n <= MANY; n++)
        came(many + (n << 5), 8, LEAK_KIND_MALLOC);
    uint64_t lost = store_header->untracked[LEAK_UNTRACKED_NO_MEMORY];
    ck_assert_msg(lost > 0, "the limit was never met");
    ck_assert_uint_eq(blocks_count() + lost, MANY);
    ck_assert_uint_eq(all_sites().allocs, blocks_count());
    for (uintptr_t n = 1; n <= MANY; n++)
        went(many + (n << 5));
    ck_assert_uint_eq(store_header->unknown_frees, lost);
    ck_assert_uint_eq(all_sites().frees, MANY - lost);
    ck_assert_uint_eq(blocks_count(), 0);
}
END_TEST

/* ---- Orphans --------------------------------------------------------------------------------- */

static uint32_t site_at(uintptr_t address)
{
    struct block block;
    ck_assert(blocks_find(&unit_guard, address, &block));
    return block.site;
}

static const struct dropped_pair *only_orphan(void)
{
    uint32_t at = 0;
    const struct dropped_pair *first = dropped_pointers_next(&at);
    ck_assert(dropped_pointers_check());
    ck_assert_ptr_null(dropped_pointers_next(&at));
    return first;
}

/* A pointer at that word of a block. */
static void point(uintptr_t from, unsigned word, uintptr_t to)
{
    ((uintptr_t *)from)[word] = to;
}

START_TEST(who_frees_the_holder_of_a_live_block_is_kept)
{
    came(AT(0x1000), 64, LEAK_KIND_MALLOC);
    came(AT(0x2000), 48, LEAK_KIND_NEW);
    point(AT(0x1000), 5, AT(0x2000));
    uint32_t holder = site_at(AT(0x1000)), child = site_at(AT(0x2000));
    went(AT(0x1000));
    const struct dropped_pair *orphan = only_orphan();
    ck_assert_ptr_nonnull(orphan);
    ck_assert_uint_eq(orphan->site, child);
    ck_assert_uint_eq(orphan->holder, holder);
    ck_assert_uint_ge(orphan->node, LEAK_NODE_FIRST);
    ck_assert_uint_eq(orphan->last[0].address, AT(0x2000));
    ck_assert_uint_eq(orphan->last[0].count, 2);
}
END_TEST

#ifdef __aarch64__
START_TEST(a_holder_may_keep_its_pointers_with_tags)
{
    came(AT(0x1000) | 0x0bull << 56, 64, LEAK_KIND_MALLOC);
    came(AT(0x2000) | 0x05ull << 56, 48, LEAK_KIND_NEW);
    point(AT(0x1000), 5, AT(0x2000) | 0x05ull << 56);
    went(AT(0x1000) | 0x0bull << 56);
    const struct dropped_pair *orphan = only_orphan();
    ck_assert_ptr_nonnull(orphan);
    ck_assert_uint_eq(orphan->last[0].address, AT(0x2000));
}
END_TEST
#endif

/* Where the word stands, and what it is. */
static const struct {
    const char *what;
    unsigned word;
    uintptr_t pointer;
} no_holders[] = {
    {"the inside of a block", 0, 0x2008}, {"a block that is gone", 0, 0x3000},
    {"no block at all", 0, 0x8000},       {"a word behind the end", 8, 0x2000},
    {"the holder itself", 0, 0x1000},
};

START_TEST(what_holds_no_live_block_leaves_none)
{
    came(AT(0x1000), 64, LEAK_KIND_MALLOC);
    came(AT(0x2000), 48, LEAK_KIND_NEW);
    came(AT(0x3000), 48, LEAK_KIND_NEW);
    went(AT(0x3000));
    point(AT(0x1000), no_holders[_i].word, AT(no_holders[_i].pointer));
    went(AT(0x1000));
    ck_assert_msg(!only_orphan(), "%s", no_holders[_i].what);
}
END_TEST

START_TEST(pairs_whose_blocks_are_gone_make_room)
{
    uint32_t at = 0, pairs = 0;
    for (uint32_t n = 0; n < 20000; n++) {
        struct block holder = {.address = AT(0x1000), .size = 64, .site = n + 1};
        uint32_t node = 100 + n;
        came(AT(0x2000), 48, LEAK_KIND_NEW);
        point(AT(0x1000), 0, AT(0x2000));
        dropped_pointers_scan(&unit_guard, NULL, NULL, &holder, (void *)holder.address, &node);
        if (n < 19999)
            went(AT(0x2000));
    }
    ck_assert(dropped_pointers_check());
    while (dropped_pointers_next(&at))
        pairs++;
    ck_assert_uint_gt(pairs, 3000);
    ck_assert_uint_le(pairs, 4096);
    at = 0;
    bool last = false;
    for (const struct dropped_pair *orphan; (orphan = dropped_pointers_next(&at));)
        last |= orphan->holder == 20000 && orphan->node == 100 + 19999;
    ck_assert(last);
}
END_TEST

START_TEST(first_frees_are_scanned_until_the_budget_is_spent)
{
    struct thread thread = {.freed.scans_left = FREE_HISTORY_SCANS, .freed.dice = 1ull << 40};
    for (unsigned n = 0; n < FREE_HISTORY_SCANS; n++)
        ck_assert(dropped_pointers_is_due(&thread, n % DROPPED_POINTERS_FIRST, 0, false));
    ck_assert(!dropped_pointers_is_due(&thread, 0, 0, false));
    /* A free that is captured brings one scan: of a first free this one, else the next. */
    ck_assert(dropped_pointers_is_due(&thread, 0, 1, false));
    ck_assert(!dropped_pointers_is_due(&thread, 0, 0, false));
    ck_assert(!dropped_pointers_is_due(&thread, DROPPED_POINTERS_FIRST, 64, false));
    ck_assert(!dropped_pointers_is_due(&thread, DROPPED_POINTERS_FIRST, 0, false));
    ck_assert(dropped_pointers_is_due(&thread, 0, 0, false));
    ck_assert(!dropped_pointers_is_due(&thread, 0, 0, false));
    /* With free_stacks=all there is no budget. */
    ck_assert(dropped_pointers_is_due(&thread, DROPPED_POINTERS_FIRST, 1, true));
}
END_TEST

/* ---- What is remembered ---------------------------------------------------------------------- */

static NOINLINE void from_one_place(int depth, int times)
{
    if (depth) {
        from_one_place(depth - 1, times);
    } else {
        for (volatile int n = 0; n < times; n++) {
            came(AT(0x1000), 8, LEAK_KIND_MALLOC);
            went(AT(0x1000));
        }
    }
    __asm__ volatile("" ::: "memory");
}

/* Faults that silently disabled these would leave every number right. */
START_TEST(a_place_that_comes_back_is_neither_walked_nor_looked_up)
{
    options_current.free_stacks = FREE_STACKS_OFF; /* they look there as well, now and then */
    from_one_place(20, 1);
    struct stack_cache *leaves = &guard_self.thread->stack_cache;
    for (volatile int round = 0; round < 2; round++) {
        leaves->lookups = leaves->misses = 0;
        from_one_place(20, 100);
        ck_assert_uint_eq(leaves->lookups, 100);
        ck_assert_msg(leaves->misses <= 2u - round, "round %d: %u misses of 100", round,
                      leaves->misses);
    }
    ck_assert_uint_eq(store_header->sites, 2); /* from outside, from_one_place was called twice */
}
END_TEST

/* As a handler leaves it that came while nodes were looked for, and went by longjmp. */
START_TEST(a_walk_that_was_left_by_longjmp_is_not_relied_on)
{
    from_one_place(20, 1);
    struct thread *thread = guard_self.thread;
    unwind_open(&thread->trace);
    for (unsigned i = 0; i < thread->trace.depth; i++)
        thread->trace.step[i].node = 0;
    stack_cache_clear(&thread->stack_cache);
    uint64_t shared = thread->record->frames_shared;
    came(AT(0x2000), 8, LEAK_KIND_MALLOC);
    ck_assert_uint_eq(thread->record->frames_shared, shared);
    ck_assert_uint_eq(store_header->untracked[LEAK_UNTRACKED_NO_MEMORY], 0);
    ck_assert_uint_eq(blocks_count(), 1);
    stack_cache_clear(&thread->stack_cache);
    came(AT(0x3000), 8, LEAK_KIND_MALLOC);
    ck_assert_uint_gt(thread->record->frames_shared, shared); /* and the next one is */
}
END_TEST

static NOINLINE void of_changing_depth(int depth, uintptr_t address)
{
    if (depth)
        of_changing_depth(depth - 1, address);
    else
        came(address, 8, LEAK_KIND_MALLOC);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void below_many_frames(int depth)
{
    if (depth) {
        below_many_frames(depth - 1);
    } else {
        const struct unwind_trace *trace = &guard_self.thread->trace;
        guard_self.thread->stack_cache.asleep = 1000; /* they do not answer */
        for (volatile int n = 0; n < 200; n++) {
            int frames = n % 7;
            of_changing_depth(frames, AT(0x10000) + n * 64);
            ck_assert_msg(!n || trace->depth - trace->shared <= (unsigned)frames + 2,
                          "of %u frames %u are shared", trace->depth, trace->shared);
            ck_assert(trace->depth > 50);
        }
        ck_assert_uint_eq(guard_self.thread->stack_cache.asleep, 800);
    }
    __asm__ volatile("" ::: "memory");
}

START_TEST(outer_frames_of_changing_places_are_not_walked_again)
{
    below_many_frames(50);
    ck_assert_uint_eq(store_header->sites, 7);
}
END_TEST

/* ---- Several threads ------------------------------------------------------------------------- */

#define THREADS 4
#define PLACES 20000

static uint64_t sizes[THREADS * PLACES];

static NOINLINE void come_from_deep(uintptr_t address, size_t size, int depth)
{
    if (depth)
        come_from_deep(address, size, depth - 1);
    else
        came(address, size, LEAK_KIND_MALLOC);
    __asm__ volatile("" ::: "memory");
}

static void *live(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    uint64_t state = unit_seed + me;
    for (int n = 0; n < 40000; n++) {
        uintptr_t place = me * PLACES + unit_random(&state) % PLACES;
        if (sizes[place]) {
            went(AT(0x100000) + place * 64);
            sizes[place] = 0;
        } else {
            sizes[place] = 1 + unit_random(&state) % 1000;
            come_from_deep(AT(0x100000) + place * 64, sizes[place], unit_random(&state) % 12);
        }
    }
    return NULL;
}

/* Blocks of one thread freed by another. */
static void *free_all(void *argument UNUSED)
{
    for (uintptr_t place = 0; place < THREADS * PLACES; place++)
        if (sizes[place])
            went(AT(0x100000) + place * 64);
    return NULL;
}

static void run(void *(*body)(void *), int count)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < (uintptr_t)count; i++)
        pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(the_account_of_many_threads_adds_up)
{
    uint64_t blocks = 0, bytes = 0;
    run(live, THREADS);
    for (uintptr_t place = 0; place < THREADS * PLACES; place++) {
        blocks += sizes[place] != 0;
        bytes += sizes[place];
    }
    struct leak_counts sum = all_sites();
    ck_assert_uint_eq(blocks_count(), blocks);
    ck_assert_msg(sum.allocs - sum.frees == blocks && sum.bytes - sum.freed_bytes == bytes,
                  "seed %" PRIu64 ": %" PRIu64 " blocks of %" PRIu64
                  " bytes live, the account has %" PRIu64 " of %" PRIu64,
                  unit_seed, blocks, bytes, sum.allocs - sum.frees, sum.bytes - sum.freed_bytes);
    ck_assert_uint_eq(store_header->live_bytes, bytes); /* all threads have brought their rest */
    run(free_all, 1);
    sum = all_sites();
    ck_assert(sum.allocs == sum.frees && sum.bytes == sum.freed_bytes);
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert_uint_eq(store_header->live_bytes, 0);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
    ck_assert(blocks_check() && context_tree_check());
    ck_assert_uint_eq(store_header->threads, 1 + THREADS + 1);
    for (uint32_t serial = 2; serial <= 1 + THREADS + 1; serial++)
        ck_assert_msg(record_of(serial) && record_of(serial)->ended, "T%u has no end", serial);
    ck_assert_uint_eq(record_of(1)->ended, 0);
}
END_TEST

static void *short_life(void *argument)
{
    uintptr_t n = (uintptr_t)argument;
    came(AT(0x100000) + n * 64, 16, LEAK_KIND_MALLOC);
    return NULL;
}

START_TEST(thousands_of_short_threads_leave_a_small_store)
{
    for (uintptr_t n = 0; n < 2000; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, short_life, (void *)n);
        pthread_join(thread, NULL);
    }
    expect_all(2000, 32000, 0, 0);
    ck_assert_uint_eq(store_header->threads, 2001);
    ck_assert_msg(store_header->used < 1 << 20, "%" PRIu64 " bytes of store", store_header->used);
    ck_assert_uint_eq(record_of(2001)->allocations, 1);
}
END_TEST

/* The n-th allocation of a thread, from 1. */
static bool is_of(uintptr_t address, uint32_t thread, uint32_t count)
{
    struct block block;
    return blocks_find(&guard_self, address, &block) && block.thread == thread &&
           block.count == count;
}

static void *few_blocks(void *argument)
{
    uintptr_t n = (uintptr_t)argument;
    for (uintptr_t i = 0; i < 3; i++)
        came(AT(0x100000) + n * 4096 + i * 64, 40, LEAK_KIND_MALLOC);
    return NULL;
}

START_TEST(blocks_have_the_number_of_their_thread_though_an_ended_one_had_its_state)
{
    for (uintptr_t n = 0; n < 50; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, few_blocks, (void *)n);
        pthread_join(thread, NULL);
    }
    for (uintptr_t n = 0; n < 50; n++)
        for (uint32_t i = 0; i < 3; i++)
            UNIT_WANT_MSG(is_of(AT(0x100000) + n * 4096 + i * 64, n + 2, i + 1),
                          "allocation %u of T%u is said to be another thread's", i + 1,
                          (unsigned)n + 2);
}
END_TEST

static bool is_child_of(uintptr_t heap_of_child)
{
    ENTER();
    struct leak_header *parent;
    uint64_t size;
    bool good = store_create_child(&parent, &size) && threads_fork_child(guard);
    guard_leave(guard);
    came(heap_of_child, 40, LEAK_KIND_MALLOC);
    return good && is_of(heap_of_child, 1, 1) && is_of(AT(0x100000), 2, 1);
}

static void *fork_after_a_block(void *argument)
{
    came(AT(0x100000), 40, LEAK_KIND_MALLOC);
    pid_t pid = fork();
    if (pid == 0)
        _exit(!is_child_of(AT(0x200000)));
    unit_await_success(pid);
    return argument;
}

START_TEST(blocks_of_a_fork_child_have_its_number_and_inherited_ones_keep_theirs)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fork_after_a_block, NULL);
    pthread_join(thread, NULL);
    ck_assert(is_of(AT(0x100000), 2, 1));
}
END_TEST

/* ---- At a thread's end ----------------------------------------------------------------------- */

static void late(void *argument)
{
    came((uintptr_t)argument, 16, LEAK_KIND_MALLOC); /* after the runtime's own destructor */
}

static pthread_key_t key;

static void *with_late_block(void *argument)
{
    came((uintptr_t)argument, 8, LEAK_KIND_MALLOC);
    pthread_setspecific(key, (char *)argument + 64);
    return NULL;
}

START_TEST(what_a_thread_does_at_its_very_end_is_counted_on_a_stand_in)
{
    pthread_key_create(&key, late);
    for (uintptr_t n = 1; n <= 50; n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, with_late_block, (void *)(n << 16));
        pthread_join(thread, NULL);
    }
    expect_all(100, 50 * 24, 0, 0);
    ck_assert_uint_eq(blocks_count(), 100);
    uint32_t stand_in = 0;
    for (uint32_t serial = 1; serial <= store_header->threads; serial++)
        if (record_of(serial) && !strcmp(record_of(serial)->name, "(at their end)"))
            stand_in = serial;
    ck_assert_msg(stand_in, "no stand-in");
    ck_assert_uint_eq(store_header->threads, 52);
    ck_assert_uint_eq(record_of(stand_in)->allocations, 50);
}
END_TEST

static void *poor_thread(void *argument UNUSED)
{
    for (uintptr_t n = 1; n <= 1000; n++)
        came(AT(0x900000) + (n << 5), 8, LEAK_KIND_MALLOC);
    return NULL;
}

START_TEST(a_thread_without_memory_is_one_thread_and_its_blocks_are_counted)
{
    came(AT(0x1000), 8, LEAK_KIND_MALLOC);
    arena_set_limit(arena_used());
    run(poor_thread, 1);
    ck_assert_uint_eq(store_header->untracked[LEAK_UNTRACKED_NO_MEMORY], 1000);
    ck_assert_msg(store_header->threads <= 2, "%" PRIu64 " threads", store_header->threads);
    arena_set_limit(0);
    run(poor_thread, 1);
    ck_assert_uint_eq(blocks_count(), 1001);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("track");
    static const struct {
        const char *name;
        void (*setup)(void);
    } ways[] = {{"one", setup}, {"one-of-many", setup_many}};
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        TCase *one = tcase_create(ways[i].name);
        tcase_set_timeout(one, 30);
        tcase_add_checked_fixture(one, ways[i].setup, NULL);
        tcase_add_test(one, a_block_that_came_is_in_table_and_account);
        tcase_add_test(one, a_block_that_went_is_counted_where_it_came_from);
        tcase_add_test(one, a_block_of_the_boot_pool_never_goes_to_libc);
#ifdef __aarch64__
        tcase_add_test(one, a_pointer_with_a_tag_is_the_block_it_points_to);
#endif
        tcase_add_test(one, a_block_put_back_is_as_it_was);
        tcase_add_test(one, an_address_that_comes_twice_was_freed_unseen);
        tcase_add_test(one, forgotten_blocks_count_as_freed_and_their_frees_as_unknown);
        tcase_add_loop_test(one, sizes_that_were_filtered_are_counted_and_not_tracked, 0,
                            ARRAY_LENGTH(filters));
        tcase_add_loop_test(one, without_stacks_there_is_one_site_for_each_kind, 0, 2);
        tcase_add_test(one, a_disabled_thread_takes_no_stacks_until_enabled_as_often);
        tcase_add_test(one, all_are_disabled_once_and_enabled_once);
        tcase_add_test(one, the_option_depth_cuts_what_is_stored);
        tcase_add_test(one, live_bytes_and_peak_follow_the_heap);
        tcase_add_test(one, ticks_only_go_forward);
        tcase_add_test(one, hooks_tick_without_being_asked);
        tcase_add_test(one, the_first_block_after_a_pause_is_as_old_as_it_is);
        tcase_add_test(one, without_memory_blocks_are_counted_as_untracked);
        tcase_add_test(one, who_frees_the_holder_of_a_live_block_is_kept);
#ifdef __aarch64__
        tcase_add_test(one, a_holder_may_keep_its_pointers_with_tags);
#endif
        tcase_add_loop_test(one, what_holds_no_live_block_leaves_none, 0,
                            (int)ARRAY_LENGTH(no_holders));
        tcase_add_test(one, pairs_whose_blocks_are_gone_make_room);
        tcase_add_test(one, first_frees_are_scanned_until_the_budget_is_spent);
        tcase_add_test(one, a_place_that_comes_back_is_neither_walked_nor_looked_up);
        tcase_add_test(one, a_walk_that_was_left_by_longjmp_is_not_relied_on);
        tcase_add_test(one, outer_frames_of_changing_places_are_not_walked_again);
        suite_add_tcase(suite, one);
    }
    TCase *many = tcase_create("threads");
    tcase_set_timeout(many, 60);
    tcase_add_checked_fixture(many, setup, NULL);
    tcase_add_test(many, the_account_of_many_threads_adds_up);
    tcase_add_test(many, thousands_of_short_threads_leave_a_small_store);
    tcase_add_test(many, blocks_have_the_number_of_their_thread_though_an_ended_one_had_its_state);
    tcase_add_test(many, blocks_of_a_fork_child_have_its_number_and_inherited_ones_keep_theirs);
    tcase_add_test(many, what_a_thread_does_at_its_very_end_is_counted_on_a_stand_in);
    tcase_add_test(many, a_thread_without_memory_is_one_thread_and_its_blocks_are_counted);
    suite_add_tcase(suite, many);
    return unit_main(argc, argv, suite);
}
