/* text_record.c - one record for people; see text_record.h. */
#include "symbolize/text_record.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/estimate.h"
#include "symbolize/text_frame.h"
#include "symbolize/text_frames.h"
#include "symbolize/text_freed.h"
#include "symbolize/text_suppressed.h"
#include "symbolize/text_verdict.h"
#include "symbolize/times.h"

/* ---- When and by whom ------------------------------------------------------------------------ */

static void write_span(const struct process *process, const struct record *record, FILE *stream)
{
    const char *until = process->how == END_RUNNING ? "ago" : "before the end";
    uint64_t end = process->until_ns;
    char first[TIMES_SIZE], last[TIMES_SIZE];

    if (!end || !record->first_ns)
        return;
    times_span(end > record->first_ns ? end - record->first_ns : 0, first);
    times_span(end > record->last_ns ? end - record->last_ns : 0, last);
    if (strcmp(first, last) == 0)
        fprintf(stream, " %s %s", first, until);
    else
        fprintf(stream, " %s to %s %s", first, last, until);
}

static void write_threads(const struct record *record, FILE *stream)
{
    size_t listed = record->thread_count > 4 ? 3 : record->thread_count;

    for (size_t i = 0; i < listed; i++) {
        const char *name = record->threads[i].name;

        fprintf(stream, "%s T%" PRIu32, i ? "," : " by", record->threads[i].serial);
        if (name && *name)
            fprintf(stream, " (%s)", show(name, strlen(name), 16).text);
    }
    if (record->more_threads)
        fputs(" and others", stream);
    else if (listed < record->thread_count)
        fprintf(stream, " and %zu others", record->thread_count - listed);
}

/* What stands behind the ~ above. */
static void write_error(const struct record *record, FILE *stream)
{
    const struct error *error = &record->error;

    if (!error->bytes && !error->blocks)
        return;
    fprintf(stream, "%*sestimated from %s: %s, %s (95 %%)\n", TEXT_INDENT, "",
            show_count(error->samples, "sample").text,
            estimate_bytes_error(record->bytes, error->bytes).text,
            estimate_count_error(record->blocks, error->blocks, "block").text);
}

void text_when(const struct process *process, const struct record *record, FILE *stream)
{
    write_span(process, record, stream);
    write_threads(record, stream);
}

void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream)
{
    char head[128];
    int width = snprintf(head, sizeof(head), "%zu. ", number);

    fputs(head, stream);
    text_style(view, stream, STYLE_BOLD);
    width += snprintf(head, sizeof(head), "%s in %s",
                      estimate_bytes(record->bytes, record->error.bytes).text,
                      estimate_count(record->blocks, record->error.blocks, "block").text);
    fputs(head, stream);
    text_style(view, stream, STYLE_PLAIN);
    width += snprintf(head, sizeof(head), " %s (%s)", verdict_words[record->verdict],
                      kind_word[record->kind]);
    fputs(head, stream);
    text_style(view, stream, STYLE_FAINT);
    fprintf(stream, "%*s%016" PRIx64 "\n",
            width + 18 <= TEXT_COLUMNS ? TEXT_COLUMNS - 16 - width : 1, "", record->signature);
    text_style(view, stream, STYLE_PLAIN);
    write_error(record, stream);
    text_frames(record, TEXT_INDENT, view, stream);
    if (record->stacks > 1)
        fprintf(stream, "%*sthis is the largest of %s with these names\n", TEXT_INDENT, "",
                show_count(record->stacks, "stack").text);
    text_suppressed_by(record, stream);
    text_verdict(process, record, view, stream);
    text_freed(record, view, stream);
    if (process->until_ns || record->thread_count) {
        fprintf(stream, "%*sallocated", TEXT_INDENT, "");
        text_when(process, record, stream);
        putc('\n', stream);
    }
}
