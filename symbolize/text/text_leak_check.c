/* text_leak_check.c - see text_leak_check.h. */
#include "symbolize/text/text_leak_check.h"

#include <inttypes.h>
#include <string.h>

#include "common/view/text_frame.h"
#include "symbolize/text/text_path.h"

#define THREADS_TOLD 8
#define FRAMES_TOLD 3
#define CALL_COLUMNS 30
#define LONG_CHECK 1000000000u /* ns: worth telling */

/* "0.03 ms", "12 ms", "1,234 ms" */
static struct shown milliseconds(uint64_t ns)
{
    struct shown shown;
    double ms = (double)ns / 1e6;

    if (ms >= 9.95)
        return term_number((uint64_t)(ms + 0.5));
    shown.columns =
        (size_t)snprintf(shown.text, sizeof(shown.text), "%.*f", ms < 0.095 ? 2 : 1, ms);
    return shown;
}

/* "paused 0.2 ms, checked in 3,100 ms; 2 other threads parked" */
static size_t cost_text(const struct look *look, const struct view *view, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    if (look->timed)
        used += (size_t)snprintf(text, size, "paused %.32s ms", milliseconds(look->pause_ns).text);
    if (look->timed && (view->verbose || look->check_ns >= LONG_CHECK))
        used += (size_t)snprintf(text + used, size - used, ", checked in %.32s ms",
                                 milliseconds(look->check_ns).text);
    if (look->threads_parked)
        used += (size_t)snprintf(text + used, size - used, "%s%.40s parked", used ? "; " : "",
                                 term_count(look->threads_parked, "other thread").text);
    return used;
}

void text_look(const struct process *process, const struct view *view, FILE *stream)
{
    const struct look *look = process->look;
    char cost[128];
    size_t used, columns;

    if (!look || !look->made)
        return;
    columns = (size_t)fprintf(stream, "Looked at the heap");
    if (look->occasion)
        columns += (size_t)fprintf(stream, "%s %s", look->last ? "" : ",", look->occasion);
    used = cost_text(look, view, cost, sizeof(cost));
    if (used)
        fprintf(stream, "%s%s", columns + used + 3 > TEXT_COLUMNS ? ":\n  " : ": ", cost);
    fputs(".\n", stream);
    if (!look->stopped)
        fputs("Threads ran on meanwhile: only what two pictures agree on is called lost.\n",
              stream);
    if (look->threads_missed)
        fprintf(stream, "%s missed: what only these hold may seem lost.\n",
                term_count(look->threads_missed, "thread").text);
    if (look->skipped)
        fprintf(stream, "Left out because of pause_budget: %s.\n",
                term_count(look->skipped, "periodic look").text);
}

/* ---- Threads -------------------------------------------------------------------------------- */

static bool is_told(const struct stack *stack, size_t i, size_t user)
{
    return user == stack->count || (i >= user && stack->frames[i]->role == FRAME_USER);
}

/* "f() at pool.c:88 < g()" */
static void write_stack(const struct stack *stack, const struct view *view, FILE *stream)
{
    size_t user = frame_first_user(stack->frames, stack->count), told = 0;

    for (size_t i = 0; i < stack->count && told < FRAMES_TOLD; i++) {
        const struct frame *frame = stack->frames[i];

        if (!is_told(stack, i, user))
            continue;
        fprintf(stream, "%s%s", told ? "\n         called by " : " in ",
                text_call(frame, view, CALL_COLUMNS).text);
        if (frame->file)
            fprintf(stream, " at %s", text_place(frame, view).text);
        told++;
    }
    putc('\n', stream);
}

static void write_thread(const struct seen_thread *thread, const struct view *view, FILE *stream)
{
    const char *name = thread->thread.name;

    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (thread->thread.serial)
        fprintf(stream, "T%" PRIu32, thread->thread.serial);
    else
        fputs("a thread that never allocated", stream);
    if (name && *name)
        fprintf(stream, " (%s)", term_text(name, strlen(name), 16).text);
    write_stack(&thread->stack, view, stream);
}

void text_threads(const struct process *process, const struct view *view, FILE *stream)
{
    size_t count = process->thread_count, told = count;

    if (!process->look || !process->look->last || !count)
        return;
    if (told > THREADS_TOLD && !view->verbose)
        told = THREADS_TOLD;
    fprintf(stream, "Still running at the end: %s\n", term_count(count, "thread").text);
    for (size_t i = 0; i < told; i++)
        write_thread(&process->threads[i], view, stream);
    if (told < count)
        fprintf(stream, "%*s%s (-v shows them)\n", TEXT_INDENT, "",
                term_count(count - told, "more thread").text);
    putc('\n', stream);
}
