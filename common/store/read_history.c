/* read_history.c - reads the size of the heap and of some sites over time, the peak, and
 * milestones.
 *
 * Points (sizes of the heap), rows (sizes of some sites at one time) and milestones are unordered
 * in the file; each has its time. If two have the same time the second is invalid, and so is a time
 * after the current tick. A row has a column for each recorded site; a column whose site is missing
 * is left out with its entries. A milestone that is being written has number 0. */
#include <stdlib.h>

#include "common/store/reader_internal.h"

/* Ticks by which an entry may be ahead of the current tick in the header, which the process
 * writes separately. */
#define AHEAD_MOST (2 * LEAK_TICKS_PER_SECOND)

struct row_at {
    uint32_t tick;
    const uint8_t *entries;
};

static bool is_valid_tick(struct reader *reader, uint32_t published)
{
    if (published - 1 <= (uint64_t)reader->store->header.epoch + AHEAD_MOST)
        return true;
    reader->damaged++;
    return false;
}

/* ---- Points: the size of the heap over time -------------------------------------------------- */

static int by_tick(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return COMPARE(a, b);
}

static void read_points(struct reader *reader, const struct leak_history *head)
{
    struct store_history *history = &reader->store->history;
    size_t kept = 0;

    history->moments =
        arena_alloc_array(reader->store->mem, LEAK_HISTORY_POINTS, sizeof(*history->moments));
    for (size_t i = 0; i < LEAK_HISTORY_POINTS; i++)
        if (head->point[i].tick && is_valid_tick(reader, head->point[i].tick))
            history->moments[history->moment_count++] =
                (struct store_moment){.tick = head->point[i].tick - 1,
                                      .bytes = head->point[i].live_bytes,
                                      .blocks = head->point[i].live_blocks};
    qsort(history->moments, history->moment_count, sizeof(*history->moments), by_tick);
    for (size_t i = 0; i < history->moment_count; i++) {
        if (kept && history->moments[kept - 1].tick == history->moments[i].tick)
            reader->damaged++;
        else
            history->moments[kept++] = history->moments[i];
    }
    history->moment_count = kept;
}

/* ---- The peak of the heap -------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct store_peak_site *a = left, *b = right;

    return COMPARE(b->bytes, a->bytes) ?: COMPARE(a->site, b->site);
}

static void read_peak(struct reader *reader, const struct leak_history *head)
{
    struct store *store = reader->store;
    struct store_history *history = &store->history;
    const struct leak_peak *peak = &head->peak[head->peak[1].number > head->peak[0].number];

    if (!peak->number || !peak->bytes)
        return;
    if (peak->count > LEAK_PEAK_SITES) {
        reader->damaged++;
        return;
    }
    history->peak =
        (struct store_moment){.tick = peak->tick, .bytes = peak->bytes, .blocks = peak->blocks};
    history->peak_sites = arena_alloc_array(store->mem, peak->count, sizeof(*history->peak_sites));
    for (size_t i = 0; i < peak->count; i++) {
        uint32_t site = store_find_site(store, peak->site[i].site);

        if (site == STORE_NO_SITE)
            reader->damaged++;
        else
            history->peak_sites[history->peak_site_count++] = (struct store_peak_site){
                .site = site, .bytes = peak->site[i].bytes, .blocks = peak->site[i].blocks};
    }
    if (history->peak_site_count)
        qsort(history->peak_sites, history->peak_site_count, sizeof(*history->peak_sites),
              by_bytes);
}

/* ---- Rows: the size of some sites over time -------------------------------------------------- */

static size_t find_rows(struct reader *reader, const struct chunks *chunks, struct row_at *rows)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->chunk[i];
        size_t room = (chunk->end - chunk->payload) / sizeof(struct leak_row);

        for (size_t k = 0; chunk->type == LEAK_CHUNK_ROWS && k < room && k < LEAK_ROWS_A_CHUNK;
             k++) {
            const uint8_t *at = reader->image->data + chunk->payload + k * sizeof(struct leak_row);
            uint32_t tick;

            memcpy(&tick, at, sizeof(tick));
            if (tick && count < LEAK_HISTORY_ROWS && is_valid_tick(reader, tick))
                rows[count++] = (struct row_at){tick - 1, at + offsetof(struct leak_row, at)};
        }
    }
    qsort(rows, count, sizeof(*rows), by_tick);
    for (size_t i = 0; i < count; i++) {
        if (kept && rows[kept - 1].tick == rows[i].tick)
            reader->damaged++;
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Makes a series, the sizes of one site over time, of each valid column of the rows. column[] gets
 * for each series the index of its column in the file. */
static void read_columns(struct reader *reader, const struct leak_history *head, size_t *column)
{
    struct store *store = reader->store;
    struct store_history *history = &store->history;
    bool *taken = arena_alloc_array(store->mem, store->site_count, sizeof(*taken));

    history->series = arena_alloc_array(store->mem, LEAK_HISTORY_COLUMNS, sizeof(*history->series));
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++) {
        const struct leak_column *from = &head->column[i];
        struct store_series *series = &history->series[history->series_count];

        if (!from->site)
            continue;
        *series =
            (struct store_series){.site = store_find_site(store, from->site), .peak = from->peak};
        if (series->site == STORE_NO_SITE || taken[series->site]) {
            reader->damaged++;
            continue;
        }
        taken[series->site] = true;
        while (series->first_row < history->row_count &&
               history->rows[series->first_row] < from->since)
            series->first_row++;
        column[history->series_count++] = i;
    }
}

static void read_rows(struct reader *reader, const struct chunks *chunks,
                      const struct leak_history *head)
{
    struct store_history *history = &reader->store->history;
    struct arena *mem = reader->store->mem;
    struct row_at rows[LEAK_HISTORY_ROWS] = {0};
    size_t column[LEAK_HISTORY_COLUMNS];

    history->row_count = find_rows(reader, chunks, rows);
    history->rows = arena_alloc_array(mem, history->row_count, sizeof(*history->rows));
    for (size_t i = 0; i < history->row_count; i++)
        history->rows[i] = rows[i].tick;
    read_columns(reader, head, column);
    history->values = arena_alloc_array(mem, history->row_count * history->series_count,
                                        sizeof(*history->values));
    for (size_t i = 0; i < history->row_count; i++)
        for (size_t k = 0; k < history->series_count; k++)
            memcpy(&history->values[i * history->series_count + k],
                   rows[i].entries + column[k] * sizeof(struct leak_row_entry),
                   sizeof(struct leak_row_entry));
}

void read_history(struct reader *reader, const struct chunks *chunks)
{
    struct store_history *history = &reader->store->history;
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_HISTORY);
    struct leak_history *head;

    if (!chunk || chunk->end - chunk->payload < sizeof(*head))
        return; /* the chunk is cut off, or there is none: older files have no history */
    head = arena_alloc(reader->store->mem, sizeof(*head));
    memcpy(head, reader->image->data + chunk->payload, sizeof(*head));
    if (head->limit_of < LEAK_LIMIT_MAX && head->limit) {
        history->limit = head->limit;
        history->limit_of = head->limit_of;
    }
    read_points(reader, head);
    read_peak(reader, head);
    read_rows(reader, chunks, head);
}

/* ---- Milestones ------------------------------------------------------------------------------ */

static int by_tick_and_number(const void *left, const void *right)
{
    const struct store_milestone *a = left, *b = right;

    return COMPARE(a->tick, b->tick) ?: COMPARE(a->number, b->number);
}

static void add_milestone(struct reader *reader, const uint8_t *at)
{
    struct store *store = reader->store;
    struct leak_milestone raw;

    memcpy(&raw, at, sizeof(raw));
    if (!raw.number)
        return;
    store->milestones[store->milestone_count++] = (struct store_milestone){
        .number = raw.number,
        .tick = raw.tick,
        .when_ns = raw.when_ns,
        .is_look = raw.is_look != 0,
        .is_known = raw.is_known != 0,
        .name = arena_copy(store->mem, raw.name, strnlen(raw.name, sizeof(raw.name)))};
}

/* Returns the number of milestones that a chunk has room for. */
static size_t count_milestones(const struct chunk *chunk)
{
    size_t there = (chunk->end - chunk->payload) / sizeof(struct leak_milestone);

    if (chunk->type != LEAK_CHUNK_MILESTONES)
        return 0;
    return there < LEAK_MILESTONES ? there : LEAK_MILESTONES;
}

void read_milestones(struct reader *reader, const struct chunks *chunks)
{
    struct store *store = reader->store;
    size_t room = 0;

    for (size_t i = 0; i < chunks->count; i++)
        room += count_milestones(&chunks->chunk[i]);
    store->milestones = arena_alloc_array(store->mem, room, sizeof(*store->milestones));
    for (size_t i = 0; i < chunks->count; i++)
        for (size_t n = 0; n < count_milestones(&chunks->chunk[i]); n++)
            add_milestone(reader, reader->image->data + chunks->chunk[i].payload +
                                      n * sizeof(struct leak_milestone));
    if (store->milestone_count)
        qsort(store->milestones, store->milestone_count, sizeof(*store->milestones),
              by_tick_and_number);
}
