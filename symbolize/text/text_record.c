/* text_record.c - writes one record, or one entry of several records; described in text.h. The tags
 * of the blocks look like this:
 *
 *     under the tag mesh                                 all blocks of the record
 *
 *     under the tag mesh: 4,096 bytes in 3 blocks        some of them
 *     under the tag scene: 96 bytes in 1 block
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/base/term_text.h"
#include "symbolize/records/leak_groups.h"
#include "symbolize/records/sampling_error.h"

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAGS_SHOWN 3 /* tags that are shown without -v */
#define NAME_COLUMNS 24

static void write_tag(const struct tag_sum *sum, const struct record *all, int indent,
                      const struct view *view, FILE *stream)
{
    size_t columns = view->verbose || view->full_names ? 0 : NAME_COLUMNS;

    fprintf(stream, "%*sunder the tag %s", indent, "",
            term_text(sum->name, strlen(sum->name), columns).text);
    if (sum->blocks != all->blocks || sum->bytes != all->bytes)
        fprintf(stream, ": %s in %s", estimate_bytes(sum->bytes, all->error.bytes).text,
                estimate_count(sum->blocks, all->error.blocks, "block").text);
    putc('\n', stream);
}

void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream)
{
    size_t shown = view->verbose || sums->count <= TAGS_SHOWN + 1 ? sums->count : TAGS_SHOWN;

    for (size_t i = 0; i < shown; i++)
        write_tag(&sums->sum[i], all, indent, view, stream);
    if (shown < sums->count)
        fprintf(stream, "%*sand under %s (-v lists them)\n", indent, "",
                term_count(sums->count - shown, "more tag").text);
}

#define PARTS_SHOWN 4   /* parts of an entry that are shown without -v, the first one included */
#define CALL_COLUMNS 40 /* most columns of a caller's name */

/* ---- Times and threads ----------------------------------------------------------------------- */

#define SPAN_SIZE (2 * TIME_TEXT_SIZE + 8)

/* Makes a text for the age of the blocks: "0.4 s", "3 min 20 s to 0.3 s"; empty if unknown. */
static const char *span_text(const struct process *process, const struct record *record,
                             char text[SPAN_SIZE])
{
    uint64_t end = process->until_ns;
    char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];

    *text = 0;
    if (!end || !record->first_ns)
        return text;
    time_format_span(end > record->first_ns ? end - record->first_ns : 0, first);
    time_format_span(end > record->last_ns ? end - record->last_ns : 0, last);
    if (strcmp(first, last) == 0)
        snprintf(text, SPAN_SIZE, "%s", first);
    else
        snprintf(text, SPAN_SIZE, "%s to %s", first, last);
    return text;
}

static void write_span(const struct process *process, const struct record *record, FILE *stream)
{
    char span[SPAN_SIZE];

    if (*span_text(process, record, span))
        fprintf(stream, " %s %s", span, process->how == END_RUNNING ? "ago" : "before the end");
}

/* Makes a text for the headline of a terse record: ", 0.4 s old (T2)"; empty if it needs more than
 * `columns`. If there is little room, "(T1)" is left out: T1 is the thread that runs main. */
static void age_text(const struct process *process, const struct record *record,
                     const struct view *view, size_t columns, char *text, size_t size)
{
    char span[SPAN_SIZE];

    *text = 0;
    if (view->terse < TEXT_BRIEF || view->when_told || !*span_text(process, record, span))
        return;
    if (record->thread_count == 1 && !record->more_threads)
        snprintf(text, size, ", %s old (T%" PRIu32 ")", span, record->threads[0].serial);
    else
        snprintf(text, size, ", %s old", span);
    if (strlen(text) > columns && record->thread_count == 1 && record->threads[0].serial == 1)
        snprintf(text, size, ", %s old", span);
    if (strlen(text) > columns)
        *text = 0;
}

static void write_entry_threads(const struct record *record, FILE *stream)
{
    size_t listed = record->thread_count > 4 ? 3 : record->thread_count;

    for (size_t i = 0; i < listed; i++) {
        const char *name = record->threads[i].name;

        fprintf(stream, "%s T%" PRIu32, i ? "," : " by", record->threads[i].serial);
        if (name && *name)
            fprintf(stream, " (%s)", term_text(name, strlen(name), 16).text);
    }
    if (record->more_threads)
        fputs(" and others", stream);
    else if (listed < record->thread_count)
        fprintf(stream, " and %zu others", record->thread_count - listed);
}

/* Writes the sampling errors of the numbers of an entry that are marked with ~. */
static void write_entry_error(const struct record *record, FILE *stream)
{
    const struct error *error = &record->error;

    if (!error->bytes && !error->blocks)
        return;
    fprintf(stream, "%*sestimated from %s: %s, %s (95 %%)\n", TEXT_INDENT, "",
            term_count(error->samples, "sample").text,
            estimate_bytes_error(record->bytes, error->bytes).text,
            estimate_count_error(record->blocks, error->blocks, "block").text);
}

void text_when(const struct process *process, const struct record *record, FILE *stream)
{
    write_span(process, record, stream);
    write_entry_threads(record, stream);
}

void text_event(const struct process *process, uint64_t ns, const struct thread_ref *thread,
                FILE *stream)
{
    struct thread_ref one = *thread;
    struct record record = {.first_ns = ns, .last_ns = ns, .threads = &one};

    record.thread_count = thread->serial != 0;
    text_when(process, &record, stream);
}

void text_dates(uint64_t first_ns, uint64_t last_ns, FILE *stream)
{
    char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];

    if (!time_format_iso(first_ns, first) || !time_format_iso(last_ns, last))
        return;
    fprintf(stream, ", %.10s %.5s", first, first + 11);
    if (strncmp(first, last, 16) != 0)
        fprintf(stream, " to %.10s %.5s", last, last + 11);
    fputs(" UTC", stream);
}

void text_occurrences(const struct record *record, FILE *stream)
{
    const struct seen *seen = &record->seen;

    if (!seen->processes)
        return;
    fprintf(stream, "%*sin %s", TEXT_INDENT, "", term_count(seen->processes, "process").text);
    if (seen->host_count == 1)
        fprintf(stream, " on %s", term_text(seen->hosts[0], strlen(seen->hosts[0]), 30).text);
    else if (seen->host_count)
        fprintf(stream, " on %s", term_count(seen->host_count, "host").text);
    text_dates(record->first_ns, record->last_ns, stream);
    putc('\n', stream);
}

/* Returns the number of blocks: "3 blocks", or "3 of 40 blocks" if the stack allocated 40. If few
 * of many are lost, they are lost on a path that the program rarely takes; if all are, nothing
 * frees them. */
static struct term_text count_blocks(const struct record *record)
{
    struct term_text text = estimate_count(record->blocks, record->error.blocks, "block");
    uint64_t allocated = record->freed.allocated;

    if (allocated > 1 && allocated >= record->blocks && record->verdict != VERDICT_RUNTIME)
        text.columns =
            (size_t)snprintf(text.text, sizeof(text.text), "%.30s of %.30s",
                             estimate_number(record->blocks, record->error.blocks).text,
                             estimate_count(allocated, record->error.blocks, "block").text);
    return text;
}

/* Writes the first line of a record or an entry. entry: `record` is the sum of its parts; NULL = a
 * single record. Returns whether the line has the age. */
static bool write_entry_head(const struct process *process, const struct record *record,
                             const struct entry *entry, size_t number, const struct view *view,
                             FILE *stream)
{
    char head[160], age[SPAN_SIZE + 32];
    bool dated;
    int width = snprintf(head, sizeof(head), "%zu. ", number);

    fputs(head, stream);
    text_style(view, stream, STYLE_BOLD);
    width += snprintf(head, sizeof(head), "%.40s in %.70s",
                      estimate_bytes(record->bytes, record->error.bytes).text,
                      count_blocks(record).text);
    fputs(head, stream);
    text_style(view, stream, STYLE_PLAIN);
    width += snprintf(head, sizeof(head), " %s (%s)", verdict_words[record->verdict],
                      kind_word[record->kind]);
    if (entry)
        width += snprintf(head + strlen(head), sizeof(head) - strlen(head), ", %.30s",
                          term_count(entry->count, "place").text);
    fputs(head, stream);
    age_text(process, record, view,
             (size_t)width + 18 < TEXT_COLUMNS ? TEXT_COLUMNS - 18 - (size_t)width : 0, age,
             sizeof(age));
    dated = *age != 0;
    width += fprintf(stream, "%s", age);
    text_signature(record->signature, width, view, stream);
    write_entry_error(record, stream);
    return dated;
}

/* ---- Parts of an entry ----------------------------------------------------------------------- */

/* Finds the user frame in which a part of an entry differs from the first part; searches outwards
 * from the function that the parts share, and returns that function's frame if they do not differ.
 * *who: see write_entry_part(). */
static const struct frame *find_parting_frame(const struct entry *entry, const struct record *part,
                                              const struct record *first, const char **who)
{
    size_t start = leak_group_shared_frame(entry, part), a = start,
           b = leak_group_shared_frame(entry, first);

    while (a < part->frame_count && b < first->frame_count && part->frames[a] == first->frames[b]) {
        a++;
        b++;
    }
    while (a < part->frame_count && part->frames[a]->role != FRAME_USER)
        a++;
    if (a == part->frame_count)
        a = start;
    if (part->frames[start]->name_hash !=
        first->frames[leak_group_shared_frame(entry, first)]->name_hash)
        *who = "from";
    else
        *who = part->frames[a]->name_hash != part->frames[start]->name_hash ? "called by" : NULL;
    return part->frames[a];
}

/* Writes a part of an entry: "and 96 bytes in 3 blocks called by parse() at widget.cc:11". who:
 * "called by", "from" or NULL. */
static void write_entry_part(const struct term_text *bytes, const struct term_text *blocks,
                             const struct frame *frame, const char *who, const struct view *view,
                             FILE *stream)
{
    struct term_text place = text_place(frame, view), call = {.columns = 0};
    const char *at = text_place_lead(frame, &place);
    size_t used = TEXT_INDENT + strlen("and  in ") + bytes->columns + blocks->columns + strlen(at);

    if (who) {
        call = text_call(frame, view, CALL_COLUMNS);
        used += strlen(who) + 2 + call.columns;
    }
    if (!view->verbose && used < text_columns(view))
        place = text_place_within(frame, view, text_columns(view) - used);
    fprintf(stream, "%*sand %s in %s", TEXT_INDENT, "", bytes->text, blocks->text);
    if (who)
        fprintf(stream, " %s %s", who, call.text);
    fprintf(stream, "%s%s\n", at, place.text);
}

static void write_more(size_t more, FILE *stream)
{
    if (more)
        fprintf(stream, "%*sand in %s (-v lists them)\n", TEXT_INDENT, "",
                term_count(more, "more place").text);
}

/* Returns the number of parts to show: one more than usual instead of a line "and in 1 more
 * place". */
static size_t count_shown_parts(size_t count, const struct view *view)
{
    return view->verbose || count <= PARTS_SHOWN + 1 ? count : PARTS_SHOWN;
}

/* Writes another line of the function that allocates, or of one further out, which is shown with its
 * file in the stack. */
static void write_entry_line(const struct record *record, const struct record_line *line,
                             const struct view *view, FILE *stream)
{
    struct term_text bytes = term_count(line->bytes, "byte");
    struct term_text blocks = term_count(line->blocks, "block");

    if (record->lines_of == record->user)
        write_entry_part(&bytes, &blocks, line->frame, NULL, view, stream);
    else
        fprintf(stream, "%*sand %s in %s called by %s in line %" PRIu32 "\n", TEXT_INDENT, "",
                bytes.text, blocks.text, text_call(line->frame, view, CALL_COLUMNS).text,
                line->frame->line);
}

/* Writes the other lines of the function that allocate blocks of this record, or call what does. */
static void write_entry_lines(const struct record *record, const struct view *view, FILE *stream)
{
    size_t shown = count_shown_parts(record->line_count, view);

    for (size_t i = 0; i < shown; i++) {
        if (record->lines[i].frame != record->frames[record->lines_of])
            write_entry_line(record, &record->lines[i], view, stream);
    }
    write_more(record->line_count - shown + record->more_lines, stream);
}

/* A frame in which parts of an entry differ from the first part. Parts with equal frames are summed
 * up. */
struct parting {
    const struct frame *frame;
    const char *who;
    uint64_t bytes, blocks;
    struct error error;
};

static size_t find_partings(const struct process *process, const struct entry *entry,
                            struct parting *partings)
{
    const struct record *first = &process->records[entry->parts[0]];
    struct hashmap by_place = {0};
    size_t count = 0;

    for (size_t i = 1; i < entry->count; i++) {
        const struct record *part = &process->records[entry->parts[i]];
        const char *who;
        const struct frame *frame = find_parting_frame(entry, part, first, &who);
        uint64_t *place = hashmap_put(&by_place, (uint64_t)(uintptr_t)frame + (who != NULL), NULL);
        struct parting *parting;

        if (!*place) {
            partings[count] = (struct parting){.frame = frame, .who = who};
            *place = ++count;
        }
        parting = &partings[*place - 1];
        parting->bytes = add_saturating(parting->bytes, part->bytes);
        parting->blocks = add_saturating(parting->blocks, part->blocks);
        error_add(&parting->error, &part->error);
    }
    hashmap_end(&by_place);
    return count;
}

static void write_entry_parts(const struct process *process, const struct entry *entry,
                              const struct view *view, FILE *stream)
{
    struct parting *partings = array_grow(NULL, &(size_t){0}, entry->count, sizeof(*partings));
    size_t count = find_partings(process, entry, partings),
           shown = count_shown_parts(count + 1, view) - 1;

    for (size_t i = 0; i < shown; i++) {
        const struct parting *parting = &partings[i];
        struct term_text bytes = estimate_bytes(parting->bytes, parting->error.bytes);
        struct term_text blocks = estimate_count(parting->blocks, parting->error.blocks, "block");

        write_entry_part(&bytes, &blocks, parting->frame, parting->who, view, stream);
    }
    write_more(count - shown, stream);
    free(partings);
}

static void write_entry_tags(const struct process *process, const struct record *record,
                             const struct entry *entry, const struct view *view, FILE *stream)
{
    struct tag_sums sums = {0};

    for (size_t i = 0; entry && i < entry->count; i++)
        tag_sums_add_record(&sums, &process->records[entry->parts[i]]);
    if (!entry)
        tag_sums_add_record(&sums, record);
    tag_sums_sort(&sums);
    text_tags(&sums, record, TEXT_INDENT, view, stream);
    tag_sums_end(&sums);
}

static void write_entry_body(const struct process *process, const struct record *record,
                             const struct entry *entry, bool dated, const struct view *view,
                             FILE *stream)
{
    text_types(process, entry ? entry->parts : NULL, entry ? entry->count : 0, record, view,
               stream);
    text_frames(record, TEXT_INDENT, view, stream);
    if (record->stacks > 1 && view->verbose)
        fprintf(stream, "%*sthis is the largest of %s with these names\n", TEXT_INDENT, "",
                term_count(record->stacks, "stack").text);
    text_lost_between(process, record, stream);
    text_when_lost(record, view, stream);
    text_freed_elsewhere(record, view, stream);
    text_freed_owner(record, view, stream);
    text_counterparts(record, view, stream);
    text_handovers(record, view, stream);
    write_entry_lines(record, view, stream);
    if (entry)
        write_entry_parts(process, entry, view, stream);
    write_entry_tags(process, record, entry, view, stream);
    text_suppressed_by(record, stream);
    text_growth_reason(record->growth, view, stream);
    text_verdict(process, record, view, stream);
    for (size_t i = 0; i < (entry ? entry->count : 1); i++)
        text_siblings(process, entry ? &process->records[entry->parts[i]] : record, view, stream);
    if (!dated && !view->when_told && view->terse < TEXT_BRIEF &&
        (process->until_ns || record->thread_count) && record->kind != KIND_OLDER) {
        fprintf(stream, "%*sallocated", TEXT_INDENT, "");
        text_when(process, record, stream);
        putc('\n', stream);
    }
    text_occurrences(record, stream);
}

void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream)
{
    bool dated = write_entry_head(process, record, NULL, number, view, stream);

    write_entry_body(process, record, NULL, dated, view, stream);
}

void text_entry(const struct process *process, const struct entry *entry, size_t number,
                const struct view *view, FILE *stream)
{
    struct record sum;
    bool dated;

    if (entry->count == 1) {
        text_record(process, &process->records[entry->parts[0]], number, view, stream);
        return;
    }
    sum = leak_group_sum(process, entry);
    dated = write_entry_head(process, &sum, entry, number, view, stream);
    write_entry_body(process, &sum, entry, dated, view, stream);
}
