/* text_headline.c - writes the first and the last lines of a process; described in text.h.
 *
 * The headline has lost blocks first, with the blocks that they own, then possibly lost and unfreed
 * blocks; no reachable blocks, and none that the runtime keeps. It says "no leaks" only if a leak
 * check was made and libleak saw the program allocate.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "symbolize/records/sampling_error.h"

#define NAME_COLUMNS 30  /* most columns of the program's name */
#define TITLE_COLUMNS 12 /* most columns of a process's name in a line with other text */
/* most columns of the name and arguments; the rest of the line has the exit status */
#define COMMAND_COLUMNS 40

static bool has_own_allocator(const struct process *process)
{
    for (size_t i = 0; i < process->untracked_count; i++)
        if (strcmp(process->untracked[i].name, "OWN_ALLOCATOR") == 0)
            return true;
    return false;
}

static bool made_no_allocation(const struct process *process)
{
    return process->allocations == 0 && !process->forked && !process->asked &&
           !process->crash_only && !process->crash;
}

bool text_saw_nothing(const struct process *process)
{
    return made_no_allocation(process) && !process->older_blocks &&
           (has_own_allocator(process) || process->damaged || process->late);
}

/* Returns the name of a signal, like "SIGINT"; for a signal without a name "signal 34", in the
 * buffer. */
static const char *signal_name(int signal, char buffer[24])
{
#define S(name)                                                                                    \
    {                                                                                              \
        name, #name                                                                                \
    }
    static const struct {
        int signal;
        const char *name;
    } names[] = {S(SIGABRT), S(SIGALRM),   S(SIGBUS),  S(SIGFPE),  S(SIGHUP),  S(SIGILL),
                 S(SIGINT),  S(SIGIO),     S(SIGKILL), S(SIGPIPE), S(SIGPROF), S(SIGPWR),
                 S(SIGQUIT), S(SIGSEGV),   S(SIGSYS),  S(SIGTERM), S(SIGTRAP), S(SIGUSR1),
                 S(SIGUSR2), S(SIGVTALRM), S(SIGXCPU), S(SIGXFSZ)};
#undef S

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].signal == signal)
            return names[i].name;
    snprintf(buffer, 24, "signal %d", signal);
    return buffer;
}

static void write_ending(const struct process *process, FILE *stream)
{
    char name[24];

    switch (process->how) {
    case END_EXIT:
        fprintf(stream, "exited with %" PRId32, process->end_value);
        break;
    case END_SIGNAL:
        fprintf(stream, "killed by %s", signal_name(process->end_value, name));
        break;
    case END_EXEC:
        fputs("called exec", stream);
        break;
    case END_RUNNING:
        fputs("is running", stream);
        break;
    case END_LOST:
        fputs("exit not observed", stream);
        break;
    }
}

/* Writes the name of a process, which is argv[0] and may differ from the name of the file. With
 * arguments it distinguishes processes of one program, such as the children of git. */
void text_process_title(const struct process *process, bool arguments, FILE *stream)
{
    char command[1024];
    size_t used = (size_t)snprintf(command, sizeof(command), "%s", process_name(process));

    for (size_t i = 1; arguments && process->pid && i < process->argc && used < sizeof(command);
         i++)
        used += (size_t)snprintf(command + used, sizeof(command) - used, " %s", process->argv[i]);
    fputs(term_text(command, strlen(command), arguments ? COMMAND_COLUMNS : NAME_COLUMNS).text,
          stream);
    if (process->pid)
        fprintf(stream, " (pid %" PRId32 ")", process->pid);
}

void text_process_name(const struct process *process, bool arguments, FILE *stream)
{
    text_process_title(process, arguments, stream);
    putc(' ', stream);
}

size_t text_verdict_total(const struct process *process, enum verdict verdict, FILE *stream)
{
    const struct verdict_total *total = &process->totals.of[verdict];
    const struct error *error = &process->errors[verdict];
    int columns = fprintf(stream, "%s", estimate_bytes(total->bytes, error->bytes).text);

    if (error->bytes)
        columns += fprintf(stream, " %s", estimate_bytes_error(total->bytes, error->bytes).text);
    columns +=
        fprintf(stream, " in %s", estimate_count(total->blocks, error->blocks, "block").text);
    return (size_t)columns;
}

/* Writes "48 bytes in 4 blocks lost (2 records), plus 32 bytes indirectly lost"; with "(3 records,
 * listed as 1)" if the list joins records with one cause. */
static void write_headline_verdict(const struct process *process, enum verdict verdict,
                                   const struct view *view, FILE *stream)
{
    const struct verdict_total *total = &process->totals.of[verdict];
    const struct verdict_total *indirect = &process->totals.of[VERDICT_INDIRECT];
    size_t items = view ? text_list_count_verdict(process, verdict, view) : 0, columns;
    struct term_text more =
        estimate_bytes(indirect->bytes, process->errors[VERDICT_INDIRECT].bytes);

    columns = text_verdict_total(process, verdict, stream);
    columns += (size_t)fprintf(stream, " %s (%s", verdict_words[verdict],
                               term_count(total->records, "record").text);
    if (items && items < total->records)
        columns += (size_t)fprintf(stream, ", listed as %s", term_number(items).text);
    putc(')', stream);
    if (verdict != VERDICT_LOST || !indirect->records)
        return;
    columns += strlen("), plus   ,") + more.columns + strlen(verdict_words[VERDICT_INDIRECT]);
    fprintf(stream, ",%splus %s %s", columns > TEXT_COLUMNS ? "\n" : " ", more.text,
            verdict_words[VERDICT_INDIRECT]);
}

/* Returns what the headline says about a process that lost nothing. "no leaks" is possible only if
 * the last leak check is still valid, and there is nothing else to report. Blocks that were
 * reachable at a leak check before the end may be lost by now. */
const char *text_no_losses(const struct process *process)
{
    const struct leak_check *look = process->look;
    bool reachable = process->totals.of[VERDICT_REACHABLE].records != 0;

    if (made_no_allocation(process) && !process->never_enabled)
        return "no allocations";
    if (reachable && !(look && look->last))
        return "no lost blocks at the last leak check";
    if (!look || !look->made)
        return "no unfreed blocks";
    return process->resource_count || process->totals.growing || process->never_enabled ||
                   text_managed_blocks(process)
               ? "no lost blocks"
               : "no leaks";
}

bool text_has_open_resources(const struct process *process)
{
    for (size_t i = 0; i < process->resource_count && process->how != END_RUNNING; i++)
        if (!process->resources[i].bad_close && strcmp(process->resources[i].type, "thread") != 0)
            return true;
    return false;
}

static bool says_no_losses(const struct process *process)
{
    bool sampled = process->sample > 1 && !text_saw_nothing(process);

    return !text_saw_nothing(process) && (sampled || process->allocations ||
                                          (!process->never_enabled && made_no_allocation(process)));
}

static void write_no_losses(const struct process *process, FILE *stream)
{
    bool sampled = process->sample > 1;
    const struct verdict_total *suppressed = &process->suppressed;
    uint64_t managed = text_managed_blocks(process);
    uint64_t error = process->sample > 1 ? ESTIMATE_ROUGH_ERROR(suppressed->blocks) : 0;

    if (!says_no_losses(process))
        return;
    fprintf(stream, ":\n%s%s", text_no_losses(process), sampled ? " among the sampled ones" : "");
    if (suppressed->records && managed >= suppressed->blocks)
        fprintf(stream, " (%s not judged)", estimate_count(managed, error, "block").text);
    else if (suppressed->records)
        fprintf(stream, " (%s suppressed)",
                estimate_count(suppressed->blocks - managed, error, "block").text);
    else if (!sampled && process->allocations)
        fprintf(stream, " (%s)", term_count(process->allocations, "allocation").text);
    if (text_has_open_resources(process))
        fputs(", resources still open", stream);
}

bool text_losses(const struct process *process, const struct view *view, FILE *stream)
{
    static const enum verdict listed[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                          VERDICT_HIDDEN, VERDICT_UNFREED};
    const char *join = ":";

    for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++) {
        const struct totals *totals = &process->totals;

        if (!totals->of[listed[i]].records ||
            (listed[i] == VERDICT_INDIRECT && totals->of[VERDICT_LOST].records))
            continue;
        fprintf(stream, "%s\n", join);
        write_headline_verdict(process, listed[i], view, stream);
        join = ",";
    }
    return *join == ',';
}

struct term_text text_amount(uint64_t bytes, uint64_t blocks)
{
    return bytes || !blocks ? term_count(bytes, "byte") : term_count(blocks, "empty block");
}

/* What the processes but that of the headline have of the errors that --error-exitcode counts by default. */
struct elsewhere {
    const struct process *process; /* the first other process with such errors */
    size_t processes;
    uint64_t bytes, blocks, records, errors;
};

static struct elsewhere find_elsewhere(const struct process *of_headline,
                                       const struct report *report)
{
    struct elsewhere sum = {0};

    for (size_t i = 0; report && i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        const struct verdict_total *of = process->totals.of;

        if (process == of_headline)
            continue;
        if (!of[VERDICT_LOST].records && !of[VERDICT_INDIRECT].records && !process->totals.errors)
            continue;
        sum.process = sum.process ? sum.process : process;
        sum.processes++;
        sum.bytes = add_saturating(
            sum.bytes, add_saturating(of[VERDICT_LOST].bytes, of[VERDICT_INDIRECT].bytes));
        sum.blocks = add_saturating(
            sum.blocks, add_saturating(of[VERDICT_LOST].blocks, of[VERDICT_INDIRECT].blocks));
        sum.records = add_saturating(sum.records, of[VERDICT_LOST].records);
        sum.records = add_saturating(sum.records, of[VERDICT_INDIRECT].records);
        sum.errors = add_saturating(sum.errors, process->totals.errors);
    }
    return sum;
}

/* Says whether the text about other processes needs a line of its own, because it names a process
 * with a long title. */
static bool is_title_long(const struct process *process, const struct report *report)
{
    struct elsewhere sum = find_elsewhere(process, report);
    const char *name = sum.process ? process_name(sum.process) : "";

    return sum.processes == 1 && term_text(name, strlen(name), 0).columns > TITLE_COLUMNS;
}

/* Writes what other processes lost: "122,998 bytes lost in shelf (pid 43)", "600 bytes lost and 2
 * errors in 3 other processes". */
static void write_elsewhere(const struct process *process, const struct report *report,
                            const char *join, FILE *stream)
{
    struct elsewhere sum = find_elsewhere(process, report);

    if (!sum.processes)
        return;
    fputs(join, stream);
    if (sum.records)
        fprintf(stream, "%s lost%s", text_amount(sum.bytes, sum.blocks).text,
                sum.errors ? " and " : "");
    if (sum.errors)
        fputs(term_count(sum.errors, "error").text, stream);
    fputs(" in ", stream);
    if (sum.processes == 1)
        text_process_title(sum.process, false, stream);
    else
        fputs(term_count(sum.processes, "other process").text, stream);
}

void text_headline(const struct process *process, bool arguments, const struct report *report,
                   const struct view *view, FILE *stream)
{
    bool lost;

    text_style(view, stream, STYLE_BOLD);
    text_process_name(process, arguments, stream);
    write_ending(process, stream);
    lost = text_losses(process, view, stream);
    if (!lost)
        write_no_losses(process, stream);
    text_growing_head(process, lost || process->allocations ? "," : ":", stream);
    write_elsewhere(process, report,
                    lost                                                                 ? ",\n"
                    : !says_no_losses(process)                                           ? ":\n"
                    : is_title_long(process, report) || text_has_open_resources(process) ? ",\nbut "
                                                                                         : ", but ",
                    stream);
    text_style(view, stream, STYLE_PLAIN);
    putc('\n', stream);
}

/* ---- The summary line ------------------------------------------------------------------------ */

static void write_totals(const struct totals *totals, FILE *stream)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        fprintf(stream, " %s=%" PRIu64 "/%" PRIu64 "/%" PRIu64, verdict_word[v],
                totals->of[v].bytes, totals->of[v].blocks, totals->of[v].records);
    fprintf(stream, " growing=%" PRIu64 " errors=%" PRIu64 " resources=%" PRIu64, totals->growing,
            totals->errors, totals->resources);
}

void text_totals(const struct totals *totals, FILE *stream)
{
    write_totals(totals, stream);
    putc('\n', stream);
}

void text_summary(const struct process *process, FILE *stream)
{
    fprintf(stream, "libleak: pid=%" PRId32, process->pid);
    text_totals(&process->totals, stream);
}

/* Counts the processes. A process that called exec has an entry for each program that it was, but
 * counts once. */
static size_t count_processes(const struct report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report->process_count; i++)
        count += !report->processes[i].replaced;
    return count;
}

void text_summary_of_all(const struct report *report, FILE *stream)
{
    struct totals totals = report_totals(report);
    size_t count = count_processes(report);

    fprintf(stream, "libleak: pid=%" PRId32, report->process_count ? report->processes[0].pid : 0);
    write_totals(&totals, stream);
    if (count > 1)
        fprintf(stream, " processes=%zu", count);
    putc('\n', stream);
}
