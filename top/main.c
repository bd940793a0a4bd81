/* main.c - leaktop: shows the heap of running processes from their recording files.
 *
 * options -> processes -> snapshots -> table, JSON, CSV, metrics or the screen. This file also has
 * the messages about the command line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/processes/process_list.h"
#include "common/base/term_text.h"
#include "top/fleet.h"
#include "top/options.h"
#include "top/screen.h"

enum { STATUS_GOOD = 0, STATUS_UNUSABLE = 2 };

/* ---- Finding the process --------------------------------------------------------------------- */

static void print_processes(const struct process_list *finds, FILE *stream)
{
    uint64_t now = time_now_ns();
    char span[TIME_TEXT_SIZE];

    fprintf(stream, "%7s %12s  %s\n", "PID", "RUNS FOR", "PROGRAM");
    for (size_t i = 0; i < finds->count; i++) {
        const struct listed_process *found = &finds->at[i];
        uint64_t ran = now > found->started_ns ? now - found->started_ns : 0;

        fprintf(stream, "%7d %12s  %s\n", (int)found->pid, time_format_span(ran, span),
                term_text(found->name, strlen(found->name), 0).text);
    }
}

/* Explains why no process is found: all recording files are of a newer libleak. True: this is the
 * reason, and a message says so. */
static bool explain_newer(const struct process_list *finds)
{
    if (finds->count || !finds->newer)
        return false;
    fprintf(stderr, "leaktop: %s here %s of a newer libleak: use leaktop of that libleak\n",
            term_count(finds->newer, "recording").text, finds->newer == 1 ? "is" : "are");
    return true;
}

/* Says whether a process was found. False: none was, and a message says so. */
static bool has_processes(const struct process_list *finds)
{
    if (finds->count)
        return true;
    if (!explain_newer(finds))
        fputs("leaktop: no running process uses libleak; start one with leakrun, or name its "
              "directory with --dir=DIR\n",
              stderr);
    return false;
}

/* Says whether exactly one process was found. False: a message has the reason. */
static bool is_unique(const struct process_list *finds, const char *word)
{
    if (finds->count == 1)
        return true;
    if (explain_newer(finds))
        return false;
    if (!finds->count) {
        fprintf(
            stderr,
            "leaktop: no running process that uses libleak is %s; leaktop without arguments lists "
            "them\n",
            term_text(word, strlen(word), 0).text);
        return false;
    }
    fprintf(stderr, "leaktop: %s are called %s: give a PID\n",
            term_count(finds->count, "process").text, term_text(word, strlen(word), 0).text);
    print_processes(finds, stderr);
    return false;
}

static size_t terminal_columns(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- Writing snapshots without a screen ------------------------------------------------------ */

static void wait_until(struct timespec *next, double seconds)
{
    next->tv_sec += (time_t)seconds;
    next->tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (next->tv_nsec >= 1000000000) {
        next->tv_sec++;
        next->tv_nsec -= 1000000000;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
        ;
}

static bool write_snapshot(const struct heap_snapshot *snapshot, const struct options *options)
{
    if (options->view == VIEW_JSON)
        listing_write_json(snapshot, &options->listing, stdout);
    else if (options->view == VIEW_CSV)
        listing_write_csv(snapshot, &options->listing, stdout);
    else
        listing_write_table(snapshot, &options->listing, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "leaktop: cannot write the output: %s\n", strerror(errno));
    return false;
}

/* Writes a snapshot at each interval until the process ends; with --once only the second, because
 * the first one has no changes. Returns the exit status. */
static int write_snapshots(const char *path, const struct options *options)
{
    struct snapshot_reader reader = snapshot_reader_begin(path, NULL);
    struct timespec next;
    struct read_error trouble;
    int status = STATUS_GOOD;
    bool ended = false;

    clock_gettime(CLOCK_MONOTONIC, &next);
    if (options->view == VIEW_CSV)
        listing_write_csv_header(stdout);
    for (unsigned taken = 1; !ended; taken++) {
        struct heap_snapshot *snapshot = heap_snapshot_take(&reader, &trouble);

        if (!snapshot && taken == 1) {
            char words[256];

            read_error_text(&trouble, words, sizeof(words));
            fprintf(stderr, "leaktop: %s %s\n", path, words);
            status = STATUS_UNUSABLE;
        }
        ended = !snapshot || snapshot->how != END_RUNNING;
        if (snapshot && (!options->once || taken == 2 || ended)) {
            if (!write_snapshot(snapshot, options))
                status = STATUS_UNUSABLE;
            ended |= options->once || status != STATUS_GOOD;
        }
        heap_snapshot_free(snapshot);
        if (!ended)
            wait_until(&next, options->interval);
    }
    snapshot_reader_end(&reader);
    return status;
}

/* ---- Writing all processes as a table -------------------------------------------------------- */

/* Writes the table of all processes once, after this number of updates. With at least two updates,
 * an interval apart, the rates are known. */
static int write_fleet(const char *dir, int updates, double interval)
{
    struct fleet fleet = {0};
    struct fleet_rows *rows;
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < updates; i++) {
        struct process_list finds;

        if (i)
            wait_until(&next, interval);
        finds = process_list_running(dir);
        fleet_update(&fleet, &finds);
        process_list_end(&finds);
    }
    rows = fleet_rows_make(&fleet);
    listing_write_fleet(rows, terminal_columns(STDOUT_FILENO), stdout);
    fleet_rows_free(rows);
    fleet_end(&fleet);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STATUS_GOOD;
    fprintf(stderr, "leaktop: cannot write the output: %s\n", strerror(errno));
    return STATUS_UNUSABLE;
}

static int show_fleet(const char *dir, const struct options *options)
{
    bool screen = options->view == VIEW_SCREEN && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);

    if (!screen)
        return write_fleet(dir, options->once ? 2 : 1, options->interval);
    return fleet_screen_run(dir, options->interval, &options->listing) ? STATUS_GOOD
                                                                       : STATUS_UNUSABLE;
}

/* ---- Writing all processes as metrics -------------------------------------------------------- */

static bool write_metrics(const struct fleet *fleet, const struct options *options)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    bool good = stream != NULL;

    if (good) {
        metrics_write(fleet, &options->metrics, stream);
        good = fclose(stream) == 0 && textfile_replace(options->file, text, length);
    }
    if (!good)
        fprintf(stderr, "leaktop: cannot write %s: %s\n", term_shell_word(options->file).text,
                strerror(errno));
    free(text);
    return good;
}

/* Writes the metrics at each interval until a signal ends leaktop; also if no process runs. Returns
 * the exit status. */
static int run_metrics(const char *dir, const struct options *options)
{
    struct fleet fleet = {0};
    struct timespec next;
    bool good;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        struct process_list finds = process_list_running(dir);

        if (options->process)
            process_list_select(&finds, options->process);
        fleet_update(&fleet, &finds);
        process_list_end(&finds);
        good = write_metrics(&fleet, options);
        if (!good || options->once)
            break;
        wait_until(&next, options->interval);
    }
    fleet_end(&fleet);
    return good ? STATUS_GOOD : STATUS_UNUSABLE;
}

/* ---- Serving the live page ------------------------------------------------------------------- */

/* Executes leakserve in place of leaktop; leakserve takes the same options. */
static int run_page(char **argv)
{
    char *path = proc_find_tool(NULL, "leakserve");

    if (!path)
        path = proc_find_tool(NULL, LEAK_PARTS "/leakserve");
    if (path)
        execv(path, argv);
    fprintf(stderr, "leaktop: leakserve, which serves the pages: %s\n",
            path ? strerror(errno) : "it is not installed");
    free(path);
    return STATUS_UNUSABLE;
}

/* ---- Running the command --------------------------------------------------------------------- */

static int run_command(struct options *options)
{
    char *dir = process_list_directory(options->dir);
    struct process_list finds;
    int status = STATUS_UNUSABLE;

    if (options->view == VIEW_METRICS) {
        status = run_metrics(dir, options);
        free(dir);
        return status;
    }
    finds = process_list_running(dir);
    if (!options->process) {
        if (has_processes(&finds))
            status = show_fleet(dir, options);
    } else {
        process_list_select(&finds, options->process);
        if (is_unique(&finds, options->process)) {
            /* Without a terminal, the table is written once, as with --once. */
            if (options->view == VIEW_SCREEN && (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))) {
                options->view = VIEW_TABLE;
                options->once = true;
            }
            options->listing.columns = terminal_columns(STDOUT_FILENO);
            if (options->view == VIEW_SCREEN)
                status = screen_run(finds.at[0].path, options->interval, &options->listing)
                             ? STATUS_GOOD
                             : STATUS_UNUSABLE;
            else
                status = write_snapshots(finds.at[0].path, options);
        }
    }
    process_list_end(&finds);
    free(dir);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;

    if (!options_parse(argc, argv, &options))
        return STATUS_UNUSABLE;
    if (options.help)
        options_help(stdout);
    else if (options.version)
        puts("leaktop " LEAK_VERSION);
    else if (options.view == VIEW_PAGE)
        return run_page(argv);
    else
        return run_command(&options);
    return fflush(stdout) == 0 ? STATUS_GOOD : STATUS_UNUSABLE;
}
