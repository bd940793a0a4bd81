/* text_frames.c - see text_frames.h. */
#include "symbolize/text/text_frames.h"

#include "leak_store.h"
#include "common/view/text_frame.h"

/* Unless -v, by how terse it is: frames listed after the user frame, and of how many frames the
 * line of source is shown: who should free what a function returns is its caller. */
static const struct {
    size_t callers, sources;
} told[TEXT_TERSEST + 1] = {{4, 2}, {2, 2}, {1, 2}, {1, 1}, {1, 0}};

const char *text_ending(uint32_t ending)
{
    switch (ending) {
    case LEAK_ROOT_COMPLETE:
    case LEAK_ROOT_NO_STACKS:
        return NULL;
    case LEAK_ROOT_DISABLED:
        return "libleak was disabled: no stack was taken";
    case LEAK_ROOT_DEPTH:
        return "cut: set depth= higher, up to 1024";
    case LEAK_ROOT_BROKEN:
        return "the stack did not look right further out";
    case LEAK_ROOT_NO_RULE:
        return "no unwind information further out";
    }
    return "the rest is missing from the store";
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

/* " #12 name ..." */
static void write_frame(const struct frame *frame, bool user, size_t depth, int indent,
                        const struct view *view, FILE *stream)
{
    if (view->exact)
        indent = fprintf(stream, "%*s#%-3zu", indent > 4 ? indent - 4 : 0, "", depth);
    else
        fprintf(stream, "%*s", indent, "");
    text_frame_rest(frame, user, indent, view, stream);
}

void text_frames(const struct record *record, int indent, const struct view *view, FILE *stream)
{
    const struct frame *title = record_title_frame(record);
    size_t listed = 0, more = 0, count, sources = 0;

    for (size_t i = 0; i < record->frame_count; i += count) {
        const struct frame *frame = record->frames[i];

        count = repeats(record, i);
        if (!is_shown(record, i, view))
            continue;
        if (listed > told[view->terse].callers && !view->verbose && !view->all_frames) {
            more += count;
            continue;
        }
        listed++;
        write_frame(frame, frame == title, i, indent, view, stream);
        sources += frame == title || sources; /* from the one that matters on */
        if (sources && sources <= told[view->terse].sources)
            text_source_line(frame, indent, view, stream);
        if (count > 1)
            fprintf(stream, "%*s%s of the same\n", indent + 2, "",
                    term_count(count - 1, "more call").text);
    }
    if (more && view->terse < 3)
        fprintf(stream, "%*s%s (-v shows them)\n", indent, "",
                term_count(more, "more caller").text);
    if (text_ending(record->ending))
        fprintf(stream, "%*s[%s]\n", indent, "", text_ending(record->ending));
}
