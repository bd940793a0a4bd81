/* text_owners.c - see text_owners.h.
 *
 * A block belongs to the root that reaches it in the fewest steps, so each is counted once.
 */
#include "symbolize/text/text_owners.h"

#include <string.h>

#include "common/view/text_frame.h"
#include "symbolize/text/text_growing.h"
#include "symbolize/text/text_head.h"
#include "symbolize/text/text_path.h"

static void write_owner(const struct owner *owner, size_t number, const struct view *view,
                        FILE *stream)
{
    struct shown bytes = term_count(owner->bytes, "byte");

    fprintf(stream, "%3zu. ", number);
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%s in %s", bytes.text, term_count(owner->blocks, "block").text);
    text_style(view, stream, STYLE_PLAIN);
    fprintf(stream, "  %s\n", term_text(owner->root->words, strlen(owner->root->words), 0).text);
    if (owner->path && owner->path->count)
        text_path(owner->path, TEXT_INDENT, view, stream);
    text_growth(owner->growth, view, stream);
}

static void write_process(const struct process *process, bool arguments, const struct view *view,
                          FILE *stream)
{
    size_t count = process->owner_count, told = count;

    text_style(view, stream, STYLE_BOLD);
    text_name(process, arguments, stream);
    text_style(view, stream, STYLE_PLAIN);
    if (!process->look || !process->look->made) {
        fprintf(stream, "was not looked at%s%s: nobody knows what keeps its blocks.\n\n",
                process->look && process->look->trouble ? ": " : "",
                process->look && process->look->trouble ? process->look->trouble : "");
        return;
    }
    if (!count) {
        fputs("has nothing on the heap that a root leads to.\n\n", stream);
        return;
    }
    if (view->top && told > view->top)
        told = view->top;
    fputs("keeps alive:\n", stream);
    for (size_t i = 0; i < told; i++)
        write_owner(&process->owners[i], i + 1, view, stream);
    if (told < count)
        fprintf(stream, "... and %s (--top=0).\n", term_count(count - told, "smaller owner").text);
    putc('\n', stream);
}

void text_owners(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (report->processes[i].alike == i)
            write_process(&report->processes[i], report->process_count > 1, view, stream);
}
