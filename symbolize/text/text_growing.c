/* text_growing.c - see text_growing.h.
 *
 *     1. growing 1.1 MB/s, up to 11.4 MB (malloc)                 6c0f1c2d5f0b8a11
 *          push                                shelf.c:44
 *          growing 1.1 MB/s for 11 s, none of its blocks freed, no plateau
 *          nothing of it is left
 */
#include "symbolize/text/text_growing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symbolize/records/sampling_error.h"
#include "common/base/arena.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"

void text_growing_head(const struct process *process, const char *join, FILE *stream)
{
    const char *verb = process->how == END_RUNNING ? "grow" : "grew";

    if (!process->totals.growing)
        return;
    fprintf(stream, "%s\n%s %s%s", join, term_count(process->totals.growing, "record").text, verb,
            process->how == END_RUNNING && process->totals.growing == 1 ? "s" : "");
}

void text_growth(const struct growth *growth, const struct view *view, FILE *stream)
{
    if (growth && (growth_is_growing(growth->verdict) || view->verbose))
        fprintf(stream, "%*s%s\n", TEXT_INDENT, "", growth->reason);
}

static void write_rest(const struct record *record, FILE *stream)
{
    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (!record->blocks) {
        fputs("nothing of it is left\n", stream);
        return;
    }
    fprintf(stream, "%s in ", estimate_bytes(record->bytes, record->error.bytes).text);
    fprintf(stream, "%s %s\n", estimate_count(record->blocks, record->error.blocks, "block").text,
            verdict_words[record->verdict]);
}

static void write_one(const struct record *record, size_t number, const struct view *view,
                      FILE *stream)
{
    int width = fprintf(stream, "%zu. ", number);

    text_style(view, stream, STYLE_BOLD); /* which takes no columns */
    width += fprintf(stream, "growing");
    if (record->growth->bytes_per_second)
        width += fprintf(stream, " %s/s", term_size(record->growth->bytes_per_second).text);
    text_style(view, stream, STYLE_PLAIN);
    if (record->growth->peak_bytes)
        width += fprintf(stream, ", up to %s", term_size(record->growth->peak_bytes).text);
    width += fprintf(stream, " (%s)", kind_word[record->kind]);
    text_style(view, stream, STYLE_FAINT);
    fprintf(stream, "%*s%016" PRIx64 "\n",
            width + 18 <= TEXT_COLUMNS ? TEXT_COLUMNS - 16 - width : 1, "", record->signature);
    text_style(view, stream, STYLE_PLAIN);
    text_frames(record, TEXT_INDENT, view, stream);
    text_growth(record->growth, view, stream);
    write_rest(record, stream);
}

static int faster(const void *left, const void *right)
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
    size_t most = process->record_count + process->grown_count, count = 0, told;
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
        qsort(growing, count, sizeof(*growing), faster);
        fprintf(stream, "Growing while it %s:\n", process->how == END_RUNNING ? "runs" : "ran");
    }
    told = view->top && count > view->top ? view->top : count;
    for (size_t i = 0; i < told; i++) {
        putc('\n', stream);
        write_one(growing[i], i + 1, view, stream);
    }
    if (told < count)
        fprintf(stream, "\n... and %s.\n", term_count(count - told, "more record").text);
    if (count)
        putc('\n', stream);
    free(growing);
}
