/* text_heap.c - see text_heap.h.
 *
 *     2026-11-22T13:52:46Z shelf (pid 42), after 12 s: 26.1 MB in 1,234 blocks
 *
 *     1. 25.0 MB in 5 blocks (malloc), growing 1.1 MB/s           6c0f1c2d5f0b8a11
 *          push                                shelf.c:44
 *
 *     Shown: 26.0 MB in 1,204 blocks of 25 sites. Rest: 95 KB in 30 blocks of 13 sites.
 *
 * What a place holds is one line, whatever became of its blocks: "shown" and "rest" are all there
 * is.
 */
#include "symbolize/text/text_heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symbolize/records/sampling_error.h"
#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_head.h"
#include "symbolize/text/text_summary.h"
#include "symbolize/text/text_tags.h"
#include "common/base/text.h"

struct place {
    const struct record *record; /* its largest */
    struct verdict_total all;
    const struct growth *growth;
    struct tag_sums tags;
};

static int larger(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->all.bytes != b->all.bytes)
        return a->all.bytes > b->all.bytes ? -1 : 1;
    return (a->record->signature > b->record->signature) -
           (a->record->signature < b->record->signature);
}

/* Records of one stack and kind are one place, the largest first; for end_places(). */
static struct place *find_places(const struct process *process, size_t *count)
{
    struct place *places = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*places));
    struct map by_key = {0};

    *count = 0;
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];
        struct verdict_total all = {record->bytes, record->blocks, 0};
        bool fresh;
        uint64_t *at = hashmap_put(&by_key, record->signature ^ record->kind, &fresh);
        struct place *place = &places[fresh ? *at = (*count)++ : *at];

        if (fresh)
            *place = (struct place){.record = record, .all.records = 1};
        verdict_total_add(&place->all, &all);
        if (record->bytes > place->record->bytes)
            place->record = record;
        if (record->growth)
            place->growth = record->growth;
        tag_sums_add_record(&place->tags, record);
    }
    hashmap_end(&by_key);
    if (*count)
        qsort(places, *count, sizeof(*places), larger);
    return places;
}

static void end_places(struct place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tag_sums_end(&places[i].tags);
    free(places);
}

static void write_sum(const struct verdict_total *sum, FILE *stream)
{
    fprintf(stream, "%s in ", term_size(sum->bytes).text);
    fprintf(stream, "%s", term_count(sum->blocks, "block").text);
}

static void write_head(const struct process *process, const struct verdict_total *all, FILE *stream)
{
    char when[TIME_TEXT_SIZE], span[TIME_TEXT_SIZE];
    const char *iso = time_format_iso(process->until_ns, when);

    if (iso)
        fprintf(stream, "%s ", iso);
    text_name(process, false, stream);
    if (process->until_ns > process->started_ns && process->started_ns)
        fprintf(stream, "after %s: ", time_format_span(process->until_ns - process->started_ns, span));
    else
        fputs("in all: ", stream);
    write_sum(all, stream);
    fputs("\n\n", stream);
}

static void write_place(struct place *place, size_t number, const struct view *view, FILE *stream)
{
    struct record all = {.bytes = place->all.bytes, .blocks = place->all.blocks};
    int width = fprintf(stream, "%zu. ", number);

    text_style(view, stream, STYLE_BOLD); /* which takes no columns */
    width += fprintf(stream, "%s in ", term_size(place->all.bytes).text);
    width += fprintf(stream, "%s", term_count(place->all.blocks, "block").text);
    text_style(view, stream, STYLE_PLAIN);
    width += fprintf(stream, " (%s)", kind_word[place->record->kind]);
    if (place->growth && growth_is_growing(place->growth->verdict))
        width += fprintf(stream, ", growing %s/s", term_size(place->growth->bytes_per_second).text);
    text_signature(place->record->signature, width, view, stream);
    text_frames(place->record, TEXT_INDENT, view, stream);
    tag_sums_sort(&place->tags);
    text_tags(&place->tags, &all, TEXT_INDENT, view, stream);
    putc('\n', stream);
}

static void write_part(const char *word, const struct verdict_total *part, FILE *stream)
{
    fprintf(stream, "%s: ", word);
    write_sum(part, stream);
    fprintf(stream, " of %s.", term_count(part->records, "site").text);
}

static void write_process(const struct process *process, const struct view *view, FILE *stream)
{
    struct verdict_total all = {0}, shown = {0}, rest = {0};
    size_t count;
    struct place *places = find_places(process, &count);
    struct view brief = *view;

    brief.terse = brief.verbose ? 0 : 4;
    for (size_t i = 0; i < count; i++) {
        verdict_total_add(&all, &places[i].all);
        verdict_total_add(view->top && i >= view->top ? &rest : &shown, &places[i].all);
    }
    if (!view->quiet) {
        write_head(process, &all, stream);
        for (size_t i = 0; i < shown.records; i++)
            write_place(&places[i], i + 1, &brief, stream);
        write_part("Shown", &shown, stream);
        write_part(" Rest", &rest, stream);
        fputs("\n\n", stream);
    }
    end_places(places, count);
}

void text_heap_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct totals totals = report_totals(report);

    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_process(&report->processes[i], view, stream);
    text_summary(report->process_count ? report->processes[0].pid : 0, &totals, stream);
}
