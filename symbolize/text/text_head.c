/* text_head.c - see text_head.h.
 *
 * What is lost comes first, with what would go with it; then what may be lost, and what nobody
 * looked at. What is still reachable, or the runtime's, is no news. "No leaks" is said only of a
 * heap that was looked at, and of a program that was seen to allocate.
 */
#include "symbolize/text/text_head.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/records/sampling_error.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_growing.h"

#define NAME_COLUMNS 30    /* of a program in its headline */
#define COMMAND_COLUMNS 40 /* of it and its arguments: the rest of the line says how it ended */

bool text_saw_nothing(const struct process *process)
{
    return process->allocations == 0 && !process->forked && !process->asked &&
           !process->crash_only && !process->crash;
}

static void write_ending(const struct process *process, FILE *stream)
{
    switch (process->how) {
    case END_EXIT:
        fprintf(stream, "exited with %" PRId32, process->end_value);
        break;
    case END_SIGNAL:
        fprintf(stream, "died by signal %" PRId32, process->end_value);
        fprintf(stream, " (%s)", strsignal(process->end_value));
        break;
    case END_EXEC:
        fputs("was replaced by exec", stream);
        break;
    case END_RUNNING:
        fputs("is running", stream);
        break;
    case END_LOST:
        fputs("ended unseen", stream);
        break;
    }
}

/* As it was called, which is not always the name of its file. Of several processes with pids the
 * arguments, too: there may be twenty gits. */
void text_name(const struct process *process, bool arguments, FILE *stream)
{
    const char *name = process->argc ? base_name(process->argv[0]) : NULL;
    char command[1024];
    size_t used;

    if (!name || !*name)
        name = base_name(process->exe);
    used = (size_t)snprintf(command, sizeof(command), "%s", name ? name : "a program");
    for (size_t i = 1; arguments && process->pid && i < process->argc && used < sizeof(command);
         i++)
        used += (size_t)snprintf(command + used, sizeof(command) - used, " %s", process->argv[i]);
    fputs(term_text(command, strlen(command), arguments ? COMMAND_COLUMNS : NAME_COLUMNS).text, stream);
    if (process->pid)
        fprintf(stream, " (pid %" PRId32 ")", process->pid);
    putc(' ', stream);
}

void text_sum(const struct process *process, enum verdict verdict, FILE *stream)
{
    const struct verdict_total *total = &process->totals.of[verdict];
    const struct error *error = &process->errors[verdict];

    fputs(estimate_bytes(total->bytes, error->bytes).text, stream);
    if (error->bytes)
        fprintf(stream, " %s", estimate_bytes_error(total->bytes, error->bytes).text);
    fprintf(stream, " in %s", estimate_count(total->blocks, error->blocks, "block").text);
}

/* "48 bytes in 4 blocks lost (+ 32 bytes lost with them; 2 records)" */
static void write_verdict(const struct process *process, enum verdict verdict, FILE *stream)
{
    const struct verdict_total *total = &process->totals.of[verdict];
    const struct verdict_total *indirect = &process->totals.of[VERDICT_INDIRECT];

    text_sum(process, verdict, stream);
    fprintf(stream, " %s (", verdict_words[verdict]);
    if (verdict == VERDICT_LOST && indirect->records)
        fprintf(stream, "+ %s lost with them; ",
                estimate_bytes(indirect->bytes, process->errors[VERDICT_INDIRECT].bytes).text);
    fprintf(stream, "%s)", term_count(total->records, "record").text);
}

/* What was reachable at a look that was not the last thing to happen may be lost by now. */
static const char *state_of(const struct process *process)
{
    if (!process->totals.of[VERDICT_REACHABLE].records)
        return "is left";
    return process->look && process->look->last ? "is lost" : "was lost at the look";
}

static void write_nothing_left(const struct process *process, FILE *stream)
{
    const char *state = state_of(process);
    bool clean = process->look && process->look->made && !process->suppressed.records &&
                 strncmp(state, "is", 2) == 0 && !process->resource_count &&
                 !process->totals.growing && !process->never_enabled;

    if (process->sample > 1 && !text_saw_nothing(process))
        fputs(":\nno sample of its allocations is left", stream);
    else if (process->allocations)
        fprintf(stream, ":\n%snothing of its %s %s%s", clean ? "no leaks: " : "",
                term_count(process->allocations, "allocation").text, state,
                process->suppressed.records ? " but what is suppressed" : "");
}

bool text_losses(const struct process *process, FILE *stream)
{
    static const enum verdict told[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                        VERDICT_HIDDEN, VERDICT_UNFREED};
    const char *join = ":";

    for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
        const struct totals *totals = &process->totals;

        if (!totals->of[told[i]].records ||
            (told[i] == VERDICT_INDIRECT && totals->of[VERDICT_LOST].records))
            continue;
        fprintf(stream, "%s\n", join);
        write_verdict(process, told[i], stream);
        join = ",";
    }
    return *join == ',';
}

void text_head(const struct process *process, bool arguments, const struct view *view, FILE *stream)
{
    bool lost;

    text_style(view, stream, STYLE_BOLD);
    text_name(process, arguments, stream);
    write_ending(process, stream);
    lost = text_losses(process, stream);
    if (!lost)
        write_nothing_left(process, stream);
    text_growing_head(process, lost || process->allocations ? "," : ":", stream);
    text_style(view, stream, STYLE_PLAIN);
    putc('\n', stream);
}
