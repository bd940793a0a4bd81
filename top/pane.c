/* pane.c - see pane.h.
 *
 *     growing 1.1 MB/s for 14 s, none of its blocks freed, no plateau
 *        43     struct node *node = malloc(NODE);
 *     >  44     node->next = shelf;
 *     > push shelf.c:44
 *       main shelf.c:60
 */
#include "top/pane.h"

#include "common/names/source.h"

#define SOURCE_LINES 5
#define SOURCE_SIZE 256
#define SOURCE_LEAST 10 /* lines of the pane, for there to be any source */

static size_t write_source(const struct frame *frame, FILE *stream)
{
    static const struct source_search search;
    char text[SOURCE_LINES][SOURCE_SIZE];
    uint32_t first = frame->line > SOURCE_LINES / 2 ? frame->line - SOURCE_LINES / 2 : 1;
    size_t count = 0;

    if (frame->file && frame->line)
        count = source_read_lines(&search, frame->file, first, text[0], SOURCE_LINES, SOURCE_SIZE);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%c %5u  %s\n", first + i == frame->line ? '>' : ' ', (unsigned)(first + i),
                text[i]);
    return count;
}

void pane_write(const struct row *row, size_t lines, size_t columns, FILE *stream)
{
    const struct name *name = row->name;
    size_t written = 0;

    if (row->growth && written < lines) {
        fprintf(stream, "%s\n", row->growth->reason);
        written++;
    }
    if (name->title && lines >= SOURCE_LEAST)
        written += write_source(name->title, stream);
    for (size_t i = 0; i < name->stack.count && written < lines; i++, written++) {
        const struct frame *frame = name->stack.frames[i];

        fputs(frame == name->title ? "> " : "  ", stream);
        lines_frame(frame, columns > 2 ? columns - 2 : 0, stream);
        putc('\n', stream);
    }
}
