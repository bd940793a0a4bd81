/* xml.c - writes Valgrind's XML protocol 4; described in formats.h and memcheck.h.
 *
 * The protocol knows only one process, and a document has one root element. So a report of several
 * processes is one document with the head of the first process; its comment says so, and a remark
 * of each error names its process. The protocol prescribes the order: errors at run time, FINISHED,
 * leaks, counts. Parsers take errors for leaks only after FINISHED, so this state is written even
 * for a running process. The protocol has no resources other than memory.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text/text.h"
#include "common/encode/encode.h"
#include "common/base/arena.h"
#include "symbolize/formats/memcheck.h"

struct writing {
    const struct report *report;
    const struct view *view;
    FILE *stream;
    uint64_t unique; /* number of the next error, which is unique in the document */
};

static void number_element(FILE *stream, int indent, const char *name, uint64_t number)
{
    fprintf(stream, "%*s<%s>%" PRIu64 "</%s>\n", indent, "", name, number, name);
}

/* ---- Writing stacks -------------------------------------------------------------------------- */

static void write_xml_place(const struct writing *writing, const struct frame *frame)
{
    char buffer[PATH_MAX];
    const char *path = source_map_path(&writing->view->source, frame->file, buffer, sizeof(buffer));
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;

    escape_element(writing->stream, 6, "dir", directory);
    free(directory);
    escape_element(writing->stream, 6, "file", base_name(path));
    if (frame->line)
        number_element(writing->stream, 6, "line", frame->line);
}

/* Writes a stack. The protocol wants at least one frame, so an empty stack gets a frame without a
 * name. */
static void write_xml_stack(const struct writing *writing, const struct stack *stack,
                            const char *callee)
{
    size_t depth = memcheck_depth(stack, writing->view);

    fputs("  <stack>\n", writing->stream);
    if (callee || !depth) {
        fputs("    <frame>\n      <ip>0x0</ip>\n", writing->stream);
        escape_element(writing->stream, 6, "fn", callee);
        fputs("    </frame>\n", writing->stream);
    }
    for (size_t i = 0; i < depth; i++) {
        const struct frame *frame = stack->frames[i];

        fprintf(writing->stream, "    <frame>\n      <ip>0x%" PRIX64 "</ip>\n",
                frame->has_offset ? frame->offset : 0);
        escape_element(writing->stream, 6, "obj", frame->module);
        escape_element(writing->stream, 6, "fn", frame->function);
        if (frame->file)
            write_xml_place(writing, frame);
        fputs("    </frame>\n", writing->stream);
    }
    fputs("  </stack>\n", writing->stream);
}

/* ---- Writing errors -------------------------------------------------------------------------- */

static void write_xml_thread(const struct thread_ref *thread, FILE *stream)
{
    number_element(stream, 2, "tid", thread->serial);
    if (thread->name && *thread->name)
        escape_element(stream, 2, "threadname", thread->name);
}

static void write_xml_part(const struct writing *writing, const struct memcheck_part *part)
{
    fputs("  <auxwhat>", writing->stream);
    escape_xml(writing->stream, part->words);
    if (part->name)
        escape_xml(writing->stream, part->name);
    fputs("</auxwhat>\n", writing->stream);
    if (part->stack.count)
        write_xml_stack(writing, &part->stack, part->callee);
}

static void write_which_process(const struct writing *writing, const struct process *process)
{
    if (process == writing->report->processes)
        return;
    fprintf(writing->stream, "  <auxwhat>In process %" PRId32, process->pid);
    if (process->exe) {
        fputs(", ", writing->stream);
        escape_xml(writing->stream, process->exe);
    }
    fputs("</auxwhat>\n", writing->stream);
}

static void write_xml_error(struct writing *writing, const struct process *process,
                            const struct memcheck_error *error)
{
    FILE *stream = writing->stream;

    fprintf(stream, "\n<error>\n  <unique>0x%" PRIx64 "</unique>\n", writing->unique++);
    write_xml_thread(&error->thread, stream);
    escape_element(stream, 2, "kind", error->kind);
    if (error->leak) {
        fputs("  <xwhat>\n", stream);
        escape_element(stream, 4, "text", error->parts[0].words);
        number_element(stream, 4, "leakedbytes", error->bytes);
        number_element(stream, 4, "leakedblocks", error->blocks);
        fputs("  </xwhat>\n", stream);
    } else {
        escape_element(stream, 2, "what", error->parts[0].words);
    }
    write_xml_stack(writing, &error->parts[0].stack, error->parts[0].callee);
    for (size_t i = 1; i < error->part_count; i++)
        write_xml_part(writing, &error->parts[i]);
    write_which_process(writing, process);
    fputs("</error>\n", stream);
}

static void write_xml_crash(const struct writing *writing, const struct crash *crash)
{
    FILE *stream = writing->stream;

    fputs("\n<fatal_signal>\n", stream);
    write_xml_thread(&crash->thread, stream);
    fprintf(stream, "  <signo>%" PRId32 "</signo>\n", crash->signal);
    escape_element(stream, 2, "signame", crash->name);
    fprintf(stream, "  <sicode>%" PRId32 "</sicode>\n", crash->code);
    escape_element(stream, 2, "event", crash->overflow ? "stack overflow" : crash->words);
    if (crash->has_address)
        fprintf(stream, "  <siaddr>0x%" PRIx64 "</siaddr>\n", crash->address);
    write_xml_stack(writing, &crash->stack, NULL);
    fputs("</fatal_signal>\n", stream);
}

static void write_xml_bad_frees(struct writing *writing)
{
    for (size_t p = 0; p < writing->report->process_count; p++) {
        const struct process *process = &writing->report->processes[p];

        for (size_t i = 0; i < process->mistake_count; i++) {
            struct memcheck_error error;

            memcheck_bad_free(&process->mistakes[i], &error);
            write_xml_error(writing, process, &error);
        }
        if (process->crash)
            write_xml_crash(writing, process->crash);
    }
}

static void write_xml_leaks(struct writing *writing)
{
    for (size_t p = 0; p < writing->report->process_count; p++) {
        const struct process *process = &writing->report->processes[p];
        size_t end = report_listed_end(process, writing->view);

        for (size_t i = 0; i < end; i++) {
            struct memcheck_error error;

            if (!report_lists_record(&process->records[i], writing->view))
                continue;
            memcheck_leak(process, i, &error);
            write_xml_error(writing, process, &error);
        }
    }
}

/* ---- Writing the document -------------------------------------------------------------------- */

static void write_xml_comment(const struct writing *writing)
{
    const struct report *report = writing->report;
    FILE *stream = writing->stream;
    char words[TEXT_WARNING_SIZE];
    bool some = false;

    for (size_t p = 0; p < report->process_count; p++)
        for (size_t i = 0; text_warning_at(&report->processes[p], i, words); i++) {
            fputs(some ? "\n" : "<usercomment>", stream);
            some = true;
            fprintf(stream, "Process %" PRId32 ": ", report->processes[p].pid);
            escape_xml(stream, words);
        }
    if (report->process_count > 1) {
        fprintf(stream, "%s%zu processes; pid, arguments and times are those of the first",
                some ? "\n" : "<usercomment>", report->process_count);
        some = true;
    }
    if (some)
        fputs("</usercomment>\n\n", stream);
}

static void write_xml_command(const struct process *process, FILE *stream)
{
    fputs("  <line>Command: ", stream);
    if (!process->argc && process->exe)
        escape_xml(stream, process->exe);
    for (size_t i = 0; i < process->argc; i++) {
        fputs(i ? " " : "", stream);
        escape_xml(stream, process->argv[i]);
    }
    fputs("</line>\n", stream);
}

static void write_arguments(const struct process *process, FILE *stream)
{
    const char *exe = process->argc ? process->argv[0] : process->exe;

    fputs("<args>\n  <vargv>\n    <exe>leakreport</exe>\n    <arg>--format=xml</arg>\n"
          "  </vargv>\n  <argv>\n",
          stream);
    escape_element(stream, 4, "exe", exe ? exe : "???");
    for (size_t i = 1; i < process->argc; i++)
        escape_element(stream, 4, "arg", process->argv[i]);
    fputs("  </argv>\n</args>\n", stream);
}

/* Writes a state of the first process, and its time. */
static void write_status(const char *state, uint64_t ns, FILE *stream)
{
    uint64_t ms = ns / 1000000, s = ms / 1000;

    fprintf(stream, "\n<status>\n  <state>%s</state>\n", state);
    fprintf(stream,
            "  <time>%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64
            "</time>\n</status>\n",
            s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, ms % 1000);
}

static void write_xml_head(const struct writing *writing, const struct process *first)
{
    FILE *stream = writing->stream;

    fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n"
          "<protocolversion>4</protocolversion>\n<protocoltool>memcheck</protocoltool>\n\n"
          "<preamble>\n  <line>libleak " LEAK_VERSION ", a heap leak detector</line>\n"
          "  <line>This is not Valgrind: the same protocol, and what of it libleak knows</line>\n",
          stream);
    write_xml_command(first, stream);
    fprintf(stream,
            "</preamble>\n\n<pid>%" PRId32 "</pid>\n<ppid>%" PRId32
            "</ppid>\n<tool>memcheck</tool>\n\n",
            first->pid, first->ppid);
    write_xml_comment(writing);
    write_arguments(first, stream);
}

/* Writes the counts of the errors that are no leaks. These errors have the first unique numbers. */
static void write_xml_counts(const struct report *report, const struct view *view, FILE *stream)
{
    uint64_t unique = 0;

    fputs("\n<errorcounts>\n", stream);
    for (size_t p = 0; p < report->process_count && !view->quiet; p++)
        for (size_t i = 0; i < report->processes[p].mistake_count; i++)
            fprintf(stream,
                    "  <pair>\n    <count>%" PRIu64 "</count>\n    <unique>0x%" PRIx64
                    "</unique>\n  </pair>\n",
                    report->processes[p].mistakes[i].count, unique++);
    fputs("</errorcounts>\n\n<suppcounts>\n", stream);
    for (size_t p = 0; p < report->process_count; p++)
        for (size_t i = 0; i < report->processes[p].rule_count; i++) {
            const struct rule_use *use = &report->processes[p].rules[i];

            fputs("  <pair>\n", stream);
            number_element(stream, 4, "count", use->total.records);
            escape_element(stream, 4, "name", use->rule->text);
            fputs("  </pair>\n", stream);
        }
    fputs("</suppcounts>\n\n", stream);
}

static void write_document(const struct report *report, const struct view *view, FILE *stream)
{
    static const struct process none;
    struct writing writing = {report, view, stream, 0};
    const struct process *first = report->process_count ? report->processes : &none;
    uint64_t end = first->ended_ns ? first->ended_ns : first->until_ns;

    write_xml_head(&writing, first);
    write_status("RUNNING", 0, stream);
    if (!view->quiet)
        write_xml_bad_frees(&writing);
    write_status("FINISHED", end > first->started_ns ? end - first->started_ns : 0, stream);
    write_xml_leaks(&writing);
    write_xml_counts(report, view, stream);
    fputs("</valgrindoutput>\n", stream);
}

void xml_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct arena *mem = arena_begin();
    struct report listed = *report; /* without processes that only ran between fork and exec */

    listed.processes = arena_alloc_array(mem, report->process_count + 1, sizeof(struct process));
    listed.process_count = 0;
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            listed.processes[listed.process_count++] = report->processes[i];
    write_document(&listed, view, stream);
    arena_end(mem);
}
