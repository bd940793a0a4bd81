/* text_coverage.c - writes what the report is made from: counts, stacks, the leak check, threads;
 * described in text.h.
 *
 * Problems are always written: frees of unknown blocks, truncated stacks, stacks that another
 * unwinder sees differently. Statistics without a problem are left to -v.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/term_text.h"
#include "symbolize/records/sampling_error.h"

#define PEAK_PARTS 5
#define NAME_COLUMNS 40

/* Formats bytes summed up over the whole life of a process; the sampling error of such sums is not
 * recorded, so it is assumed. */
static struct term_text rough_bytes(const struct process *process, uint64_t bytes)
{
    return estimate_bytes(bytes, process->sample > 1 ? ESTIMATE_ROUGH_ERROR(bytes) : 0);
}

static struct term_text rough_count(const struct process *process, uint64_t number,
                                    const char *word)
{
    return estimate_count(number, process->sample > 1 ? ESTIMATE_ROUGH_ERROR(number) : 0, word);
}

/* Writes why stacks are truncated: "Outer callers are missing in 3 call stacks: deeper than depth=,
 * which may be up to 1024 (2); ...". */
static void write_truncated(const struct process *process, FILE *stream)
{
    const char *join = ": ";

    if (!process->truncated_stacks)
        return;
    fprintf(stream, "Outer callers are missing in %s",
            term_count(process->truncated_stacks, "call stack").text);
    for (uint32_t i = 0; i < sizeof(process->truncated) / sizeof(*process->truncated); i++) {
        bool all = process->truncated[i] == process->truncated_stacks;

        if (!process->truncated[i])
            continue;
        if (all)
            fprintf(stream, "%s%s", join, text_stack_end(i));
        else
            fprintf(stream, "%s%s (%s)", join, text_stack_end(i),
                    term_number(process->truncated[i]).text);
        join = "; ";
    }
    fputs(".\n", stream);
}

/* Writes the number of allocations, unless several records need the lines of the screen. */
static void write_seen(const struct process *process, const struct view *view, FILE *stream)
{
    if (view->terse < TEXT_TERSEST || text_list_count(process, view) < 2)
        fprintf(stream, "%s, %s; peak %s.\n",
                rough_count(process, process->allocations, "allocation").text,
                rough_count(process, process->frees, "free").text,
                rough_bytes(process, process->peak_bytes).text);
    if (process->older_blocks)
        fprintf(stream, "Blocks allocated before libleak was loaded: %s in use (%s).\n",
                term_number(process->older_blocks).text,
                rough_bytes(process, process->older_bytes).text);
    if (process->unknown_frees)
        fprintf(stream, "Frees of %s: %s.\n",
                process->late ? "blocks allocated before libleak was loaded" : "unknown blocks",
                term_number(process->unknown_frees).text);
    write_truncated(process, stream);
}

/* Writes the result of the option unwind_check: how many stacks a second unwinder unwound, and for
 * how many its result differed. */
static void write_compared(const struct process *process, const struct view *view, FILE *stream)
{
    if (!process->unwind_mismatches && !(process->unwind_checks && view->verbose))
        return;
    fprintf(stream, "Compared with another unwinder: %s, %s different",
            term_count(process->unwind_checks, "stack").text,
            term_number(process->unwind_mismatches).text);
    if (process->unwind_stops)
        fprintf(stream, ", %s shorter and marked so", term_number(process->unwind_stops).text);
    fputs(".\n", stream);
}

static void write_rate(uint64_t part, uint64_t whole, FILE *stream)
{
    uint64_t permille = (uint64_t)((double)part / (double)whole * 1000 + 0.5);

    if (permille == 1000 && part != whole)
        permille = 999; /* 100.0 % is shown only if the part is the whole */
    fprintf(stream, "%s (%" PRIu64 ".%" PRIu64 " %%)", term_number(part).text, permille / 10,
            permille % 10);
}

static void write_coverage_stacks(const struct stacks *stacks, FILE *stream)
{
    uint64_t frames = add_saturating(stacks->frames_walked, stacks->frames_shared);

    if (!stacks->captures || !frames)
        return;
    fprintf(stream, "Stacks: %s, ", term_count(stacks->captures, "capture").text);
    write_rate(stacks->leaf_cache_hits, stacks->captures, stream);
    fprintf(stream, " found in the stack cache; %s,\n  ", term_count(stacks->walks, "walk").text);
    write_rate(stacks->frames_shared, frames, stream);
    fputs(" of their frames shared with the previous walk.\n", stream);
}

/* Writes the sites whose live blocks had most bytes at the peak. */
static void write_coverage_peak(const struct process *process, const struct view *view,
                                FILE *stream)
{
    for (size_t i = 0; i < process->peak_part_count && i < PEAK_PARTS; i++) {
        const struct peak_part *part = &process->peak_parts[i];
        struct record record = record_from_stack(&part->stack);
        const struct frame *title = record_title_frame(&record);

        fprintf(stream, "%s%s in %s", i ? "  " : "  Of that, ", term_size(part->bytes).text,
                term_count(part->blocks, "block").text);
        if (title) {
            fprintf(stream, " from %s %s", text_function_name(title, view, NAME_COLUMNS).text,
                    text_place(title, view).text);
        }
        putc('\n', stream);
    }
}

static void write_own_memory(const struct process *process, FILE *stream)
{
    if (!process->own_bytes)
        return;
    fprintf(stream, "libleak's own memory: %s, ", term_size(process->own_bytes).text);
    if (process->own_astray)
        fprintf(stream, "of which %" PRId64 " bytes are not accounted for.\n", process->own_astray);
    else
        fputs("all accounted for.\n", stream);
}

void text_coverage(const struct process *process, const struct view *view, FILE *stream)
{
    write_seen(process, view, stream);
    if (view->verbose)
        write_coverage_peak(process, view, stream);
    write_compared(process, view, stream);
    if (!view->verbose)
        return;
    write_coverage_stacks(&process->stacks, stream);
    write_own_memory(process, stream);
}

/* ---- The leak check -------------------------------------------------------------------------- */

#define THREADS_SHOWN 8
#define FRAMES_SHOWN 3
#define CALL_COLUMNS 30
/* nanoseconds; the time of a shorter leak check is shown only with -v */
#define LONG_CHECK 1000000000u

/* Formats a time without its unit: "0.03", "12", "1,234" milliseconds. */
static struct term_text show_milliseconds(uint64_t ns)
{
    struct term_text shown;
    double ms = (double)ns / 1e6;

    if (ms >= 9.95)
        return term_number((uint64_t)(ms + 0.5));
    shown.columns =
        (size_t)snprintf(shown.text, sizeof(shown.text), "%.*f", ms < 0.095 ? 2 : 1, ms);
    return shown;
}

/* Describes the cost of a leak check: "paused 0.2 ms, analysed in 3,100 ms; 2 other threads
 * stopped". */
static size_t cost_text(const struct leak_check *look, const struct view *view, char *text,
                        size_t size)
{
    size_t used = 0;

    *text = 0;
    if (look->timed)
        used +=
            (size_t)snprintf(text, size, "paused %.32s ms", show_milliseconds(look->pause_ns).text);
    if (look->timed && (view->verbose || look->check_ns >= LONG_CHECK))
        used += (size_t)snprintf(text + used, size - used, ", analysed in %.32s ms",
                                 show_milliseconds(look->check_ns).text);
    if (look->threads_parked)
        used += (size_t)snprintf(text + used, size - used, "%s%.40s stopped", used ? "; " : "",
                                 term_count(look->threads_parked, "other thread").text);
    return used;
}

static void write_leak_check(const struct leak_check *look, const struct view *view, FILE *stream)
{
    char cost[128];
    size_t used, columns = (size_t)fprintf(stream, "Leak check");

    if (look->occasion)
        columns += (size_t)fprintf(stream, " %s", look->occasion);
    used = cost_text(look, view, cost, sizeof(cost));
    if (used)
        fprintf(stream, "%s(%s)", columns + used + 4 > TEXT_COLUMNS ? "\n  " : " ", cost);
    fputs(".\n", stream);
}

void text_leak_check(const struct process *process, const struct view *view, FILE *stream)
{
    const struct leak_check *look = process->look;

    if (!look || !look->made)
        return;
    if (view->terse < TEXT_BRIEF)
        write_leak_check(look, view, stream);
    if (!look->stopped)
        fputs("Threads were not stopped: a block is lost only if two snapshots agree.\n", stream);
    if (look->threads_missed)
        fprintf(stream, "%s could not be stopped: blocks that only they hold may seem lost.\n",
                term_count(look->threads_missed, "thread").text);
    if (look->unreadable)
        fprintf(stream,
                "%s%s could not be read (PROT_NONE): blocks that only they hold are lost;\n"
                "  unreadable=on follows their pointers.\n",
                look->unreadable == UINT8_MAX ? "At least " : "",
                term_count(look->unreadable, "page").text);
    if (look->skipped)
        fprintf(stream, "Skipped because of pause_budget: %s.\n",
                term_count(look->skipped, "periodic leak check").text);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static bool is_thread_frame_shown(const struct stack *stack, size_t i, size_t user)
{
    return user == stack->count || (i >= user && stack->frames[i]->role == FRAME_USER);
}

/* Writes the frames of a thread: "in f() at pool.c:88, called by g()". */
static void write_leak_check_stack(const struct stack *stack, const struct view *view, FILE *stream)
{
    size_t user = frame_first_user(stack->frames, stack->count), shown = 0;

    for (size_t i = 0; i < stack->count && shown < FRAMES_SHOWN; i++) {
        const struct frame *frame = stack->frames[i];

        if (!is_thread_frame_shown(stack, i, user))
            continue;
        fprintf(stream, "%s%s", shown ? "\n         called by " : " in ",
                text_call(frame, view, CALL_COLUMNS).text);
        if (frame->file)
            fprintf(stream, " at %s", text_place(frame, view).text);
        shown++;
    }
    putc('\n', stream);
}

static void write_leak_check_thread(const struct seen_thread *thread, const struct view *view,
                                    FILE *stream)
{
    const char *name = thread->thread.name;

    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (thread->thread.serial)
        fprintf(stream, "T%" PRIu32, thread->thread.serial);
    else
        fputs("a thread that never allocated", stream);
    if (name && *name)
        fprintf(stream, " (%s)", term_text(name, strlen(name), 16).text);
    write_leak_check_stack(&thread->stack, view, stream);
}

/* Writes the threads in one line: "Still running at the end: 2 threads (-v): gmain, pool." */
static void write_thread_names(const struct process *process, FILE *stream)
{
    char head[64];
    struct text_names names = {.head = head, .stream = stream};

    snprintf(head, sizeof(head), "Still running at the end: %.20s (-v): ",
             term_count(process->thread_count, "thread").text);
    for (size_t i = 0; i < process->thread_count; i++) {
        const char *name = process->threads[i].thread.name;

        text_names_add(&names, name && *name ? name : "unnamed");
    }
    text_names_end(&names, ".\n");
}

void text_threads(const struct process *process, const struct view *view, FILE *stream)
{
    size_t count = process->thread_count, shown = count;

    if (!process->look || !process->look->last || !count)
        return;
    if (!view->verbose && view->terse >= TEXT_ONE_SOURCE) {
        write_thread_names(process, stream);
        return;
    }
    if (shown > THREADS_SHOWN && !view->verbose)
        shown = THREADS_SHOWN;
    fprintf(stream, "Still running at the end: %s\n", term_count(count, "thread").text);
    for (size_t i = 0; i < shown; i++)
        write_leak_check_thread(&process->threads[i], view, stream);
    if (shown < count)
        fprintf(stream, "%*s%s (-v shows them)\n", TEXT_INDENT, "",
                term_count(count - shown, "more thread").text);
    putc('\n', stream);
}

/* ---- Warnings -------------------------------------------------------------------------------- */

const char *text_warning_at(const struct process *process, size_t i, char words[TEXT_WARNING_SIZE])
{
    const struct leak_check *look = process->look;
    bool looked = look && look->made;

    if (text_saw_nothing(process) && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE,
                 "0 allocations seen: this says nothing about the program's heap");
    else if (process->damaged && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE,
                 "the recording of the process could not be read in full");
    else if (process->crash_only && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE, "only crashes were recorded, no blocks (crash=only)");
    else if (process->never_enabled && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE,
                 "detection was never enabled: no block is called a leak");
    else if (process->totals.of[VERDICT_UNFREED].records && !looked && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE, "unfreed blocks were not classified: %s",
                 look && look->trouble ? look->trouble
                 : process->unchecked  ? process->unchecked
                                       : "no leak check was made");
    else if (process->sample > 1 && i-- == 0)
        snprintf(words, TEXT_WARNING_SIZE,
                 "all numbers are estimates: one byte in %.27s was sampled",
                 term_number(process->sample).text);
    else
        return NULL;
    return words;
}
