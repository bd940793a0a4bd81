/* text_frames.c - writes the stack of a record; described in text.h. */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "leak_store.h"

/* How much is shown without -v, by view->terse: the number of callers outside of the user frame,
 * unless the view has a number, and the number of frames with a source line. Two frames have one,
 * because the caller of a function that returns the block is often the place that should free
 * it. */
static const struct {
    size_t callers, sources;
} detail[TEXT_TABLE + 1] = {{4, 2}, {4, 1}, {2, 1}, {2, 1}, {1, 0}, {1, 0}};

const char *text_stack_end(uint32_t ending)
{
    switch (ending) {
    case LEAK_ROOT_COMPLETE:
    case LEAK_ROOT_NO_STACKS:
        return NULL;
    case LEAK_ROOT_DISABLED:
        return "libleak was disabled: no stack was taken";
    case LEAK_ROOT_DEPTH:
        return "deeper than depth=, which may be up to 1024";
    case LEAK_ROOT_BROKEN:
        return "the outer frames failed the unwinder's checks";
    case LEAK_ROOT_NO_RULE:
        return "no unwind information for the next frame";
    }
    return "the rest is missing from the recording file";
}

static bool is_shown(const struct record *record, size_t i, const struct view *view)
{
    if (view->all_frames || i == record->user)
        return true;
    /* without a user frame, all frames but those of allocation functions are shown */
    if (record->user == record->frame_count)
        return record->frames[i]->role != FRAME_ALLOCATOR;
    return i > record->user && record->frames[i]->role == FRAME_USER;
}

/* Counts the equal frames from index i on, which direct recursion makes. */
static size_t count_repeats(const struct record *record, size_t i)
{
    size_t count = 1;

    while (i + count < record->frame_count && record->frames[i + count] == record->frames[i])
        count++;
    return count;
}

/* Says whether frame i of the record is the first in which its stack differs from that of some
 * other record. */
static bool is_parting(const struct record *record, size_t i)
{
    for (size_t k = 0; k < record->parting_count; k++)
        if (record->partings[k] == i)
            return true;
    return false;
}

/* Says whether frame i of the record is that of a function that frees other blocks, or calls what
 * frees them. main is no such function, because every stack has it. */
static bool is_common_function(const struct record *record, size_t i)
{
    const struct freed *freed = record->freed.places ? &record->freed : &record->beside;
    const struct frame *common = freed->places ? freed->place[0].common : NULL;

    return common && record->frames[i]->name_hash == common->name_hash &&
           record->frames[i]->role == FRAME_USER && strcmp(common->function, "main") != 0;
}

/* Says whether frame i of the record is that of the function that most likely needs the fix: it
 * frees other blocks, or calls a function that does. */
static bool is_marked(const struct record *record, size_t i)
{
    const struct freed_place *at = &record->freed.place[0];

    return record->freed.places && at->close &&
           record->frames[i]->name_hash == at->common->name_hash &&
           record->frames[i]->role == FRAME_USER;
}

/* Writes a frame with its margin; if the view is exact, with its number: "#12". */
static void write_stack_frame(const struct record *record, size_t depth, bool user, int indent,
                              const struct view *view, FILE *stream)
{
    if (view->exact)
        indent = fprintf(stream, "%*s#%-3zu", indent > 4 ? indent - 4 : 0, "", depth);
    else if (indent == TEXT_INDENT && is_marked(record, depth))
        fputs(TEXT_MARGIN_MARKED, stream);
    else
        fprintf(stream, "%*s", indent, "");
    text_frame_rest(record->frames[depth], user, indent, view, stream);
}

/* Frames that share one line of the report: a single frame, several of direct recursion, or several
 * that are left out. */
struct frame_line {
    size_t at, count;
    bool left_out;
};

static size_t count_callers(const struct view *view)
{
    if (view->verbose || view->all_frames)
        return SIZE_MAX;
    return view->callers ? view->callers : detail[view->terse].callers;
}

/* If only one frame is left out at a place, shows this frame after all: a line "..." instead would
 * save nothing. */
static void close_short_gaps(struct frame_line *lines, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (lines[i].left_out && lines[i].count == 1 && !lines[i - 1].left_out &&
            (i + 1 == count || !lines[i + 1].left_out))
            lines[i].left_out = false;
}

#define NAMELESS 1 /* most callers without a name that are shown, since they say little */

/* Says whether a frame is that of a library which came with the system, and has no line. Its code is
 * not the reader's to fix. */
static bool is_of_library(const struct frame *frame)
{
    const char *name = frame->module ? strrchr(frame->module, '/') : NULL;

    return name && !frame->file && strstr(name, ".so") && text_is_of_system(frame->module);
}

/* Says whether a caller is one of the last to be left out. These are the frames of the program: behind
 * a library's frames is the function that called it, or that gave it the function to call. Not
 * among them is main, which every stack has, if another function of the program is, and a function
 * that called itself at another line.
 * inner: the frame before it; own: whether a frame of the program is further in. */
static bool is_first_choice(const struct frame *frame, const struct frame *inner, bool own)
{
    return !is_of_library(frame) && frame->name_hash != inner->name_hash &&
           !(own && frame->function && strcmp(frame->function, "main") == 0);
}

/* Lists the frames that may have lines, innermost first. The caller frees the list. */
static struct frame_line *list_shown(const struct record *record, const struct view *view,
                                     size_t *listed)
{
    struct frame_line *lines = NULL;
    size_t capacity = 0, count;

    *listed = 0;
    for (size_t i = 0; i < record->frame_count; i += count) {
        count = count_repeats(record, i);
        if (!is_shown(record, i, view))
            continue;
        lines = array_grow(lines, &capacity, *listed + 1, sizeof(*lines));
        lines[*listed] = (struct frame_line){i, count, *listed > 0};
        ++*listed;
    }
    return lines;
}

/* Keeps so many callers, innermost first. first_choice: those that are a first choice, or those that
 * are not. Returns how many are still to be kept. */
static size_t keep_callers(const struct record *record, struct frame_line *lines, size_t count,
                           bool first_choice, size_t callers)
{
    bool own = count && !is_of_library(record->frames[lines[0].at]);

    for (size_t i = 1; i < count && callers; i++) {
        const struct frame *frame = record->frames[lines[i].at];
        bool chosen = is_first_choice(frame, record->frames[lines[i - 1].at], own);

        own |= chosen;
        if (chosen != first_choice || (!frame->function && i > NAMELESS && callers != SIZE_MAX))
            continue;
        lines[i].left_out = false;
        callers -= callers != SIZE_MAX;
    }
    return callers;
}

/* Keeps the frames that have a line for a reason of their own. */
static void keep_told(const struct record *record, struct frame_line *lines, size_t count)
{
    bool common = false; /* true once the function that frees other blocks was found */

    for (size_t i = 0; i < count; i++) {
        size_t at = lines[i].at;
        bool first = !common && is_common_function(record, at);

        common |= first;
        if (first || is_parting(record, at) || (record->line_count && at == record->lines_of))
            lines[i].left_out = false;
    }
}

/* Decides which frames have lines, innermost first. The caller frees the list. */
static struct frame_line *list_frames(const struct record *record, const struct view *view,
                                      size_t *listed)
{
    struct frame_line *lines = list_shown(record, view, listed);
    size_t callers = count_callers(view);

    callers = keep_callers(record, lines, *listed, true, callers);
    keep_callers(record, lines, *listed, false, callers);
    keep_told(record, lines, *listed);
    close_short_gaps(lines, *listed);
    return lines;
}

void text_frames(const struct record *record, int indent, const struct view *view, FILE *stream)
{
    const struct frame *title = record_title_frame(record);
    size_t count, sources = 0, more = 0, told = 0;
    struct frame_line *lines = list_frames(record, view, &count);

    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = record->frames[lines[i].at];

        if (lines[i].left_out) {
            more += lines[i].count;
            continue;
        }
        if (more > told)
            fprintf(stream, "%*s...\n", indent, "");
        told = more;
        write_stack_frame(record, lines[i].at, frame == title, indent, view, stream);
        sources += frame == title || sources; /* counts frames from the title frame on */
        if (sources && sources <= detail[view->terse].sources)
            text_source_line(frame, indent, view, stream);
        if (lines[i].count > 1)
            fprintf(stream, "%*s%s of itself\n", indent + 2, "",
                    term_count(lines[i].count - 1, "more call").text);
    }
    free(lines);
    if (more && view->terse != TEXT_TABLE)
        fprintf(stream, "%*s%s (-v shows them)\n", indent, "",
                term_count(more, "more caller").text);
    if (text_stack_end(record->ending))
        fprintf(stream, "%*s[%s]\n", indent, "", text_stack_end(record->ending));
}

void text_stack(const struct stack *stack, const struct view *view, FILE *stream)
{
    struct record record = record_from_stack(stack);

    text_frames(&record, TEXT_INDENT, view, stream);
}

void text_free_stack(const struct stack *stack, bool whole, const struct view *view, FILE *stream)
{
    text_stack(stack, view, stream);
    if (!whole)
        fprintf(stream, "%*s[only the return address is known: free_stacks=all records stacks]\n",
                TEXT_INDENT, "");
}
