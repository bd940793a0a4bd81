/* source_pane.c - writes frames and the source lines around them; described in browser.h. */
#include "symbolize/browse/browser.h"

#include <inttypes.h>
#include <string.h>

#include "common/view/text_frame.h"

#define SOURCE_LINE 512
#define SOURCE_MOST 64

bool browse_text_has(const char *text, const char *part)
{
    return text && strcasestr(text, part);
}

bool browse_frame_has(const struct frame *frame, const char *text)
{
    return frame && (browse_text_has(frame->function, text) || browse_text_has(frame->file, text) ||
                     browse_text_has(frame->module, text));
}

bool browse_stack_has(const struct stack *stack, const char *text)
{
    for (size_t i = 0; i < stack->count; i++)
        if (browse_frame_has(stack->frames[i], text))
            return true;
    return false;
}

void browse_write_frame(const struct browser *browser, const struct frame *frame, size_t columns,
                        FILE *stream)
{
    struct term_text place = text_place(frame, &browser->view), name;
    const char *where = place.text;
    size_t used = place.columns, room;

    name = text_function_name(frame, &browser->view, 0);
    if (name.columns + 2 + used > columns && used) {
        where = base_name(where);
        used = strlen(where);
    }
    room = columns > used + 12 ? columns - used - 2 : 10;
    if (name.columns > room)
        name = text_function_name(frame, &browser->view, room);
    fputs(name.text, stream);
    if (used)
        fprintf(stream, "  %s", where);
    if (frame->inlined)
        fputs(" (inlined)", stream);
}

void browse_write_source(const struct browser *browser, const struct frame *frame, size_t lines,
                         FILE *stream)
{
    struct source_name name = {frame->file, frame->module};
    char text[SOURCE_MOST][SOURCE_LINE];
    size_t wanted = lines < 3 ? 3 : lines < SOURCE_MOST ? lines : SOURCE_MOST, count;
    uint32_t first = frame->line > wanted / 2 ? frame->line - (uint32_t)wanted / 2 : 1;

    if (!frame->file || !frame->line) {
        fprintf(stream,
                "No source line is known: %s was built without -g, or its debug information is "
                "not installed.\n",
                frame->module ? base_name(frame->module) : "the code");
        return;
    }
    count = source_read_lines(&browser->view.source, &name, first, text[0], wanted, SOURCE_LINE);
    if (!count)
        fprintf(stream, "source file not found: %s (--source-path=DIR, --substitute-path=A=B)\n",
                frame->file);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%c%5" PRIu32 "  %s\n", first + i == frame->line ? '>' : ' ',
                first + (uint32_t)i, text[i]);
}
