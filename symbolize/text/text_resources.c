/* text_resources.c - writes resources other than memory; described in text.h.
 *
 * Many correct programs open a log, a lock or a listening socket once and leave the close to the
 * kernel. So stacks that left several resources open come first and in full, then closes of numbers
 * that were not open; a resource that was opened once has one line for its name and one for its
 * place. If lost blocks or errors need the room, resources opened once share a line, but for those
 * of which others are known to be closed. Shells close some numbers twice without harm, so a process
 * with only such closes is not listed.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 3          /* names of one resource that are shown without -v */
#define NAME_COLUMNS 23  /* most columns of a name that shares a line with others */
#define CALL_COLUMNS 22  /* most columns of a function's name in such a line */
#define BRIEF_CALLERS 2  /* callers that are shown in a shortened report that has other findings */
#define ALONE_MOST 3     /* resources opened once that have lines of their own in such a report */
#define SINGLE_CALLERS 2 /* callers that are shown for a resource that was opened once */

static const char *resource_noun(const char *type, bool plural)
{
#define X(name, word, noun, nouns, ...)                                                            \
    if (strcmp(type, word) == 0)                                                                   \
        return plural ? nouns : noun;
    LEAK_RESOURCE_TABLE(X)
#undef X
    return type;
}

/* Returns a number of resources: "2 directories". */
static struct term_text count_resources(uint64_t count, const char *type)
{
    struct term_text shown = term_number(count);

    shown.columns +=
        (size_t)snprintf(shown.text + shown.columns, sizeof(shown.text) - shown.columns, " %s",
                         resource_noun(type, count != 1));
    return shown;
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

static void write_resource_stack(const char *head, const struct stack *stack,
                                 const struct view *view, FILE *stream)
{
    fprintf(stream, "%*s%s:\n", TEXT_INDENT - 2, "", head);
    text_stack(stack, view, stream);
}

static void write_bad_close(const struct resource *resource, const struct view *view, FILE *stream)
{
    char head[128] = "closed first";

    if (resource->taken)
        fprintf(stream, "%*sthe number had been reused: another descriptor was closed\n",
                TEXT_INDENT, "");
    if (resource->closed.count) {
        snprintf(head, sizeof(head), "closed first, by T%" PRIu32, resource->closed_by.serial);
        write_resource_stack(head, &resource->closed, view, stream);
    }
    if (resource->opened.count)
        write_resource_stack("opened", &resource->opened, view, stream);
}

void text_resource_words(const struct resource *resource, FILE *stream)
{
    const struct record *record = &resource->record;

    if (strcmp(resource->type, "bad-close") == 0)
        fprintf(stream, "%s of a descriptor that was never open",
                term_count(record->blocks, "close").text);
    else if (resource->bad_close)
        fprintf(stream, "%s of a descriptor that was already closed",
                term_count(record->blocks, "close").text);
    else if (strcmp(resource->type, "thread") == 0)
        fprintf(stream, "%s ended, neither joined nor detached",
                count_resources(record->blocks, resource->type).text);
    else
        fprintf(stream, "%s still open", count_resources(record->blocks, resource->type).text);
    if (resource->has_bytes)
        fprintf(stream, ", %s", term_size(record->bytes).text);
}

void text_resource(const struct process *process, const struct resource *resource,
                   const struct view *view, FILE *stream)
{
    bool brief = view->terse >= TEXT_ONE_SOURCE && text_has_memory_findings(process, view);
    struct view frames = *view;

    fputs(" - ", stream);
    text_style(view, stream, STYLE_BOLD);
    text_resource_words(resource, stream);
    text_style(view, stream, STYLE_PLAIN);
    if (resource->name_count) {
        fputs(": ", stream);
        write_names(resource, view, stream);
    }
    putc('\n', stream);
    if (brief) {
        frames.terse = TEXT_TERSEST;
        frames.callers = BRIEF_CALLERS;
    }
    text_frames(&resource->record, TEXT_INDENT, &frames, stream);
    if (resource->released_at)
        text_released_elsewhere(resource, view, stream);
    else
        text_freed_elsewhere(&resource->record, view, stream);
    text_freed_owner(&resource->record, view, stream);
    if (resource->bad_close)
        write_bad_close(resource, view, stream);
    if (!brief && process->until_ns && resource->record.first_ns) {
        fprintf(stream, "%*s%s", TEXT_INDENT, "",
                resource->bad_close                     ? "closed"
                : strcmp(resource->type, "thread") == 0 ? "created"
                                                        : "opened");
        text_when(process, &resource->record, stream);
        putc('\n', stream);
    }
}

/* Makes a text for the place: ", in main at src/dtc.c:345"; empty if the line would become too
 * long. */
static void place_text(const struct resource *resource, size_t columns, const struct view *view,
                       char *text, size_t size)
{
    const struct frame *title = record_title_frame(&resource->record);
    struct term_text place;

    *text = 0;
    if (!title || view->terse < TEXT_ONE_SOURCE)
        return;
    place = text_place(title, view);
    if (!place.columns)
        return;
    snprintf(text, size, ", in %s%s%s", text_function_name(title, view, 0).text,
             text_place_lead(title, &place), place.text);
    if (columns + strlen(text) > TEXT_COLUMNS)
        *text = 0;
}

/* Writes a resource that was opened once: its name, and few frames of its stack. */
static void write_single(const struct resource *resource, const struct view *view, FILE *stream)
{
    struct view brief = *view;
    char *names = NULL, place[2 * TERM_TEXT_MAX + 16];
    size_t size;
    FILE *line = open_memstream(&names, &size);

    if (!line)
        return;
    brief.terse = TEXT_ONE_SOURCE;
    brief.callers = SINGLE_CALLERS;
    fprintf(line, " - %s: ", resource_noun(resource->type, false));
    write_names(resource, view, line);
    if (resource->has_bytes)
        fprintf(line, ", %s", term_size(resource->record.bytes).text);
    fclose(line);
    place_text(resource, strlen(names), view, place, sizeof(place));
    fprintf(stream, "%s%s\n", names, place);
    free(names);
    if (!*place)
        text_frames(&resource->record, TEXT_INDENT, &brief, stream);
    if (resource->released_at)
        text_released_elsewhere(resource, view, stream);
    else
        text_freed_elsewhere(&resource->record, view, stream);
    text_freed_owner(&resource->record, view, stream);
}

/* Says whether the resources that were opened once share a line: if the report is shortened, and
 * other findings need the room more. */
static bool is_joined(const struct process *process, const struct view *view)
{
    bool others = text_has_memory_findings(process, view) || !process->resources[0].once;

    return others && !view->verbose && !view->all_frames && view->terse >= TEXT_ONE_SOURCE;
}

/* Returns the name of a resource and the function that opened it: "epoll in poll_init()". */
static struct term_text opened_words(const struct resource *resource, const struct view *view)
{
    const struct frame *title = record_title_frame(&resource->record);
    const char *name =
        resource->name_count ? resource->names[0] : resource_noun(resource->type, false);
    struct term_text words = term_text(name, strlen(name), NAME_COLUMNS), call;

    if (!title || !title->function)
        return words;
    call = text_call(title, view, CALL_COLUMNS);
    if (strlen(words.text) + strlen(call.text) + sizeof(" in ") > sizeof(words.text))
        return words;
    strcat(strcat(words.text, " in "), call.text);
    words.columns += strlen(" in ") + call.columns;
    return words;
}

/* Writes a single resource that was opened once: "Still open: stream /x, in main at a.c:5." Returns
 * false and writes nothing if the line would become too long. */
static bool write_with_place(const struct resource *resource, const struct view *view, FILE *stream)
{
    const char *noun = resource_noun(resource->type, false);
    const char *name = resource->name_count ? resource->names[0] : "";
    struct term_text words = term_text(name, strlen(name), NAME_COLUMNS);
    char place[2 * TERM_TEXT_MAX + 16] = "";

    if (words.columns)
        place_text(resource, strlen("Still open: .") + strlen(noun) + 1 + words.columns, view,
                   place, sizeof(place));
    if (*place)
        fprintf(stream, "Still open: %s %s%s.\n", noun, words.text, place);
    return *place;
}

/* Says whether resource `i` of those from index `at` on has lines of its own: others of its kind are
 * known to be closed, so it was probably forgotten. */
static bool stands_alone(const struct process *process, size_t at, size_t i)
{
    size_t earlier = 0;

    for (size_t k = at; k < i; k++)
        earlier += process->resources[k].released_at != NULL;
    return process->resources[i].released_at && earlier < ALONE_MOST;
}

static void write_alone(const struct resource *resource, const struct view *view, FILE *stream)
{
    if (!write_with_place(resource, view, stream))
        fprintf(stream, "Still open: %s.\n", opened_words(resource, view).text);
    text_released_elsewhere(resource, view, stream);
}

/* Adds resource `i` with all equal ones from index `at` on: "2 × pipe in spawn()"; adds nothing if
 * an earlier one is equal. */
static void add_opened(struct text_names *names, const struct process *process, size_t at, size_t i,
                       const struct view *view)
{
    struct term_text words = opened_words(&process->resources[i], view);
    char text[sizeof(words.text) + 32];
    size_t alike = 0;

    for (size_t k = at; k < process->resource_count; k++) {
        bool same = !stands_alone(process, at, k) &&
                    strcmp(opened_words(&process->resources[k], view).text, words.text) == 0;

        if (same && k < i)
            return;
        alike += same;
    }
    if (alike > 1)
        snprintf(text, sizeof(text), "%zu × %s", alike, words.text);
    else
        snprintf(text, sizeof(text), "%s", words.text);
    text_names_add(names, text);
}

/* Writes the resources that were opened once, from index `at` on, in one line, but for those that
 * stand alone. */
static void write_joined(const struct process *process, size_t at, const struct view *view,
                         FILE *stream)
{
    struct text_names names = {.head = "Opened once and still open (-v): ", .stream = stream};

    if (at + 1 == process->resource_count && !stands_alone(process, at, at) &&
        write_with_place(&process->resources[at], view, stream))
        return;
    for (size_t i = at; i < process->resource_count; i++)
        if (stands_alone(process, at, i))
            write_alone(&process->resources[i], view, stream);
    for (size_t i = at; i < process->resource_count; i++)
        if (!stands_alone(process, at, i))
            add_opened(&names, process, at, i, view);
    text_names_end(&names, ".\n");
}

static void write_inherited(const struct process *process, FILE *stream)
{
    fputs("Inherited and still open:", stream);
    for (size_t i = 0; i < process->inherited_count; i++) {
        const struct inherited *one = &process->inherited[i];
        const char *name = one->name ? one->name : "unknown";

        fprintf(stream, "%s %" PRIu64 " (%s)", i ? "," : "", one->number,
                term_text(name, strlen(name), 0).text);
    }
    fputs(".\n", stream);
}

static void write_opened_totals(const struct process *process, FILE *stream)
{
    fputs("Opened:", stream);
    for (size_t i = 0; i < process->resource_total_count; i++) {
        const struct resource_total *total = &process->resource_totals[i];

        fprintf(stream, "%s %s (%s still open)", i ? "," : "",
                count_resources(total->opened, total->type).text, term_number(total->open).text);
    }
    fputs(".\n", stream);
}

static void write_resource_list(const struct process *process, const struct view *view,
                                FILE *stream)
{
    size_t hidden = 0;
    bool once = false;

    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        if (resource->once && is_joined(process, view)) {
            write_joined(process, i, view, stream);
            break;
        }
        if (view->top && i >= view->top) {
            hidden++;
        } else if (!resource->once || view->verbose || view->all_frames) {
            text_resource(process, resource, view, stream);
        } else {
            if (!once && i)
                fputs("Opened once and never closed (-v shows the stacks):\n", stream);
            once = true;
            write_single(resource, view, stream);
        }
    }
    if (hidden)
        fprintf(stream, "   ... and %zu more (--top=0).\n", hidden);
}

static const char *resources_heading(const struct process *process, const struct view *view)
{
    size_t bad = 0;

    for (size_t i = 0; i < process->resource_count; i++)
        bad += process->resources[i].bad_close;
    if (process->resources[0].once)
        return view->verbose ? "Resources still open, opened once each:\n"
                             : "Resources still open, opened once each (-v shows the stacks):\n";
    return bad == process->resource_count ? "Closes of descriptors that were not open:\n"
           : bad ? "Resources still open, and closes of descriptors that were not open:\n"
                 : "Resources still open:\n";
}

void text_resources(const struct process *process, const struct view *view, FILE *stream)
{
    if (process->resource_count && process->resources[0].once && is_joined(process, view)) {
        write_joined(process, 0, view, stream);
    } else if (process->resource_count) {
        text_style(view, stream, STYLE_BOLD);
        fputs(resources_heading(process, view), stream);
        text_style(view, stream, STYLE_PLAIN);
        write_resource_list(process, view, stream);
        putc('\n', stream);
    }
    if (process->inherited_count && view->verbose)
        write_inherited(process, stream);
    if (process->resource_total_count && view->verbose)
        write_opened_totals(process, stream);
    if (process->resources_missed)
        fprintf(stream,
                "Not tracked: %s descriptors, streams and other resources: the table was full.\n",
                term_number(process->resources_missed).text);
}
