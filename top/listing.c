/* listing.c - writes snapshots as text; described in listing.h. */
#include "top/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "common/names/source.h"
#include "common/view/text_frame.h"

/* ---- Cells: numbers in narrow columns -------------------------------------------------------- */

/* Writes a number with the unit that suits it. Each unit is 1000 times the previous one; `number`
 * is in the first unit, and at least 1. */
static const char *scaled(double number, const char *const *units, char cell[CELL_SIZE])
{
    while (number >= 999.5 && units[1]) {
        number /= 1000;
        units++;
    }
    snprintf(cell, CELL_SIZE, "%.*f%s", number < 9.95 ? 1 : 0, number, *units);
    return cell;
}

const char *cell_bytes(uint64_t bytes, char cell[CELL_SIZE])
{
    static const char *const units[] = {" kB", " MB", " GB", " TB", " PB", NULL};

    if (bytes >= 10000)
        return scaled((double)bytes / 1000, units, cell);
    snprintf(cell, CELL_SIZE, "%" PRIu64 " B", bytes);
    return cell;
}

const char *cell_delta(bool known, int64_t bytes, char cell[CELL_SIZE])
{
    char number[CELL_SIZE];

    if (!known)
        return strcpy(cell, "-");
    if (!bytes)
        return strcpy(cell, "0");
    cell_bytes(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, number);
    snprintf(cell, CELL_SIZE, "%c%.*s", bytes < 0 ? '-' : '+', CELL_SIZE - 2, number);
    return cell;
}

static const char *const thousands[] = {"k", "M", "G", "T", "P", NULL};

const char *cell_count(uint64_t count, char cell[CELL_SIZE])
{
    if (count >= 100000)
        return scaled((double)count / 1000, thousands, cell);
    snprintf(cell, CELL_SIZE, "%" PRIu64, count);
    return cell;
}

const char *cell_rate(bool known, double rate, char cell[CELL_SIZE])
{
    if (!known)
        return strcpy(cell, "-");
    if (rate >= 9999.5)
        return scaled(rate / 1000, thousands, cell);
    snprintf(cell, CELL_SIZE, "%.*f", rate > 0 && rate < 9.95 ? 1 : 0, rate);
    return cell;
}

const char *cell_share(uint64_t part, uint64_t whole, char cell[CELL_SIZE])
{
    double share = whole ? 100.0 * (double)part / (double)whole : 0;

    snprintf(cell, CELL_SIZE, "%.*f", share < 99.95 ? 1 : 0, share);
    return cell;
}

const char *cell_span(uint64_t ns, char cell[CELL_SIZE])
{
    unsigned long long seconds = ns / 1000000000u;

    if (seconds < 60)
        snprintf(cell, CELL_SIZE, "%llus", seconds);
    else if (seconds < 3600)
        snprintf(cell, CELL_SIZE, "%llum%02llus", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(cell, CELL_SIZE, "%lluh%02llum", seconds / 3600, seconds / 60 % 60);
    else
        snprintf(cell, CELL_SIZE, "%llud%02lluh", seconds / 86400, seconds / 3600 % 24);
    return cell;
}

void cell_bars(const uint64_t *values, size_t count, bool utf8, char *text)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", "_", ".", "-", "-", "=", "=", "#"};
    uint64_t most = 0;

    *text = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++) {
        size_t level = most ? (size_t)((double)values[i] / (double)most * 7.999) : 0;

        text = stpcpy(text, (utf8 ? blocks : ascii)[level]);
    }
}

/* ---- Rows of the table ----------------------------------------------------------------------- */

/* The table looks like this:
 *       BYTES  BLOCKS     %    DELTA ALLOC/S FREE/S TREND    FUNCTION
 *     13.4 MB   13400  98.2  +1.1 MB    1100      0 growing  push shelf.c:44
 *
 * A terminal with ROOMY columns also shows the age of the site, and the whole word of the trend. */
#define ROOMY 110
#define TREND_NARROW 8
#define TREND_ROOMY 13

static bool is_roomy(size_t columns)
{
    return !columns || columns >= ROOMY;
}

void listing_write_title(const struct heap_snapshot *snapshot, FILE *stream)
{
    const char *name = base_name(snapshot->argc ? snapshot->argv[0] : snapshot->exe);
    char text[END_TEXT_SIZE], span[TIME_TEXT_SIZE];
    uint64_t ran =
        snapshot->time_ns > snapshot->started_ns ? snapshot->time_ns - snapshot->started_ns : 0;
    bool runs = snapshot->how == END_RUNNING;

    fprintf(stream, "%s (pid %d), %s%s%s: %s%s in %s", term_text(name, strlen(name), 32).text,
            snapshot->pid, heap_snapshot_end_text(snapshot, text), runs ? " for " : "",
            runs ? time_format_span(ran, span) : "", snapshot->sampled ? "about " : "",
            term_size(snapshot->total.bytes).text,
            term_count(snapshot->total.blocks, "block").text);
}

void listing_write_totals(const struct heap_snapshot *snapshot, const struct counter_baseline *mark,
                          FILE *stream)
{
    const struct counter_delta *delta = &snapshot->delta;
    char allocs[CELL_SIZE], frees[CELL_SIZE], bytes[CELL_SIZE], peak[CELL_SIZE];

    if (delta->known)
        fprintf(stream, "%s, %s allocs/s, %s frees/s, ", cell_delta(true, delta->bytes, bytes),
                cell_rate(true, delta->allocs, allocs), cell_rate(true, delta->frees, frees));
    if (mark)
        fprintf(stream, "%s since the mark, ",
                cell_delta(true,
                           counter_delta_of_total(mark, &snapshot->total, snapshot->time).bytes,
                           bytes));
    if (snapshot->peak.bytes)
        fprintf(stream, "peak %s, ", cell_bytes(snapshot->peak.bytes, peak));
    fprintf(stream, "%zu growing", snapshot->growing);
    if (snapshot->leak_check_ns)
        fprintf(
            stream, ", %s lost",
            cell_bytes(add_saturating(snapshot->lost.bytes, snapshot->lost.indirect_bytes), bytes));
}

/* Says whether the table has a column with lost bytes. It has one after a leak check; a narrow
 * table then leaves out another column. */
static bool shows_lost(const struct heap_snapshot *snapshot)
{
    return snapshot->leak_check_ns;
}

void listing_write_header(const struct heap_snapshot *snapshot, size_t columns,
                          const struct counter_baseline *mark, FILE *stream)
{
    const char *delta = mark ? "MARK" : "DELTA";

    if (is_roomy(columns))
        fprintf(stream, "%7s %7s %5s %8s %7s %7s %7s %7s %-*s %s", "BYTES", "BLOCKS", "%", delta,
                "ALLOC/S", "FREE/S", "LOST", "AGE", TREND_ROOMY, "TREND", "FUNCTION");
    else
        fprintf(stream, "%7s %6s %5s %8s %7s %7s %-*s %s", "BYTES", "BLOCKS", "%", delta, "ALLOC/S",
                shows_lost(snapshot) ? "LOST" : "FREE/S", TREND_NARROW, "TREND", "FUNCTION");
}

/* Writes the function of a frame, or its place in a module; then the source line, if there is
 * room. */
static void write_frame(const struct frame *frame, size_t columns, FILE *stream)
{
    static const struct view view;
    struct term_text function = text_function_name(frame, &view, columns),
                     place = text_place(frame, &view);
    const char *where = place.text;
    size_t room = columns ? columns : SIZE_MAX;

    if (function.columns + 1 + place.columns > room)
        where = base_name(where);
    fputs(function.text, stream);
    if (*where && function.columns + 1 + strlen(where) <= room)
        fprintf(stream, " %s", where);
}

void listing_write_row(const struct heap_snapshot *snapshot, size_t row,
                       const struct counter_baseline *mark, size_t columns, FILE *stream)
{
    const struct counters *counts = &snapshot->counts[row];
    const struct snapshot_row *at = &snapshot->rows[row];
    struct counter_delta change = order_delta(snapshot, row, mark);
    char bytes[CELL_SIZE], blocks[CELL_SIZE], share[CELL_SIZE], delta[CELL_SIZE];
    char allocs[CELL_SIZE], frees[CELL_SIZE], age[CELL_SIZE], lost[CELL_SIZE] = "-";
    uint64_t lived = snapshot->time_ns > at->first_ns ? snapshot->time_ns - at->first_ns : 0;
    const char *trend = at->growth ? growth_word[at->growth->verdict] : "";
    int used;

    cell_bytes(counts->bytes, bytes);
    cell_count(counts->blocks, blocks);
    cell_share(counts->bytes, snapshot->total.bytes, share);
    cell_delta(change.known, change.bytes, delta);
    cell_rate(at->delta.known, at->delta.allocs, allocs);
    cell_rate(at->delta.known, at->delta.frees, frees);
    if (shows_lost(snapshot))
        cell_bytes(add_saturating(at->lost.bytes, at->lost.indirect_bytes), lost);
    if (is_roomy(columns))
        used =
            fprintf(stream, "%7s %7s %5s %8s %7s %7s %7s %7s %-*.*s ", bytes, blocks, share, delta,
                    allocs, frees, lost, cell_span(lived, age), TREND_ROOMY, TREND_ROOMY, trend);
    else
        used =
            fprintf(stream, "%7s %6s %5s %8s %7s %7s %-*.*s ", bytes, blocks, share, delta, allocs,
                    shows_lost(snapshot) ? lost : frees, TREND_NARROW, TREND_NARROW, trend);
    if (columns && columns < (size_t)used + 8)
        columns = (size_t)used + 8;
    if (at->name->title)
        write_frame(at->name->title, columns ? columns - (size_t)used : 0, stream);
    else
        fputs("(no stack)", stream);
}

/* ---- Details of a row ------------------------------------------------------------------------ */

/* The details look like this:
 *     growing 1.1 MB/s for 14 s, none of its blocks freed, no plateau
 *        43     struct node *node = malloc(NODE);
 *     >  44     node->next = shelf;
 *     > push shelf.c:44
 *       main shelf.c:60 */
#define SOURCE_LINES 5
#define SOURCE_SIZE 256
#define SOURCE_LEAST 10 /* with fewer lines for the details, no source is shown */

static size_t write_source(const struct frame *frame, FILE *stream)
{
    static const struct source_search search;
    struct source_name name = {frame->file, frame->module};
    char text[SOURCE_LINES][SOURCE_SIZE];
    uint32_t first = frame->line > SOURCE_LINES / 2 ? frame->line - SOURCE_LINES / 2 : 1;
    size_t count = 0;

    if (frame->file && frame->line)
        count = source_read_lines(&search, &name, first, text[0], SOURCE_LINES, SOURCE_SIZE);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%c %5u  %s\n", first + i == frame->line ? '>' : ' ', (unsigned)(first + i),
                text[i]);
    return count;
}

void listing_write_details(const struct snapshot_row *row, size_t lines, size_t columns,
                           FILE *stream)
{
    const struct site_name *name = row->name;
    size_t written = 0;

    if (row->growth && written < lines) {
        fprintf(stream, "%s\n", row->growth->reason);
        written++;
    }
    if (name->title && lines >= SOURCE_LEAST)
        written += write_source(name->title, stream);
    for (size_t i = 0; i < name->stack.count && written < lines; i++, written++) {
        const struct frame *frame = name->stack.frames[i];

        fputs(frame == name->title ? "> " : "  ", stream);
        write_frame(frame, columns > 2 ? columns - 2 : 0, stream);
        putc('\n', stream);
    }
}

/* ---- The table as a whole -------------------------------------------------------------------- */

void listing_write_table(const struct heap_snapshot *snapshot,
                         const struct listing_options *options, FILE *stream)
{
    size_t count, shown;
    size_t *rows = order_rows(snapshot, &options->ordering, &count);

    listing_write_title(snapshot, stream);
    putc('\n', stream);
    listing_write_totals(snapshot, options->ordering.mark, stream);
    putc('\n', stream);
    listing_write_header(snapshot, options->columns, options->ordering.mark, stream);
    putc('\n', stream);
    shown = options->top && options->top < count ? options->top : count;
    for (size_t i = 0; i < shown; i++) {
        listing_write_row(snapshot, rows[i], options->ordering.mark, options->columns, stream);
        putc('\n', stream);
    }
    if (shown < count)
        fprintf(stream, "%s more\n", term_count(count - shown, "site").text);
    free(rows);
}

/* ---- The table of all processes -------------------------------------------------------------- */

#define FLEET_COLUMNS 65 /* columns before the name of the program */

void listing_write_fleet_header(FILE *stream)
{
    fprintf(stream, "%7s %7s %7s %7s %4s %9s %6s %7s  %s", "PID", "LIVE", "PEAK", "LOST", "GROW",
            "RATE/s", "LOOK", "RUNS", "PROGRAM");
}

static uint64_t age_of(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

void listing_write_fleet_row(const struct fleet_row *row, uint64_t now_ns, size_t columns,
                             FILE *stream)
{
    char live[CELL_SIZE] = "?", peak[CELL_SIZE] = "?", lost[CELL_SIZE] = "-", rate[CELL_SIZE] = "-";
    char look[CELL_SIZE] = "-", ran[CELL_SIZE];
    size_t room = !columns ? 0 : columns > FLEET_COLUMNS + 8 ? columns - FLEET_COLUMNS : 8;

    if (row->readable) {
        cell_bytes(row->bytes, live);
        cell_bytes(row->peak, peak);
        cell_delta(row->rate.known, (int64_t)row->rate.bytes, rate);
    }
    if (row->leak_check_ns) {
        cell_bytes(row->lost_bytes, lost);
        cell_span(age_of(row->leak_check_ns, now_ns), look);
    }
    fprintf(stream, "%7d %7s %7s %7s %4zu %9s %6s %7s  %s%s", (int)row->pid, live, peak, lost,
            row->growing, rate, look, cell_span(age_of(row->started_ns, now_ns), ran),
            term_text(row->name, strlen(row->name), room).text, row->sampled ? " (sampled)" : "");
}

void listing_write_fleet(const struct fleet_rows *rows, size_t columns, FILE *stream)
{
    listing_write_fleet_header(stream);
    putc('\n', stream);
    for (size_t i = 0; i < rows->count; i++) {
        listing_write_fleet_row(&rows->at[i], rows->time_ns, columns, stream);
        putc('\n', stream);
    }
}
