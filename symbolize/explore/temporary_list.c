/* temporary_list.c - lists the call stacks whose blocks were freed soon after they were allocated;
 * described in explore.h. */
#include "symbolize/explore/explore.h"

#include <inttypes.h>

#include "common/view/text_frame.h"
#include "leak_store.h"
#include "symbolize/text/text.h"

#define PERCENT(part, all) ((all) ? 100.0 * (double)(part) / (double)(all) : 0)

/* Writes the headline: how many allocations were temporary, and their bytes. These bytes do not
 * fill the heap, but each block costs the time of malloc and free; so they are also written per
 * second. */
static void write_temporary_head(const struct process *process, FILE *stream)
{
    double seconds = process->until_ns > process->started_ns && process->started_ns
                         ? (double)(process->until_ns - process->started_ns) / 1e9
                         : 0;

    text_process_title(process, false, stream);
    fprintf(stream, ": about %s of %s allocations (%.0f %%) were temporary,\n%s in all",
            term_number(process->temporary_blocks).text, term_number(process->allocations).text,
            PERCENT(process->temporary_blocks, process->allocations),
            term_size(process->temporary_bytes).text);
    if (seconds >= 0.01)
        fprintf(stream, ", %s a second",
                term_size((uint64_t)((double)process->temporary_bytes / seconds)).text);
    fprintf(stream,
            ": freed by their thread before it allocated %d more blocks.\n"
            "They are no leaks; each costs the time of a malloc and a free.\n\n",
            LEAK_TEMPORARY_ALLOCATIONS);
}

static void write_temporary_advice(const struct temporary_part *part, FILE *stream)
{
    if (part->grown > part->of / 2)
        fprintf(stream,
                "     %.0f %% of them are moved by realloc here: grow in larger steps, or reserve\n"
                "     the final size first\n",
                PERCENT(part->grown, part->of));
    else
        fputs("     keep one buffer for the next use, or put it on the stack\n", stream);
}

static void write_temporary_part(const struct temporary_part *part, size_t number,
                                 const struct view *view, FILE *stream)
{
    struct record record = record_from_stack(&part->stack);

    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%zu. %s temporary blocks, %.0f %% of those freed, %s (%s)\n", number,
            term_number(part->blocks).text, PERCENT(part->blocks, part->of),
            term_size(part->bytes).text, kind_word[part->kind]);
    text_style(view, stream, STYLE_PLAIN);
    text_frames(&record, TEXT_INDENT, view, stream);
    write_temporary_advice(part, stream);
}

static void write_temporary_process(const struct process *process, const struct view *view,
                                    FILE *stream)
{
    size_t end =
        view->top && view->top < process->temporary_count ? view->top : process->temporary_count;

    if (!process->temporary_blocks) {
        text_process_title(process, false, stream);
        fputs(": no temporary blocks were seen (free_stacks=off records none)\n", stream);
        return;
    }
    write_temporary_head(process, stream);
    for (size_t i = 0; i < end; i++)
        write_temporary_part(&process->temporary[i], i + 1, view, stream);
    if (end < process->temporary_count)
        fprintf(stream, "%s (--top=0)\n",
                term_count(process->temporary_count - end, "more call stack").text);
}

void temporary_write(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count && !view->quiet; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_temporary_process(&report->processes[i], view, stream);
}
