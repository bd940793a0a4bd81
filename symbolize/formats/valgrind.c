/* valgrind.c - writes the text of Valgrind's Memcheck; described in formats.h and memcheck.h.
 *
 * Every line begins with "==PID== ", which distinguishes processes in one stream. Like in
 * Memcheck's text, the largest leak is last, so that it is visible on a terminal; lost and possibly
 * lost records count as errors, other records do not.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "symbolize/text/text.h"
#include "common/encode/encode.h"
#include "symbolize/formats/memcheck.h"
#include "common/base/term_text.h"

struct writing {
    const struct process *process;
    const struct view *view;
    FILE *stream;
};

/* Begins a line with "==PID== "; end_pid_line() ends it. */
static void begin_pid_line(const struct writing *writing, const char *words, ...)
    __attribute__((format(printf, 2, 3)));

static void begin_pid_line(const struct writing *writing, const char *words, ...)
{
    va_list args;

    fprintf(writing->stream, "==%" PRId32 "== ", writing->process->pid);
    va_start(args, words);
    vfprintf(writing->stream, words, args);
    va_end(args);
}

static void end_pid_line(const struct writing *writing)
{
    putc_unlocked('\n', writing->stream);
}

static void empty_line(const struct writing *writing)
{
    begin_pid_line(writing, "%s", "");
    end_pid_line(writing);
}

/* ---- Writing stacks -------------------------------------------------------------------------- */

/* Writes a frame: "at 0x1166: fill() (shelf.cc:12)"; if it is not the first of the stack, "by
 * 0x1199: main (in /opt/shelf)". */
static void write_valgrind_frame(const struct writing *writing, const struct frame *frame,
                                 bool first)
{
    FILE *stream = writing->stream;

    begin_pid_line(writing, "   %s 0x%" PRIX64 ": ", first ? "at" : "by",
                   frame->has_offset ? frame->offset : 0);
    escape_line(stream, frame->function ? frame->function : "???");
    if (frame->file) {
        fputs(" (", stream);
        escape_line(stream, base_name(frame->file));
        if (frame->line)
            fprintf(stream, ":%" PRIu32, frame->line);
        putc(')', stream);
    } else if (frame->module) {
        fputs(" (in ", stream);
        escape_line(stream, frame->module);
        putc(')', stream);
    }
    end_pid_line(writing);
}

static void write_valgrind_stack(const struct writing *writing, const struct stack *stack,
                                 const char *callee)
{
    size_t depth = memcheck_depth(stack, writing->view);

    if (callee) {
        begin_pid_line(writing, "   at 0x0: %s", callee);
        end_pid_line(writing);
    }
    for (size_t i = 0; i < depth; i++)
        write_valgrind_frame(writing, stack->frames[i], i == 0 && !callee);
}

/* ---- Writing errors -------------------------------------------------------------------------- */

static void write_valgrind_error(const struct writing *writing, const struct memcheck_error *error)
{
    for (size_t i = 0; i < error->part_count; i++) {
        const struct memcheck_part *part = &error->parts[i];

        /* the first part is the error; the others are remarks, which are indented by one space */
        begin_pid_line(writing, "%s", i ? " " : "");
        escape_line(writing->stream, part->words);
        if (part->name)
            escape_line(writing->stream, part->name);
        end_pid_line(writing);
        if (part->stack.count || !i)
            write_valgrind_stack(writing, &part->stack, part->callee);
    }
    empty_line(writing);
}

static void write_valgrind_crash(const struct writing *writing, const struct crash *crash)
{
    begin_pid_line(writing, "Process terminating with default action of signal %" PRId32,
                   crash->signal);
    fprintf(writing->stream, " (%s)\n", crash->name);
    begin_pid_line(writing, " ");
    if (crash->overflow)
        fputs("Stack overflow", writing->stream);
    else
        escape_line(writing->stream, crash->words);
    end_pid_line(writing);
    write_valgrind_stack(writing, &crash->stack, NULL);
    empty_line(writing);
}

/* ---- Writing summaries ----------------------------------------------------------------------- */

static void write_heap(const struct writing *writing)
{
    const struct process *process = writing->process;

    begin_pid_line(writing, "HEAP SUMMARY:\n");
    begin_pid_line(writing, "    in use at exit: %s bytes", term_number(process->live_bytes).text);
    fprintf(writing->stream, " in %s blocks\n", term_number(process->live_blocks).text);
    begin_pid_line(writing, "  total heap usage: %s allocs",
                   term_number(process->allocations).text);
    fprintf(writing->stream, ", %s frees, %s bytes allocated\n", term_number(process->frees).text,
            term_number(process->bytes_allocated).text);
    empty_line(writing);
}

static void write_valgrind_sum(const struct writing *writing, const char *words,
                               const struct verdict_total *total)
{
    begin_pid_line(writing, "%18s: %s bytes", words, term_number(total->bytes).text);
    fprintf(writing->stream, " in %s blocks\n", term_number(total->blocks).text);
}

static void write_valgrind_sums(const struct writing *writing, const struct memcheck_sums *sums)
{
    const struct process *process = writing->process;

    if (!process->live_blocks && !sums->definite.records && !sums->indirect.records &&
        !sums->possible.records && !sums->reachable.records && !process->suppressed.records) {
        if (!text_saw_nothing(process) && !process->crash_only && !process->damaged) {
            begin_pid_line(writing, "All heap blocks were freed -- no leaks are possible\n");
            empty_line(writing);
        }
        return;
    }
    begin_pid_line(writing, "LEAK SUMMARY:\n");
    write_valgrind_sum(writing, "definitely lost", &sums->definite);
    write_valgrind_sum(writing, "indirectly lost", &sums->indirect);
    write_valgrind_sum(writing, "possibly lost", &sums->possible);
    write_valgrind_sum(writing, "still reachable", &sums->reachable);
    write_valgrind_sum(writing, "suppressed", &process->suppressed);
    empty_line(writing);
}

static void write_valgrind_errors(const struct writing *writing, const struct memcheck_sums *sums)
{
    const struct process *process = writing->process;
    uint64_t contexts = sums->definite.records + sums->possible.records;
    uint64_t errors = contexts;

    for (size_t i = 0; i < process->mistake_count; i++)
        errors = add_saturating(errors, process->mistakes[i].count);
    errors = add_saturating(errors, process->crash != NULL);
    contexts += process->mistake_count + (process->crash != NULL);
    begin_pid_line(writing, "ERROR SUMMARY: %" PRIu64 " errors from %" PRIu64 " contexts", errors,
                   contexts);
    fprintf(writing->stream, " (suppressed: %" PRIu64 " from %zu)\n", process->suppressed.records,
            process->rule_count);
}

/* ---- Writing open descriptors ---------------------------------------------------------------- */

static bool is_descriptor(const struct resource *resource)
{
    return strcmp(resource->type, "fd") == 0 || strcmp(resource->type, "file") == 0 ||
           strcmp(resource->type, "dir") == 0;
}

static void write_descriptor(const struct writing *writing, const struct resource *resource)
{
    const struct record *record = &resource->record;
    struct stack stack = {record->frames, record->frame_count, record->ending};

    begin_pid_line(writing, "Open file descriptor:");
    for (size_t i = 0; i < resource->name_count; i++) {
        fputs(i ? ", " : " ", writing->stream);
        escape_line(writing->stream, resource->names[i]);
    }
    if (record->blocks > 1)
        fprintf(writing->stream, " (%s of them)", term_number(record->blocks).text);
    end_pid_line(writing);
    write_valgrind_stack(writing, &stack, NULL);
    empty_line(writing);
}

/* Writes the descriptors left open, one paragraph for each opening stack, because the numbers of
 * the descriptors are not recorded. */
static void write_descriptors(const struct writing *writing)
{
    const struct process *process = writing->process;
    uint64_t count = 0;

    for (size_t i = 0; i < process->resource_count; i++)
        if (is_descriptor(&process->resources[i]))
            count = add_saturating(count, process->resources[i].record.blocks);
    if (!count)
        return;
    begin_pid_line(
        writing, "FILE DESCRIPTORS: %" PRIu64 " open at exit besides the inherited ones.\n", count);
    for (size_t i = 0; i < process->resource_count; i++)
        if (is_descriptor(&process->resources[i]))
            write_descriptor(writing, &process->resources[i]);
    empty_line(writing);
}

/* ---- Writing processes ----------------------------------------------------------------------- */

static void write_valgrind_head(const struct writing *writing)
{
    const struct process *process = writing->process;
    char words[TEXT_WARNING_SIZE];

    begin_pid_line(writing,
                   "libleak " LEAK_VERSION ", a heap leak detector: not Valgrind, in its form\n");
    begin_pid_line(writing, "Command:");
    if (!process->argc && process->exe) {
        putc(' ', writing->stream);
        escape_line(writing->stream, process->exe);
    }
    for (size_t i = 0; i < process->argc; i++) {
        putc(' ', writing->stream);
        escape_line(writing->stream, process->argv[i]);
    }
    end_pid_line(writing);
    for (size_t i = 0; text_warning_at(process, i, words); i++) {
        begin_pid_line(writing, "WARNING: ");
        escape_line(writing->stream, words);
        end_pid_line(writing);
    }
    empty_line(writing);
}

static void write_valgrind_bad_frees(const struct writing *writing)
{
    const struct process *process = writing->process;

    for (size_t i = 0; i < process->mistake_count; i++) {
        struct memcheck_error error;

        memcheck_bad_free(&process->mistakes[i], &error);
        write_valgrind_error(writing, &error);
    }
    if (process->crash)
        write_valgrind_crash(writing, process->crash);
}

static void write_valgrind_leaks(const struct writing *writing)
{
    const struct process *process = writing->process;

    for (size_t i = report_listed_end(process, writing->view); i > 0; i--) {
        struct memcheck_error error;

        if (!report_lists_record(&process->records[i - 1], writing->view))
            continue;
        memcheck_leak(process, i - 1, &error);
        write_valgrind_error(writing, &error);
    }
}

void valgrind_write(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        struct writing writing = {&report->processes[i], view, stream};
        struct memcheck_sums sums = memcheck_sums(writing.process);

        if (report_omits_process(writing.process, view))
            continue;
        if (!view->quiet) {
            write_valgrind_head(&writing);
            write_valgrind_bad_frees(&writing);
            write_descriptors(&writing);
            write_heap(&writing);
            write_valgrind_leaks(&writing);
            write_valgrind_sums(&writing, &sums);
        }
        write_valgrind_errors(&writing, &sums);
    }
}
