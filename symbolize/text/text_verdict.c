/* text_verdict.c - writes, below a record, why it has its verdict and what it owns; described in
 * text.h. It looks like this:
 *
 *     fixing this leak releases 3.1 MB in 812 blocks
 *     holds 12 blocks, 480 bytes from node_new()
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/encode/encode.h"

#define HELD_SHOWN 3 /* number of functions whose blocks are shown without -v */
#define CALL_COLUMNS 40

static void write_remark(const char *words, FILE *stream)
{
    fprintf(stream, "%*s%s\n", TEXT_INDENT, "", words);
}

static void write_held(const struct record *held, const struct verdict_total *sum, bool shared,
                       const struct view *view, FILE *stream)
{
    fprintf(stream, "%*sholds %s, %s from %s%s\n", TEXT_INDENT, "",
            term_count(sum->blocks, "block").text, term_size(sum->bytes).text,
            text_call(record_title_frame(held), view, CALL_COLUMNS).text,
            shared ? " (shared with others)" : "");
}

static void add_record_total(struct verdict_total *sum, const struct record *record)
{
    sum->blocks = add_saturating(sum->blocks, record->blocks);
    sum->bytes = add_saturating(sum->bytes, record->bytes);
    sum->records++;
}

/* Blocks that a record owns and that one function allocated. */
struct held {
    const struct record *first;
    struct verdict_total sum;
    bool shared;
};

static uint64_t maker_name_hash(const struct record *record)
{
    const struct frame *title = record_title_frame(record);

    return title ? title->name_hash : 0;
}

/* Finds the group of the function that allocated the record's blocks, or adds it. NULL: there are
 * already HELD_SHOWN groups. */
static struct held *find_held_group(struct held *held, size_t *count, const struct record *record)
{
    for (size_t i = 0; i < *count; i++)
        if (maker_name_hash(held[i].first) == maker_name_hash(record))
            return &held[i];
    if (*count == HELD_SHOWN)
        return NULL;
    held[*count] = (struct held){.first = record};
    return &held[(*count)++];
}

static const struct record *next_held(const struct process *process, size_t i,
                                      const struct view *view)
{
    while (i && process->records[i - 1].suppressed_by && !view->suppressed)
        i = process->records[i - 1].next_owned;
    return i ? &process->records[i - 1] : NULL;
}

/* Writes the owned blocks by function, and the rest in one line. */
static void write_some_held(const struct process *process, const struct record *record,
                            const struct view *view, FILE *stream)
{
    struct held held[HELD_SHOWN];
    struct verdict_total rest = {0};
    size_t count = 0;

    for (const struct record *one = next_held(process, record->owned, view); one;
         one = next_held(process, one->next_owned, view)) {
        struct held *its = find_held_group(held, &count, one);

        add_record_total(its ? &its->sum : &rest, one);
        if (its)
            its->shared |= one->shared;
    }
    for (size_t i = 0; i < count; i++)
        write_held(held[i].first, &held[i].sum, held[i].shared, view, stream);
    if (!rest.records)
        return;
    fprintf(stream, "%*sholds %s, %s from %s (%s)\n", TEXT_INDENT, "",
            term_count(rest.blocks, "more block").text, term_size(rest.bytes).text,
            term_count(rest.records, "place").text,
            record->verdict == VERDICT_LOST ? "--show=lost,indirect" : "-v shows them");
}

static void write_all_held(const struct process *process, const struct record *record,
                           const struct view *view, FILE *stream)
{
    for (const struct record *one = next_held(process, record->owned, view); one;
         one = next_held(process, one->next_owned, view)) {
        struct verdict_total sum = {0};

        add_record_total(&sum, one);
        write_held(one, &sum, one->shared, view, stream);
        text_frames(one, TEXT_INDENT + 3, view, stream);
    }
}

/* Writes "LEAD 3.1 MB in 812 blocksREST" if fixing the record releases more blocks than its own. */
static void write_retained(const struct record *record, const char *lead, const char *rest,
                           FILE *stream)
{
    if (record->retained.blocks <= record->blocks)
        return;
    fprintf(stream, "%*s%s %s in %s%s\n", TEXT_INDENT, "", lead,
            term_size(record->retained.bytes).text,
            term_count(record->retained.blocks, "block").text, rest);
}

static void write_reached(const struct record *record, const struct view *view, FILE *stream)
{
    const struct path *path = record->path;

    if (record->ignored)
        write_remark("marked as no leak by the program", stream);
    if (record->dropped)
        write_remark("dropped by exit code: still referenced when exit began", stream);
    write_retained(record, "keeps", " alive, itself included", stream);
    text_interior(record, view, stream);
    if (!path)
        return;
    if (path->root->class == LEAK_ROOT_CLASS_STACKS)
        fprintf(stream, "%*sreachable only through %s\n", TEXT_INDENT, "",
                term_text(path->root->words, strlen(path->root->words), 0).text);
    if (path->root->class != LEAK_ROOT_CLASS_STACKS || path->count > 1)
        text_path(path, TEXT_INDENT, view, stream);
}

static void write_possible(const struct record *record, const struct view *view, FILE *stream)
{
    if (record->interior_count)
        text_interior(record, view, stream);
    else if (record->tagged)
        write_remark("only an unaligned pointer to its first bytes: tagged pointer?", stream);
    if (record->path && (record->path->count > 1 || !record->interior_count))
        text_path(record->path, TEXT_INDENT, view, stream);
}

#define GLANCE 32 /* bytes of a block's content that are shown in one line */

/* Writes the sample blocks with their serials, which the option break_at= takes, and their
 * contents. */
static void write_verdict_samples(const struct record *record, const struct view *view,
                                  FILE *stream)
{
    char glance[4 * GLANCE + 1];

    for (size_t i = 0; i < record->sample_count; i++) {
        const struct sample *sample = &record->samples[i];

        fprintf(stream, "%*s", TEXT_INDENT, "");
        if (sample->thread.serial) /* 0: libleak did not see the allocation */
            fprintf(stream, "T%" PRIu32 "#%" PRIu32 ": ", sample->thread.serial, sample->count);
        fprintf(stream, "%s", term_count(sample->size, "byte").text);
        if (sample->address)
            fprintf(stream, " at 0x%" PRIx64, sample->address);
        if (sample->length && !view->content) {
            hex_line(sample->content, sample->length < GLANCE ? sample->length : GLANCE, glance,
                     sizeof(glance));
            fprintf(stream, " \"%s\"", term_text(glance, strlen(glance), 40).text);
        } else if (sample->length && sample->length < sample->size) {
            fprintf(stream, ", the first %s", term_number(sample->length).text);
        }
        putc('\n', stream);
        if (view->content)
            text_fields(sample, TEXT_INDENT + 2, stream);
        if (view->content)
            hex_dump(sample->content, sample->length, TEXT_INDENT + 2, stream);
    }
}

static void write_owned(const struct process *process, const struct record *record,
                        const struct view *view, FILE *stream)
{
    if (view->verbose || view->show[VERDICT_INDIRECT])
        write_all_held(process, record, view, stream);
    else if (view->terse < TEXT_TIGHT)
        write_some_held(process, record, view, stream);
}

void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream)
{
    switch (record->verdict) {
    case VERDICT_LOST:
        if (record->cycle)
            write_remark("reference cycle", stream);
        write_retained(record, "fixing this leak releases", "", stream);
        write_owned(process, record, view, stream);
        break;
    case VERDICT_POSSIBLE:
        write_possible(record, view, stream);
        if (record->owned)
            write_retained(record, "with it", " are possibly lost", stream);
        write_owned(process, record, view, stream);
        break;
    case VERDICT_REACHABLE:
        write_reached(record, view, stream);
        break;
    case VERDICT_UNFREED:
        if (process->look && process->look->made)
            write_remark("allocated after the last leak check: state unknown", stream);
        break;
    default:
        break;
    }
    if (view->verbose || view->content)
        write_verdict_samples(record, view, stream);
}
