/* text_list.c - writes the list of the records of a process; described in text.h. */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/records/leak_groups.h"
#include "common/base/term_text.h"
#include "symbolize/records/sampling_error.h"

#define OUTLINE_MOST 10 /* most shown items of a list with an outline */

bool text_list_has(const struct process *process, const struct record *record,
                   const struct view *view)
{
    if (view->growing || (record->suppressed_by && !view->suppressed))
        return false;
    if (record->owner)
        return view->show[record->verdict] &&
               !view->show[process->records[record->owner - 1].verdict];
    if (record->verdict != VERDICT_INDIRECT)
        return view->show[record->verdict];
    return view->show[VERDICT_INDIRECT] || view->show[VERDICT_LOST];
}

/* Returns the number of possible items of the list: entries, or records with --apart. */
static size_t item_count(const struct process *process, const struct view *view)
{
    return view->apart ? process->record_count : process->entry_count;
}

static const struct record *item_first(const struct process *process, const struct view *view,
                                       size_t i)
{
    return &process->records[view->apart ? i : process->entries[i].parts[0]];
}

/* Says whether entry or record i is an item of the list, though view->top may cut it off. */
static bool is_item(const struct process *process, const struct view *view, size_t i)
{
    const struct record *first = item_first(process, view, i);

    return text_list_has(process, first, view) && !text_joins_sibling(process, first, view);
}

size_t text_list_count(const struct process *process, const struct view *view)
{
    size_t listed = 0;

    for (size_t i = 0; i < item_count(process, view); i++)
        listed += is_item(process, view, i);
    return listed;
}

size_t text_list_count_verdict(const struct process *process, enum verdict verdict,
                               const struct view *view)
{
    size_t listed = 0;

    for (size_t i = 0; i < item_count(process, view); i++)
        listed += item_first(process, view, i)->verdict == verdict && is_item(process, view, i);
    return listed;
}

/* Returns a text with the age and the threads of an item; the caller frees it. */
static char *item_when(const struct process *process, const struct view *view, size_t i)
{
    struct record record =
        view->apart ? process->records[i] : leak_group_sum(process, &process->entries[i]);
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    text_when(process, &record, stream);
    fclose(stream);
    return text;
}

char *text_list_when(const struct process *process, const struct view *view)
{
    char *first = NULL;
    size_t listed = 0;

    for (size_t i = 0; i < item_count(process, view); i++) {
        char *text;

        if (!is_item(process, view, i) || (view->top && listed >= view->top))
            continue;
        text = item_when(process, view, i);
        if (!listed++) {
            first = text;
            continue;
        }
        if (!first || !text || strcmp(first, text) != 0) {
            free(text);
            free(first);
            return NULL;
        }
        free(text);
    }
    if (listed > 1 && first && *first)
        return first;
    free(first);
    return NULL;
}

static void write_item(const struct process *process, size_t i, size_t number,
                       const struct view *view, FILE *stream)
{
    struct view own = *view;

    if (view->fit)
        own.callers = view->fit[number - 1];
    if (view->fit && number == 1)
        own.terse = view->terse_first;
    if (number == 1 || view->terse < TEXT_TIGHT)
        putc('\n', stream);
    if (view->apart)
        text_record(process, &process->records[i], number, &own, stream);
    else
        text_entry(process, &process->entries[i], number, &own, stream);
}

/* Writes an item in one line, with what it holds:
 * "7. 24 bytes  NetBlock::nex_input  src/net_nex_input.cc:326". The line has the verdict if that of
 * the first item is another one. Below the first item is what decides, since its record may reach
 * beyond the first screen. */
static void write_outline(const struct process *process, size_t i, size_t number,
                          enum verdict first, const struct view *view, FILE *stream)
{
    struct record record =
        view->apart ? process->records[i] : leak_group_sum(process, &process->entries[i]);
    const struct frame *frame = record_title_frame(&record);
    const struct verdict_total *retained = &record.retained;
    uint64_t bytes = retained->blocks ? retained->bytes : record.bytes;
    bool named = record.verdict != first;
    char head[96];
    int width = snprintf(head, sizeof(head), "  %2zu. %13.40s%s%s  ", number,
                         estimate_bytes(bytes, record.error.bytes).text, named ? " " : "",
                         named ? verdict_words[record.verdict] : "");

    fputs(head, stream);
    if (frame)
        text_frame_rest(frame, false, width, view, stream);
    else
        putc('\n', stream);
    if (number == 1)
        text_freed_brief(&record, view, stream);
}

/* Writes all items in a line each, so that the first screen of a longer report names them. */
static void write_outlines(const struct process *process, const struct view *view, FILE *stream)
{
    size_t number = 0;
    enum verdict first = VERDICT_LOST;

    fputs("\nIn short:\n", stream);
    for (size_t i = 0; i < item_count(process, view) && (!view->top || number < view->top); i++) {
        if (!is_item(process, view, i))
            continue;
        if (!number)
            first = item_first(process, view, i)->verdict;
        write_outline(process, i, ++number, first, view, stream);
    }
}

/* Says whether the list needs an outline: its shown items are longer than a screen, and so few that
 * the screen has room for the first item below the outline. */
static bool needs_outline(const struct process *process, const struct view *view)
{
    size_t count = text_list_count(process, view);

    if (view->top && count > view->top)
        count = view->top;
    return !view->fit && !view->verbose && !view->exact && count > TEXT_FEW &&
           count <= OUTLINE_MOST;
}

void text_list(const struct process *process, const struct view *view, FILE *stream)
{
    size_t number = 0, hidden = 0;

    if (needs_outline(process, view))
        write_outlines(process, view, stream);
    for (size_t i = 0; i < item_count(process, view); i++) {
        if (!is_item(process, view, i))
            continue;
        if (view->top && number >= view->top)
            hidden += view->apart ? 1 : process->entries[i].count;
        else
            write_item(process, i, ++number, view, stream);
    }
    if (hidden)
        fprintf(stream, "\n... and %s.\n", term_count(hidden, "more record").text);
    putc('\n', stream);
}

const size_t *text_list_records(const struct process *process, const struct view *view,
                                size_t number, size_t *single, size_t *count)
{
    size_t listed = 0;

    for (size_t i = 0; i < item_count(process, view); i++) {
        if (!is_item(process, view, i) || ++listed != number)
            continue;
        if (!view->apart) {
            *count = process->entries[i].count;
            return process->entries[i].parts;
        }
        *single = i;
        *count = 1;
        return single;
    }
    return NULL;
}
