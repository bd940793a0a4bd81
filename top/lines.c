/* lines.c - see lines.h.
 *
 *       BYTES  BLOCKS     %    DELTA ALLOC/S FREE/S TREND    FUNCTION
 *     13.4 MB   13400  98.2  +1.1 MB    1100      0 growing  push shelf.c:44
 *
 * Where there is room, the age of the site and a trend that is not cut off come in.
 */
#include "top/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"
#include "common/view/text_frame.h"
#include "top/cells.h"

#define ROOMY 110
#define TREND_NARROW 8
#define TREND_ROOMY 13

static bool is_roomy(size_t columns)
{
    return !columns || columns >= ROOMY;
}

void lines_title(const struct glance *glance, FILE *stream)
{
    const char *name = base_name(glance->exe);
    char words[GLANCE_WORDS], span[TIME_TEXT_SIZE];
    uint64_t ran = glance->time_ns > glance->started_ns ? glance->time_ns - glance->started_ns : 0;
    bool runs = glance->how == END_RUNNING;

    fprintf(stream, "%s (pid %d), %s%s%s: %s%s in %s", term_text(name, strlen(name), 32).text,
            glance->pid, glance_end_words(glance, words), runs ? " for " : "",
            runs ? time_format_span(ran, span) : "", glance->sampled ? "about " : "",
            term_size(glance->total.bytes).text, term_count(glance->total.blocks, "block").text);
}

void lines_totals(const struct glance *glance, const struct account *mark, FILE *stream)
{
    const struct change *change = &glance->change;
    char allocs[CELL_SIZE], frees[CELL_SIZE], bytes[CELL_SIZE], peak[CELL_SIZE];

    if (change->known)
        fprintf(stream, "%s, %s allocs/s, %s frees/s, ", cell_change(true, change->bytes, bytes),
                cell_rate(true, change->allocs, allocs), cell_rate(true, change->frees, frees));
    if (mark)
        fprintf(
            stream, "%s since the mark, ",
            cell_change(true, change_of_total(mark, &glance->total, glance->time).bytes, bytes));
    if (glance->peak.bytes)
        fprintf(stream, "peak %s, ", cell_bytes(glance->peak.bytes, peak));
    fprintf(stream, "%zu growing", glance->growing);
}

void lines_head(size_t columns, const struct account *mark, FILE *stream)
{
    const char *delta = mark ? "MARK" : "DELTA";

    if (is_roomy(columns))
        fprintf(stream, "%7s %7s %5s %8s %7s %7s %7s %-*s %s", "BYTES", "BLOCKS", "%", delta,
                "ALLOC/S", "FREE/S", "AGE", TREND_ROOMY, "TREND", "FUNCTION");
    else
        fprintf(stream, "%7s %6s %5s %8s %7s %6s %-*s %s", "BYTES", "BLOCKS", "%", delta, "ALLOC/S",
                "FREE/S", TREND_NARROW, "TREND", "FUNCTION");
}

void lines_frame(const struct frame *frame, size_t columns, FILE *stream)
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

void lines_row(const struct glance *glance, size_t row, const struct account *mark, size_t columns,
               FILE *stream)
{
    const struct counted *counts = &glance->counts[row];
    const struct row *at = &glance->rows[row];
    struct change change = order_change(glance, row, mark);
    char bytes[CELL_SIZE], blocks[CELL_SIZE], share[CELL_SIZE], delta[CELL_SIZE];
    char allocs[CELL_SIZE], frees[CELL_SIZE], age[CELL_SIZE];
    uint64_t lived = glance->time_ns > at->first_ns ? glance->time_ns - at->first_ns : 0;
    const char *trend = at->growth ? growth_word[at->growth->verdict] : "";
    int used;

    cell_bytes(counts->bytes, bytes);
    cell_count(counts->blocks, blocks);
    cell_share(counts->bytes, glance->total.bytes, share);
    cell_change(change.known, change.bytes, delta);
    cell_rate(at->change.known, at->change.allocs, allocs);
    cell_rate(at->change.known, at->change.frees, frees);
    if (is_roomy(columns))
        used = fprintf(stream, "%7s %7s %5s %8s %7s %7s %7s %-*.*s ", bytes, blocks, share, delta,
                       allocs, frees, cell_span(lived, age), TREND_ROOMY, TREND_ROOMY, trend);
    else
        used = fprintf(stream, "%7s %6s %5s %8s %7s %6s %-*.*s ", bytes, blocks, share, delta,
                       allocs, frees, TREND_NARROW, TREND_NARROW, trend);
    if (columns && columns < (size_t)used + 8)
        columns = (size_t)used + 8;
    if (at->name->title)
        lines_frame(at->name->title, columns ? columns - (size_t)used : 0, stream);
    else
        fputs("(no stack)", stream);
}
