/* options.c - parses the command line of leaktop; described in options.h. */
#include "top/options.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 3600.0
#define INTERVAL_METRICS 15
#define INTERVAL_PAGE 5
#define TOP_MOST 1000000
#define SERIES_MOST 1000000

static struct command_line line = {.tool = "leaktop", .hint = "leaktop --help lists the options"};

static bool parse_dir(void *options, const struct option_row *row, const char *value)
{
    ((struct options *)options)->dir = value;
    return *value || command_line_complain(&line, "needs a directory", row->name);
}

static bool parse_format(void *options, const struct option_row *row, const char *value)
{
    (void)value;
    ((struct options *)options)->view = strcmp(row->name, "csv") == 0 ? VIEW_CSV : VIEW_JSON;
    return true;
}

/* Prints an error about the value of an option, with the option's help, which names the allowed
 * values. Always returns false. */
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
        if (label_has_same_name(metrics->label[i], value))
            return complain_value(row, value);
    if (!label_is_valid(value) || metrics->labels == LABELS_MAX)
        return complain_value(row, value);
    metrics->label[metrics->labels++] = value;
    return true;
}

#define FIELD(field) .offset = offsetof(struct options, field)
#define FLAG(word, field, text) .name = word, FIELD(field), .help = text
#define CALL(word, given, function, text)                                                          \
    .name = word, .value = given, .type = OPTION_TYPE_CALL, .parse = function, .help = text
#define NUMBER(word, given, field, from, to, text)                                                 \
    .name = word, .value = given, .type = OPTION_TYPE_NUMBER, FIELD(field), .least = from,         \
    .most = to, .help = text

static bool list_options(void *options, const struct option_row *row, const char *value);

/* The options for all formats, those for lists, and those for metrics, in the order of --help. */
static const struct option_row for_all[] = {
    {CALL("interval", "S", parse_interval,
          "refresh every S seconds, 0.1 to 3600 (1; metrics 15, live page 5)")},
    {FLAG("once", once, "print a table after one interval, and exit")},
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
     .help = "only sites with TEXT in their function, file or module"},
    {CALL("dir", "DIR", parse_dir, "where recording files are: option dir= of the programs")},
    {CALL(COMMAND_LINE_LIST, NULL, list_options, NULL)},
    {FLAG("help", help, "this text")},
    {FLAG("version", version, "the version")},
    {0}};
static const struct option_row for_lists[] = {
    {CALL("json", NULL, parse_format, "a JSON document on a line for each refresh")},
    {CALL("csv", NULL, parse_format, "comma-separated values, a line for each site and refresh")},
    {NUMBER("top", "N", listing.top, 0, TOP_MOST,
            "the first N sites, 0 = all (25; the screen shows what fits)")},
    {0}};
static const struct option_row for_metrics[] = {
    {CALL("openmetrics", "FILE", parse_openmetrics,
          "write all processes as Prometheus metrics at each refresh")},
    {NUMBER("sites", "K", metrics.sites, 0, TOP_MOST, "the first K sites of each process (10)")},
    {NUMBER("series", "N", metrics.series, METRICS_SERIES_LEAST, SERIES_MOST,
            "at most N series in all, 100 or more (5000)")},
    {CALL("label", "NAME=VALUE", parse_label, "add a label to each series; up to 8")},
    {0}};
static const struct option_row for_page[] = {
    {.name = "listen",
     .value = "WHERE",
     .type = OPTION_TYPE_OPTIONAL,
     FIELD(listen),
     .help = "serve pages, metrics and profiles by HTTP: ADDRESS:PORT, a path, or a Unix socket of "
             "yours (default)"},
    {.name = "token-file",
     .value = "FILE",
     .type = OPTION_TYPE_TEXT,
     FIELD(token_file),
     .help = "answer only requests with the token in FILE, but those of every user"},
    {.name = "host",
     .value = "NAME",
     .type = OPTION_TYPE_LIST,
     FIELD(hosts),
     .help = "also answer requests to this name of the machine (repeatable)"},
    {FLAG("allow-actions", allow_actions, "let pages request leak checks and set marks")},
    {0}};

static bool list_options(void *options, const struct option_row *row, const char *value)
{
    (void)options, (void)row, (void)value;
    command_line_list_table("leaktop", for_all);
    command_line_list_table("leaktop", for_lists);
    command_line_list_table("leaktop", for_metrics);
    command_line_list_table("leaktop", for_page);
    exit(0);
}

static bool is_row_of(const struct option_row *table, const struct option_row *row)
{
    while (table->name && table != row)
        table++;
    return table->name;
}

/* For each table of options, the last option that was given. */
struct options_given {
    const struct option_row *lists, *metrics, *page;
};

/* Prints an error about `row`, the option that was given although it has no effect; NULL = there is
 * none. Returns true for NULL. */
static bool complain_unused(const struct option_row *row, const char *how, const char *option)
{
    if (row)
        fprintf(stderr, "leaktop: --%s has no effect %s %s\n", row->name, how, option);
    return !row;
}

static bool options_agree(const struct options *options, const struct options_given *given)
{
    static const struct option_row once = {.name = "once"};

    switch (options->view) {
    case VIEW_PAGE:
        return complain_unused(options->file ? &for_metrics[0] : NULL, "with", "--listen") &&
               complain_unused(given->lists, "with", "--listen") &&
               complain_unused(options->once ? &once : NULL, "with", "--listen");
    case VIEW_METRICS:
        return complain_unused(given->lists, "with", "--openmetrics") &&
               complain_unused(given->page, "without", "--listen");
    default:
        return complain_unused(given->metrics, "without", "--openmetrics") &&
               complain_unused(given->page, "without", "--listen");
    }
}

/* Checks that the sort key is known: keys for changes between two snapshots are unknown in the
 * first snapshot, the only one of --openmetrics --once. False: it is unknown, and a message says
 * so. */
static bool has_sort_data(const struct options *options)
{
    enum order order = options->listing.ordering.order;

    if (options->view != VIEW_METRICS || !options->once ||
        (order != ORDER_DELTA && order != ORDER_ALLOCS && order != ORDER_FREES))
        return true;
    fprintf(stderr, "leaktop: --sort=%s needs two snapshots, and --openmetrics --once takes one\n",
            order_word[order]);
    return false;
}

/* Checks that a process is named if the format needs one; --help and --version need none. False: a
 * message asks for it. */
static bool names_process(const struct options *options)
{
    if (options->process || options->view == VIEW_METRICS || options->view == VIEW_PAGE ||
        options->view == VIEW_SCREEN)
        return true;
    fputs("leaktop: --json and --csv are about one process: name it; leaktop lists them\n", stderr);
    return options->help || options->version;
}

bool options_parse(int argc, char **argv, struct options *options)
{
    struct options_given given = {0};
    const struct option_row *row;
    int operands = 0;
    bool only_operands = false;

    line.tables[0] = for_all;
    line.tables[1] = for_lists;
    line.tables[2] = for_metrics;
    line.tables[3] = for_page;
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
        given.lists = is_row_of(for_lists, row) ? row : given.lists;
        given.metrics = is_row_of(for_metrics, row) ? row : given.metrics;
        given.page = is_row_of(for_page, row) ? row : given.page;
    }
    if (operands > 1) {
        fputs("leaktop: give one process only: leaktop PID\n", stderr);
        return false;
    }
    if (options->listen) /* --listen has precedence over options for other formats */
        options->view = VIEW_PAGE;
    if (!options_agree(options, &given) || !has_sort_data(options) || !names_process(options))
        return false;
    if (!options->interval)
        options->interval = options->view == VIEW_METRICS ? INTERVAL_METRICS
                            : options->view == VIEW_PAGE  ? INTERVAL_PAGE
                                                          : 1;
    if (options->once && options->view == VIEW_SCREEN)
        options->view = VIEW_TABLE;
    options->metrics.ordering = options->listing.ordering;
    return true;
}

void options_help(FILE *stream)
{
    fputs("usage: leaktop [options] [PID|NAME]\n"
          "Shows which call stacks of a running process hold heap memory, and which grow.\n"
          "Without PID or NAME: shows all running processes that use libleak.\n\n",
          stream);
    command_line_print_table(for_all, 26, stream);
    fputs("\nLists:\n", stream);
    command_line_print_table(for_lists, 26, stream);
    fputs("\nMetrics:\n", stream);
    command_line_print_table(for_metrics, 26, stream);
    fputs("\nLive page:\n", stream);
    command_line_print_table(for_page, 26, stream);
    fputs("\nKeys on the screen: ? lists them, q quits.\n", stream);
}
