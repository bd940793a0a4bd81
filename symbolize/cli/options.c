/* options.c - the table of options and the parser over it; see options.h. */
#include "symbolize/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/formats/formats.h"
#include "common/base/arena.h"

enum option {
#define O(id, letter, name, argument, help) OPTION_##id,
#include "common/options/report_options.def"
    OPTION_MAX
};

static const struct {
    char letter;
    const char *name, *argument, *help;
} option_table[] = {
#define O(id, letter, name, argument, help) {letter, name, argument, help},
#include "common/options/report_options.def"
};

void options_help(FILE *stream)
{
    fputs("usage: leakreport [options] FILE...\n"
          "       leakreport --last [options] [NAME|PID]...\n"
          "       leakreport diff [options] OLD NEW\n"
          "       leakreport diff --survivors [options] A B C\n"
          "       leakreport merge [options] FILE...\n"
          "       leakreport preflight PROGRAM\n"
          "       leakreport log FILE...\n"
          "Says what the stores that libleak left tell about the heap.\n\n",
          stream);
    for (int i = 0; i < OPTION_MAX; i++) {
        int width = option_table[i].letter ? fprintf(stream, "  -%c, ", option_table[i].letter)
                                           : fprintf(stream, "      ");

        width +=
            fprintf(stream, "--%s%s%s", option_table[i].name, option_table[i].argument ? "=" : "",
                    option_table[i].argument ? option_table[i].argument : "");
        fprintf(stream, "%*s%s\n", width < 28 ? 28 - width : 2, "", option_table[i].help);
    }
    fputs("\nFormats:\n", stream);
    for (size_t i = 0; format_at(i); i++)
        fprintf(stream, "      %-20s  %s\n", format_at(i)->name, format_at(i)->help);
    fputs(
        "\nExit status: 0, what --error-exitcode says, 1 where diff finds something new, or 2 for\n"
        "usage and unreadable input.\n",
        stream);
}

static bool report_usage_error(const char *what, const char *text)
{
    fprintf(stderr, "leakreport: %s: %s (leakreport --help lists the options)\n", what, text);
    return false;
}

/* ---- Values --------------------------------------------------------------------------------- */

static bool parse_number(const char *name, const char *text, unsigned long limit,
                         unsigned long *value)
{
    char *end;

    *value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || *value > limit) {
        fprintf(stderr, "leakreport: --%s takes a number from 0 to %lu, not '%s'\n", name, limit,
                text);
        return false;
    }
    return true;
}

/* Parses an address as debuggers and %p print it. */
static bool parse_address(const char *text, const char *wrong, uint64_t *value)
{
    const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    size_t length = strspn(digits, "0123456789abcdefABCDEF");

    *value = strtoull(digits, NULL, 16);
    return (length && length <= 16 && !digits[length]) || report_usage_error(wrong, text);
}

void options_add(struct text_list *list, const char *text)
{
    list->text = array_grow(list->text, &list->capacity, list->count + 1, sizeof(*list->text));
    list->text[list->count++] = text;
}

/* Sets the verdict that a word names in `set`, or the flag in `more` if that is not NULL. */
static bool set_verdict_word(const char *word, size_t length, bool set[VERDICT_MAX],
                             struct options *more)
{
    bool all = length == 3 && memcmp(word, "all", 3) == 0;
    bool known = all || (length == 4 && memcmp(word, "none", 4) == 0);

    for (int v = 0; v < VERDICT_MAX; v++)
        if (all ||
            (strlen(verdict_word[v]) == length && memcmp(word, verdict_word[v], length) == 0))
            known = set[v] = true;
    if (more && (all || (length == 6 && memcmp(word, "errors", 6) == 0)))
        known = more->errors_for_errors = true;
    if (more && (all || (length == 7 && memcmp(word, "growing", 7) == 0)))
        known = more->errors_for_growing = true;
    if (more && (all || (length == 9 && memcmp(word, "resources", 9) == 0)))
        known = more->errors_for_resources = true;
    return known;
}

static bool parse_set(const char *text, bool set[VERDICT_MAX], struct options *more)
{
    memset(set, 0, VERDICT_MAX * sizeof(*set));
    if (more)
        more->errors_for_errors = more->errors_for_growing = more->errors_for_resources = false;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");

        if (!set_verdict_word(at, length, set, more))
            return report_usage_error("not a set of verdicts", text);
        if (!at[length])
            return true;
        at += length + 1;
    }
}

static bool parse_descriptors(const char *text, struct options *options)
{
    char *end;
    unsigned long read = strtoul(text, &end, 10), write = read;

    if (*text >= '0' && *text <= '9' && *end == ',' && end[1] >= '0' && end[1] <= '9')
        write = strtoul(end + 1, &end, 10);
    if (*text < '0' || *text > '9' || *end || read > 1u << 20 || write > 1u << 20)
        return report_usage_error("--serve-fd takes a descriptor or two, not", text);
    options->serve_read = (int)read;
    options->serve_write = (int)write;
    return true;
}

/* The index of a word in a NULL-terminated list; -1 and a message if it is not there. */
static int parse_choice(enum option option, const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    fprintf(stderr, "leakreport: --%s takes", option_table[option].name);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, "%s %s", i ? " or" : "", words[i]);
    fprintf(stderr, ", not '%s'\n", text);
    return -1;
}

/* ---- One option ----------------------------------------------------------------------------- */

static bool take_argument(struct options *options, enum option option, const char *text)
{
    static const char *const orders[] = {"retained", "bytes", "count", "age", "growth", NULL};
    static const char *const syntaxes[] = {"lsan", "valgrind", "libleak", NULL};
    static void (*const generators[])(const struct report *, const struct view *, FILE *) = {
        generate_lsan, generate_valgrind, generate_libleak};
    static const char *const matches[] = {"caller", "any", NULL};
    static const char *const keys[] = {
#define K(name, word, head) word,
        BY_TABLE(K)
#undef K
            NULL};
    static const char *const switches[] = {"on", "off", NULL};
    static const char *const colours[] = {"auto", "always", "never", NULL};
    unsigned long value;
    int chosen;

    switch (option) {
    case OPTION_FORMAT:
        options->format_given = true;
        options->format = format_find(text);
        return options->format || report_usage_error("no such format", text);
    case OPTION_OUTPUT:
        options->output = text;
        return true;
    case OPTION_TO:
        return targets_add(&options->targets, text) ||
               report_usage_error("--to takes " LEAK_TARGET_WORDS ", not", text);
    case OPTION_TOP:
        options->top_given = parse_number("top", text, 1u << 30, &value);
        options->view.top = value;
        return options->top_given;
    case OPTION_SORT:
        chosen = parse_choice(option, text, orders);
        options->build.group.order = (enum sort_order)chosen;
        return chosen >= 0;
    case OPTION_SHOW:
        options->show_given = true;
        return parse_set(text, options->view.show, NULL);
    case OPTION_ONLY:
        options_add(&options->only, text);
        return true;
    case OPTION_MODULES:
        options->scope[SCOPE_MODULES] = text;
        return true;
    case OPTION_FUNCTIONS:
        options->scope[SCOPE_FUNCTIONS] = text;
        return true;
    case OPTION_THREADS:
        options->scope[SCOPE_THREADS] = text;
        return true;
    case OPTION_WRAPPERS:
        options->build.wrappers = text;
        return true;
    case OPTION_BY:
        chosen = parse_choice(option, text, keys);
        options->view.by = (enum by_key)(chosen + 1);
        return chosen >= 0;
    case OPTION_MATCH:
        chosen = parse_choice(option, text, matches);
        options->match = chosen == 1 ? MATCH_ANY : MATCH_CALLER;
        return chosen >= 0;
    case OPTION_BASELINE:
        options->baseline = text;
        return true;
    case OPTION_SUPPRESSIONS:
        options_add(&options->suppressions, text);
        return true;
    case OPTION_DEFAULTS:
        chosen = parse_choice(option, text, switches);
        options->no_known = chosen == 1;
        return chosen >= 0;
    case OPTION_GENERATE:
        chosen = parse_choice(option, text, syntaxes);
        options->generate = chosen >= 0 ? generators[chosen] : NULL;
        return chosen >= 0;
    case OPTION_FREED:
        options->view.freed = options->build.recent.one = true;
        return parse_address(text, "--freed takes an address in hex digits, not",
                             &options->view.freed_address);
    case OPTION_WHO:
        options->view.who = options->build.who.wanted = true;
        return parse_address(text, "--who takes an address in hex digits, not",
                             &options->build.who.address);
    case OPTION_SINCE:
        options->since.from = text;
        return *text || report_usage_error("--since takes the name of a mark, not", "''");
    case OPTION_UNTIL:
        options->since.until = text;
        return *text || report_usage_error("--until takes the name of a mark, not", "''");
    case OPTION_SYSROOT:
        options->sysroot = text;
        return true;
    case OPTION_DEBUG_DIR:
        options_add(&options->debug_dirs, text);
        return true;
    case OPTION_SOURCE_PATH:
        options_add(&options->source_dirs, text);
        return true;
    case OPTION_PERF_MAP:
        options->build.perf_map = text;
        return true;
    case OPTION_TEXT:
        options->text = text;
        return true;
    case OPTION_AGAIN:
        options->view.again = text;
        return true;
    case OPTION_SUBSTITUTE:
        options_add(&options->substitutes, text);
        return (strchr(text, '=') && *text != '=') ||
               report_usage_error("--substitute-path takes A=B, not", text);
    case OPTION_COLOR:
        chosen = parse_choice(option, text, colours);
        options->colour = chosen == 1 ? COLOUR_ALWAYS : chosen == 2 ? COLOUR_NEVER : COLOUR_AUTO;
        return chosen >= 0;
    case OPTION_EXITCODE:
        if (!parse_number("error-exitcode", text, 255, &value))
            return false;
        options->error_exitcode = (int)value;
        return true;
    case OPTION_ERRORS_FOR:
        return parse_set(text, options->errors_for, options);
    case OPTION_SERVE:
        return parse_descriptors(text, options);
    default:
        return false;
    }
}

static void take_switch(struct options *options, enum option option)
{
    switch (option) {
    case OPTION_FORCE:
        options->force = true;
        break;
    case OPTION_APPEND:
        options->append = true;
        break;
    case OPTION_LAST:
        options->last = true;
        break;
    case OPTION_ALL:
        memset(options->view.show, true, sizeof(options->view.show));
        break;
    case OPTION_ALL_FRAMES:
        options->view.all_frames = true;
        break;
    case OPTION_FULL_NAMES:
        options->view.full_names = true;
        break;
    case OPTION_INHERITED:
        options->build.group.inherited = true;
        break;
    case OPTION_REPORTED:
        options->since.known = true;
        break;
    case OPTION_SHOW_SUPPRESSED:
        options->view.suppressed = true;
        break;
    case OPTION_APART:
        options->view.apart = true;
        break;
    case OPTION_SURVIVORS:
        options->survivors = true;
        break;
    case OPTION_GROWING:
        options->view.growing = true;
        break;
    case OPTION_OWNERS:
        options->view.owners = true;
        break;
    case OPTION_BLOCKS:
        options->view.blocks = options->build.group.blocks = true;
        break;
    case OPTION_CONTENT:
        options->view.content = options->build.content = true;
        break;
    case OPTION_ANONYMIZE:
        options->build.anonymous = options->view.no_source = true;
        break;
    case OPTION_STABLE:
        options->build.stable = true;
        break;
    case OPTION_QUIET:
        options->view.quiet = true;
        break;
    case OPTION_VERBOSE:
        options->view.verbose = true;
        break;
    case OPTION_HELP:
        options->help = true;
        break;
    case OPTION_VERSION:
        options->version = true;
        break;
    default:
        break;
    }
}

/* ---- The command line ----------------------------------------------------------------------- */

static enum option find_long(const char *text, size_t length)
{
    for (int i = 0; i < OPTION_MAX; i++)
        if (strlen(option_table[i].name) == length &&
            memcmp(option_table[i].name, text, length) == 0)
            return (enum option)i;
    return OPTION_MAX;
}

static enum option find_letter(char letter)
{
    for (int i = 0; i < OPTION_MAX; i++)
        if (option_table[i].letter == letter && letter)
            return (enum option)i;
    return OPTION_MAX;
}

/* "--name", "--name=value", "--name value"; advances *i over a separate value. */
static bool take_long(struct options *options, int argc, char **argv, int *i)
{
    const char *text = argv[*i] + 2;
    size_t length = strcspn(text, "=");
    enum option option = find_long(text, length);
    const char *value = text[length] ? text + length + 1 : NULL;

    if (option == OPTION_MAX)
        return report_usage_error("no such option", argv[*i]);
    if (!option_table[option].argument) {
        if (value)
            return report_usage_error("takes no value", argv[*i]);
        take_switch(options, option);
        return true;
    }
    if (!value && *i + 1 == argc)
        return report_usage_error("needs a value", argv[*i]);
    return take_argument(options, option, value ? value : argv[++*i]);
}

/* "-q", "-qv", "-oFILE", "-o FILE" */
static bool take_letters(struct options *options, int argc, char **argv, int *i)
{
    for (const char *at = argv[*i] + 1; *at; at++) {
        enum option option = find_letter(*at);

        if (option == OPTION_MAX)
            return report_usage_error("no such option", argv[*i]);
        if (!option_table[option].argument) {
            take_switch(options, option);
            continue;
        }
        if (at[1])
            return take_argument(options, option, at + 1);
        if (*i + 1 == argc)
            return report_usage_error("needs a value", argv[*i]);
        return take_argument(options, option, argv[++*i]);
    }
    return true;
}

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->format = format_at(0);
    options->serve_read = options->serve_write = -1;
    options->view.show[VERDICT_LOST] = options->view.show[VERDICT_POSSIBLE] = true;
    options->view.show[VERDICT_HIDDEN] = options->view.show[VERDICT_UNFREED] = true;
    options->errors_for[VERDICT_LOST] = options->errors_for_errors = true;
}

bool options_parse(int argc, char **argv, struct options *options)
{
    bool only_files = false;

    set_defaults(options);
    for (int i = 1; i < argc; i++) {
        if (only_files || argv[i][0] != '-' || !argv[i][1])
            options_add(&options->files, argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (argv[i][1] == '-' ? !take_long(options, argc, argv, &i)
                                   : !take_letters(options, argc, argv, &i))
            return false;
    }
    if (options->generate && options->format_given)
        return report_usage_error("--gen-suppressions writes no report, so it goes without",
                                  "--format");
    if (options->view.who && options->format != format_at(0))
        return report_usage_error("--who writes text, so it goes without", "--format");
    if ((options->view.by && !(options->format->traits & FORMAT_BY)) ||
        (options->view.blocks && !(options->format->traits & FORMAT_BLOCKS)))
        return report_usage_error("--by and --blocks go with text and json, not with",
                                  options->format->name);
    if (options->generate && (options->view.by || options->view.blocks))
        return report_usage_error("--gen-suppressions goes without", "--by and --blocks");
    if (options->targets.count && options->output)
        targets_add_output(&options->targets, options->output);
    options->build.recent.address = options->view.freed_address;
    options->build.content |=
        options->view.verbose || (options->format->traits & FORMAT_CONTENT) != 0;
    options->build.allocated = (options->format->traits & FORMAT_ALLOCATED) != 0;
    options->build.recent.all = options->view.verbose && (options->format->traits & FORMAT_RECENT);
    if (!options->show_given && (options->format->traits & FORMAT_ALL))
        memset(options->view.show, true, sizeof(options->view.show));
    if (!options->top_given)
        options->view.top = options->generate ? 0 : options->format->top;
    options->view.source = (struct source_search){.dirs = options->source_dirs.text,
                                                  .dir_count = options->source_dirs.count,
                                                  .substitutes = options->substitutes.text,
                                                  .substitute_count = options->substitutes.count};
    return true;
}

void options_end(struct options *options)
{
    free(options->files.text);
    free(options->debug_dirs.text);
    free(options->source_dirs.text);
    free(options->substitutes.text);
    free(options->suppressions.text);
    free(options->only.text);
    free(options->targets.at);
}
