/* text_growing.c - writes records that grew while the process ran; described in text.h. It looks
 * like this:
 *
 *     1. growing +1.1 MB/s, peak 11.4 MB (malloc)                 6c0f1c2d5f0b8a11
 *          push                                shelf.c:44
 *          growing +1.1 MB/s for 11 s, nothing freed
 *          all of it was freed
 */
#include "symbolize/text/text.h"

#include <stdlib.h>

#include "symbolize/records/sampling_error.h"
#include "common/base/arena.h"

void text_growing_head(const struct process *process, const char *join, FILE *stream)
{
    const char *verb = process->how != END_RUNNING    ? "grew"
                       : process->totals.growing == 1 ? "is growing"
                                                      : "are growing";

    if (process->totals.growing)
        fprintf(stream, "%s\n%s %s", join,
                term_count(process->totals.growing, "allocation site").text, verb);
}

void text_growth_reason(const struct growth *growth, const struct view *view, FILE *stream)
{
    if (growth && (growth_is_growing(growth->verdict) || view->verbose))
        fprintf(stream, "%*s%s\n", TEXT_INDENT, "", growth->reason);
}

static void write_growing_rest(const struct record *record, FILE *stream)
{
    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (!record->blocks) {
        fputs("all of it was freed\n", stream);
        return;
    }
    fprintf(stream, "%s in %s %s\n", estimate_bytes(record->bytes, record->error.bytes).text,
            estimate_count(record->blocks, record->error.blocks, "block").text,
            verdict_words[record->verdict]);
}

static void write_one(const struct record *record, size_t number, const struct view *view,
                      FILE *stream)
{
    int width = fprintf(stream, "%zu. ", number);

    /* not counted in width: escape sequences take no columns */
    text_style(view, stream, STYLE_BOLD);
    width += fprintf(stream, "growing");
    if (record->growth->bytes_per_second)
        width += fprintf(stream, " +%s/s", term_size(record->growth->bytes_per_second).text);
    text_style(view, stream, STYLE_PLAIN);
    if (record->growth->peak_bytes)
        width += fprintf(stream, ", peak %s", term_size(record->growth->peak_bytes).text);
    width += fprintf(stream, " (%s)", kind_word[record->kind]);
    text_signature(record->signature, width, view, stream);
    text_frames(record, TEXT_INDENT, view, stream);
    text_growth_reason(record->growth, view, stream);
    write_growing_rest(record, stream);
}

static int compare_growth_rate(const void *left, const void *right)
{
    const struct record *a = *(const struct record *const *)left;
    const struct record *b = *(const struct record *const *)right;
    uint64_t x = a->growth->bytes_per_second, y = b->growth->bytes_per_second;

    return x != y ? (x > y ? -1 : 1)
                  : (a->signature > b->signature) - (a->signature < b->signature);
}

void text_growing(const struct process *process, const struct view *view,
                  bool (*listed)(const struct process *process, const struct record *record,
                                 const struct view *view),
                  FILE *stream)
{
    size_t most = process->record_count + process->grown_count, count = 0, shown;
    const struct record **growing = array_grow(NULL, &(size_t){0}, most, sizeof(*growing));

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (record_is_growing(record) && !listed(process, record, view) &&
            (!record->suppressed_by || view->suppressed))
            growing[count++] = record;
    }
    for (size_t i = 0; i < process->grown_count; i++)
        growing[count++] = &process->grown[i];
    if (count) {
        qsort(growing, count, sizeof(*growing), compare_growth_rate);
        fprintf(stream, "Growing while it %s (no leak if it levels off):\n",
                process->how == END_RUNNING ? "runs" : "ran");
    }
    shown = view->top && count > view->top ? view->top : count;
    for (size_t i = 0; i < shown; i++) {
        putc('\n', stream);
        write_one(growing[i], i + 1, view, stream);
    }
    if (shown < count)
        fprintf(stream, "\n... and %s.\n", term_count(count - shown, "more record").text);
    if (count)
        putc('\n', stream);
    free(growing);
}
