/* run.c - see run.h. */
#include "symbolize/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/output.h"
#include "symbolize/reader.h"

struct binary_search_path run_search_path(const struct options *options)
{
    return (struct binary_search_path){.sysroot = options->sysroot,
                                       .debug_dirs = options->debug_dirs.text,
                                       .debug_dir_count = options->debug_dirs.count};
}

bool run_add_file(struct mem *mem, struct resolver *resolver, const struct options *options,
                  const char *path, struct report *report)
{
    struct mem *own = mem_begin(); /* the raw account goes as soon as the records are made */
    struct store store;
    struct trouble trouble;
    char words[1024];
    bool read = reader_open(own, path, &store, &trouble), good = read;

    if (!read)
        error_words(&trouble, words, sizeof(words));
    else if ((good = since_apply(&store, &options->since, words, sizeof(words))))
        build_process(mem, resolver, &store, &options->build,
                      &report->processes[report->process_count++]);
    if (!good)
        fprintf(stderr, "leakreport: %s %s\n", path, words);
    if (read)
        store_end(&store);
    mem_end(own);
    return good;
}

bool run_matches(const struct options *options, const struct totals *totals)
{
    bool found = (options->errors_for_errors && totals->errors) ||
                 (options->errors_for_growing && totals->growing) ||
                 (options->errors_for_resources && totals->resources);

    for (int v = 0; v < VERDICT_MAX; v++)
        found |= options->errors_for[v] && totals->of[v].records;
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

FILE *run_begin_output(struct mem *mem, struct options *options, const struct process *process)
{
    FILE *stream = stdout;
    bool nowhere = options->build.stable || options->build.anonymous || options->view.full_names;

    if (options->output)
        stream = output_open(mem, options->output, process,
                             options->append  ? OUTPUT_APPEND
                             : options->force ? OUTPUT_FORCE
                                              : OUTPUT_NEW);
    fit_stream(options, stream);
    options->view.relative = nowhere ? NULL : getcwd(NULL, 0);
    return stream;
}

bool run_end_output(struct options *options, FILE *stream)
{
    bool good = fflush(stream) == 0 && !ferror(stream);

    if (stream != stdout && stream != stderr)
        good &= fclose(stream) == 0;
    if (!good)
        fprintf(stderr, "leakreport: the report could not be written in full: %s\n",
                strerror(errno));
    free((char *)options->view.relative);
    options->view.relative = NULL;
    return good;
}
