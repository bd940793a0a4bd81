/* command.c - reads recording files and writes the output, for all commands; described in
 * command.h.
 */
#include "symbolize/cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/output/output.h"
#include "common/base/term_text.h"
#include "common/store/reader.h"

struct binary_search_path command_search_path(const struct options *options)
{
    return (struct binary_search_path){.sysroot = options->sysroot,
                                       .debug_dirs = options->debug_dirs.text,
                                       .debug_dir_count = options->debug_dirs.count};
}

bool command_read_store(struct arena *mem, struct resolver *resolver, const struct options *options,
                        const char *path, struct report *report)
{
    /* holds the data of the recording file, and is freed as soon as the records are made */
    struct arena *own = arena_begin();
    struct store store;
    struct read_error trouble;
    char words[1024];
    bool read = reader_open(own, path, &store, &trouble), good = read;

    if (read)
        foreign_file_add_reader(store.owner);
    else
        read_error_text(&trouble, words, sizeof(words));
    if (read && (good = time_window_apply(&store, &options->since, words, sizeof(words))))
        build_process(mem, resolver, &store, &options->build,
                      &report->processes[report->process_count++]);
    if (!good)
        fprintf(stderr, "leakreport: %s %s\n", path, words);
    if (read)
        store_end(&store);
    arena_end(own);
    return good;
}

bool command_has_errors(const struct options *options, const struct totals *totals)
{
    bool found = (options->errors_for_errors && totals->errors) ||
                 (options->errors_for_growing && totals->growing) ||
                 (options->errors_for_resources && totals->resources);

    for (int v = 0; v < VERDICT_MAX; v++)
        found |= options->errors_for[v] && totals->of[v].records;
    return found;
}

/* Says whether --errors-for names a verdict that only a leak check can give. Without a leak check,
 * blocks are "unfreed" or "runtime". */
static bool wants_verdicts(const struct options *options)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if (options->errors_for[v] && v != VERDICT_UNFREED && v != VERDICT_RUNTIME)
            return true;
    return false;
}

bool command_lacks_evidence(const struct options *options, const struct process *process)
{
    const char *gap = process->gap, *exe = process->exe ? base_name(process->exe) : "unknown";

    if (!options->error_exitcode)
        return false;
    if (!gap && wants_verdicts(options))
        gap = process->verdict_gap;
    if (!gap && options->errors_for_resources && process->resources_missed)
        gap = "its recording file had no room for all resources";
    if (gap)
        fprintf(stderr, "leakreport: pid %d (%s): %s: leaks may be missing, so exit status %d\n",
                process->pid, term_text(exe, strlen(exe), 0).text, gap, STATUS_INCOMPLETE);
    return gap;
}

static void set_colours(struct options *options, bool on_terminal)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool terminal =
        on_terminal && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
    bool wanted = options->colour == COLOUR_ALWAYS || (options->colour == COLOUR_AUTO && terminal);

    options->view.colour = options->view.links = wanted;
}

static enum output_mode output_mode_of(const struct options *options)
{
    return options->append ? OUTPUT_APPEND : options->force ? OUTPUT_FORCE : OUTPUT_NEW;
}

/* Starts the pager if the output is a terminal; not for a report that leakrun shows after a
 * program, and not for a format that must not be shown on a terminal. */
static void begin_pager(struct command_output *output, const struct options *options)
{
    bool binary = !options->generate && (options->format->traits & FORMAT_BINARY);
    FILE *stream;

    if (!output->terminal || output->stream != stdout || options->no_pager || options->view.again ||
        binary || options->to_follow)
        return;
    if ((stream = pager_begin(&output->pager)))
        output->stream = stream;
}

#define COLUMNS_LEAST 80 /* the least width of tables and trees */

/* Returns the width of the output. Trees and tables are as wide as the terminal; 0 = the report has
 * 80 columns, whatever the terminal. */
static size_t chosen_columns(const struct options *options, int fd)
{
    size_t columns = output_terminal_columns(fd);
    bool wide = (options->format->traits & FORMAT_VERB) || options->view.by;

    return wide && columns > COLUMNS_LEAST ? columns : 0;
}

void command_begin_output(struct command_output *output, struct arena *mem, struct options *options,
                          const struct process *process)
{
    bool nowhere = options->build.stable || options->build.anonymous || options->view.full_names;

    *output = (struct command_output){.mem = mem, .process = process, .stream = stdout};
    if (options->targets.count) {
        output->stream = open_memstream(&output->text, &output->length);
        if (!output->stream) {
            fputs("leakreport: out of memory\n", stderr);
            exit(STATUS_UNUSABLE);
        }
        output->terminal = targets_on_terminal(&options->targets, false);
        /* All targets receive the same text, so it has colours only if all targets are
         * terminals. */
        set_colours(options, targets_on_terminal(&options->targets, true));
        options->view.rows = targets_rows(&options->targets);
    } else {
        if (options->output)
            output->stream =
                output_open_stream(mem, options->output, process, output_mode_of(options));
        output->terminal = isatty(fileno(output->stream));
        set_colours(options, output->terminal);
        options->view.rows = output_terminal_rows(fileno(output->stream));
        options->view.columns = chosen_columns(options, fileno(output->stream));
        begin_pager(output, options);
    }
    options->view.relative = nowhere ? NULL : getcwd(NULL, 0);
}

static bool deliver_report(struct command_output *output, const struct options *options,
                           bool alarming)
{
    bool good = fclose(output->stream) == 0;
    struct target_report parcel = {.text = output->text,
                                   .length = output->length,
                                   .process = output->process,
                                   .way = output_mode_of(options),
                                   .alarming = alarming};

    if (!output->refused)
        good = targets_deliver(output->mem, &options->targets, &parcel) && good;
    free(output->text);
    return good;
}

/* Finishes the stream. False: writing failed, and a message says so. EPIPE is no error, though
 * SIGPIPE is ignored: the reader closed the pipe because it had read enough. */
static bool finish_stream(FILE *stream)
{
    bool good = fflush(stream) == 0 ? !ferror(stream) : errno == EPIPE;

    if (stream != stdout && stream != stderr)
        good &= fclose(stream) == 0;
    if (!good)
        fprintf(stderr, "leakreport: the report could not be written in full: %s\n",
                strerror(errno));
    return good;
}

bool command_end_output(struct command_output *output, struct options *options, bool alarming)
{
    bool good = options->targets.count ? deliver_report(output, options, alarming)
                                       : finish_stream(output->stream);

    if (output->pager)
        pager_end(output->pager);
    else if (good && options->output && !options->targets.count && isatty(STDERR_FILENO))
        fprintf(stderr, "leakreport: wrote %s\n",
                term_text(options->output, strlen(options->output), 0).text);

    free((char *)options->view.relative);
    options->view.relative = NULL;
    return good;
}
