/* text_verdict.c - see text_verdict.h.
 *
 *     fix this one: 812 blocks, 3.1 MB go away
 *     holds 12 blocks, 480 bytes from node_new()
 */
#include "symbolize/text/text_verdict.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/encode/encode.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_path.h"

#define HELD_TOLD 3 /* functions whose blocks hang under a record, unless more is asked for */
#define CALL_COLUMNS 40

static void print_notice(const char *words, FILE *stream)
{
    fprintf(stream, "%*s%s\n", TEXT_INDENT, "", words);
}

static void write_held(const struct record *held, const struct verdict_total *sum, bool shared,
                       const struct view *view, FILE *stream)
{
    fprintf(stream, "%*sholds %s, ", TEXT_INDENT, "", term_count(sum->blocks, "block").text);
    fprintf(stream, "%s from ", term_size(sum->bytes).text);
    fprintf(stream, "%s%s\n", text_call(record_title_frame(held), view, CALL_COLUMNS).text,
            shared ? " (and others do)" : "");
}

static void add_total(struct verdict_total *sum, const struct record *record)
{
    sum->blocks = add_saturating(sum->blocks, record->blocks);
    sum->bytes = add_saturating(sum->bytes, record->bytes);
    sum->records++;
}

/* What hangs under it and came from one function. */
struct held {
    const struct record *first;
    struct verdict_total sum;
    bool shared;
};

static uint64_t maker_of(const struct record *record)
{
    const struct frame *title = record_title_frame(record);

    return title ? title->name_hash : 0;
}

/* The one of that function, a new one, or NULL: there are enough. */
static struct held *held_of(struct held *held, size_t *count, const struct record *record)
{
    for (size_t i = 0; i < *count; i++)
        if (maker_of(held[i].first) == maker_of(record))
            return &held[i];
    if (*count == HELD_TOLD)
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

/* What hangs under it, by function; the rest in one line. */
static void write_some_held(const struct process *process, const struct record *record,
                            const struct view *view, FILE *stream)
{
    struct held held[HELD_TOLD];
    struct verdict_total rest = {0};
    size_t count = 0;

    for (const struct record *one = next_held(process, record->owned, view); one;
         one = next_held(process, one->next_owned, view)) {
        struct held *its = held_of(held, &count, one);

        add_total(its ? &its->sum : &rest, one);
        if (its)
            its->shared |= one->shared;
    }
    for (size_t i = 0; i < count; i++)
        write_held(held[i].first, &held[i].sum, held[i].shared, view, stream);
    if (!rest.records)
        return;
    fprintf(stream, "%*sholds %s, ", TEXT_INDENT, "", term_count(rest.blocks, "more block").text);
    fprintf(stream, "%s from ", term_size(rest.bytes).text);
    fprintf(stream, "%s (--show=lost,indirect)\n", term_count(rest.records, "place").text);
}

static void write_all_held(const struct process *process, const struct record *record,
                           const struct view *view, FILE *stream)
{
    for (const struct record *one = next_held(process, record->owned, view); one;
         one = next_held(process, one->next_owned, view)) {
        struct verdict_total sum = {0};

        add_total(&sum, one);
        write_held(one, &sum, one->shared, view, stream);
        text_frames(one, TEXT_INDENT + 3, view, stream);
    }
}

/* "LEAD 812 blocks, 3.1 MBREST", when that is more than the record itself. */
static void write_retained(const struct record *record, const char *lead, const char *rest,
                           FILE *stream)
{
    if (record->retained.blocks <= record->blocks)
        return;
    fprintf(stream, "%*s%s %s, ", TEXT_INDENT, "", lead,
            term_count(record->retained.blocks, "block").text);
    fprintf(stream, "%s%s\n", term_size(record->retained.bytes).text, rest);
}

static void write_reached(const struct record *record, const struct view *view, FILE *stream)
{
    const struct path *path = record->path;

    if (record->ignored)
        print_notice("the program said that this is no leak", stream);
    if (record->dropped)
        print_notice("dropped by exit code: when it began, something still pointed here", stream);
    write_retained(record, "alone keeps", " alive, itself included", stream);
    if (!path)
        return;
    if (path->root->class == LEAK_ROOT_CLASS_STACKS)
        fprintf(stream, "%*sreachable only through %s\n", TEXT_INDENT, "",
                term_text(path->root->words, strlen(path->root->words), 0).text);
    if (path->root->class != LEAK_ROOT_CLASS_STACKS || path->count > 1)
        text_path(path, TEXT_INDENT, view, stream);
}

#define GLANCE 32 /* bytes of a block that fit a line */

/* The blocks somebody may want to stop at (break_at=), with what is in them. */
static void write_samples(const struct record *record, const struct view *view, FILE *stream)
{
    char glance[4 * GLANCE + 1];

    for (size_t i = 0; i < record->sample_count; i++) {
        const struct sample *sample = &record->samples[i];

        fprintf(stream, "%*sT%" PRIu32 "#%" PRIu32 ": ", TEXT_INDENT, "", sample->thread.serial,
                sample->count);
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
            hex_dump(sample->content, sample->length, TEXT_INDENT + 2, stream);
    }
}

void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream)
{
    switch (record->verdict) {
    case VERDICT_LOST:
        if (record->cycle)
            print_notice("a ring of blocks that point at each other", stream);
        write_retained(record, "fix this one:", " go away", stream);
        if (view->verbose || view->show[VERDICT_INDIRECT])
            write_all_held(process, record, view, stream);
        else if (view->terse < 3)
            write_some_held(process, record, view, stream);
        break;
    case VERDICT_POSSIBLE:
        if (record->tagged)
            print_notice("held by an unaligned pointer to its first bytes: a tag in its low bits?", stream);
        break;
    case VERDICT_REACHABLE:
        write_reached(record, view, stream);
        break;
    case VERDICT_UNFREED:
        if (process->look && process->look->made)
            print_notice("came after the look at the heap, which says nothing of it", stream);
        break;
    default:
        break;
    }
    if (view->verbose || view->content)
        write_samples(record, view, stream);
}
