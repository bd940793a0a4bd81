/* github.c - see github.h.
 *
 * One line is one annotation: "::error file=F,line=L,title=T::MESSAGE", the message as the text
 * report has it. The host shows ten of each level and drops the others without a word, so this
 * stops there itself and says how many are missing in the last notice. The format "markdown" has
 * them all.
 */
#include "symbolize/formats/github.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text/warnings.h"
#include "common/encode/encode.h"
#include "symbolize/formats/findings.h"
#include "common/base/text.h"
#include "symbolize/text/text_head.h"

#define SHOWN 10 /* by the host, of each level */

static const struct {
    const char *command, *word;
    uint64_t limit;
} levels[] = {
    [FINDING_ERROR] = {"error", "more error", SHOWN},
    [FINDING_WARNING] = {"warning", "more warning", SHOWN},
    [FINDING_NOTICE] = {"notice", "more notice", SHOWN - 1}, /* and the one about the rest */
};
#define LEVELS (sizeof(levels) / sizeof(*levels))

struct writing {
    const struct view *view;
    FILE *stream;
    uint64_t met[LEVELS]; /* of each level, written or not */
    struct {
        uint64_t signature;
        const char *type;
    } told[LEVELS * SHOWN];
    size_t told_count;
};

/* Was the same written of another process? There is no room to say things twice. */
static bool is_told(const struct writing *writing, const struct finding *finding)
{
    for (size_t i = 0; i < writing->told_count; i++)
        if (finding->has_signature && writing->told[i].signature == finding->signature &&
            strcmp(writing->told[i].type, finding->type) == 0)
            return true;
    return false;
}

/* Is there room for another one? */
static bool take(struct writing *writing, enum finding_level level)
{
    return writing->met[level]++ < levels[level].limit;
}

static void write_place(const struct writing *writing, const struct frame *frame)
{
    char buffer[PATH_MAX];

    if (!frame || !frame->file)
        return;
    fputs("file=", writing->stream);
    escape_command(writing->stream, report_display_path(writing->view, frame->file, buffer, sizeof(buffer)),
                   true);
    if (frame->line)
        fprintf(writing->stream, ",line=%" PRIu32, frame->line);
    if (frame->line && frame->column)
        fprintf(writing->stream, ",col=%" PRIu32, frame->column);
    putc(',', writing->stream);
}

typedef void write_words(const struct process *process, const struct finding *finding,
                         const struct view *view, FILE *stream);

static void write_title(const struct process *process, const struct finding *finding,
                        const struct view *view, FILE *stream)
{
    (void)view;
    finding_words(process, finding, stream);
}

static void write_part(const struct writing *writing, const struct process *process,
                       const struct finding *finding, write_words *words, bool property)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    words(process, finding, writing->view, stream);
    fclose(stream);
    if (size && text[size - 1] == '\n')
        text[size - 1] = 0;
    escape_command(writing->stream, text + strspn(text, "\n"), property);
    free(text);
}

static void write_finding(struct writing *writing, const struct process *process,
                          const struct finding *finding)
{
    enum finding_level level = finding->suppressed_by ? FINDING_NOTICE : finding->level;

    if (is_told(writing, finding) || !take(writing, level))
        return;
    writing->told[writing->told_count].signature = finding->signature;
    writing->told[writing->told_count++].type = finding->type;
    fprintf(writing->stream, "::%s ", levels[level].command);
    write_place(writing, finding->frame);
    fputs("title=", writing->stream);
    write_part(writing, process, finding, write_title, true);
    fputs("::", writing->stream);
    write_part(writing, process, finding, finding_text, false);
    putc('\n', writing->stream);
}

static void write_caveats(struct writing *writing, const struct process *process)
{
    char words[CAVEAT_SIZE];

    for (size_t i = 0; caveat_at(process, i, words); i++) {
        if (!take(writing, FINDING_WARNING))
            continue;
        fputs("::warning title=libleak::", writing->stream);
        if (process->exe)
            escape_command(writing->stream, base_name(process->exe), false);
        fprintf(writing->stream, " (pid %" PRId32 "): ", process->pid);
        escape_command(writing->stream, words, false);
        putc('\n', writing->stream);
    }
}

static void write_process(struct writing *writing, const struct process *process)
{
    struct finding finding = {.next = 0};
    size_t listed = 0;

    write_caveats(writing, process);
    while (finding_next(process, writing->view, &finding))
        if (!finding.suppressed_by || writing->view->suppressed) {
            if (writing->view->top && finding.has_signature && listed++ >= writing->view->top)
                continue;
            write_finding(writing, process, &finding);
        }
}

static void write_rest(const struct writing *writing)
{
    const char *join = "::notice title=libleak::";

    for (size_t i = 0; i < LEVELS; i++)
        if (writing->met[i] > levels[i].limit) {
            fprintf(writing->stream, "%s%s", join,
                    term_count(writing->met[i] - levels[i].limit, levels[i].word).text);
            join = ", ";
        }
    if (*join == ',')
        fputs(" (--format=markdown has all)\n", writing->stream);
}

/* The sums and nothing else. */
static void write_sums(const struct report *report, FILE *stream)
{
    struct totals totals = report_totals(report);
    const char *join = "::notice title=libleak::";

    for (int v = 0; v < VERDICT_MAX; v++)
        if (totals.of[v].records) {
            fprintf(stream, "%s%s %s", join, term_size(totals.of[v].bytes).text, verdict_words[v]);
            join = ", ";
        }
    if (totals.errors) {
        fprintf(stream, "%s%s", join, term_count(totals.errors, "error").text);
        join = ", ";
    }
    if (*join == ',')
        putc('\n', stream);
}

void github_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.view = view, .stream = stream};

    if (view->quiet) {
        write_sums(report, stream);
        return;
    }
    for (size_t i = 0; i < report->process_count; i++)
        if (finding_process(report, i, view))
            write_process(&writing, &report->processes[i]);
    write_rest(&writing);
}
