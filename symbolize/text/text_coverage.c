/* text_coverage.c - what the report is made from; see text_coverage.h.
 *
 * What is wrong is always said: frees of unknown blocks, stacks that end early, stacks of which
 * another unwinder thinks otherwise. That all is well, and how little it cost, is left to -v.
 */
#include "symbolize/text/text_coverage.h"

#include <inttypes.h>

#include "symbolize/records/sampling_error.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"

#define PEAK_PARTS 5
#define NAME_COLUMNS 40

/* Sums over all of a process's life, whose error nobody kept. */
static struct shown rough_bytes(const struct process *process, uint64_t bytes)
{
    return estimate_bytes(bytes, process->sample > 1 ? ESTIMATE_ROUGH_ERROR(bytes) : 0);
}

static struct shown rough_count(const struct process *process, uint64_t number, const char *word)
{
    return estimate_count(number, process->sample > 1 ? ESTIMATE_ROUGH_ERROR(number) : 0, word);
}

static void write_seen(const struct process *process, FILE *stream)
{
    const char *join = " (";

    fprintf(stream, "Seen: %s, %s; ", rough_count(process, process->allocations, "allocation").text,
            rough_count(process, process->frees, "free").text);
    fprintf(stream, "at most %s at once.\n", rough_bytes(process, process->peak_bytes).text);
    if (process->unknown_frees)
        fprintf(stream, "Frees of blocks %s: %s.\n",
                process->late ? "from before libleak was loaded" : "libleak does not know",
                term_number(process->unknown_frees).text);
    if (!process->truncated_stacks)
        return;
    fputs(term_count(process->truncated_stacks, "incomplete stack").text, stream);
    for (uint32_t i = 0; i < sizeof(process->truncated) / sizeof(*process->truncated); i++)
        if (process->truncated[i]) {
            fprintf(stream, "%s%s: %s", join, text_ending(i),
                    term_number(process->truncated[i]).text);
            join = "; ";
        }
    fputs(").\n", stream);
}

/* What another unwinder said of these stacks, when it was asked (unwind_check). */
static void write_compared(const struct process *process, const struct view *view, FILE *stream)
{
    if (!process->unwind_mismatches && !(process->unwind_checks && view->verbose))
        return;
    fprintf(stream, "Compared with another unwinder: %s",
            term_count(process->unwind_checks, "stack").text);
    fprintf(stream, ", %s different", term_number(process->unwind_mismatches).text);
    if (process->unwind_stops)
        fprintf(stream, ", %s shorter and marked so", term_number(process->unwind_stops).text);
    fputs(".\n", stream);
}

static void write_rate(uint64_t part, uint64_t whole, FILE *stream)
{
    uint64_t permille = (uint64_t)((double)part / (double)whole * 1000 + 0.5);

    if (permille == 1000 && part != whole)
        permille = 999; /* all is said of all only */
    fprintf(stream, "%s (%" PRIu64 ".%" PRIu64 " %%)", term_number(part).text, permille / 10,
            permille % 10);
}

static void write_stacks(const struct stacks *stacks, FILE *stream)
{
    uint64_t frames = add_saturating(stacks->frames_walked, stacks->frames_shared);

    if (!stacks->captures || !frames)
        return;
    fprintf(stream, "Stacks: %s, ", term_count(stacks->captures, "capture").text);
    write_rate(stacks->leaf_cache_hits, stacks->captures, stream);
    fprintf(stream, " found in the leaf cache; %s,\n  of whose frames ",
            term_count(stacks->walks, "walk").text);
    write_rate(stacks->frames_shared, frames, stream);
    fputs(" were those of the walk before.\n", stream);
}

/* What the most at once was made of. */
static void write_peak(const struct process *process, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < process->peak_part_count && i < PEAK_PARTS; i++) {
        const struct peak_part *part = &process->peak_parts[i];
        struct record record = record_from_stack(&part->stack);
        const struct frame *title = record_title_frame(&record);

        fprintf(stream, "%s%s in ", i ? "  " : "  Of that, ", term_size(part->bytes).text);
        fprintf(stream, "%s", term_count(part->blocks, "block").text);
        if (title) {
            fprintf(stream, " from %s", text_function_name(title, view, NAME_COLUMNS).text);
            fprintf(stream, " %s", text_place(title, view).text);
        }
        putc('\n', stream);
    }
}

static void write_own_memory(const struct process *process, FILE *stream)
{
    if (!process->own_bytes)
        return;
    fprintf(stream, "Memory of libleak's own: %s, ", term_size(process->own_bytes).text);
    if (process->own_astray)
        fprintf(stream, "of which %" PRId64 " bytes are not accounted for.\n", process->own_astray);
    else
        fputs("all accounted for.\n", stream);
}

void text_seen(const struct process *process, const struct view *view, FILE *stream)
{
    write_seen(process, stream);
    if (view->verbose)
        write_peak(process, view, stream);
    write_compared(process, view, stream);
    if (!view->verbose)
        return;
    write_stacks(&process->stacks, stream);
    write_own_memory(process, stream);
}
