/* text_tables.c - writes the live heap, sums by a key, and single blocks, as tables; described in
 * text.h. The live heap:
 *
 *     2026-11-22T13:52:46Z shelf (pid 42), after 12 s: 26.1 MB in 1,234 blocks
 *
 *     1. 25.0 MB in 5 blocks (malloc), growing +1.1 MB/s          6c0f1c2d5f0b8a11
 *          push                                shelf.c:44
 *
 *     Shown: 26.0 MB in 1,204 blocks of 25 sites. Rest: 95 KB in 30 blocks of 13 sites.
 *
 * A site is one line here, whatever the verdicts of its blocks: "shown" and "rest" add up to the
 * live heap. With --by:
 *
 *     shop (pid 42) has 344 bytes in 6 blocks, by module,
 *     lost, indirect, possible, hidden, unfreed:
 *
 *       share           bytes    blocks records  module
 *      87.2 %             300         3       3  /opt/shop/liba.so
 *      12.8 %              44         3       3  /opt/shop/shop
 *
 *     Shown: 344 bytes in 6 blocks of 6 records. Rest: 0 bytes in 0 blocks of 0 records.
 *
 * With --blocks; a leak check records the largest blocks of each record and adds up all others:
 *
 *     shop (pid 42) has these blocks:
 *
 *     lost      0x561bd3b4dbd0      119 bytes  T1#20     f  /opt/shop/shop.c:2
 *
 *     Listed: 1 block of 119 bytes, of 4 blocks of 464 bytes.
 *     3 blocks, 345 bytes in all, are not listed: a leak check records the largest few blocks
 *     of each record, and --top limits the records.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/base/term_text.h"
#include "symbolize/records/sampling_error.h"
#include "symbolize/view/view.h"

/* Writes a sum: "Shown: 300 bytes in 3 blocks of 2 records." */
static void write_part(const char *word, const struct verdict_total *part, struct term_text bytes,
                       const char *unit, FILE *stream)
{
    fprintf(stream, "%s: %s in %s of %s.", word, bytes.text, term_count(part->blocks, "block").text,
            term_count(part->records, unit).text);
}

/* ---- The live heap (--format=heap) ----------------------------------------------------------- */

struct heap_site {
    const struct record *record; /* the largest record of the site */
    struct verdict_total all;
    const struct growth *growth;
    struct tag_sums tags;
};

static int compare_site_size(const void *left, const void *right)
{
    const struct heap_site *a = left, *b = right;

    if (a->all.bytes != b->all.bytes)
        return a->all.bytes > b->all.bytes ? -1 : 1;
    return (a->record->signature > b->record->signature) -
           (a->record->signature < b->record->signature);
}

/* Joins records of one stack and kind to sites, sorted by size, the largest first. end_sites()
 * frees the list. */
static struct heap_site *find_sites(const struct process *process, size_t *count)
{
    struct heap_site *sites = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*sites));
    struct hashmap by_key = {0};

    *count = 0;
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];
        struct verdict_total all = {record->bytes, record->blocks, 0};
        bool fresh;
        uint64_t *at = hashmap_put(&by_key, record->signature ^ record->kind, &fresh);
        struct heap_site *site = &sites[fresh ? *at = (*count)++ : *at];

        if (fresh)
            *site = (struct heap_site){.record = record, .all.records = 1};
        verdict_total_add(&site->all, &all);
        if (record->bytes > site->record->bytes)
            site->record = record;
        if (record->growth)
            site->growth = record->growth;
        tag_sums_add_record(&site->tags, record);
    }
    hashmap_end(&by_key);
    if (*count)
        qsort(sites, *count, sizeof(*sites), compare_site_size);
    return sites;
}

static void end_sites(struct heap_site *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tag_sums_end(&sites[i].tags);
    free(sites);
}

static void write_heap_head(const struct process *process, const struct verdict_total *all,
                            FILE *stream)
{
    char when[TIME_TEXT_SIZE], span[TIME_TEXT_SIZE];
    const char *iso = time_format_iso(process->until_ns, when);

    if (iso)
        fprintf(stream, "%s ", iso);
    text_process_name(process, false, stream);
    if (process->until_ns > process->started_ns && process->started_ns)
        fprintf(stream,
                "after %s: ", time_format_span(process->until_ns - process->started_ns, span));
    else
        fputs("in all: ", stream);
    fprintf(stream, "%s in %s\n\n", term_size(all->bytes).text,
            term_count(all->blocks, "block").text);
}

static void write_heap_site(struct heap_site *site, size_t number, const struct view *view,
                            FILE *stream)
{
    struct record all = {.bytes = site->all.bytes, .blocks = site->all.blocks};
    int width = fprintf(stream, "%zu. ", number);

    /* not counted in width: escape sequences take no columns */
    text_style(view, stream, STYLE_BOLD);
    width += fprintf(stream, "%s in %s", term_size(site->all.bytes).text,
                     term_count(site->all.blocks, "block").text);
    text_style(view, stream, STYLE_PLAIN);
    width += fprintf(stream, " (%s)", kind_word[site->record->kind]);
    if (site->growth && growth_is_growing(site->growth->verdict))
        width += fprintf(stream, ", growing +%s/s", term_size(site->growth->bytes_per_second).text);
    text_signature(site->record->signature, width, view, stream);
    text_frames(site->record, TEXT_INDENT, view, stream);
    tag_sums_sort(&site->tags);
    text_tags(&site->tags, &all, TEXT_INDENT, view, stream);
    putc('\n', stream);
}

static void write_heap_process(const struct process *process, const struct view *view, FILE *stream)
{
    struct verdict_total all = {0}, shown = {0}, rest = {0};
    size_t count;
    struct heap_site *sites = find_sites(process, &count);
    struct view brief = *view;

    brief.terse = brief.verbose ? TEXT_WHOLE : TEXT_TABLE;
    for (size_t i = 0; i < count; i++) {
        verdict_total_add(&all, &sites[i].all);
        verdict_total_add(view->top && i >= view->top ? &rest : &shown, &sites[i].all);
    }
    if (!view->quiet) {
        write_heap_head(process, &all, stream);
        for (size_t i = 0; i < shown.records; i++)
            write_heap_site(&sites[i], i + 1, &brief, stream);
        write_part("Shown", &shown, term_size(shown.bytes), "site", stream);
        write_part(" Rest", &rest, term_size(rest.bytes), "site", stream);
        fputs("\n\n", stream);
    }
    end_sites(sites, count);
}

void text_write_heap(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_heap_process(&report->processes[i], view, stream);
    text_summary_of_all(report, stream);
}

/* ---- Sums by a key (--by) -------------------------------------------------------------------- */

#define LEFT 43 /* columns before the name */

static void write_by_head(const struct process *process, const struct group_by_table *table,
                          const struct view *view, FILE *stream)
{
    const char *between = "";

    text_process_name(process, false, stream);
    fprintf(stream, "has %s in %s, by %s,\n", term_count(table->all.bytes, "byte").text,
            term_count(table->all.blocks, "block").text, group_by_word[view->by]);
    for (int v = 0; v < VERDICT_MAX; v++)
        if (group_by_includes(view, (enum verdict)v)) {
            fprintf(stream, "%s%s", between, verdict_word[v]);
            between = ", ";
        }
    fprintf(stream, "%s:\n\n", process->sample > 1 ? "; estimated from samples" : "");
}

/* Returns the name of a row in the form that other text reports use for it. */
static struct term_text by_row_name(const struct group_by_row *row, const struct view *view)
{
    const struct frame *frame = record_title_frame(row->first);
    size_t columns = view->verbose || view->full_names ? 0 : text_columns(view) - LEFT;
    char buffer[PATH_MAX];
    const char *name = row->name;

    if ((view->by == BY_FUNCTION || view->by == BY_SITE) && frame)
        return text_function_name(frame, view, columns);
    if (view->by == BY_FILE && frame && frame->file)
        name = report_display_path(view, frame->file, buffer, sizeof(buffer));
    return term_text(name, strlen(name), columns);
}

static void write_by_row(const struct group_by_table *table, const struct group_by_row *row,
                         const struct view *view, FILE *stream)
{
    const struct frame *frame = record_title_frame(row->first);
    int width;

    fprintf(stream, "%5.1f %%%16s%10s%8s  %s\n", 100 * group_by_share(table, row),
            term_number(row->sum.bytes).text, term_number(row->sum.blocks).text,
            term_number(row->sum.records).text, by_row_name(row, view).text);
    if (view->by != BY_SITE)
        return;
    width = frame ? fprintf(stream, "%*s%s", LEFT, "", text_place(frame, view).text) : 0;
    text_signature(row->first->signature, width, view, stream);
}

static double percent_of(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

/* Writes for how much memory the type is known: "A type is known for 87.7 % of the bytes, for 3.1 %
 * with doubt (docs/TYPES.md)." */
static void write_type_coverage(const struct group_by_table *table, FILE *stream)
{
    const struct type_coverage *types = &table->types;

    fprintf(stream, "\nA type is known for %.1f %% of the bytes",
            percent_of(types->typed, table->all.bytes));
    if (types->doubtful)
        fprintf(stream, ", for %.1f %% with doubt", percent_of(types->doubtful, table->all.bytes));
    if (types->conflicts)
        fprintf(stream, "; contradicting evidence for %s",
                term_count(types->conflicts, "block").text);
    fputs(".", stream);
}

static void write_by_process(const struct process *process, const struct view *view, FILE *stream)
{
    struct group_by_table table = group_by_make(process, view);
    struct verdict_total shown = {table.all.bytes - table.rest.bytes,
                                  table.all.blocks - table.rest.blocks,
                                  table.all.records - table.rest.records};

    write_by_head(process, &table, view, stream);
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%7s%16s%10s%8s  %s\n", "share", "bytes", "blocks", "records",
            group_by_heading[view->by]);
    text_style(view, stream, STYLE_PLAIN);
    for (size_t i = 0; i < table.shown; i++)
        write_by_row(&table, &table.rows[i], view, stream);
    putc('\n', stream);
    write_part("Shown", &shown, term_count(shown.bytes, "byte"), "record", stream);
    write_part(" Rest", &table.rest, term_count(table.rest.bytes, "byte"), "record", stream);
    if (view->by == BY_TYPE)
        write_type_coverage(&table, stream);
    fputs("\n\n", stream);
    group_by_end(&table);
}

void text_by(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_by_process(&report->processes[i], view, stream);
}

/* ---- Single blocks (--blocks) ---------------------------------------------------------------- */

#define NAME_COLUMNS 24

struct sums {
    uint64_t known_blocks, known_bytes, blocks, bytes;
};

static void write_listed_block(const struct record *record, const struct sample *sample,
                               const struct view *view, FILE *stream)
{
    const struct frame *frame = record_title_frame(record);
    char serial[40], address[24] = "";

    if (sample->address)
        snprintf(address, sizeof(address), "0x%" PRIx64, sample->address);
    snprintf(serial, sizeof(serial), "T%" PRIu32 "#%" PRIu32, sample->thread.serial, sample->count);
    fprintf(stream, "%-9s %-15s %13s  %-9s", verdict_word[record->verdict], address,
            term_count(sample->size, "byte").text, serial);
    if (frame) {
        fprintf(stream, " %s  %s",
                text_function_name(frame, view, view->verbose ? 0 : NAME_COLUMNS).text,
                text_place(frame, view).text);
    }
    putc('\n', stream);
}

/* Writes the blocks of the listed records; view->top limits the number of records. */
static struct sums write_listed_records(const struct process *process, const struct view *view,
                                        FILE *stream)
{
    struct sums sums = {0};
    size_t listed = 0;

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (record->suppressed_by || !group_by_includes(view, record->verdict))
            continue;
        sums.blocks = add_saturating(sums.blocks, record->blocks);
        sums.bytes = add_saturating(sums.bytes, record->bytes);
        if (view->quiet || (view->top && listed >= view->top))
            continue;
        listed++;
        for (size_t k = 0; k < record->sample_count; k++) {
            sums.known_blocks++;
            sums.known_bytes = add_saturating(sums.known_bytes, record->samples[k].size);
            write_listed_block(record, &record->samples[k], view, stream);
        }
    }
    return sums;
}

static void write_listed_sums(const struct sums *sums, bool sampled, FILE *stream)
{
    const char *about = sampled ? "about " : "";
    uint64_t blocks = sums->blocks - sums->known_blocks;
    uint64_t bytes = sums->bytes > sums->known_bytes ? sums->bytes - sums->known_bytes : 0;

    if (sums->known_blocks)
        putc('\n', stream);
    fprintf(stream, "Listed: %s of %s, of %s%s of %s.\n",
            term_count(sums->known_blocks, "block").text,
            term_count(sums->known_bytes, "byte").text, about,
            term_count(sums->blocks, "block").text, term_count(sums->bytes, "byte").text);
    if (sums->blocks <= sums->known_blocks)
        return;
    fprintf(stream, "%s%s, ", about, term_count(blocks, "block").text);
    fprintf(stream,
            "%s in all, %s not listed: a leak check records the largest few blocks\n"
            "of each record, and --top limits the records.\n",
            term_count(bytes, "byte").text, blocks == 1 ? "is" : "are");
}

void text_blocks(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        struct sums sums;

        if (report_omits_process(process, view))
            continue;
        text_process_name(process, false, stream);
        fputs("has these blocks:\n\n", stream);
        sums = write_listed_records(process, view, stream);
        write_listed_sums(&sums, process->sample > 1, stream);
        putc('\n', stream);
    }
}
