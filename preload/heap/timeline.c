#include "preload/heap/timeline.h"
#include "preload/base/memory_limits.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/site_totals.h"
#include "preload/base/containers.h"

#include <time.h>

#define ROW_EVERY LEAK_TICKS_PER_SECOND
#define ROW_FIRST (LEAK_TICKS_PER_SECOND / 2)
#define CHOOSE_EVERY (2 * LEAK_TICKS_PER_SECOND)
/* What it costs is reckoned and not measured: on a busy machine a clock says how busy that is. */
#define COST_SHARE 1000
#define PEAK_COST_SHARE 100
#define UNIT_NS 10              /* to read a site or a slot, at most */
#define PEAK_LEAST (256u << 10) /* below this nobody asks what it was */
#define COLUMN_LEAST (4u << 10) /* sites that never held so much have none */
/* What a site has grown by counts so many times when it has a column to win, … */
#define GROWTH_COUNTS 64
#define GROWTH_COUNTS_MOST 16 /* … but no more than so many times all that it holds */
#define NANOSECONDS_PER_TICK (1000000000u / LEAK_TICKS_PER_SECOND)

uint64_t history_peak_from = PEAK_LEAST;

static struct lock lock;             /* guards all that follows */
static struct leak_history *history; /* in the store; NULL = nothing has happened yet */
static struct leak_row *rows[LEAK_HISTORY_ROWS / LEAK_ROWS_A_CHUNK];
static struct downsample point_times = {.room = LEAK_HISTORY_POINTS};
static struct downsample row_times = {.room = LEAK_HISTORY_ROWS};
static struct leak_row_entry last_row[LEAK_HISTORY_COLUMNS];
static uint32_t next_row = ROW_FIRST, next_choice;
static uint64_t peak_not_before; /* monotonic ns */
static uint32_t peaks;
static struct tally tally;
static struct tally_top top[LEAK_HISTORY_COLUMNS];

/* Where the column of a site is + 1: open addressing, made anew with the columns. Who reads it
 * while it changes finds another site's column, and sees that. */
#define PLACES 512
static uint8_t column_of[PLACES];

/* For how long such work is not done again. */
static uint32_t rest_after(uint64_t units)
{
    return units * UNIT_NS * COST_SHARE / NANOSECONDS_PER_TICK;
}

static bool begin(void)
{
    if (history)
        return true;
    history = store_new_chunk(LEAK_CHUNK_HISTORY, sizeof *history, 0);
    if (!history)
        return false;
    enum leak_limit of;
    history->limit = memory_limits_smallest(&of);
    history->limit_of = of;
    return true;
}

/* ---- Points -------------------------------------------------------------------------------- */

static void add_point(const struct thread *thread, uint32_t tick)
{
    size_t place = downsample_place(&point_times, tick);
    if (place == SIZE_MAX)
        return;
    struct leak_point *point = &history->point[place];
    int64_t bytes = load_relaxed(&store_header->live_bytes) + threads_delta(thread);
    int64_t blocks = load_relaxed(&threads_blocks) + thread->delta_blocks;
    store_release(&point->tick, 0);
    fence_release(); /* whoever sees any of what follows sees that */
    point->live_bytes = bytes > 0 ? bytes : 0;
    point->live_blocks = blocks > 0 ? blocks : 0;
    store_release(&point->tick, tick + 1);
}

/* ---- Columns ------------------------------------------------------------------------------- */

static uint32_t place_of(uint32_t site)
{
    return site * 0x9e3779b1u >> 23;
}

static struct leak_column *find_column(uint32_t site)
{
    for (uint32_t i = place_of(site); column_of[i]; i = (i + 1) % PLACES)
        if (load_relaxed(&history->column[column_of[i] - 1].site) == site)
            return &history->column[column_of[i] - 1];
    return NULL;
}

static void index_columns(void)
{
    memset(column_of, 0, sizeof column_of);
    for (uint32_t c = 0; c < LEAK_HISTORY_COLUMNS; c++) {
        uint32_t i = place_of(history->column[c].site);
        if (!history->column[c].site)
            continue;
        while (column_of[i])
            i = (i + 1) % PLACES;
        column_of[i] = c + 1;
    }
}

/* The 26 highest bits of a size, and how far they were moved. */
static uint32_t in_short(uint64_t size)
{
    unsigned bits = 64 - __builtin_clzll(size | 1), moved = bits > 26 ? bits - 26 : 0;
    return (uint32_t)(size >> moved) << 6 | moved;
}

static uint64_t in_full(uint32_t size)
{
    return (uint64_t)(size >> 6) << size % 64;
}

/* What holds most, and what has grown most since the last time. */
static size_t find_largest(void)
{
    size_t count = 0;
    for (uint32_t site = 1; site <= tally.last; site++) {
        struct tally_sum *sum = &tally.at[site];
        uint32_t now = in_short(sum->bytes);
        uint64_t grown =
            in_full(now) > in_full(sum->before) ? in_full(now) - in_full(sum->before) : 0;
        uint64_t bonus = GROWTH_COUNTS * grown, most = GROWTH_COUNTS_MOST * sum->bytes;
        sum->before = now;
        if (sum->bytes >= COLUMN_LEAST)
            count = tally_keep(top, count, ARRAY_LENGTH(top), site,
                               sum->bytes + (bonus < most ? bonus : most));
    }
    return count;
}

/* What a column is worth: a site that was large stays, for a report asks how it became small. */
static uint64_t worth(const struct leak_column *column)
{
    uint64_t now = tally.at[column->site].bytes;
    return !column->site ? 0 : now > column->peak / 4 ? now : column->peak / 4;
}

static struct leak_column *cheapest_column(const bool *wanted)
{
    struct leak_column *found = NULL;
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++)
        if (!wanted[i] && (!found || worth(&history->column[i]) < worth(found)))
            found = &history->column[i];
    return found;
}

static void give_column(struct leak_column *column, uint32_t site, uint32_t tick)
{
    store_release(&column->site, 0);
    fence_release();
    column->since = tick;
    column->peak = column->freed_age = 0;
    store_release(&column->site, site);
    last_row[column - history->column] = (struct leak_row_entry){0};
}

static void choose_columns(struct guard *guard, uint32_t tick)
{
    bool wanted[LEAK_HISTORY_COLUMNS] = {false};
    if (!tally_take(guard, &tally))
        return;
    size_t count = find_largest(), rest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct leak_column *column = find_column(top[i].site);
        if (column)
            wanted[column - history->column] = true;
        else
            top[rest++] = top[i];
    }
    for (size_t i = 0; i < rest; i++) {
        struct leak_column *column = cheapest_column(wanted);
        if (!column || worth(column) > top[i].size / 2)
            continue;
        give_column(column, top[i].site, tick);
        wanted[column - history->column] = true;
    }
    if (rest)
        index_columns();
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static struct leak_row *row_at(size_t place)
{
    struct leak_row **chunk = &rows[place / LEAK_ROWS_A_CHUNK];
    if (!*chunk)
        *chunk = store_new_chunk(LEAK_CHUNK_ROWS, LEAK_ROWS_A_CHUNK * sizeof **chunk, 0);
    return *chunk ? *chunk + place % LEAK_ROWS_A_CHUNK : NULL;
}

static void read_columns(struct guard *guard)
{
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++) {
        struct leak_column *column = &history->column[i];
        struct leak_row_entry *entry = &last_row[i];
        struct leak_counts counts;
        if (!column->site || !tally_site(guard, column->site, &counts))
            continue; /* as it was */
        entry->allocs = counts.allocs;
        entry->frees = counts.frees;
        entry->live_bytes =
            counts.bytes > counts.freed_bytes ? counts.bytes - counts.freed_bytes : 0;
        entry->freed_age = load_relaxed(&column->freed_age);
        if (entry->live_bytes > column->peak)
            store_relaxed(&column->peak, entry->live_bytes);
    }
}

static void add_row(uint32_t tick)
{
    size_t place = downsample_place(&row_times, tick);
    struct leak_row *row = place == SIZE_MAX ? NULL : row_at(place);
    if (!row)
        return;
    store_release(&row->tick, 0);
    fence_release();
    memcpy(row->at, last_row, sizeof row->at);
    store_release(&row->tick, tick + 1);
}

/* quiet: since then nothing has happened; now, else. */
static void add_rows(struct guard *guard, uint32_t quiet, uint32_t now)
{
    if (now >= next_choice) {
        choose_columns(guard, quiet);
        next_choice = now + CHOOSE_EVERY + rest_after(tally.work);
    }
    read_columns(guard);
    if (quiet + ROW_EVERY <= now)
        add_row(quiet);
    add_row(now);
    next_row = now + ROW_EVERY + rest_after(2ull * LEAK_HISTORY_COLUMNS * tally.threads);
}

void history_tick(struct guard *guard, const struct thread *thread, uint32_t before)
{
    struct locked locked;
    uint32_t now = load_relaxed(&store_header->epoch);
    if (!lock_try(&lock, &locked))
        return; /* somebody is at it */
    if (begin()) {
        /* What is so now has been so since the last event before. */
        uint32_t quiet = before > downsample_last(&point_times) ? before : downsample_last(&point_times) + 1;
        if (quiet + 1 < now)
            add_point(thread, quiet);
        add_point(thread, now);
        if (now >= next_row)
            add_rows(guard, quiet < now ? quiet : now, now);
    }
    lock_give(&locked);
}

/* ---- The peak ------------------------------------------------------------------------------ */

static void write_peak(void)
{
    struct leak_peak *peak = &history->peak[++peaks & 1];
    size_t count = 0;
    for (uint32_t site = 1; site <= tally.last; site++)
        if (tally.at[site].bytes)
            count = tally_keep(top, count, LEAK_PEAK_SITES, site, tally.at[site].bytes);
    store_release(&peak->number, 0);
    fence_release();
    peak->tick = load_relaxed(&store_header->epoch);
    peak->bytes = tally.all.bytes;
    peak->blocks = tally.all.blocks;
    peak->count = count;
    for (size_t i = 0; i < count; i++)
        peak->site[i] = (struct leak_peak_site){.site = top[i].site,
                                                .bytes = tally.at[top[i].site].bytes,
                                                .blocks = tally.at[top[i].site].blocks};
    store_release(&peak->number, peaks);
}

/* Growing by a little and falling by less, again and again, must not make the program slow: then a
 * later peak is written. */
void history_peak(struct guard *guard)
{
    struct locked locked;
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), bytes = load_relaxed(&store_header->peak_bytes);
    if (now < peak_not_before || !lock_try(&lock, &locked))
        return;
    if (begin() && tally_take(guard, &tally)) {
        write_peak();
        history_peak_from = bytes + bytes / 128;
    }
    peak_not_before = now + tally.work * UNIT_NS * PEAK_COST_SHARE;
    lock_give(&locked);
}

/* ---- Ages ---------------------------------------------------------------------------------- */

void history_died(uint32_t site, unsigned weight, uint32_t age)
{
    struct leak_column *column = history ? find_column(site) : NULL;
    if (column)
        add_relaxed(&column->freed_age, (uint64_t)weight * age);
}

/* ---- Fork ---------------------------------------------------------------------------------- */

LOCK_FOR_FORK(history, &lock)

void history_fork_child(void)
{
    lock.word = 0;
    history = NULL;
    memset(rows, 0, sizeof rows);
    point_times.count = row_times.count = 0;
    memset(column_of, 0, sizeof column_of);
    next_row = ROW_FIRST;
    next_choice = 0;
    peak_not_before = 0;
    peaks = 0;
    history_peak_from = PEAK_LEAST;
}
