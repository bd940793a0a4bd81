/* text_processes.c - chooses the processes that a report lists, and writes a line for each other
 * program; described in text.h.
 *
 * A shell script starts hundreds of programs, and a wrapper script executes several before the one
 * that the user asked for. So blocks that a process held when it called exec are only counted. All
 * processes of a program without findings have one line ("sed (37 processes): no leaks"). Of many
 * processes with findings only the worst are listed.
 */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define FULL_MOST 6     /* most processes that are listed in full */
#define LINES_MOST 10   /* most programs that have a line; the last line counts all others */
#define PROGRAMS_MOST 4 /* most programs before exec that are named */
#define SYSTEM_MOST 2   /* most processes listed in full that are programs of the system */
#define SYSTEM_TOP 3    /* most records that are listed of a program of the system */

static bool shows_all(const struct view *view)
{
    return view->verbose || !view->top;
}

/* ---- Choosing the processes to list ---------------------------------------------------------- */

bool text_is_of_system(const char *path)
{
    static const char *const directories[] = {"/bin/", "/sbin/", "/lib"};

    if (!path || strncmp(path, "/usr/local/", 11) == 0)
        return false;
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (strncmp(path, directories[i], strlen(directories[i])) == 0)
            return true;
    return strncmp(path, "/usr/", 5) == 0;
}

/* Says whether the process still runs and has no findings but live blocks: it may free them
 * later. */
static bool only_has_live_blocks(const struct process *process)
{
    return process->how == END_RUNNING && !process_has_findings(process);
}

/* Says whether the process has findings, or blocks that no leak check classified. */
static bool is_worth_a_list(const struct process *process, const struct view *view)
{
    if (process_has_findings(process) || text_saw_nothing(process))
        return true;
    if (process_only_called_exec(process) && !view->verbose && !view->chosen)
        return false;
    if (only_has_live_blocks(process) && !view->verbose && !view->chosen)
        return false;
    for (int v = 0; v < VERDICT_MAX; v++)
        if (view->show[v] && process->totals.of[v].records)
            return true;
    return view->suppressed && process->suppressed.records;
}

/* Says whether a leak check before the end found reachable blocks: their state at the end is
 * unknown. */
static bool is_state_outdated(const struct process *process)
{
    return process->totals.of[VERDICT_REACHABLE].records && process->look && !process->look->last;
}

static uint64_t lost_bytes(const struct process *process)
{
    return add_saturating(process->totals.of[VERDICT_LOST].bytes,
                          process->totals.of[VERDICT_INDIRECT].bytes);
}

/* Says whether the process has findings that are certain, and not only possibly lost blocks or open
 * descriptors. */
static bool is_certain(const struct process *process)
{
    return lost_bytes(process) || process->totals.errors || process->totals.growing ||
           process->damaged || text_saw_nothing(process);
}

static bool is_candidate(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    if (process->alike != i || report_omits_process(process, view))
        return false;
    if (text_is_of_system(process->exe) && process_has_findings(process) && !is_certain(process) &&
        !shows_all(view) && !view->chosen)
        return false;
    return is_worth_a_list(process, view) || is_state_outdated(process) ||
           (shows_all(view) && text_has_open_resources(process));
}

/* Says whether the process has findings, and all of them are open resources. */
static bool has_only_resources(const struct process *process)
{
    return process_has_findings(process) && !is_certain(process) && !process->crash &&
           !process->totals.of[VERDICT_POSSIBLE].records &&
           !process->totals.of[VERDICT_HIDDEN].records;
}

/* Says whether the first process goes before all others: the user asked for it. If it has only open
 * resources, it goes behind processes that lost memory or have errors. */
static bool does_first_lead(const struct report *report, const size_t *full, size_t count)
{
    const struct process *first = &report->processes[0];

    if (!report->process_count || !has_only_resources(first))
        return true;
    for (size_t i = 1; i < count; i++) {
        const struct process *process = &report->processes[full[i]];

        if (process_has_findings(process) && is_certain(process) &&
            (text_is_of_system(first->exe) || !text_is_of_system(process->exe)))
            return false;
    }
    return true;
}

/* the report, and whether its first process leads, for compare_processes(): qsort passes no further
 * argument */
static const struct report *compared;
static bool first_leads;

static int compare_processes(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct process *x = &compared->processes[a], *y = &compared->processes[b];

    if (first_leads && (!a || !b))
        return a ? 1 : -1;
    return COMPARE(!x->totals.errors, !y->totals.errors)
               ?: COMPARE(text_is_of_system(x->exe), text_is_of_system(y->exe))
               ?: COMPARE(!process_has_findings(x), !process_has_findings(y))
               ?: COMPARE(has_only_resources(x), has_only_resources(y))
               ?: COMPARE(lost_bytes(y), lost_bytes(x)) ?: COMPARE(a, b);
}

/* Returns how many processes are listed in full. Programs of the system, which users cannot change,
 * are last in the order, and only few of them are listed. */
static size_t cut_at_limits(const struct report *report, const size_t *full, size_t count)
{
    size_t kept = 0, of_system = 0;

    for (; kept < count && kept < FULL_MOST; kept++) {
        const struct process *process = &report->processes[full[kept]];

        of_system += kept && !process->totals.errors && text_is_of_system(process->exe);
        if (of_system > SYSTEM_MOST)
            break;
    }
    return kept;
}

size_t text_processes_top(const struct text_processes *processes, size_t nth,
                          const struct view *view)
{
    const struct process *process = &processes->report->processes[processes->full[nth]];

    return nth && !shows_all(view) && view->top > SYSTEM_TOP && text_is_of_system(process->exe)
               ? SYSTEM_TOP
               : view->top;
}

struct text_processes text_processes_choose(const struct report *report, const struct view *view)
{
    struct text_processes made = {.report = report};
    size_t count = report->process_count;

    made.full = array_grow(NULL, &(size_t){0}, count + 1, sizeof(*made.full));
    made.is_full = array_grow(NULL, &(size_t){0}, count + 1, sizeof(*made.is_full));
    memset(made.is_full, 0, (count + 1) * sizeof(*made.is_full));
    for (size_t i = 0; i < count; i++)
        if (!i || is_candidate(report, i, view))
            made.full[made.full_count++] = i;
    compared = report;
    first_leads = does_first_lead(report, made.full, made.full_count);
    qsort(made.full, made.full_count, sizeof(*made.full), compare_processes);
    if (!shows_all(view))
        made.full_count = cut_at_limits(report, made.full, made.full_count);
    for (size_t i = 0; i < made.full_count; i++)
        made.is_full[made.full[i]] = true;
    return made;
}

void text_processes_end(struct text_processes *processes)
{
    free(processes->full);
    free(processes->is_full);
}

/* Says whether process i is an earlier program of the first process, before it called exec. */
static bool is_before_exec(const struct text_processes *processes, size_t i)
{
    const struct process *lead = &processes->report->processes[0];
    const struct process *process = &processes->report->processes[i];

    return i && process->replaced && process->pid == lead->pid && !processes->is_full[i];
}

bool text_processes_alone(const struct text_processes *processes)
{
    for (size_t i = 1; i < processes->report->process_count; i++)
        if (!is_before_exec(processes, i))
            return false;
    return true;
}

bool text_processes_hide_records(const struct text_processes *processes, const struct view *view)
{
    const struct report *report = processes->report;

    for (size_t i = 1; i < report->process_count; i++)
        if (!processes->is_full[i] && !processes->is_full[report->processes[i].alike] &&
            !report_omits_process(&report->processes[i], view) &&
            process_has_leaks(&report->processes[i]))
            return true;
    return false;
}

bool text_lists_records(const struct process *process, const struct view *view)
{
    return view->verbose || view->chosen || !process_only_called_exec(process);
}

/* ---- Programs before exec -------------------------------------------------------------------- */

static void write_name(const struct process *process, FILE *stream)
{
    const char *name = process_name(process);

    fputs(term_text(name, strlen(name), 30).text, stream);
}

/* The programs that the first process was before exec: their number, and the most bytes of live
 * blocks that one of them had. */
struct held {
    size_t processes;
    uint64_t bytes;
};

static void add_held(struct held *held, const struct process *process)
{
    uint64_t bytes = process->totals.of[VERDICT_UNFREED].bytes;

    held->processes++;
    held->bytes = bytes > held->bytes ? bytes : held->bytes;
}

static void write_held(const struct held *held, FILE *stream)
{
    if (held->bytes)
        fprintf(stream, "%s%s unfreed; ", held->processes > 1 ? "at most " : "",
                term_count(held->bytes, "byte").text);
    fputs("-v lists them).\n", stream);
}

static bool was_named(const struct text_processes *processes, size_t at)
{
    const struct process *process = processes->report->processes;

    for (size_t i = 1; i < at; i++)
        if (is_before_exec(processes, i) &&
            strcmp(process_name(&process[i]), process_name(&process[at])) == 0)
            return true;
    return false;
}

void text_before_exec(const struct text_processes *processes, FILE *stream)
{
    const struct report *report = processes->report;
    struct held held = {0};
    size_t names = 0;

    for (size_t i = 1; i < report->process_count; i++) {
        if (!is_before_exec(processes, i))
            continue;
        add_held(&held, &report->processes[i]);
        if (was_named(processes, i) || names++ >= PROGRAMS_MOST)
            continue;
        fputs(names == 1 ? "Before exec: " : ", ", stream);
        write_name(&report->processes[i], stream);
    }
    if (!names)
        return;
    fputs(names > PROGRAMS_MOST ? ", ... (" : " (", stream);
    if (held.processes > 1)
        fprintf(stream, "%s, ", term_count(held.processes, "program").text);
    write_held(&held, stream);
}

/* ---- One line for each program --------------------------------------------------------------- */

enum state { STATE_CLEAN, STATE_EXEC, STATE_RUNNING, STATE_FINDINGS, STATE_UNFREED };

/* Processes of one program with an equal result. */
struct line {
    const struct process *process; /* the first process of the line */
    enum state state;
    const char *words; /* what the line says if the state is STATE_CLEAN */
    bool sampled;
    size_t count;
    uint64_t most; /* the most bytes of live blocks that one process of the line had */
    struct totals totals;
};

static enum state state_of(const struct process *process)
{
    if (process_has_findings(process))
        return STATE_FINDINGS;
    if (process_only_called_exec(process))
        return STATE_EXEC;
    if (process->how == END_RUNNING)
        return STATE_RUNNING;
    return process->totals.of[VERDICT_UNFREED].records ? STATE_UNFREED : STATE_CLEAN;
}

static const char *clean_words(const struct process *process)
{
    if (process->crash_only)
        return "no crash (crash=only: blocks were not tracked)";
    if (process->never_enabled)
        return "detection was never enabled";
    if (process->suppressed.records)
        return "no leaks but suppressed ones";
    return text_has_open_resources(process) &&
                   strcmp(text_no_losses(process), "no lost blocks") == 0
               ? "no lost blocks, resources still open"
               : text_no_losses(process);
}

static bool belongs_to_line(const struct line *line, const struct process *process)
{
    return line->state == state_of(process) && line->sampled == (process->sample > 1) &&
           strcmp(process_name(line->process), process_name(process)) == 0 &&
           (line->state != STATE_CLEAN || strcmp(line->words, clean_words(process)) == 0);
}

static void add_to_line(struct line *line, const struct process *process)
{
    struct report one = {.processes = (struct process *)process, .process_count = 1};
    struct totals totals = report_totals(&one);
    uint64_t bytes = totals.of[VERDICT_UNFREED].bytes;

    line->count++;
    line->most = bytes > line->most ? bytes : line->most;
    for (int v = 0; v < VERDICT_MAX; v++)
        verdict_total_add(&line->totals.of[v], &totals.of[v]);
    line->totals.errors = add_saturating(line->totals.errors, totals.errors);
    line->totals.growing = add_saturating(line->totals.growing, totals.growing);
    line->totals.resources = add_saturating(line->totals.resources, totals.resources);
}

/* Writes findings: "3,000 bytes lost, 2 errors". */
static void write_findings(const struct line *line, FILE *stream)
{
    static const enum verdict listed[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                          VERDICT_HIDDEN};
    const char *join = "";

    for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++) {
        const struct verdict_total *total = &line->totals.of[listed[i]];

        if (!total->records)
            continue;
        fprintf(stream, "%s%s %s", join, text_amount(total->bytes, total->blocks).text,
                verdict_words[listed[i]]);
        join = ", ";
    }
    if (line->totals.errors) {
        fprintf(stream, "%s%s", join, term_count(line->totals.errors, "error").text);
        join = ", ";
    }
    if (line->totals.growing)
        fprintf(stream, "%s%s grew", join,
                term_count(line->totals.growing, "allocation site").text);
    else if (!*join)
        fprintf(stream, "%s still open", term_count(line->totals.resources, "resource").text);
}

static void write_live(const struct line *line, const char *state, FILE *stream)
{
    fputs(state, stream);
    if (line->most)
        fprintf(stream, "%s%s unfreed", line->count > 1 ? "at most " : "",
                term_count(line->most, "byte").text);
}

static void write_line(const struct line *line, FILE *stream)
{
    fputs("  ", stream);
    if (line->count > 1) {
        write_name(line->process, stream);
        fprintf(stream, " (%s)", term_count(line->count, "process").text);
    } else {
        text_process_title(line->process, true, stream);
    }
    fputs(": ", stream);
    if (line->state == STATE_FINDINGS)
        write_findings(line, stream);
    else if (line->state == STATE_CLEAN)
        fprintf(stream, "%s%s", line->words, line->sampled ? " among the sampled ones" : "");
    else if (line->state == STATE_UNFREED)
        write_live(line, "", stream);
    else
        write_live(line,
                   line->state == STATE_RUNNING ? line->most ? "running, " : "running"
                   : line->most                 ? "called exec, "
                                                : "called exec",
                   stream);
    fputs(".\n", stream);
}

static void write_lines(const struct line *lines, size_t count, const struct view *view,
                        FILE *stream)
{
    size_t shown = count > LINES_MOST && !shows_all(view) ? LINES_MOST - 1 : count, rest = 0;

    for (size_t i = 0; i < count; i++)
        if (i < shown)
            write_line(&lines[i], stream);
        else
            rest += lines[i].count;
    if (rest)
        fprintf(stream, "  and %s of %s (--top=0 lists them).\n",
                term_count(rest, "more process").text,
                term_count(count - shown, "more program").text);
}

/* Orders lines: the worst state first, then as the processes were started. */
static int compare_lines(const void *left, const void *right)
{
    static const int rank[] = {[STATE_FINDINGS] = 0,
                               [STATE_UNFREED] = 1,
                               [STATE_RUNNING] = 2,
                               [STATE_EXEC] = 3,
                               [STATE_CLEAN] = 3};
    const struct line *a = left, *b = right;

    return COMPARE(rank[a->state], rank[b->state]) ?: COMPARE(a->process, b->process);
}

void text_other_processes(const struct text_processes *processes, const struct view *view,
                          FILE *stream)
{
    const struct report *report = processes->report;
    struct line *lines = array_grow(NULL, &(size_t){0}, report->process_count + 1, sizeof(*lines));
    struct held held = {0};
    size_t count = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        size_t k = 0;

        if (processes->is_full[i] || processes->is_full[process->alike] ||
            is_before_exec(processes, i))
            continue;
        if (report_omits_process(process, view)) {
            add_held(&held, process);
            continue;
        }
        while (k < count && !belongs_to_line(&lines[k], process))
            k++;
        if (k == count)
            lines[count++] = (struct line){.process = process,
                                           .state = state_of(process),
                                           .words = clean_words(process),
                                           .sampled = process->sample > 1};
        add_to_line(&lines[k], process);
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    if (count)
        fputs("Other processes:\n", stream);
    write_lines(lines, count, view, stream);
    if (held.processes) {
        fprintf(stream, "Not listed: %s that called exec (",
                term_count(held.processes, "process").text);
        write_held(&held, stream);
    }
    free(lines);
}
