/* timeline.c - writes the points, rows and peaks of the timeline (timeline.h). */
#include "preload/heap/timeline.h"
#include "preload/memory/memory_limits.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/site_totals.h"
#include "preload/memory/collections.h"

#include <time.h>

#define ROW_EVERY LEAK_TICKS_PER_SECOND
#define ROW_FIRST (LEAK_TICKS_PER_SECOND / 2)
#define CHOOSE_EVERY (2 * LEAK_TICKS_PER_SECOND)
/* Writing rows of the timeline and choosing the sites in them may take 1 / COST_SHARE of the
 * program's time, writing peaks 1 / PEAK_COST_SHARE. The time that they take is estimated and not
 * measured, because a clock would also measure the load of the machine. */
#define COST_SHARE 1000
#define PEAK_COST_SHARE 100
#define UNIT_NS 10              /* time in ns that reading a site or a slot is estimated to take */
#define COLUMN_LEAST (4u << 10) /* live bytes that a site must have to get a column */
/* When the sites with the most bytes are chosen for columns, each byte by which a site has grown
 * counts as this many bytes. */
#define GROWTH_COUNTS 64
/* Limit of the bytes added for growth, as a multiple of the bytes that the site holds. */
#define GROWTH_COUNTS_MOST 16
#define NANOSECONDS_PER_TICK (1000000000u / LEAK_TICKS_PER_SECOND)

static struct lock lock; /* guards the variables below */
/* The timeline in the recording file; NULL: there was no tick yet. */
static struct leak_history *history;
static struct leak_row *rows[LEAK_HISTORY_ROWS / LEAK_ROWS_A_CHUNK];
static struct downsample point_times = {.room = LEAK_HISTORY_POINTS};
static struct downsample row_times = {.room = LEAK_HISTORY_ROWS};
static struct leak_row_entry last_row[LEAK_HISTORY_COLUMNS];
static uint32_t next_row = ROW_FIRST, next_choice;
/* Time in ns of the monotonic clock before which no further peak is written. */
static uint64_t peak_not_before;
static uint32_t peaks;
static struct site_totals totals;
static struct site_rank top[LEAK_HISTORY_COLUMNS];

/* Hash table by site: number of its column + 1; 0: empty. It is rebuilt when the columns are chosen
 * anew. During a rebuild find_column may come to the column of another site, so it compares the
 * site. */
#define PLACES 512
static uint8_t column_of[PLACES];

/* Returns for how many ticks work must not be repeated, so that it takes at most 1 / COST_SHARE of
 * the time. units: number of sites and slots that the work has read. */
static uint32_t pause_after(uint64_t units)
{
    return units * UNIT_NS * COST_SHARE / NANOSECONDS_PER_TICK;
}

static bool open_timeline(void)
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

/* ---- Points ---------------------------------------------------------------------------------- */

static void add_point(const struct thread *thread, uint32_t tick)
{
    size_t place = downsample_place(&point_times, tick);
    if (place == SIZE_MAX)
        return;
    struct leak_point *point = &history->point[place];
    int64_t bytes = load_relaxed(&store_header->live_bytes) + threads_delta(thread);
    int64_t blocks = load_relaxed(&threads_state.live_blocks) + thread->delta_blocks;
    store_release(&point->tick, 0);
    fence_release(); /* a reader that sees any later store also sees tick 0 */
    point->live_bytes = bytes > 0 ? bytes : 0;
    point->live_blocks = blocks > 0 ? blocks : 0;
    store_release(&point->tick, tick + 1);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static uint32_t column_home(uint32_t site)
{
    return site * 0x9e3779b1u >> 23;
}

static struct leak_column *find_column(uint32_t site)
{
    for (uint32_t i = column_home(site); column_of[i]; i = (i + 1) % PLACES)
        if (load_relaxed(&history->column[column_of[i] - 1].site) == site)
            return &history->column[column_of[i] - 1];
    return NULL;
}

static void index_columns(void)
{
    memset(column_of, 0, sizeof column_of);
    for (uint32_t c = 0; c < LEAK_HISTORY_COLUMNS; c++) {
        uint32_t i = column_home(history->column[c].site);
        if (!history->column[c].site)
            continue;
        while (column_of[i])
            i = (i + 1) % PLACES;
        column_of[i] = c + 1;
    }
}

/* Packs a size into 32 bits: its 26 highest bits, and the number of bits cut off below these. */
static uint32_t pack_size(uint64_t size)
{
    unsigned bits = 64 - __builtin_clzll(size | 1), moved = bits > 26 ? bits - 26 : 0;
    return (uint32_t)(size >> moved) << 6 | moved;
}

static uint64_t unpack_size(uint32_t size)
{
    return (uint64_t)(size >> 6) << size % 64;
}

/* Finds the sites that hold the most bytes or have grown most since the last call. Puts them into
 * "top" and returns their number. */
static size_t find_largest(void)
{
    size_t count = 0;
    for (uint32_t site = 1; site <= totals.last; site++) {
        struct site_total *sum = &totals.at[site];
        uint32_t now = pack_size(sum->bytes);
        uint64_t grown = unpack_size(now) > unpack_size(sum->before)
                             ? unpack_size(now) - unpack_size(sum->before)
                             : 0;
        uint64_t bonus = GROWTH_COUNTS * grown, most = GROWTH_COUNTS_MOST * sum->bytes;
        sum->before = now;
        if (sum->bytes >= COLUMN_LEAST)
            count = site_totals_keep_largest(top, count, ARRAY_LENGTH(top), site,
                                             sum->bytes + (bonus < most ? bonus : most));
    }
    return count;
}

/* Returns the number of bytes with which a column's site competes with others for the column. A
 * site that was once large is likely to keep it, so that a report can show how it has shrunk. */
static uint64_t column_worth(const struct leak_column *column)
{
    uint64_t now = totals.at[column->site].bytes;
    return !column->site ? 0 : now > column->peak / 4 ? now : column->peak / 4;
}

static struct leak_column *find_cheapest_column(const bool *wanted)
{
    struct leak_column *found = NULL;
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++)
        if (!wanted[i] && (!found || column_worth(&history->column[i]) < column_worth(found)))
            found = &history->column[i];
    return found;
}

static void assign_column(struct leak_column *column, uint32_t site, uint32_t tick)
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
    if (!site_totals_compute(guard, &totals))
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
        struct leak_column *column = find_cheapest_column(wanted);
        if (!column || column_worth(column) > top[i].size / 2)
            continue;
        assign_column(column, top[i].site, tick);
        wanted[column - history->column] = true;
    }
    if (rest)
        index_columns();
}

/* ---- Rows ------------------------------------------------------------------------------------ */

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
        if (!column->site || !site_totals_read_site(guard, column->site, &counts))
            /* The site was created after the sums were made: its column keeps its last values. */
            continue;
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

/* Writes the timeline's row for tick "now". quiet: the tick since which nothing had changed until
 * now; if that is long ago, writes a row for that tick first. */
static void update_rows(struct guard *guard, uint32_t quiet, uint32_t now)
{
    if (now >= next_choice) {
        choose_columns(guard, quiet);
        next_choice = now + CHOOSE_EVERY + pause_after(totals.work);
    }
    read_columns(guard);
    if (quiet + ROW_EVERY <= now)
        add_row(quiet);
    add_row(now);
    next_row = now + ROW_EVERY + pause_after(2ull * LEAK_HISTORY_COLUMNS * totals.threads);
}

void timeline_tick(struct guard *guard, const struct thread *thread, uint32_t before)
{
    struct locked locked;
    uint32_t now = load_relaxed(&store_header->epoch);
    if (!lock_try(&lock, &locked))
        return; /* another thread is updating the timeline */
    if (open_timeline()) {
        /* Between the last clock reading and this one no thread allocated or freed, so the present
         * values were valid in all ticks between. */
        uint32_t quiet =
            before > downsample_last(&point_times) ? before : downsample_last(&point_times) + 1;
        if (quiet + 1 < now)
            add_point(thread, quiet);
        add_point(thread, now);
        if (now >= next_row)
            update_rows(guard, quiet < now ? quiet : now, now);
    }
    lock_give(&locked);
}

/* ---- The peak -------------------------------------------------------------------------------- */

static void write_peak_record(void)
{
    struct leak_peak *peak = &history->peak[++peaks & 1];
    size_t count = 0;
    for (uint32_t site = 1; site <= totals.last; site++)
        if (totals.at[site].bytes)
            count =
                site_totals_keep_largest(top, count, LEAK_PEAK_SITES, site, totals.at[site].bytes);
    store_release(&peak->number, 0);
    fence_release();
    peak->tick = load_relaxed(&store_header->epoch);
    peak->bytes = totals.all.bytes;
    peak->blocks = totals.all.blocks;
    peak->count = count;
    for (size_t i = 0; i < count; i++)
        peak->site[i] = (struct leak_peak_site){.site = top[i].site,
                                                .bytes = totals.at[top[i].site].bytes,
                                                .blocks = totals.at[top[i].site].blocks};
    store_release(&peak->number, peaks);
}

/* Writes the peak, but not too often, because a heap that again and again grows a little and falls
 * by less must not slow the program down: then only a later peak is written. */
void timeline_write_peak(struct guard *guard)
{
    struct locked locked;
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), bytes = load_relaxed(&store_header->peak_bytes);
    if (now < peak_not_before || !lock_try(&lock, &locked))
        return;
    if (open_timeline() && site_totals_compute(guard, &totals)) {
        write_peak_record();
        threads_state.peak_threshold = bytes + bytes / 128;
    }
    peak_not_before = now + totals.work * UNIT_NS * PEAK_COST_SHARE;
    lock_give(&locked);
}

/* ---- Ages of freed blocks -------------------------------------------------------------------- */

void timeline_add_death(uint32_t site, unsigned weight, uint32_t age)
{
    struct leak_column *column = history ? find_column(site) : NULL;
    if (column)
        add_relaxed(&column->freed_age, (uint64_t)weight * age);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(timeline, &lock)

void timeline_fork_child(void)
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
    threads_state.peak_threshold = THREADS_PEAK_LEAST;
}
