/* main.c - runs leakgraph, which shows what holds the heap, from a graph file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "graph/heap/graph_reader.h"
#include "graph/cli/options.h"

static int complain_file(const char *path, enum graph_error error)
{
    bool has_reason = error == GRAPH_ERROR_OPEN || error == GRAPH_ERROR_READ;

    return verb_complain(STATUS_UNUSABLE, "%s %s%s%s", term_shell_word(path).text,
                         graph_reader_words(error), has_reason ? ": " : "",
                         has_reason ? strerror(errno) : "");
}

static int run_verb(const struct options *options, const struct verb *verb)
{
    struct heap_graph graph;
    struct graph_names names;
    struct listing listing;
    struct verb_run run = {
        .options = options, .graph = &graph, .names = &names, .listing = &listing};
    enum graph_error error = graph_reader_open(options->file, &graph);
    char *text = NULL;
    size_t length;
    FILE *stream;
    int status;

    if (error)
        return complain_file(options->file, error);
    /* the output goes to memory first: after an error, no half document is written */
    stream = open_memstream(&text, &length);
    if (!stream)
        return verb_complain(STATUS_UNUSABLE, "no memory");
    /* called before --anonymize removes the contents, because the search for types needs the first
     * words of blocks */
    graph_names_begin(&names, &graph, !options->no_types);
    if (options->anonymize)
        heap_graph_anonymize(&graph);
    listing_begin(&listing, stream, options->json, verb->word,
                  options->anonymize ? base_name(options->file) : options->file);
    listing.no_types = options->no_types;
    status = verb->run(&run);
    listing_end(&listing);
    fclose(stream);
    if (status == STATUS_GOOD)
        fwrite(text, 1, length, stdout);
    free(text);
    graph_names_end(&names);
    heap_graph_end(&graph);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    const struct verb *verb;
    int status = STATUS_GOOD;

    if (!options_parse(argc, argv, &options, &verb))
        return STATUS_UNUSABLE;
    if (options.help)
        options_help(stdout);
    else if (options.version)
        puts("leakgraph (libleak) " LEAK_VERSION);
    else
        status = run_verb(&options, verb);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return verb_complain(STATUS_UNUSABLE, "cannot write the output: %s", strerror(errno));
}
