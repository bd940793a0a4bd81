/* junit.c - writes JUnit's XML; described in formats.h.
 *
 * A process is a test suite, and each of its findings is a failed test; a finding of level notice
 * is a passed test, a suppressed finding is a skipped test. The name of a test has the signature,
 * so a server recognises it in the next run. A process without findings has one test, which passes
 * only if the process was tracked: for a program that libleak cannot track this test is skipped.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text/text.h"
#include "common/encode/encode.h"
#include "symbolize/formats/findings.h"
#include "common/base/term_text.h"

#define NAME_COLUMNS 160 /* most columns of the function in the name of a test */

/* The counts of a suite; they are attributes, so they must be known before the tests are
 * written. */
struct counts {
    uint64_t tests, failures, errors, skipped;
};

/* ---- Writing one test ------------------------------------------------------------------------ */

/* Returns the class name of a test: group and module. Dots in the module are replaced, because
 * servers take the part before the last dot for a package. */
static char *test_class_name(const char *group, const char *module)
{
    const char *name = module ? base_name(module) : "unknown";
    char *text = malloc(strlen(group) + strlen(name) + 2);

    if (!text)
        return NULL;
    sprintf(text, "%s.%s", group, name);
    for (char *at = text + strlen(group) + 1; *at; at++)
        if (*at == '.')
            *at = '_';
    return text;
}

/* Writes the name of a test: "lost in make_book() a0bfa36e5958196b". */
static void write_junit_name(const struct finding *finding, const struct view *view, FILE *stream)
{
    struct term_text function = {.text = "an unknown place"};
    char id[32] = "";
    char *name = NULL;
    size_t size;
    FILE *text = open_memstream(&name, &size);

    if (!text)
        return;
    if (finding->frame)
        /* without the function's arguments: the name must be the same in each run */
        function = text_bare_name(finding->frame, NAME_COLUMNS);
    if (finding->has_signature)
        snprintf(id, sizeof(id), " %016" PRIx64, finding->signature);
    fprintf(text, "%s in %s%s", finding->type, function.text, id);
    if (!finding->has_signature && finding->frame)
        fprintf(text, " %s", text_place(finding->frame, view).text);
    fclose(text);
    escape_attribute(stream, "name", name);
    free(name);
}

static void open_case(const struct finding *finding, const struct view *view, FILE *stream)
{
    char *class = test_class_name(finding->group, finding->frame ? finding->frame->module : NULL);

    fputs("    <testcase", stream);
    escape_attribute(stream, "classname", class);
    write_junit_name(finding, view, stream);
    fputs(" time=\"0\">\n", stream);
    free(class);
}

static void write_junit_skipped(const struct finding *finding, const struct view *view,
                                FILE *stream)
{
    const struct rule *rule = finding->suppressed_by;
    char *words = malloc(strlen(rule->text) + strlen(rule->where) + 32);

    open_case(finding, view, stream);
    if (words)
        sprintf(words, "suppressed by %s (%s)", rule->text, rule->where);
    fputs("      <skipped", stream);
    escape_attribute(stream, "message", words);
    fputs("/>\n    </testcase>\n", stream);
    free(words);
}

/* Returns the name of the XML element for a finding: "error" for a crash, "system-out" for a
 * finding of level notice, else "failure". */
static const char *element_of(const struct process *process, const struct finding *finding)
{
    if (finding->level == FINDING_NOTICE)
        return "system-out";
    return process->crash && finding->next == 1 ? "error" : "failure";
}

static void write_junit_finding(const struct process *process, const struct finding *finding,
                                const struct view *view, FILE *stream)
{
    const char *element = element_of(process, finding);
    char *message = finding_string(finding_summary, process, finding, view);
    char *body = finding_string(finding_text, process, finding, view);

    open_case(finding, view, stream);
    fprintf(stream, "      <%s", element);
    if (finding->level != FINDING_NOTICE) {
        escape_attribute(stream, "type", finding->type);
        escape_attribute(stream, "message", message);
    }
    putc('>', stream);
    if (body)
        escape_xml(stream, body);
    fprintf(stream, "</%s>\n    </testcase>\n", element);
    free(message);
    free(body);
}

/* ---- Writing all tests of a process ---------------------------------------------------------- */

/* Counts the findings, and writes them as tests. stream: NULL = only count. */
static void write_findings(const struct process *process, const struct view *view,
                           struct counts *counts, FILE *stream)
{
    struct finding finding = {.next = 0};
    size_t listed = 0;

    while (finding_next(process, view, &finding)) {
        bool record = strcmp(finding.group, "leak") == 0 && !finding.suppressed_by;

        if (record && view->top && listed++ >= view->top)
            continue;
        counts->tests++;
        if (finding.suppressed_by)
            counts->skipped++;
        else if (strcmp(element_of(process, &finding), "error") == 0)
            counts->errors++;
        else if (finding.level != FINDING_NOTICE)
            counts->failures++;
        if (stream && finding.suppressed_by)
            write_junit_skipped(&finding, view, stream);
        else if (stream)
            write_junit_finding(process, &finding, view, stream);
    }
}

/* Writes the sums: "48 bytes in 4 blocks lost", one line for each verdict with records, and one for
 * errors. */
static void write_junit_sums(const struct process *process, FILE *stream)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if (process->totals.of[v].records) {
            text_verdict_total(process, (enum verdict)v, stream);
            fprintf(stream, " %s\n", verdict_words[v]);
        }
    if (process->totals.errors)
        fprintf(stream, "%s\n", term_count(process->totals.errors, "error").text);
}

static char *sums_string(const struct process *process)
{
    char *words = NULL;
    size_t size;
    FILE *text = open_memstream(&words, &size);

    if (text) {
        write_junit_sums(process, text);
        fclose(text);
    }
    return words;
}

/* Writes the single test of a process without findings, or of any process with --quiet. */
static void write_junit_verdict(const struct process *process, const struct view *view,
                                struct counts *counts, FILE *stream)
{
    bool failed = view->quiet && (process_has_leaks(process) || process->totals.errors);
    char words[TEXT_WARNING_SIZE];
    const char *warning = text_warning_at(process, 0, words);
    char *class;

    counts->tests++;
    counts->failures += failed;
    counts->skipped += !failed && warning;
    if (!stream)
        return;
    class = test_class_name("leak", process->exe);
    fputs("    <testcase", stream);
    escape_attribute(stream, "classname", class);
    fputs(" name=\"no leaks\" time=\"0\"", stream);
    free(class);
    if (failed) {
        char *sums = sums_string(process);

        if (sums && *sums)
            sums[strlen(sums) - 1] = 0;
        fputs(">\n      <failure type=\"summary\"", stream);
        escape_attribute(stream, "message", sums);
        fputs("/>\n    </testcase>\n", stream);
        free(sums);
    } else if (warning) {
        fputs(">\n      <skipped", stream);
        escape_attribute(stream, "message", warning);
        fputs("/>\n    </testcase>\n", stream);
    } else {
        fputs("/>\n", stream);
    }
}

static void write_cases(const struct process *process, const struct view *view,
                        struct counts *counts, FILE *stream)
{
    if (!view->quiet)
        write_findings(process, view, counts, stream);
    if (counts->tests == counts->skipped)
        write_junit_verdict(process, view, counts, stream);
}

static void write_junit_counts(const struct counts *counts, FILE *stream)
{
    fprintf(stream,
            " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64
            "\" skipped=\"%" PRIu64 "\"",
            counts->tests, counts->failures, counts->errors, counts->skipped);
}

static void write_output(const struct report *report, size_t i, FILE *stream)
{
    const struct process *process = &report->processes[i];
    char words[TEXT_WARNING_SIZE];
    char *sums = sums_string(process);
    size_t alike = 0;

    fputs("    <system-out>", stream);
    for (size_t k = 0; text_warning_at(process, k, words); k++) {
        escape_xml(stream, words);
        putc('\n', stream);
    }
    if (sums)
        escape_xml(stream, sums);
    for (size_t k = i + 1; k < report->process_count; k++)
        alike += report->processes[k].alike == i;
    if (alike)
        fprintf(stream, "Same result in %s.\n", term_count(alike, "more process").text);
    fputs("</system-out>\n", stream);
    free(sums);
}

static void write_suite(const struct report *report, size_t i, const struct view *view,
                        FILE *stream)
{
    const struct process *process = &report->processes[i];
    uint64_t end = process->ended_ns ? process->ended_ns : process->until_ns;
    uint64_t ms = end > process->started_ns ? (end - process->started_ns) / 1000000 : 0;
    struct counts counts = {0};
    char time[TIME_TEXT_SIZE];
    const char *exe = process->argc ? process->argv[0] : process->exe;

    write_cases(process, view, &counts, NULL);
    fputs("  <testsuite", stream);
    escape_attribute(stream, "name", exe ? base_name(exe) : "unknown");
    write_junit_counts(&counts, stream);
    fprintf(stream, " time=\"%" PRIu64 ".%03" PRIu64 "\"", ms / 1000, ms % 1000);
    if (time_format_iso(process->started_ns, time)) {
        time[strcspn(time, ".Z")] = 0; /* cut: most readers accept no milliseconds and no zone */
        escape_attribute(stream, "timestamp", time);
    }
    escape_attribute(stream, "hostname", process->host);
    fprintf(stream,
            ">\n    <properties>\n      <property name=\"pid\" value=\"%" PRId32
            "\"/>\n    </properties>\n",
            process->pid);
    counts = (struct counts){0};
    write_cases(process, view, &counts, stream);
    write_output(report, i, stream);
    fputs("  </testsuite>\n", stream);
}

void junit_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct counts counts = {0};

    for (size_t i = 0; i < report->process_count; i++)
        if (finding_process_is_listed(report, i, view)) {
            struct counts own = {0};

            write_cases(&report->processes[i], view, &own, NULL);
            counts.tests += own.tests;
            counts.failures += own.failures;
            counts.errors += own.errors;
            counts.skipped += own.skipped;
        }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"libleak\"", stream);
    write_junit_counts(&counts, stream);
    fputs(">\n", stream);
    for (size_t i = 0; i < report->process_count; i++)
        if (finding_process_is_listed(report, i, view))
            write_suite(report, i, view, stream);
    fputs("</testsuites>\n", stream);
}
