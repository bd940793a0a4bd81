/* options.c - see options.h. */
#include "top/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 3600.0
#define TOP_MOST 1000000

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

static bool set_top(struct options *options, const char *value)
{
    char *end;
    long top = strtol(value, &end, 10);

    options->listing.top = (size_t)top;
    return *value && !*end && top >= 0 && top <= TOP_MOST;
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

static const struct {
    const char *name, *value; /* value NULL = it has none */
    bool (*set)(struct options *options, const char *value);
    const char *help;
} table[] = {
    {"interval", "S", set_interval, "look every S seconds, 0.1 to 3600 (1)"},
    {"once", NULL, set_once, "print a table after one interval, and end"},
    {"json", NULL, set_json, "a JSON document on a line for each look"},
    {"csv", NULL, set_csv, "comma-separated values, a line for each site and look"},
    {"sort", "KEY", set_sort, "growth, bytes, blocks, delta, allocs or frees (growth)"},
    {"filter", "TEXT", set_filter, "only sites with it in their function, file or module"},
    {"top", "N", set_top, "the first N sites, 0 = all (25; on a screen what fits)"},
    {"dir", "DIR", set_dir, "where stores are: the option dir= of the programs"},
    {"help", NULL, set_help, "this text"},
    {"version", NULL, set_version, "the version"},
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static bool parse_one(int found, const char *value, struct options *options)
{
    if (found < 0 || found >= (int)OPTIONS)
        return false; /* getopt_long said why */
    if (table[found].set(options, value))
        return true;
    fprintf(stderr, "leaktop: --%s=%s: %s\n", table[found].name, value, table[found].help);
    return false;
}

bool options_parse(int argc, char **argv, struct options *options)
{
    struct option long_options[OPTIONS + 1] = {0};
    int found;

    *options = (struct options){.interval = 1, .listing = {.top = 25}};
    for (size_t i = 0; i < OPTIONS; i++)
        long_options[i] = (struct option){
            table[i].name, table[i].value ? required_argument : no_argument, NULL, (int)i};
    argv[0] = (char *)"leaktop";
    while ((found = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!parse_one(found == '?' ? -1 : found, optarg, options))
            return false;
    if (optind + 1 < argc) {
        fputs("leaktop: one process at a time: leaktop PID\n", stderr);
        return false;
    }
    options->process = argv[optind];
    if (!options->process && (options->view != VIEW_SCREEN || options->once)) {
        fputs("leaktop: of which process? leaktop alone lists them\n", stderr);
        return options->help || options->version;
    }
    if (options->once && options->view == VIEW_SCREEN)
        options->view = VIEW_TABLE;
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

        fprintf(stream, "%*s%s\n", 20 - width, "", table[i].help);
    }
    fputs("\nKeys on the screen: ? lists them, q ends.\n", stream);
}
