/* main.c - leakreport: reads stores, says what they tell.
 *
 * options -> reader -> build -> format, and the exit status. Everything that talks to the user
 * about the command itself is here.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/options.h"
#include "symbolize/output.h"
#include "symbolize/preflight.h"
#include "symbolize/reader.h"
#include "symbolize/serve.h"

enum { STATUS_GOOD = 0, STATUS_UNUSABLE = 2 };

static struct binary_search_path search_path(const struct options *options)
{
    return (struct binary_search_path){.sysroot = options->sysroot,
                                       .debug_dirs = options->debug_dirs.text,
                                       .debug_dir_count = options->debug_dirs.count};
}

/* ---- --serve-fd ------------------------------------------------------------------------------ */

static int run_serve(const struct options *options)
{
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    FILE *requests = fdopen(options->serve_read, "r");
    /* A stream of its own: one for both directions would have to be repositioned. */
    FILE *answers = fdopen(options->serve_write == options->serve_read ? dup(options->serve_write)
                                                                       : options->serve_write,
                           "w");
    int status = STATUS_GOOD;

    signal(SIGPIPE, SIG_IGN);
    if (requests && answers) {
        serve(mem, &search, requests, answers);
    } else {
        fprintf(stderr, "leakreport: --serve-fd: %s\n", strerror(errno));
        status = STATUS_UNUSABLE;
    }
    if (answers)
        fclose(answers);
    if (requests)
        fclose(requests);
    mem_end(mem);
    return status;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Reads one store into the report; false when it said on stderr why it cannot. */
static bool add_file(struct mem *mem, struct resolver *resolver, const struct options *options,
                     const char *path, struct report *report)
{
    struct mem *own = mem_begin(); /* the raw account goes as soon as the records are made */
    struct store store;
    struct trouble trouble;
    char words[256];
    bool good = reader_open(own, path, &store, &trouble);

    if (good) {
        build_process(mem, resolver, &store, &options->build,
                      &report->processes[report->process_count++]);
        store_end(&store);
    } else {
        error_words(&trouble, words, sizeof(words));
        fprintf(stderr, "leakreport: %s %s\n", path, words);
    }
    mem_end(own);
    return good;
}

static bool matches(const struct options *options, const struct report *report)
{
    struct totals totals = report_totals(report);
    bool found = (options->errors_for_errors && totals.errors) ||
                 (options->errors_for_growing && totals.growing) ||
                 (options->errors_for_resources && totals.resources);

    for (int v = 0; v < VERDICT_MAX; v++)
        found |= options->errors_for[v] && totals.of[v].records;
    return found;
}

static void fit_stream(struct options *options, FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool terminal = isatty(fileno(stream)) && !(no_colour && *no_colour) &&
                    !(term && strcmp(term, "dumb") == 0);
    bool wanted = options->colour == COLOUR_ALWAYS || (options->colour == COLOUR_AUTO && terminal);

    options->view.colour = options->view.links = wanted;
}

static bool write_report(struct mem *mem, struct options *options, const struct report *report)
{
    FILE *stream = stdout;
    bool nowhere = options->build.stable || options->build.anonymous;
    char *here = nowhere ? NULL : getcwd(NULL, 0);
    bool good;

    if (options->output)
        stream = output_open(mem, options->output,
                             report->process_count ? &report->processes[0] : NULL, options->force);
    if (!options->generate && (options->format->traits & FORMAT_BINARY) && isatty(fileno(stream))) {
        free(here);
        fprintf(stderr, "leakreport: %s is nothing for a terminal: give -o FILE\n",
                options->format->name);
        return false;
    }
    fit_stream(options, stream);
    options->view.relative = here;
    if (options->generate)
        options->generate(report, &options->view, stream);
    else
        options->format->write(report, &options->view, stream);
    free(here);
    good = fflush(stream) == 0 && !ferror(stream);
    if (stream != stdout && stream != stderr)
        good &= fclose(stream) == 0;
    if (!good)
        fprintf(stderr, "leakreport: the report could not be written in full: %s\n",
                strerror(errno));
    return good;
}

static int run_report(struct options *options)
{
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct report report = {0};
    int status = STATUS_GOOD;

    report.processes = mem_take_array(mem, options->files.count, sizeof(struct process));
    for (size_t i = 0; i < options->files.count; i++)
        if (!add_file(mem, resolver, options, options->files.text[i], &report))
            status = STATUS_UNUSABLE;
    if (report.process_count) {
        if (options->error_exitcode && status == STATUS_GOOD && matches(options, &report))
            status = options->error_exitcode;
        build_finish(&report, &options->build);
        if (!write_report(mem, options, &report))
            status = STATUS_UNUSABLE;
    }
    resolve_end(resolver);
    mem_end(mem);
    return status;
}

/* Before anything else: a mistake in a file is said before a program has run for hours. */
static bool read_suppressions(struct options *options)
{
    struct suppressions *suppressions = suppress_begin();
    const char *trouble = NULL;

    options->build.group.suppressions = suppressions;
    for (size_t i = 0; i < options->suppressions.count && !trouble; i++)
        trouble = suppress_add_file(suppressions, options->suppressions.text[i]);
    if (trouble)
        fprintf(stderr, "leakreport: %s\n", trouble);
    return !trouble;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = STATUS_GOOD;

    if (argc > 1 && strcmp(argv[1], "preflight") == 0)
        return preflight_command(argc, argv);
    if (!options_parse(argc, argv, &options) || !read_suppressions(&options)) {
        status = STATUS_UNUSABLE;
    } else if (options.help) {
        options_help(stdout);
    } else if (options.version) {
        puts("leakreport (libleak) " LEAK_VERSION);
    } else if (options.serve_read >= 0) {
        status = run_serve(&options);
    } else if (options.files.count == 0) {
        fputs("leakreport: no store given (leakreport --help lists the options)\n", stderr);
        status = STATUS_UNUSABLE;
    } else {
        status = run_report(&options);
    }
    suppress_end(options.build.group.suppressions);
    options_end(&options);
    return status;
}
