/* text_resources.c - see text_resources.h.
 *
 * A log, a lock, a listening socket: many right programs open something once and leave it to the
 * kernel to close. So what one stack left open more than once comes first and in full, and after it
 * closes that found nothing to close; what was opened once has a line for its name and one for its
 * place. A shell closes some numbers twice and is none the worse: a process that did no more than
 * that is not listed for it.
 */
#include "symbolize/text/text_resources.h"

#include <inttypes.h>
#include <string.h>

#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_freed.h"
#include "symbolize/text/text_record.h"

#define NAMES 3 /* of a record in full */

static const struct {
    const char *type, *word;
} words[] = {
    {"fd", "descriptor"},     {"file", "stream"},   {"dir", "directory"}, {"mmap", "mapping"},
    {"dl", "library handle"}, {"thread", "thread"}, {"pair", "object"},
};

static const char *word_of(const char *type)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].type, type) == 0)
            return words[i].word;
    return type;
}

/* "2 directories" */
static struct shown count_of(uint64_t count, const char *type)
{
    if (count != 1 && strcmp(type, "dir") == 0) {
        struct shown shown = term_number(count);

        shown.columns += (size_t)snprintf(shown.text + shown.columns, 16, " directories");
        return shown;
    }
    return term_count(count, word_of(type));
}

static void write_names(const struct resource *resource, const struct view *view, FILE *stream)
{
    size_t most = view->verbose ? RESOURCE_NAMES : NAMES;

    for (size_t i = 0; i < resource->name_count && i < most; i++)
        fprintf(stream, "%s%s", i ? ", " : "",
                term_text(resource->names[i], strlen(resource->names[i]), 0).text);
    if (resource->name_count > most || resource->more_names)
        fputs(", ...", stream);
}

static void write_stack(const char *head, const struct stack *stack, const struct view *view,
                        FILE *stream)
{
    struct record record = record_from_stack(stack);

    fprintf(stream, "%*s%s:\n", TEXT_INDENT - 2, "", head);
    text_frames(&record, TEXT_INDENT, view, stream);
}

static void write_bad_close(const struct resource *resource, const struct view *view, FILE *stream)
{
    char head[128] = "closed first";

    if (resource->taken)
        fprintf(stream, "%*sby then the number was another one's, which is closed now\n",
                TEXT_INDENT, "");
    if (resource->closed.count) {
        snprintf(head, sizeof(head), "closed first, by T%" PRIu32, resource->closed_by.serial);
        write_stack(head, &resource->closed, view, stream);
    }
    if (resource->opened.count)
        write_stack("opened", &resource->opened, view, stream);
}

void text_resource_words(const struct resource *resource, FILE *stream)
{
    const struct record *record = &resource->record;

    if (strcmp(resource->type, "bad-close") == 0)
        fprintf(stream, "%s of a descriptor that never was open",
                term_count(record->blocks, "close").text);
    else if (resource->bad_close)
        fprintf(stream, "%s of a descriptor that was closed already",
                term_count(record->blocks, "close").text);
    else if (strcmp(resource->type, "thread") == 0)
        fprintf(stream, "%s ended, neither joined nor detached",
                count_of(record->blocks, resource->type).text);
    else
        fprintf(stream, "%s still open", count_of(record->blocks, resource->type).text);
    if (resource->has_bytes)
        fprintf(stream, ", %s", term_size(record->bytes).text);
}

void text_resource(const struct process *process, const struct resource *resource,
                   const struct view *view, FILE *stream)
{
    fputs(" - ", stream);
    text_style(view, stream, STYLE_BOLD);
    text_resource_words(resource, stream);
    text_style(view, stream, STYLE_PLAIN);
    if (resource->name_count) {
        fputs(": ", stream);
        write_names(resource, view, stream);
    }
    putc('\n', stream);
    text_frames(&resource->record, TEXT_INDENT, view, stream);
    text_freed(&resource->record, view, stream);
    text_orphaned(&resource->record, view, stream);
    if (resource->bad_close)
        write_bad_close(resource, view, stream);
    if (process->until_ns && resource->record.first_ns) {
        fprintf(stream, "%*s%s", TEXT_INDENT, "",
                resource->bad_close                     ? "closed"
                : strcmp(resource->type, "thread") == 0 ? "created"
                                                        : "opened");
        text_when(process, &resource->record, stream);
        putc('\n', stream);
    }
}

/* Its name, and who opened it for whom. */
static void write_single(const struct resource *resource, const struct view *view, FILE *stream)
{
    struct view brief = *view;

    brief.terse = TEXT_BRIEF - 1;
    fprintf(stream, " - %s: ", word_of(resource->type));
    write_names(resource, view, stream);
    if (resource->has_bytes)
        fprintf(stream, ", %s", term_size(resource->record.bytes).text);
    putc('\n', stream);
    text_frames(&resource->record, TEXT_INDENT, &brief, stream);
    text_freed(&resource->record, view, stream);
    text_orphaned(&resource->record, view, stream);
}

static void write_inherited(const struct process *process, FILE *stream)
{
    fputs("Open when the process began, and still:", stream);
    for (size_t i = 0; i < process->inherited_count; i++) {
        const struct inherited *one = &process->inherited[i];
        const char *name = one->name ? one->name : "unknown";

        fprintf(stream, "%s %" PRIu64 " (%s)", i ? "," : "", one->number,
                term_text(name, strlen(name), 0).text);
    }
    fputs(".\n", stream);
}

static void write_totals(const struct process *process, FILE *stream)
{
    fputs("Opened:", stream);
    for (size_t i = 0; i < process->resource_total_count; i++) {
        const struct resource_total *total = &process->resource_totals[i];

        fprintf(stream, "%s %s", i ? "," : "", count_of(total->opened, total->type).text);
        fprintf(stream, " (%s still open)", term_number(total->open).text);
    }
    fputs(".\n", stream);
}

static void write_list(const struct process *process, const struct view *view, FILE *stream)
{
    size_t hidden = 0;
    bool once = false;

    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        if (view->top && i >= view->top) {
            hidden++;
        } else if (!resource->once || view->verbose || view->all_frames) {
            text_resource(process, resource, view, stream);
        } else {
            if (!once && i)
                fputs("Opened once, and never closed (-v shows the stacks):\n", stream);
            once = true;
            write_single(resource, view, stream);
        }
    }
    if (hidden)
        fprintf(stream, "   ... and %zu more (--top=0).\n", hidden);
}

static const char *heading(const struct process *process)
{
    size_t bad = 0;

    for (size_t i = 0; i < process->resource_count; i++)
        bad += process->resources[i].bad_close;
    if (process->resources[0].once)
        return "Resources still open, opened once each (-v shows the stacks):\n";
    return bad == process->resource_count ? "Closes of what was not open:\n"
           : bad                          ? "Resources still open, and closes of what was not:\n"
                                          : "Resources still open:\n";
}

void text_resources(const struct process *process, const struct view *view, FILE *stream)
{
    if (process->resource_count) {
        text_style(view, stream, STYLE_BOLD);
        fputs(heading(process), stream);
        text_style(view, stream, STYLE_PLAIN);
        write_list(process, view, stream);
        putc('\n', stream);
    }
    if (process->inherited_count && view->verbose)
        write_inherited(process, stream);
    if (process->resource_total_count && view->verbose)
        write_totals(process, stream);
    if (process->resources_missed)
        fprintf(stream, "Not tracked: %s descriptors, streams and the like: no room for them.\n",
                term_number(process->resources_missed).text);
}
