/* read_history.c - the heap over time, some sites over time, and the peak.
 *
 * Points and rows stand in no order and say their times; two of one time, or one from beyond the
 * epoch, do not hold. A column whose site is not there is left out, with its entries.
 */
#include <stdlib.h>
#include <string.h>

#include "common/store/reader_internal.h"

/* What the epoch may be behind by when a running process is read. */
#define AHEAD_MOST (2 * LEAK_TICKS_PER_SECOND)

struct row_at {
    uint32_t tick;
    const uint8_t *entries;
};

static bool in_time(struct reading *reading, uint32_t published)
{
    if (published - 1 <= (uint64_t)reading->store->header.epoch + AHEAD_MOST)
        return true;
    reading->damaged++;
    return false;
}

/* ---- Points ------------------------------------------------------------------------------------
 */

static int by_tick(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static void read_points(struct reading *reading, const struct leak_history *head)
{
    struct store_history *history = &reading->store->history;
    size_t kept = 0;

    history->moments =
        mem_take_array(reading->store->mem, LEAK_HISTORY_POINTS, sizeof(*history->moments));
    for (size_t i = 0; i < LEAK_HISTORY_POINTS; i++)
        if (head->point[i].tick && in_time(reading, head->point[i].tick))
            history->moments[history->moment_count++] =
                (struct store_moment){.tick = head->point[i].tick - 1,
                                      .bytes = head->point[i].live_bytes,
                                      .blocks = head->point[i].live_blocks};
    qsort(history->moments, history->moment_count, sizeof(*history->moments), by_tick);
    for (size_t i = 0; i < history->moment_count; i++) {
        if (kept && history->moments[kept - 1].tick == history->moments[i].tick)
            reading->damaged++;
        else
            history->moments[kept++] = history->moments[i];
    }
    history->moment_count = kept;
}

/* ---- The peak ----------------------------------------------------------------------------------
 */

static int by_bytes(const void *left, const void *right)
{
    const struct store_peak_site *a = left, *b = right;

    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes ? 1 : a->site < b->site ? -1 : 1;
}

static void read_peak(struct reading *reading, const struct leak_history *head)
{
    struct store *store = reading->store;
    struct store_history *history = &store->history;
    const struct leak_peak *peak = &head->peak[head->peak[1].number > head->peak[0].number];

    if (!peak->number || !peak->bytes)
        return;
    if (peak->count > LEAK_PEAK_SITES) {
        reading->damaged++;
        return;
    }
    history->peak =
        (struct store_moment){.tick = peak->tick, .bytes = peak->bytes, .blocks = peak->blocks};
    history->peak_sites = mem_take_array(store->mem, peak->count, sizeof(*history->peak_sites));
    for (size_t i = 0; i < peak->count; i++) {
        uint32_t site = store_site_of(store, peak->site[i].site);

        if (site == STORE_NO_SITE)
            reading->damaged++;
        else
            history->peak_sites[history->peak_site_count++] = (struct store_peak_site){
                .site = site, .bytes = peak->site[i].bytes, .blocks = peak->site[i].blocks};
    }
    if (history->peak_site_count)
        qsort(history->peak_sites, history->peak_site_count, sizeof(*history->peak_sites),
              by_bytes);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static size_t find_rows(struct reading *reading, const struct chunks *chunks, struct row_at *rows)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->chunk[i];
        size_t room = (chunk->end - chunk->payload) / sizeof(struct leak_row);

        for (size_t k = 0; chunk->type == LEAK_CHUNK_ROWS && k < room && k < LEAK_ROWS_A_CHUNK;
             k++) {
            const uint8_t *at = reading->image->data + chunk->payload + k * sizeof(struct leak_row);
            uint32_t tick;

            memcpy(&tick, at, sizeof(tick));
            if (tick && count < LEAK_HISTORY_ROWS && in_time(reading, tick))
                rows[count++] = (struct row_at){tick - 1, at + offsetof(struct leak_row, at)};
        }
    }
    qsort(rows, count, sizeof(*rows), by_tick);
    for (size_t i = 0; i < count; i++) {
        if (kept && rows[kept - 1].tick == rows[i].tick)
            reading->damaged++;
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Which columns hold; column[] gets where each series stands in the file. */
static void read_columns(struct reading *reading, const struct leak_history *head, size_t *column)
{
    struct store *store = reading->store;
    struct store_history *history = &store->history;
    bool *taken = mem_take_array(store->mem, store->site_count, sizeof(*taken));

    history->series = mem_take_array(store->mem, LEAK_HISTORY_COLUMNS, sizeof(*history->series));
    for (size_t i = 0; i < LEAK_HISTORY_COLUMNS; i++) {
        const struct leak_column *from = &head->column[i];
        struct store_series *series = &history->series[history->series_count];

        if (!from->site)
            continue;
        *series =
            (struct store_series){.site = store_site_of(store, from->site), .peak = from->peak};
        if (series->site == STORE_NO_SITE || taken[series->site]) {
            reading->damaged++;
            continue;
        }
        taken[series->site] = true;
        while (series->first_row < history->row_count &&
               history->rows[series->first_row] < from->since)
            series->first_row++;
        column[history->series_count++] = i;
    }
}

static void read_rows(struct reading *reading, const struct chunks *chunks,
                      const struct leak_history *head)
{
    struct store_history *history = &reading->store->history;
    struct mem *mem = reading->store->mem;
    struct row_at rows[LEAK_HISTORY_ROWS] = {0};
    size_t column[LEAK_HISTORY_COLUMNS];

    history->row_count = find_rows(reading, chunks, rows);
    history->rows = mem_take_array(mem, history->row_count, sizeof(*history->rows));
    for (size_t i = 0; i < history->row_count; i++)
        history->rows[i] = rows[i].tick;
    read_columns(reading, head, column);
    history->values =
        mem_take_array(mem, history->row_count * history->series_count, sizeof(*history->values));
    for (size_t i = 0; i < history->row_count; i++)
        for (size_t k = 0; k < history->series_count; k++)
            memcpy(&history->values[i * history->series_count + k],
                   rows[i].entries + column[k] * sizeof(struct leak_row_entry),
                   sizeof(struct leak_row_entry));
}

void read_history(struct reading *reading, const struct chunks *chunks)
{
    struct store_history *history = &reading->store->history;
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_HISTORY);
    struct leak_history *head;

    if (!chunk || chunk->end - chunk->payload < sizeof(*head))
        return; /* cut off, or of before there was one */
    head = mem_take(reading->store->mem, sizeof(*head));
    memcpy(head, reading->image->data + chunk->payload, sizeof(*head));
    if (head->limit_of < LEAK_LIMIT_MAX && head->limit) {
        history->limit = head->limit;
        history->limit_of = head->limit_of;
    }
    read_points(reading, head);
    read_peak(reading, head);
    read_rows(reading, chunks, head);
}
