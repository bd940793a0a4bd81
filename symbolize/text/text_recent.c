/* text_recent.c - who freed an address; see text_recent.h.
 *
 * Each free of it that is remembered, the newest first; and always how far memory reaches, so that
 * silence is not taken for "nobody".
 */
#include "symbolize/text/text_recent.h"

#include <inttypes.h>

#include "leak_store.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_record.h"

static void write_recent(const struct process *process, const struct recent_free *recent,
                         const struct view *view, FILE *stream)
{
    struct record freed = record_from_stack(&recent->freed),
                  allocated = record_from_stack(&recent->allocated);
    struct thread_ref thread = recent->thread;

    freed.first_ns = freed.last_ns = recent->time_ns;
    freed.threads = &thread;
    freed.thread_count = 1;
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "0x%" PRIx64, recent->address);
    text_style(view, stream, STYLE_PLAIN);
    fputs(" was freed", stream);
    text_when(process, &freed, stream);
    fputs(":\n", stream);
    text_frames(&freed, TEXT_INDENT, view, stream);
    if (!recent->whole)
        fprintf(stream, "%*s[only its return address is known: free_stacks=all keeps stacks]\n",
                TEXT_INDENT, "");
    if (recent->kind)
        fprintf(stream, "   allocated (%s):\n", kind_word[recent->kind]);
    text_frames(&allocated, TEXT_INDENT, view, stream);
    putc('\n', stream);
}

void text_recent(const struct report *report, const struct view *view, FILE *stream)
{
    size_t found = 0, known = 0;
    bool sampled = false;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        known += process->recent_known;
        found += process->recent_count;
        sampled |= process->sample > 1;
        for (size_t k = 0; k < process->recent_count; k++) {
            if (report->process_count > 1)
                fprintf(stream, "In pid %" PRId32 ": ", process->pid);
            write_recent(process, &process->recent[k], view, stream);
        }
    }
    if (!found)
        fprintf(stream, "0x%" PRIx64 " is not among the frees that are remembered.\n",
                view->freed_address);
    fprintf(stream,
            "Remembered: the last %d frees of each thread (of one that ended until a new one\n"
            "takes its place), by the address where the block began; %s here.\n",
            LEAK_RECENT - 1, term_count(known, "free").text);
    if (sampled)
        fputs("With sample= only frees of samples are among them.\n", stream);
}
