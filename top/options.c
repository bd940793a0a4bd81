/* options.c - see options.h. */
#include "top/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 3600.0
#define INTERVAL_METRICS 15
#define TOP_MOST 1000000
#define SERIES_MOST 1000000

static bool set_dir(struct options *options, const char *value)
{
    options->dir = value;
    return *value != 0;
}

static bool set_once(struct options *options, const char *value)
{
    (void)value;
    options->once = true;
    return true;
}

static bool set_json(struct options *options, const char *value)
{
    (void)value;
    options->view = VIEW_JSON;
    return true;
}

static bool set_csv(struct options *options, const char *value)
{
    (void)value;
    options->view = VIEW_CSV;
    return true;
}

static bool set_interval(struct options *options, const char *value)
{
    char *end;

    options->interval = strtod(value, &end);
    return *value && !*end && options->interval >= INTERVAL_LEAST &&
           options->interval <= INTERVAL_MOST;
}

static bool read_number(const char *value, long least, long most, size_t *number)
{
    char *end;
    long read = strtol(value, &end, 10);

    *number = (size_t)read;
    return *value && !*end && read >= least && read <= most;
}

static bool set_top(struct options *options, const char *value)
{
    return read_number(value, 0, TOP_MOST, &options->listing.top);
}

static bool set_openmetrics(struct options *options, const char *value)
{
    options->view = VIEW_METRICS;
    options->file = value;
    return *value != 0;
}

static bool set_sites(struct options *options, const char *value)
{
    return read_number(value, 0, TOP_MOST, &options->metrics.sites);
}

static bool set_series(struct options *options, const char *value)
{
    return read_number(value, METRICS_SERIES_LEAST, SERIES_MOST, &options->metrics.series);
}

static bool set_label(struct options *options, const char *value)
{
    struct metrics_options *metrics = &options->metrics;

    for (size_t i = 0; i < metrics->labels; i++)
        if (label_same(metrics->label[i], value))
            return false;
    if (!label_fits(value) || metrics->labels == LABELS_MAX)
        return false;
    metrics->label[metrics->labels++] = value;
    return true;
}

static bool set_sort(struct options *options, const char *value)
{
    for (int i = 0; i < ORDER_MAX; i++)
        if (strcmp(value, order_word[i]) == 0) {
            options->listing.ordering.order = (enum order)i;
            return true;
        }
    return false;
}

static bool set_filter(struct options *options, const char *value)
{
    options->listing.ordering.filter = value;
    return true;
}

static bool set_help(struct options *options, const char *value)
{
    (void)value;
    return options->help = true;
}

static bool set_version(struct options *options, const char *value)
{
    (void)value;
    return options->version = true;
}

/* Which views an option says something about. */
enum views { FOR_ALL, FOR_LISTS, FOR_METRICS };

static const struct {
    const char *name, *value; /* value NULL = it has none */
    bool (*set)(struct options *options, const char *value);
    enum views views;
    const char *help;
} table[] = {
    {"interval", "S", set_interval, FOR_ALL, "look every S seconds, 0.1 to 3600 (1; metrics 15)"},
    {"once", NULL, set_once, FOR_ALL, "print a table after one interval, and end"},
    {"json", NULL, set_json, FOR_LISTS, "a JSON document on a line for each look"},
    {"csv", NULL, set_csv, FOR_LISTS, "comma-separated values, a line for each site and look"},
    {"sort", "KEY", set_sort, FOR_ALL, "growth, bytes, blocks, delta, allocs or frees (growth)"},
    {"filter", "TEXT", set_filter, FOR_ALL, "only sites with it in their function, file or module"},
    {"top", "N", set_top, FOR_LISTS, "the first N sites, 0 = all (25; on a screen what fits)"},
    {"openmetrics", "FILE", set_openmetrics, FOR_METRICS,
     "all processes as metrics for Prometheus, at each look"},
    {"sites", "K", set_sites, FOR_METRICS, "of each process the first K sites (10)"},
    {"series", "N", set_series, FOR_METRICS, "never more series in all, 100 or more (5000)"},
    {"label", "NAME=VALUE", set_label, FOR_METRICS, "one more label of each series; up to 8"},
    {"dir", "DIR", set_dir, FOR_ALL, "where stores are: the option dir= of the programs"},
    {"help", NULL, set_help, FOR_ALL, "this text"},
    {"version", NULL, set_version, FOR_ALL, "the version"},
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static bool parse_one(int found, const char *value, struct options *options, bool *given)
{
    if (found < 0 || found >= (int)OPTIONS)
        return false; /* getopt_long said why */
    given[found] = true;
    if (table[found].set(options, value))
        return true;
    fprintf(stderr, "leaktop: --%s=%s: %s\n", table[found].name, value, table[found].help);
    return false;
}

/* No option is read and ignored. */
static bool fit_together(const struct options *options, const bool *given)
{
    enum views wrong = options->file ? FOR_LISTS : FOR_METRICS;

    for (size_t i = 0; i < OPTIONS; i++)
        if (given[i] && table[i].views == wrong) {
            fprintf(stderr, "leaktop: --%s is of no use %s --openmetrics\n", table[i].name,
                    options->file ? "with" : "without");
            return false;
        }
    return true;
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
    struct option long_options[OPTIONS + 1] = {0};
    bool given[OPTIONS] = {false};
    int found;

    *options = (struct options){.listing = {.top = 25},
                                .metrics = {.sites = METRICS_SITES, .series = METRICS_SERIES}};
    for (size_t i = 0; i < OPTIONS; i++)
        long_options[i] = (struct option){
            table[i].name, table[i].value ? required_argument : no_argument, NULL, (int)i};
    argv[0] = (char *)"leaktop";
    while ((found = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!parse_one(found == '?' ? -1 : found, optarg, options, given))
            return false;
    if (optind + 1 < argc) {
        fputs("leaktop: one process at a time: leaktop PID\n", stderr);
        return false;
    }
    options->process = argv[optind];
    if (!fit_together(options, given) || !can_sort(options) || !has_process(options))
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
    fputs("usage: leaktop [options] [PID|NAME]\n"
          "Shows where the memory of a running process is and what becomes more, as libleak(7) "
          "counts it.\n"
          "Without PID or NAME: lists the processes that run under libleak.\n\n",
          stream);
    for (size_t i = 0; i < OPTIONS; i++) {
        int width = fprintf(stream, "  --%s%s%s", table[i].name, table[i].value ? "=" : "",
                            table[i].value ? table[i].value : "");

        fprintf(stream, "%*s%s\n", 22 - width, "", table[i].help);
    }
    fputs("\nKeys on the screen: ? lists them, q ends.\n", stream);
}
