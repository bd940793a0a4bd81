/* text_report.c - writes the whole text report; described in text.h.
 *
 * Each listed process has a headline, its worst records, its coverage, and the next command.
 * Processes with equal reports are written once. "Unfreed" blocks are never called leaks, and a
 * process that was not tracked is never called clean. Blocks that a lost record owns are shown
 * below that record.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/records/sampling_error.h"

/* ---- The common directory of the sources ----------------------------------------------------- */

/* most records of each process whose paths are searched for the common directory */
#define RECORDS 100
#define LEAST 12 /* a shorter common directory is not named, because that saves little */

struct common {
    char *path; /* the directory without its last '/' */
    size_t places;
    bool near;
};

static void cut_at_slash(char *path, size_t length)
{
    while (length && path[length] != '/')
        length--;
    path[length] = 0;
}

static void add_path(struct common *common, const char *path)
{
    size_t same = 0;

    if (!common->places++) {
        snprintf(common->path, PATH_MAX, "%s", path);
        cut_at_slash(common->path, strlen(common->path));
        return;
    }
    while (common->path[same] && common->path[same] == path[same])
        same++;
    if (common->path[same] || path[same] != '/')
        cut_at_slash(common->path, same);
}

static void add_record_paths(struct common *common, const struct record *record,
                             const struct view *view)
{
    char buffer[PATH_MAX];

    for (size_t i = record->user; i < record->frame_count; i++) {
        const struct frame *frame = record->frames[i];
        const char *path;

        if (frame->role != FRAME_USER || !frame->file)
            continue;
        path = report_display_path(view, frame->file, buffer, sizeof(buffer));
        if (*path == '/')
            add_path(common, path);
        else
            common->near = true;
    }
}

/* Finds the directory of the sources: the longest one with all files of the user frames of the
 * first records. If the report is read outside of that directory, every place would repeat a long
 * path; so the report names the directory once, and paths are relative to it. NULL: the directory
 * is too short to save anything, or some paths are relative already. */
static const char *find_source_root(const struct report *report, const struct view *view,
                                    char buffer[PATH_MAX])
{
    struct common common = {.path = buffer};

    *buffer = 0;
    if (!view->relative || view->full_names || view->verbose)
        return NULL;
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->record_count && k < RECORDS && !common.near; k++)
            if (report_lists_record(&process->records[k], view))
                add_record_paths(&common, &process->records[k], view);
    }
    return !common.near && common.places > 1 && strlen(buffer) >= LEAST ? buffer : NULL;
}

/* ---- Parts of the report of a process -------------------------------------------------------- */

#define AGAIN_COLUMNS 240 /* most columns of a repeated command line, which are three lines */

static void write_warning(const struct process *process, const struct view *view, FILE *stream)
{
    if (!text_saw_nothing(process))
        return;
    text_style(view, stream, STYLE_WARNING);
    fputs("WARNING: 0 allocations seen: libleak saw nothing of this program.\n", stream);
    text_style(view, stream, STYLE_PLAIN);
    fputs("It may be statically linked, or define malloc itself: its heap is unknown.\n", stream);
}

static void write_report_when(const struct process *process, const struct view *view, FILE *stream)
{
    char *when = view->when_told ? text_list_when(process, view) : NULL;

    if (when)
        fprintf(stream, "All these blocks were allocated%s.\n", when);
    free(when);
}

/* ---- Coverage -------------------------------------------------------------------------------- */

/* Writes words, in as many lines as they need. */
static void write_wrapped(const char *words, FILE *stream)
{
    size_t used = 0;

    while (*words) {
        size_t length = strcspn(words, " ");

        if (used && used + 1 + length > TEXT_COLUMNS) {
            fputs("\n ", stream);
            used = 1;
        }
        used += (size_t)fprintf(stream, "%s%.*s", used ? " " : "", (int)length, words);
        words += length;
        words += strspn(words, " ");
    }
    putc('\n', stream);
}

static void write_untracked(const struct untracked *untracked, const char *where, FILE *stream)
{
    char words[2 * TERM_TEXT_MAX];

    snprintf(words, sizeof(words), "Not tracked%s: %s%s %s.", where,
             untracked->estimated ? "~" : "", term_number(untracked->count).text, untracked->words);
    write_wrapped(words, stream);
}

/* Writes the untracked allocations of the processes that are not listed in full, because the line
 * of such a process may say "no unfreed blocks". */
static void write_untracked_elsewhere(const struct text_processes *processes, FILE *stream)
{
    const struct report *report = processes->report;
    struct untracked sums[LEAK_UNTRACKED_MAX] = {{0}};
    size_t count = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->untracked_count && !processes->is_full[i]; k++) {
            size_t at = 0;

            while (at < count && strcmp(sums[at].name, process->untracked[k].name) != 0)
                at++;
            if (at == LEAK_UNTRACKED_MAX)
                continue;
            if (at == count)
                sums[count++] = (struct untracked){.name = process->untracked[k].name,
                                                   .words = process->untracked[k].words};
            sums[at].estimated |= process->untracked[k].estimated;
            sums[at].count = add_saturating(sums[at].count, process->untracked[k].count);
        }
    }
    for (size_t i = 0; i < count; i++)
        write_untracked(&sums[i], " in processes not listed", stream);
}

/* Returns what follows "4,096 bytes still reachable" in a report that does not list them. If the
 * process lost nothing, it says that these blocks are no loss, too. */
static const char *reachable_hint(const struct process *process, const struct view *view)
{
    bool certain = process->look && process->look->last && !text_has_memory_findings(process, view);

    return certain ? ", not lost (--show=reachable lists them)" : " (--show=reachable)";
}

/* Writes a line for each verdict that needs no fix and whose records are not listed. */
static void write_unlisted(const struct process *process, const struct view *view, FILE *stream)
{
    static const enum verdict quiet[] = {VERDICT_REACHABLE, VERDICT_RUNTIME};

    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++) {
        const struct verdict_total *total = &process->totals.of[quiet[i]];

        if (total->records && !view->show[quiet[i]] &&
            (quiet[i] != VERDICT_RUNTIME || view->verbose))
            fprintf(stream, "%s %s%s.\n",
                    estimate_bytes(total->bytes, process->errors[quiet[i]].bytes).text,
                    verdict_words[quiet[i]],
                    quiet[i] == VERDICT_REACHABLE ? reachable_hint(process, view)
                                                  : " (--show=runtime)");
    }
}

/* Explains "possibly lost" if such a record is listed. */
static void write_possible_meaning(const struct process *process, const struct view *view,
                                   FILE *stream)
{
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (record->verdict == VERDICT_POSSIBLE && record->interior_count &&
            text_lists_records(process, view) && text_list_has(process, record, view)) {
            fputs("A possibly lost block is in use if the program keeps such pointers.\n", stream);
            return;
        }
    }
}

/* Says whether process processes->full[nth] is written in few lines: it is the first one, lost
 * nothing, and another process has findings. */
static bool is_short(const struct text_processes *processes, size_t nth, const struct view *view)
{
    const struct process *process = &processes->report->processes[processes->full[nth]];

    return !nth && processes->full_count > 1 && !view->verbose && !view->chosen &&
           !process->crash && !process_has_findings(process) && !text_list_count(process, view) &&
           process_has_findings(&processes->report->processes[processes->full[1]]);
}

/* Says whether a listed record is titled by a module and an offset, because the name of its
 * function is unknown. */
static bool has_nameless_title(const struct process *process, const struct view *view)
{
    for (size_t i = 0; i < process->record_count; i++) {
        const struct frame *title = record_title_frame(&process->records[i]);

        if (title && !title->function && text_lists_records(process, view) &&
            text_list_has(process, &process->records[i], view))
            return true;
    }
    return false;
}

/* Returns the index, in processes->full, of the process below which the report of several processes
 * says how to get debug information: the first one whose records need it to be understood.
 * SIZE_MAX: there is none, so this is said at the end. */
static size_t advised_nth(const struct text_processes *processes, const struct view *view)
{
    for (size_t i = 0; i < processes->full_count; i++)
        if (has_nameless_title(&processes->report->processes[processes->full[i]], view))
            return i;
    return SIZE_MAX;
}

static void write_report_coverage(const struct text_processes *processes, size_t nth,
                                  const struct view *view, FILE *stream)
{
    const struct process *process = &processes->report->processes[processes->full[nth]];

    if (!is_short(processes, nth, view)) {
        write_report_when(process, view, stream);
        text_coverage(process, view, stream);
        text_leak_check(process, view, stream);
        write_possible_meaning(process, view, stream);
        write_unlisted(process, view, stream);
        text_suppressed(process, view, stream);
    }
    for (size_t i = 0; i < process->untracked_count; i++)
        write_untracked(&process->untracked[i], "", stream);
    if (view->verbose)
        text_blind_modules(processes, nth, stream);
    else if (text_processes_alone(processes) || advised_nth(processes, view) == nth)
        text_missing_debuginfo(processes, view, stream);
    for (size_t i = 0; i < process->note_count; i++) {
        const char *note = process->notes[i];

        fprintf(stream, "Note: %s.\n", term_text(note, strlen(note), 0).text);
    }
}

/* Says whether there are frames of libraries or wrappers between the user frames; only --all-frames
 * shows them. */
static bool has_hidden_frames(const struct record *record)
{
    bool hidden = false;

    for (size_t i = record->user + 1; i < record->frame_count; i++) {
        const struct frame *frame = record->frames[i];

        if (frame->role == FRAME_USER && hidden)
            return true;
        hidden |= frame->role != FRAME_USER && frame->function;
    }
    return false;
}

static bool hides_frames(const struct process *process, const struct view *view)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (text_list_has(process, &process->records[i], view) &&
            has_hidden_frames(&process->records[i]))
            return true;
    return false;
}

/* Returns the option that shows more of a process; NULL when the report shows everything, or there
 * is nothing to do. */
static const char *next_option(const struct process *process, const struct view *view)
{
    size_t shown = text_lists_records(process, view) ? text_list_count(process, view) : 0;

    if (!shown && process_has_leaks(process))
        return "--all";
    if (!shown && !process->suppressed.records && !view->verbose &&
        strcmp(text_no_losses(process), "no leaks") == 0)
        return NULL;
    if (!shown && process->totals.of[VERDICT_REACHABLE].records)
        return "--show=reachable";
    if (!shown && process->suppressed.records)
        return "--show-suppressed";
    if (!shown && process->resource_count && !view->verbose)
        return "-v";
    if (!shown)
        return process->totals.of[VERDICT_RUNTIME].records ? "--show=runtime" : NULL;
    if (view->top && shown > view->top)
        return "--top=0";
    if (view->all_frames)
        return "--format=json";
    return hides_frames(process, view) ? "--all-frames" : NULL;
}

static void write_next(const struct process *process, const struct view *view, FILE *stream)
{
    const char *option = next_option(process, view);

    if (option)
        fprintf(stream, "Next: leakreport %s %s\n", option,
                process->store ? term_shell_word(process->store).text : "FILE");
}

/* Says whether the report marks no function to fix for this record. The allocating line alone
 * rarely is the line to fix. A freed owner is no answer, because the owner that is known may be the
 * wrong one: of five such owners, three misled the readers of a test
 * (docs/examples/HISTORIC.md). */
static bool is_unexplained(const struct record *record)
{
    return record->verdict == VERDICT_LOST && !record->suppressed_by &&
           !(record->freed.places && record->freed.place[0].close);
}

/* Returns the number (from 1) of the first entry of lost blocks for which the report does not show
 * what should have freed them; of those behind the last one whose blocks were followed, if the
 * report has what further runs have found. 0: there is none, or following the blocks in another run
 * is useless: this run did not exit, or was sampled. */
static size_t unexplained_entry(const struct report *report, const struct process *process,
                                const struct view *view)
{
    size_t single, count, found = 0;
    const size_t *records;
    bool followed = !report->followed;

    if (process->how != END_EXIT || process->sample > 1)
        return 0;
    for (size_t n = 1; (records = text_list_records(process, view, n, &single, &count)); n++) {
        size_t unexplained = 0, told = 0;

        for (size_t i = 0; i < count; i++) {
            unexplained += is_unexplained(&process->records[records[i]]);
            told += report->followed && process->records[records[i]].when_lost;
        }
        followed |= told > 0;
        if (told)
            found = 0;
        else if (unexplained == count && !found)
            found = n;
    }
    return followed ? found : 0;
}

/* Returns the option that follows the blocks of entry `number`: "--when-lost" for entry 1, else
 * "--when-lost=NUMBER". NULL: number is 0, or several processes are listed, so that the number of a
 * later entry would be ambiguous. */
static const char *follow_option(const struct text_processes *processes, size_t number, char *text,
                                 size_t size)
{
    if (!number || (number > 1 && processes->full_count > 1))
        return NULL;
    snprintf(text, size, number == 1 ? "--when-lost" : "--when-lost=%zu", number);
    return text;
}

/* Returns the option with which another run would show more; NULL: there is none. */
static const char *choose_again(const struct text_processes *processes, const struct view *view,
                                char *follow, size_t size)
{
    const struct report *report = processes->report;
    const char *option = NULL, *when = NULL;

    for (size_t i = 0; i < processes->full_count; i++) {
        const struct process *process = &report->processes[processes->full[i]];
        const char *more = next_option(process, view);

        if (!is_short(processes, i, view) && more && (!option || strcmp(more, "--top=0") == 0))
            option = more;
        if (!when)
            when = follow_option(processes, unexplained_entry(report, process, view), follow, size);
    }
    if (when && (!option || strcmp(option, "--all-frames") == 0))
        return when;
    if (text_processes_hide_records(processes, view) &&
        (!option || strcmp(option, "--show=reachable") == 0))
        return "--top=0";
    return option;
}

/* Writes the command that runs the program again with the option that shows more. In a report that
 * is fitted to a screen it has one line, and only if another run can show what the report lacks: where
 * the blocks were lost. */
static void write_again(const struct text_processes *processes, const struct view *view,
                        FILE *stream)
{
    char follow[32];
    const char *option = choose_again(processes, view, follow, sizeof(follow));
    struct term_text command = term_text(view->again, strlen(view->again), 0);
    size_t most =
        view->no_next ? TEXT_COLUMNS - strlen("Next: leakrun --when-lost ") : AGAIN_COLUMNS;

    if (!option || (view->no_next && strncmp(option, "--when-lost", 11) != 0))
        return;
    if (command.columns > most || strcmp(command.text, view->again) != 0)
        fprintf(stream, "Next: run it again with leakrun %s\n", option);
    else
        fprintf(stream, "Next: leakrun %s %s\n", option, command.text);
}

/* ---- Writing the processes ------------------------------------------------------------------- */

static void write_pids(const struct report *report, size_t alike, FILE *stream)
{
    size_t count = 0;

    for (size_t i = alike + 1; i < report->process_count; i++)
        count += report->processes[i].alike == alike;
    if (!count)
        return;
    fprintf(stream, "Same result in %s:", term_count(count, "more process").text);
    count = 0;
    for (size_t i = alike + 1; i < report->process_count && count < 8; i++)
        if (report->processes[i].alike == alike)
            fprintf(stream, "%s %" PRId32, count++ ? "," : " pid", report->processes[i].pid);
    fputs(count == 8 ? " ...\n" : "\n", stream);
}

static void write_findings(const struct process *process, const struct view *view, FILE *stream)
{
    if (text_lists_records(process, view))
        text_list(process, view, stream);
    else
        putc('\n', stream);
    text_growing(process, view, text_list_has, stream);
    text_held(process, view, stream);
    text_resources(process, view, stream);
    text_threads(process, view, stream);
}

/* Writes the crash and the bad frees. A crash by which the allocator ended the process because of a
 * bad free follows that bad free. */
static void write_crash_and_bad_frees(const struct process *process, const struct view *view,
                                      FILE *stream)
{
    bool answers = process->crash && process->crash->answers;

    if (answers)
        text_bad_frees(process, view, stream);
    text_crash(process, view, stream);
    if (!answers)
        text_bad_frees(process, view, stream);
}

static void write_process_at_detail(const struct text_processes *processes, size_t nth,
                                    const struct view *view, FILE *stream)
{
    const struct report *report = processes->report;
    const struct process *process = &report->processes[processes->full[nth]];
    bool alone = text_processes_alone(processes);

    text_headline(process, !alone, nth ? NULL : report, view, stream);
    write_warning(process, view, stream);
    write_crash_and_bad_frees(process, view, stream);
    if (!is_short(processes, nth, view))
        write_findings(process, view, stream);
    write_report_coverage(processes, nth, view, stream);
    write_pids(report, processes->full[nth], stream);
    if (!processes->full[nth])
        text_before_exec(processes, stream);
    if (view->again && alone)
        write_again(processes, view, stream);
    else if (!view->again && !view->no_next && !is_short(processes, nth, view))
        write_next(process, view, stream);
    if (!alone || view->terse < TEXT_TIGHT)
        putc('\n', stream);
}

/* Says whether the user asked for details. Then the report is not shortened to fit the screen. */
static bool is_detail_requested(const struct view *view)
{
    return view->verbose || view->all_frames || view->suppressed || view->content;
}

static void write_report_process(const struct text_processes *processes, size_t nth,
                                 struct view *view, FILE *stream)
{
    const struct process *process = &processes->report->processes[processes->full[nth]];
    struct text_draft draft = {write_process_at_detail, processes, nth};
    char *when = is_detail_requested(view) ? NULL : text_list_when(process, view);
    struct view told = *view;
    size_t lines = 0;

    told.top = text_processes_top(processes, nth, view);
    told.when_told = when != NULL;
    free(when);
    if (is_detail_requested(view))
        write_process_at_detail(processes, nth, &told, stream);
    else
        lines = text_fit(&draft, text_list_count(process, view) + text_count_causes(process), &told,
                         stream);
    /* A short process and the next one, which has findings, shall fit the screen together. */
    view->written = lines && is_short(processes, nth, view) ? view->written + lines - 1 : 0;
}

/* Writes the summary line of each process that is listed in full. */
static void write_summaries(const struct text_processes *processes, FILE *stream)
{
    for (size_t i = 0; i < processes->full_count; i++)
        text_summary(&processes->report->processes[processes->full[i]], stream);
}

static void write_report(const struct report *report, const struct view *asked, FILE *stream)
{
    struct text_processes processes;
    char buffer[PATH_MAX];
    const char *base = find_source_root(report, asked, buffer);
    struct view based = *asked;
    const struct view *view = &based;

    if (base) {
        based.relative = base;
        based.written = 1;
        fprintf(stream, "Sources below %s:\n", term_text(base, strlen(base), 0).text);
    }

    processes = text_processes_choose(report, view);
    for (size_t i = 0; i < processes.full_count; i++)
        write_report_process(&processes, i, &based, stream);
    if (!view->verbose && !text_processes_alone(&processes) &&
        advised_nth(&processes, view) == SIZE_MAX)
        text_missing_debuginfo(&processes, view, stream);
    text_other_processes(&processes, view, stream);
    write_untracked_elsewhere(&processes, stream);
    text_expired_rules(report, view, stream);
    text_unused_rules(report, view, stream);
    if (view->again && !text_processes_alone(&processes))
        write_again(&processes, view, stream);
    if (!text_processes_alone(&processes))
        write_summaries(&processes, stream);
    text_processes_end(&processes);
}

void text_write(const struct report *report, const struct view *view, FILE *stream)
{
    if (view->quiet)
        ;
    else if (view->freed)
        text_recent_frees(report, view, stream);
    else if (view->who)
        text_address(report, view, stream);
    else if (view->by)
        text_by(report, view, stream);
    else if (view->blocks)
        text_blocks(report, view, stream);
    else if (view->owners)
        text_owners(report, view, stream);
    else
        write_report(report, view, stream);
    text_summary_of_all(report, stream);
}

void text_write_full(const struct report *report, const struct view *view, FILE *stream)
{
    struct view full = *view;

    full.all_frames = full.verbose = full.apart = full.exact = true;
    full.relative = NULL;
    text_write(report, &full, stream);
}
