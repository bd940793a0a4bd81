/* xml.c - see xml.h.
 *
 * The protocol knows one process, and a document has one root. So a report of several is one
 * document, whose head is the first process's and says so in its comment; an error of another one
 * ends in a remark which. Order is the protocol's: what went wrong while it ran, FINISHED, leaks,
 * counts. Parsers take leaks for these only after FINISHED, so that stands there of a process that
 * runs, too. It has no place for resources other than memory.
 */
#include "symbolize/formats/xml.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text/warnings.h"
#include "common/encode/encode.h"
#include "common/base/arena.h"
#include "symbolize/formats/memcheck.h"

struct writing {
    const struct report *report;
    const struct view *view;
    FILE *stream;
    uint64_t unique; /* number of the next error */
};

static void number_element(FILE *stream, int indent, const char *name, uint64_t number)
{
    fprintf(stream, "%*s<%s>%" PRIu64 "</%s>\n", indent, "", name, number, name);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static void write_place(const struct writing *writing, const struct frame *frame)
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

/* The protocol wants one frame at least. */
static void write_stack(const struct writing *writing, const struct stack *stack,
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
            write_place(writing, frame);
        fputs("    </frame>\n", writing->stream);
    }
    fputs("  </stack>\n", writing->stream);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void write_thread(const struct thread_ref *thread, FILE *stream)
{
    number_element(stream, 2, "tid", thread->serial);
    if (thread->name && *thread->name)
        escape_element(stream, 2, "threadname", thread->name);
}

static void write_part(const struct writing *writing, const struct memcheck_part *part)
{
    fputs("  <auxwhat>", writing->stream);
    escape_xml(writing->stream, part->words);
    if (part->name)
        escape_xml(writing->stream, part->name);
    fputs("</auxwhat>\n", writing->stream);
    if (part->stack.count)
        write_stack(writing, &part->stack, part->callee);
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

static void write_error(struct writing *writing, const struct process *process,
                        const struct memcheck_error *error)
{
    FILE *stream = writing->stream;

    fprintf(stream, "\n<error>\n  <unique>0x%" PRIx64 "</unique>\n", writing->unique++);
    write_thread(&error->thread, stream);
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
    write_stack(writing, &error->parts[0].stack, error->parts[0].callee);
    for (size_t i = 1; i < error->part_count; i++)
        write_part(writing, &error->parts[i]);
    write_which_process(writing, process);
    fputs("</error>\n", stream);
}

static void write_crash(const struct writing *writing, const struct crash *crash)
{
    FILE *stream = writing->stream;

    fputs("\n<fatal_signal>\n", stream);
    write_thread(&crash->thread, stream);
    fprintf(stream, "  <signo>%" PRId32 "</signo>\n", crash->signal);
    escape_element(stream, 2, "signame", crash->name);
    fprintf(stream, "  <sicode>%" PRId32 "</sicode>\n", crash->code);
    escape_element(stream, 2, "event", crash->overflow ? "stack overflow" : crash->words);
    if (crash->has_address)
        fprintf(stream, "  <siaddr>0x%" PRIx64 "</siaddr>\n", crash->address);
    write_stack(writing, &crash->stack, NULL);
    fputs("</fatal_signal>\n", stream);
}

static void write_mistakes(struct writing *writing)
{
    for (size_t p = 0; p < writing->report->process_count; p++) {
        const struct process *process = &writing->report->processes[p];

        for (size_t i = 0; i < process->mistake_count; i++) {
            struct memcheck_error error;

            memcheck_mistake(&process->mistakes[i], &error);
            write_error(writing, process, &error);
        }
        if (process->crash)
            write_crash(writing, process->crash);
    }
}

static void write_leaks(struct writing *writing)
{
    for (size_t p = 0; p < writing->report->process_count; p++) {
        const struct process *process = &writing->report->processes[p];
        size_t end = report_listed_end(process, writing->view);

        for (size_t i = 0; i < end; i++) {
            struct memcheck_error error;

            if (!report_lists_record(&process->records[i], writing->view))
                continue;
            memcheck_leak(process, i, &error);
            write_error(writing, process, &error);
        }
    }
}

/* ---- The document ---------------------------------------------------------------------------- */

static void write_comment(const struct writing *writing)
{
    const struct report *report = writing->report;
    FILE *stream = writing->stream;
    char words[CAVEAT_SIZE];
    bool some = false;

    for (size_t p = 0; p < report->process_count; p++)
        for (size_t i = 0; caveat_at(&report->processes[p], i, words); i++) {
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

static void write_command(const struct process *process, FILE *stream)
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

/* Of the first process's life. */
static void write_status(const char *state, uint64_t ns, FILE *stream)
{
    uint64_t ms = ns / 1000000, s = ms / 1000;

    fprintf(stream, "\n<status>\n  <state>%s</state>\n", state);
    fprintf(stream,
            "  <time>%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64
            "</time>\n</status>\n",
            s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, ms % 1000);
}

static void write_head(const struct writing *writing, const struct process *first)
{
    FILE *stream = writing->stream;

    fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n"
          "<protocolversion>4</protocolversion>\n<protocoltool>memcheck</protocoltool>\n\n"
          "<preamble>\n  <line>libleak " LEAK_VERSION ", a heap leak detector</line>\n"
          "  <line>This is not Valgrind: the same protocol, and what of it libleak knows</line>\n",
          stream);
    write_command(first, stream);
    fprintf(stream,
            "</preamble>\n\n<pid>%" PRId32 "</pid>\n<ppid>%" PRId32
            "</ppid>\n<tool>memcheck</tool>\n\n",
            first->pid, first->ppid);
    write_comment(writing);
    write_arguments(first, stream);
}

/* How often each error was met: of those that are no leaks, which have the first numbers. */
static void write_counts(const struct report *report, const struct view *view, FILE *stream)
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

    write_head(&writing, first);
    write_status("RUNNING", 0, stream);
    if (!view->quiet)
        write_mistakes(&writing);
    write_status("FINISHED", end > first->started_ns ? end - first->started_ns : 0, stream);
    write_leaks(&writing);
    write_counts(report, view, stream);
    fputs("</valgrindoutput>\n", stream);
}

void xml_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct mem *mem = arena_begin();
    struct report told = *report; /* without processes that nobody wants to know of */

    told.processes = arena_alloc_array(mem, report->process_count + 1, sizeof(struct process));
    told.process_count = 0;
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            told.processes[told.process_count++] = report->processes[i];
    write_document(&told, view, stream);
    arena_end(mem);
}
