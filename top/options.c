/* options.c - see options.h. */
#include "top/options.h"
#include "common/options/command_line.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 3600.0
#define INTERVAL_METRICS 15
#define TOP_MOST 1000000
#define SERIES_MOST 1000000

static struct command_line line = {.tool = "leaktop", .hint = "leaktop --help lists the options"};

static bool parse_dir(void *options, const struct option_row *row, const char *value)
{
    ((struct options *)options)->dir = value;
    return *value || command_line_complain(&line, "needs a directory", row->name);
}

static bool parse_view(void *options, const struct option_row *row, const char *value)
{
    (void)value;
    ((struct options *)options)->view = strcmp(row->name, "csv") == 0 ? VIEW_CSV : VIEW_JSON;
    return true;
}

/* The help of each option says what values it takes. */
static bool complain_value(const struct option_row *row, const char *value)
{
    fprintf(stderr, "leaktop: --%s=%s: %s\n", row->name, value, row->help);
    return false;
}

static bool parse_interval(void *options, const struct option_row *row, const char *value)
{
    double *interval = &((struct options *)options)->interval;
    char *end;

    *interval = strtod(value, &end);
    return (*value && !*end && *interval >= INTERVAL_LEAST && *interval <= INTERVAL_MOST) ||
           complain_value(row, value);
}

static bool parse_openmetrics(void *options, const struct option_row *row, const char *value)
{
    ((struct options *)options)->view = VIEW_METRICS;
    ((struct options *)options)->file = value;
    return *value || complain_value(row, value);
}

static bool parse_label(void *options, const struct option_row *row, const char *value)
{
    struct metrics_options *metrics = &((struct options *)options)->metrics;

    for (size_t i = 0; i < metrics->labels; i++)
        if (label_same(metrics->label[i], value))
            return complain_value(row, value);
    if (!label_fits(value) || metrics->labels == LABELS_MAX)
        return complain_value(row, value);
    metrics->label[metrics->labels++] = value;
    return true;
}

#define CALL .type = OPTION_TYPE_CALL, .parse
#define FIELD(name) .offset = offsetof(struct options, name)

/* The options of lists, those of metrics, and those of both: three tables in the order of --help. */
static const struct option_row for_all[] = {
    {.name = "interval",
     .value = "S",
     CALL = parse_interval,
     .help = "refresh every S seconds, 0.1 to 3600 (1; metrics 15)"},
    {.name = "once", FIELD(once), .help = "print a table after one interval, and end"},
    {.name = "sort",
     .value = "KEY",
     .type = OPTION_TYPE_WORD,
     .words = order_word,
     FIELD(listing.ordering.order),
     .help = "growth, bytes, blocks, delta, allocs or frees (growth)"},
    {.name = "filter",
     .value = "TEXT",
     .type = OPTION_TYPE_TEXT,
     FIELD(listing.ordering.filter),
     .help = "only sites with it in their function, file or module"},
    {.name = "dir",
     .value = "DIR",
     CALL = parse_dir,
     .help = "where recording files are: the option dir= of the programs"},
    {.name = "help", FIELD(help), .help = "this text"},
    {.name = "version", FIELD(version), .help = "the version"},
    {0}};
static const struct option_row for_lists[] = {
    {.name = "json", CALL = parse_view, .help = "a JSON document on a line for each refresh"},
    {.name = "csv",
     CALL = parse_view,
     .help = "comma-separated values, a line for each site and refresh"},
    {.name = "top",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     .most = TOP_MOST,
     FIELD(listing.top),
     .help = "the first N sites, 0 = all (25; on a screen what fits)"},
    {0}};
static const struct option_row for_metrics[] = {
    {.name = "openmetrics",
     .value = "FILE",
     CALL = parse_openmetrics,
     .help = "all processes as metrics for Prometheus, at each refresh"},
    {.name = "sites",
     .value = "K",
     .type = OPTION_TYPE_NUMBER,
     .most = TOP_MOST,
     FIELD(metrics.sites),
     .help = "of each process the first K sites (10)"},
    {.name = "series",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     .least = METRICS_SERIES_LEAST,
     .most = SERIES_MOST,
     FIELD(metrics.series),
     .help = "never more series in all, 100 or more (5000)"},
    {.name = "label",
     .value = "NAME=VALUE",
     CALL = parse_label,
     .help = "one more label of each series; up to 8"},
    {0}};

static bool is_in(const struct option_row *table, const struct option_row *row)
{
    while (table->name && table != row)
        table++;
    return table->name;
}

/* No option is read and ignored. */
static bool complain_useless(const struct option_row *row, const char *how)
{
    if (row)
        fprintf(stderr, "leaktop: --%s is of no use %s --openmetrics\n", row->name, how);
    return !row;
}

/* What changed is known from the second look on. */
static bool can_sort(const struct options *options)
{
    enum order order = options->listing.ordering.order;

    if (options->view != VIEW_METRICS || !options->once ||
        (order != ORDER_DELTA && order != ORDER_ALLOCS && order != ORDER_FREES))
        return true;
    fprintf(stderr, "leaktop: --sort=%s takes two looks, and --openmetrics --once is one\n",
            order_word[order]);
    return false;
}

/* False: there is something to be said about it. */
static bool has_process(const struct options *options)
{
    if (options->process || options->view == VIEW_METRICS ||
        (options->view == VIEW_SCREEN && !options->once))
        return true;
    fputs("leaktop: of which process? leaktop alone lists them\n", stderr);
    return options->help || options->version;
}

bool options_parse(int argc, char **argv, struct options *options)
{
    const struct option_row *row, *of_lists = NULL, *of_metrics = NULL;
    int operands = 0;
    bool only_operands = false;

    line.tables[0] = for_all;
    line.tables[1] = for_lists;
    line.tables[2] = for_metrics;
    *options = (struct options){.listing = {.top = 25},
                                .metrics = {.sites = METRICS_SITES, .series = METRICS_SERIES}};
    for (int i = 1; i < argc;) {
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
            i++;
            continue;
        }
        if (only_operands || !command_line_is_option(argv[i])) {
            operands++;
            options->process = argv[i++];
            continue;
        }
        if (!(row = command_line_parse(&line, options, argv, &i)))
            return false;
        of_lists = is_in(for_lists, row) ? row : of_lists;
        of_metrics = is_in(for_metrics, row) ? row : of_metrics;
    }
    if (operands > 1) {
        fputs("leaktop: one process at a time: leaktop PID\n", stderr);
        return false;
    }
    if (!(options->file ? complain_useless(of_lists, "with")
                        : complain_useless(of_metrics, "without")) ||
        !can_sort(options) || !has_process(options))
        return false;
    if (!options->interval)
        options->interval = options->view == VIEW_METRICS ? INTERVAL_METRICS : 1;
    if (options->once && options->view == VIEW_SCREEN)
        options->view = VIEW_TABLE;
    options->metrics.ordering = options->listing.ordering;
    return true;
}

void options_help(FILE *stream)
{
    fputs(
        "usage: leaktop [options] [PID|NAME]\n"
        "Shows where the memory of a running process is and what grows, as libleak(7) counts it.\n"
        "Without PID or NAME: lists the processes that run under libleak.\n\n",
        stream);
    command_line_print_table(for_all, 26, stream);
    fputs("\nLists:\n", stream);
    command_line_print_table(for_lists, 26, stream);
    fputs("\nMetrics:\n", stream);
    command_line_print_table(for_metrics, 26, stream);
    fputs("\nKeys on the screen: ? lists them, q ends.\n", stream);
}
