/* text_record.c - one record for people; see text_record.h. */
#include "symbolize/text_record.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/demangle.h"
#include "symbolize/estimate.h"
#include "symbolize/show.h"
#include "symbolize/store.h"
#include "symbolize/times.h"

#define CALLERS 4       /* listed after the user frame unless -v */
#define INDENT 5        /* of a frame */
#define NAME_COLUMNS 34 /* kept for the function, so that places stand below each other */

void text_style(const struct view *view, FILE *stream, enum text_style style)
{
    static const char *const codes[] = {"0", "1", "1;33", "2", "1;31"};

    if (view->colour)
        fprintf(stream, "\033[%sm", codes[style]);
}

const char *text_ending(uint32_t ending)
{
    switch (ending) {
    case LEAK_ROOT_COMPLETE:
    case LEAK_ROOT_NO_STACKS:
        return NULL;
    case LEAK_ROOT_DEPTH:
        return "cut: set depth= higher, up to 1024";
    case LEAK_ROOT_BROKEN:
        return "the stack did not look right further out";
    case LEAK_ROOT_NO_RULE:
        return "no unwind information further out";
    }
    return "the rest is missing from the store";
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static struct shown function_text(const struct frame *frame, const struct view *view,
                                  size_t columns)
{
    char place[PATH_MAX];

    if (frame->function && view->verbose)
        return show(frame->function, strlen(frame->function), 0);
    if (frame->function) {
        const char *scope = demangle_scope(frame->function);

        return show(scope, demangle_bare_length(scope), columns);
    }
    if (frame->has_offset)
        snprintf(place, sizeof(place), "%s+0x%" PRIx64,
                 frame->module ? base_name(frame->module) : "[no module]", frame->offset);
    else
        snprintf(place, sizeof(place), "%s",
                 frame->module ? base_name(frame->module) : "[no module]");
    return show(place, strlen(place), columns);
}

/* The path as the user would type it. */
static const char *near_path(const struct view *view, const char *path)
{
    size_t length = view->relative ? strlen(view->relative) : 0;

    if (length > 1 && strncmp(path, view->relative, length) == 0 && path[length] == '/')
        return path + length + 1;
    return path;
}

/* "file:line", "in module", or nothing for a frame whose name says the module already. */
static struct shown place_text(const struct frame *frame, const struct view *view)
{
    char buffer[PATH_MAX], place[PATH_MAX + 32];
    const char *path;

    place[0] = 0;
    if (frame->file) {
        path = near_path(view, source_path(&view->source, frame->file, buffer, sizeof(buffer)));
        if (frame->line)
            snprintf(place, sizeof(place), "%s:%" PRIu32, path, frame->line);
        else
            snprintf(place, sizeof(place), "%s", path);
    } else if (frame->function && frame->module) {
        snprintf(place, sizeof(place), "in %s", base_name(frame->module));
    }
    return show(place, strlen(place), 0);
}

static void link_begin(const struct frame *frame, const struct view *view, FILE *stream)
{
    char buffer[PATH_MAX];
    const char *path;

    if (!view->links || !frame->file)
        return;
    path = source_path(&view->source, frame->file, buffer, sizeof(buffer));
    fprintf(stream, "\033]8;;file://");
    for (; *path; path++)
        if (strchr("/._-+~", *path) || (*path >= '0' && *path <= '9') ||
            (*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z'))
            putc(*path, stream);
        else
            fprintf(stream, "%%%02X", (unsigned char)*path);
    fprintf(stream, "\033\\");
}

static void link_end(const struct frame *frame, const struct view *view, FILE *stream)
{
    if (view->links && frame->file)
        fprintf(stream, "\033]8;;\033\\");
}

static void write_frame(const struct frame *frame, bool user, const struct view *view, FILE *stream)
{
    struct shown place = place_text(frame, view);
    const char *mark = frame->inlined ? " (inlined)" : "";
    size_t room = TEXT_COLUMNS - INDENT - strlen(mark);
    bool fits = place.columns + 2 + NAME_COLUMNS / 2 <= room;
    struct shown name = function_text(frame, view, fits ? room - place.columns - 2 : room);
    size_t gap = name.columns + strlen(mark);

    fprintf(stream, "%*s", INDENT, "");
    text_style(view, stream, user ? STYLE_NAME : STYLE_PLAIN);
    fputs(name.text, stream);
    text_style(view, stream, STYLE_PLAIN);
    fputs(mark, stream);
    if (place.columns) {
        fits = gap + 2 + place.columns <= TEXT_COLUMNS - INDENT;
        if (!fits)
            fprintf(stream, "\n%*s", INDENT + 2, "");
        else if (gap < NAME_COLUMNS && NAME_COLUMNS + 2 + place.columns <= TEXT_COLUMNS - INDENT)
            fprintf(stream, "%*s", (int)(NAME_COLUMNS - gap + 2), "");
        else
            fputs("  ", stream);
        link_begin(frame, view, stream);
        fputs(place.text, stream);
        link_end(frame, view, stream);
    }
    putc('\n', stream);
}

static void write_source(const struct frame *frame, const struct view *view, FILE *stream)
{
    char line[512];
    struct shown shown;

    if (!frame->file || !source_line(&view->source, frame->file, frame->line, line, sizeof(line)))
        return;
    shown = show(line, strlen(line), TEXT_COLUMNS - INDENT - 4);
    text_style(view, stream, STYLE_FAINT);
    fprintf(stream, "%*s| %s\n", INDENT + 2, "", shown.text);
    text_style(view, stream, STYLE_PLAIN);
}

static bool is_shown(const struct record *record, size_t i, const struct view *view)
{
    if (view->all_frames || i == record->user)
        return true;
    if (record->user == record->frame_count) /* nobody's: whatever there is */
        return record->frames[i]->role != FRAME_ALLOCATOR;
    return i > record->user && record->frames[i]->role == FRAME_USER;
}

/* How many frames from i on are calls of one function by itself, all at one place. */
static size_t repeats(const struct record *record, size_t i)
{
    size_t count = 1;

    while (i + count < record->frame_count && record->frames[i + count] == record->frames[i])
        count++;
    return count;
}

static void write_frames(const struct record *record, const struct view *view, FILE *stream)
{
    const struct frame *title = record_title(record);
    size_t listed = 0, more = 0, count;

    for (size_t i = 0; i < record->frame_count; i += count) {
        const struct frame *frame = record->frames[i];

        count = repeats(record, i);
        if (!is_shown(record, i, view))
            continue;
        if (listed > CALLERS && !view->verbose && !view->all_frames) {
            more += count;
            continue;
        }
        listed++;
        write_frame(frame, frame == title, view, stream);
        if (frame == title)
            write_source(frame, view, stream);
        if (count > 1)
            fprintf(stream, "%*s%s of the same\n", INDENT + 2, "",
                    show_count(count - 1, "more call").text);
    }
    if (more)
        fprintf(stream, "%*s%s (-v shows them)\n", INDENT, "",
                show_count(more, "more caller").text);
    if (text_ending(record->ending))
        fprintf(stream, "%*s[%s]\n", INDENT, "", text_ending(record->ending));
}

/* ---- When and by whom ------------------------------------------------------------------------ */

static void write_when(const struct process *process, const struct record *record, FILE *stream)
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
    fprintf(stream, "%*sestimated from %s: %s, %s (95 %%)\n", INDENT, "",
            show_count(error->samples, "sample").text,
            estimate_bytes_error(record->bytes, error->bytes).text,
            estimate_count_error(record->blocks, error->blocks, "block").text);
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
    write_frames(record, view, stream);
    if (record->stacks > 1)
        fprintf(stream, "%*sthis is the largest of %s with these names\n", INDENT, "",
                show_count(record->stacks, "stack").text);
    if (process->until_ns || record->thread_count) {
        fprintf(stream, "%*sallocated", INDENT, "");
        write_when(process, record, stream);
        write_threads(record, stream);
        putc('\n', stream);
    }
}
