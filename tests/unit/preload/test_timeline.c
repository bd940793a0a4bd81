/* test_timeline.c - the heap over time, with a clock of the test's own: what is written is what was, and a
 * month takes no more room than an hour.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/heap/free_history.h"
#include "preload/memory/arena.h"
#include "preload/heap/timeline.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "preload/contexts/context_tree.h"

#define ENTER()                                                                                    \
    struct frame caller = CALLER_FRAME();                                                          \
    struct guard *guard = guard_enter(&caller)

/* Blocks that are freed are looked at: so there is memory. */
static uintptr_t heap;
#define AT(offset) (heap + (offset))

static void setup(void)
{
    lock_start();
    ENTER();
    heap = (uintptr_t)sys_map_lazily(128 << 20);
    ck_assert_uint_ne(heap, 0);
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "history", environ));
    track_start();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    guard_leave(guard);
}

/* ---- A heap whose sites the test chooses ------------------------------------------------------ */

static void make_sites(uint32_t count)
{
    for (uint32_t i = sites_last(); i < count; i++)
        ck_assert_uint_ne(sites_make(&unit_guard, LEAK_ROOT_COMPLETE, LEAK_KIND_MALLOC), 0);
}

static void hold(uint32_t site, int64_t bytes, int64_t blocks)
{
    struct leak_slot *slot = thread_counters_find(&unit_guard, &guard_self.thread->slots, site);
    if (bytes >= 0) {
        bump(&slot->counts.bytes, bytes);
        bump(&slot->counts.allocs, blocks);
    } else {
        bump(&slot->counts.freed_bytes, -bytes);
        bump(&slot->counts.frees, -blocks);
    }
    store_header->live_bytes += bytes;
    threads_state.live_blocks += blocks;
}

static void tick_to(uint32_t tick)
{
    uint32_t before = store_header->epoch;
    store_header->epoch = tick;
    timeline_tick(&unit_guard, guard_self.thread, before);
}

static void attach(void)
{
    ENTER();
    struct locked shared;
    threads_done(threads_self(guard, &shared), &shared);
    guard_leave(guard);
}

/* ---- As a reader sees it ----------------------------------------------------------------------- */

static const struct leak_history *written(void)
{
    uint64_t offset = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset);
    return chunk ? (const struct leak_history *)(chunk + 1) : NULL;
}

static const struct leak_point *point_at(uint32_t tick)
{
    for (size_t i = 0; i < LEAK_HISTORY_POINTS; i++)
        if (written()->point[i].tick == tick + 1)
            return &written()->point[i];
    return NULL;
}

static const struct leak_row *next_row(uint64_t *offset, const struct leak_row *last)
{
    static const struct leak_row *end;
    if (!last || last + 1 == end) {
        const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_ROWS, offset);
        last = chunk ? (const struct leak_row *)(chunk + 1) - 1 : NULL;
        end = last + 1 + LEAK_ROWS_A_CHUNK;
        if (!chunk)
            return NULL;
    }
    return last + 1;
}

static const struct leak_row *row_at(uint32_t tick)
{
    uint64_t offset = 0;
    for (const struct leak_row *row = NULL; (row = next_row(&offset, row));)
        if (row->tick == tick + 1)
            return row;
    return NULL;
}

static const struct leak_column *column_of(uint32_t site)
{
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++)
        if (written()->column[i].site == site)
            return &written()->column[i];
    return NULL;
}

static const struct leak_row_entry *entry_at(uint32_t tick, uint32_t site)
{
    const struct leak_column *column = column_of(site);
    const struct leak_row *row = row_at(tick);
    return column && row ? &row->at[column - written()->column] : NULL;
}

/* ---- Points and rows --------------------------------------------------------------------------- */

START_TEST(nothing_is_written_before_time_has_passed)
{
    attach();
    make_sites(1);
    hold(1, 1000, 1);
    ck_assert_ptr_null(written());
}
END_TEST

START_TEST(a_point_is_what_lived_then)
{
    attach();
    make_sites(2);
    for (uint32_t tick = 1; tick < 100; tick++) {
        hold(1, 1000, 2);
        tick_to(tick);
    }
    for (uint32_t tick = 1; tick < 100; tick++) {
        ck_assert_uint_eq(point_at(tick)->live_bytes, 1000 * tick);
        ck_assert_uint_eq(point_at(tick)->live_blocks, 2 * tick);
    }
}
END_TEST

START_TEST(a_row_is_what_each_site_held_then)
{
    attach();
    make_sites(3);
    for (uint32_t tick = 1; tick < 100; tick++) {
        hold(1, 10000, 2);
        hold(2, 50000, 1);
        if (tick % 4 == 0)
            hold(2, -100000, -2);
        tick_to(tick);
    }
    for (uint32_t tick = 12; tick < 100; tick += 8) {
        ck_assert_uint_eq(entry_at(tick, 1)->live_bytes, 10000 * tick);
        ck_assert_uint_eq(entry_at(tick, 1)->allocs, 2 * tick);
        ck_assert_uint_eq(entry_at(tick, 1)->frees, 0);
        ck_assert_uint_eq(entry_at(tick, 2)->live_bytes, 50000 * tick - 100000 * (tick / 4));
        ck_assert_uint_eq(entry_at(tick, 2)->frees, 2 * (tick / 4));
    }
    ck_assert_ptr_null(column_of(3)); /* it never held anything */
}
END_TEST

START_TEST(what_is_so_after_a_rest_was_so_all_the_time)
{
    attach();
    make_sites(1);
    hold(1, 100000, 1);
    tick_to(20);
    hold(1, 400000, 4); /* still in that moment */
    tick_to(1000);      /* the next event comes much later */
    ck_assert_uint_eq(point_at(20)->live_bytes, 100000);
    ck_assert_uint_eq(point_at(21)->live_bytes, 500000);
    ck_assert_uint_eq(point_at(1000)->live_bytes, 500000);
    ck_assert_uint_eq(entry_at(21, 1)->live_bytes, 500000);
    ck_assert_uint_eq(entry_at(1000, 1)->live_bytes, 500000);
}
END_TEST

static uint64_t used_after(uint32_t end)
{
    for (uint32_t tick = store_header->epoch + 64; tick <= end; tick += 64) {
        hold(1 + tick / 64 % 50, 6400, 1);
        tick_to(tick);
    }
    return store_header->used;
}

START_TEST(a_month_takes_no_more_room_than_an_hour)
{
    attach();
    make_sites(50);
    uint64_t hour = used_after(3600 * 8), month = used_after(30u * 86400 * 8);
    ck_assert_uint_eq(month, hour);
    ck_assert_uint_le(hour, 400 << 10);
    uint64_t offset = 0;
    uint32_t rows = 0, recent = 0;
    for (const struct leak_row *row = NULL; (row = next_row(&offset, row));) {
        rows += row->tick != 0;
        recent += row->tick > store_header->epoch - 3600 * 8;
    }
    ck_assert_uint_eq(rows, LEAK_HISTORY_ROWS);
    ck_assert_uint_ge(recent, 12);
}
END_TEST

/* ---- Columns ------------------------------------------------------------------------------------ */

START_TEST(the_largest_sites_have_columns)
{
    attach();
    make_sites(400);
    for (uint32_t site = 1; site <= 400; site++)
        hold(site, 5000 + site * 1000, 1);
    for (uint32_t tick = 1; tick < 40; tick++)
        tick_to(tick);
    for (uint32_t site = 1; site <= 400; site++)
        ck_assert_int_eq(column_of(site) != NULL, site > 400 - LEAK_HISTORY_COLUMNS);
}
END_TEST

/* 300 KB/s among sites that hold 20 MB each: within a few seconds it has one. */
START_TEST(what_grows_takes_the_column_of_what_does_not)
{
    attach();
    make_sites(400);
    for (uint32_t site = 1; site <= 399; site++)
        hold(site, 20000000 + site, 1);
    for (uint32_t tick = 1; tick < 30; tick++)
        tick_to(tick);
    uint32_t found = 0;
    for (uint32_t tick = 30; !found && tick < 800; tick++) {
        hold(400, 300000 / 8, 10);
        tick_to(tick);
        found = column_of(400) ? tick : 0;
    }
    ck_assert_msg(found && found < 30 + 15 * 8, "after %u ticks", found - 30);
    ck_assert_uint_ge(column_of(400)->since, 30);
    tick_to(found + 8);
    ck_assert_uint_eq(entry_at(found + 8, 400)->live_bytes, (found - 29) * (300000 / 8));
}
END_TEST

START_TEST(what_has_been_large_keeps_its_column)
{
    attach();
    make_sites(400);
    hold(1, 100 << 20, 100);
    for (uint32_t tick = 1; tick < 30; tick++)
        tick_to(tick);
    hold(1, -(100 << 20), -100);
    for (uint32_t site = 2; site <= 400; site++)
        hold(site, 1 << 20, 1);
    for (uint32_t tick = 30; tick < 300; tick++)
        tick_to(tick);
    ck_assert_ptr_nonnull(column_of(1));
    ck_assert_uint_eq(column_of(1)->peak, 100 << 20);
    ck_assert_uint_eq(column_of(1)->since, 4);
}
END_TEST

START_TEST(ages_of_what_died_add_up)
{
    attach();
    make_sites(2);
    hold(1, 100000, 10);
    tick_to(4);
    timeline_add_death(1, 64, 10);
    timeline_add_death(1, 1, 36);
    timeline_add_death(2, 64, 10); /* has no column */
    tick_to(12);
    ck_assert_uint_eq(entry_at(12, 1)->freed_age, 676);
}
END_TEST

/* ---- The peak ------------------------------------------------------------------------------------ */

static NOINLINE void came(uintptr_t address, size_t size)
{
    ENTER();
    track_alloc(guard, &caller, (void *)address, size, LEAK_KIND_MALLOC);
    guard_leave(guard);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void came_elsewhere(uintptr_t address, size_t size)
{
    ENTER();
    track_alloc(guard, &caller, (void *)address, size, LEAK_KIND_NEW);
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

static const struct leak_peak *peak(void)
{
    const struct leak_history *history = written();
    if (!history)
        return NULL;
    const struct leak_peak *last =
        &history->peak[history->peak[1].number > history->peak[0].number];
    return last->number ? last : NULL;
}

static uint64_t at_peak(enum leak_kind kind)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < peak()->count; i++)
        if (sites_kind(peak()->site[i].site) == kind)
            bytes += peak()->site[i].bytes;
    return bytes;
}

START_TEST(the_peak_is_what_lived_when_it_fell)
{
    for (uintptr_t i = 0; i < 1000; i++)
        came(AT(0) + i * 64, 1000);
    came_elsewhere(AT(64 << 20), 50 << 20);
    went(AT(64 << 20)); /* one block, most of the heap: it belongs to the peak */
    ck_assert_ptr_nonnull(peak());
    ck_assert_uint_eq(at_peak(LEAK_KIND_NEW), 50 << 20);
    ck_assert_uint_eq(at_peak(LEAK_KIND_MALLOC), 1000000);
    ck_assert_uint_eq(peak()->bytes, (50 << 20) + 1000000);
    ck_assert_uint_eq(peak()->blocks, 1001);
}
END_TEST

START_TEST(a_peak_is_known_within_a_hundredth)
{
    uint64_t highest = 0, live = 0;
    uintptr_t next = 0, oldest = 0;
    for (unsigned tooth = 1; tooth < 40; tooth++) {
        while (live < 300000ull * tooth) {
            came(AT(0) + next++ * 64, 700);
            live += 700;
        }
        highest = live > highest ? live : highest;
        while (live > 200000) {
            went(AT(0) + oldest++ * 64);
            live -= 700;
        }
        usleep(2000); /* it is not written down more often than that pays */
    }
    ck_assert_uint_ge(peak()->bytes, highest - highest / 100);
    ck_assert_uint_le(peak()->bytes, highest);
}
END_TEST

START_TEST(a_heap_that_never_falls_has_no_peak_written)
{
    for (uintptr_t i = 0; i < 10000; i++)
        came(AT(0) + i * 64, 1000);
    ck_assert_ptr_null(peak());
}
END_TEST

START_TEST(small_heaps_have_no_peak_written)
{
    for (uintptr_t i = 0; i < 200; i++)
        came(AT(0) + i * 64, 1000);
    for (uintptr_t i = 0; i < 200; i++)
        went(AT(0) + i * 64);
    ck_assert_ptr_null(peak());
}
END_TEST

/* ---- Fork ------------------------------------------------------------------------------------------ */

START_TEST(a_fork_child_begins_anew)
{
    attach();
    make_sites(1);
    hold(1, 100000, 1);
    for (uint32_t tick = 1; tick < 40; tick++)
        tick_to(tick);
    const struct leak_history *before = written();
    timeline_fork_child();
    store_header->epoch = 40;
    tick_to(50);
    uint64_t offset = 0;
    view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset);
    const struct leak_chunk *second = view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset);
    ck_assert_ptr_nonnull(second); /* in its own store it is the first */
    ck_assert_ptr_ne(second + 1, before);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("history");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, nothing_is_written_before_time_has_passed);
    tcase_add_test(all, a_point_is_what_lived_then);
    tcase_add_test(all, a_row_is_what_each_site_held_then);
    tcase_add_test(all, what_is_so_after_a_rest_was_so_all_the_time);
    tcase_add_test(all, a_month_takes_no_more_room_than_an_hour);
    tcase_add_test(all, the_largest_sites_have_columns);
    tcase_add_test(all, what_grows_takes_the_column_of_what_does_not);
    tcase_add_test(all, what_has_been_large_keeps_its_column);
    tcase_add_test(all, ages_of_what_died_add_up);
    tcase_add_test(all, the_peak_is_what_lived_when_it_fell);
    tcase_add_test(all, a_peak_is_known_within_a_hundredth);
    tcase_add_test(all, a_heap_that_never_falls_has_no_peak_written);
    tcase_add_test(all, small_heaps_have_no_peak_written);
    tcase_add_test(all, a_fork_child_begins_anew);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
