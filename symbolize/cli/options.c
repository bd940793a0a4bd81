/* options.c - defines what each option of leakreport sets; described in options.h and
 * common/options/command_line.h.
 */
#include "symbolize/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/formats/formats.h"
#include "symbolize/profile/profile.h"

static struct command_line line = {.tool = "leakreport",
                                   .hint = "leakreport --help lists the options"};

/* ---- Parsing values of options --------------------------------------------------------------- */

static bool complain_format(const char *text)
{
    const char *names[64] = {0}, *nearest;
    for (size_t i = 0; format_at(i) && i + 1 < sizeof(names) / sizeof(*names); i++)
        names[i] = format_at(i)->name;
    nearest = command_line_nearest(names, text, strlen(text));
    if (!nearest)
        return command_line_complain(&line, "no such format", text);
    fprintf(stderr, "leakreport: no such format: %s; did you mean %s? (%s)\n", text, nearest,
            line.hint);
    return false;
}

static bool parse_format(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;

    (void)row;
    options->format = format_find(text);
    return options->format || complain_format(text);
}

static bool parse_browse(void *to, const struct option_row *row, const char *text)
{
    (void)text;
    ((struct options *)to)->format = format_find(row->name);
    return true;
}

static bool parse_targets(void *to, const struct option_row *row, const char *text)
{
    (void)row;
    return targets_add(&((struct options *)to)->targets, text) ||
           command_line_complain(&line, "--to takes " LEAK_TARGET_WORDS ", not", text);
}

/* The words that --errors-for takes in addition to verdicts. */
static const char *const other_errors[] = {"errors", "growing", "resources"};

/* Sets set[v] for the verdict v that the word names, or, if `more` is not NULL, the flag in `more`
 * that the word names. False: the word is unknown. */
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

static bool complain_verdict(const char *word, size_t length, const struct options *more)
{
    const char *words[VERDICT_MAX + 6] = {0}, *nearest;
    size_t count = 0;

    for (int v = 0; v < VERDICT_MAX; v++)
        words[count++] = verdict_word[v];
    words[count++] = "all";
    words[count++] = "none";
    for (size_t i = 0; more && i < sizeof(other_errors) / sizeof(*other_errors); i++)
        words[count++] = other_errors[i];
    nearest = command_line_nearest(words, word, length);
    fprintf(stderr, "leakreport: no such verdict: %.*s; ", (int)length, word);
    if (nearest)
        fprintf(stderr, "did you mean %s?", nearest);
    for (size_t i = 0; !nearest && i < count; i++)
        fprintf(stderr, "%s%s", i ? ", " : "it is one of ", words[i]);
    fprintf(stderr, " (%s)\n", line.hint);
    return false;
}

static bool parse_set(const char *text, bool set[VERDICT_MAX], struct options *more)
{
    memset(set, 0, VERDICT_MAX * sizeof(*set));
    if (more)
        more->errors_for_errors = more->errors_for_growing = more->errors_for_resources = false;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");

        if (!set_verdict_word(at, length, set, more))
            return complain_verdict(at, length, more);
        if (!at[length])
            return true;
        at += length + 1;
    }
}

static bool parse_show(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;

    (void)row;
    options->show_given = true;
    return parse_set(text, options->view.show, NULL);
}

static bool parse_all(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;

    (void)row, (void)text;
    memset(options->view.show, true, sizeof(options->view.show));
    return true;
}

static bool parse_errors_for(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;

    (void)row;
    return parse_set(text, options->errors_for, options);
}

static const struct {
    const char *word;
    void (*write)(const struct report *, const struct view *, FILE *);
} syntaxes[] = {
    {"lsan", generate_lsan}, {"valgrind", generate_valgrind}, {"libleak", generate_libleak}};

static bool parse_generate(void *to, const struct option_row *row, const char *text)
{
    for (size_t i = 0; i < sizeof(syntaxes) / sizeof(*syntaxes); i++)
        if (strcmp(syntaxes[i].word, text) == 0) {
            ((struct options *)to)->generate = syntaxes[i].write;
            return true;
        }
    fprintf(stderr, "leakreport: --%s takes lsan or valgrind or libleak, not '%s'\n", row->name,
            text);
    return false;
}

static bool parse_address(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;
    uint64_t address;

    if (!command_line_read_address(text, &address)) {
        fprintf(stderr, "leakreport: --%s takes an address in hex digits, not: %s (%s)\n",
                row->name, text, line.hint);
        return false;
    }
    if (strcmp(row->name, "who") == 0) {
        options->view.who = options->build.who.wanted = true;
        options->build.who.address = address;
    } else {
        options->view.freed = options->build.recent.one = true;
        options->view.freed_address = options->build.recent.address = address;
    }
    return true;
}

static bool parse_mark(void *to, const struct option_row *row, const char *text)
{
    *(const char **)((char *)to + row->offset) = text;
    if (*text)
        return true;
    fprintf(stderr, "leakreport: --%s takes the name of a mark, not: '' (%s)\n", row->name,
            line.hint);
    return false;
}

static bool parse_substitute(void *to, const struct option_row *row, const char *text)
{
    (void)row;
    command_line_append(&((struct options *)to)->substitutes, text);
    return (strchr(text, '=') && *text != '=') ||
           command_line_complain(&line, "--substitute-path takes A=B, not", text);
}

static bool parse_descriptors(void *to, const struct option_row *row, const char *text)
{
    struct options *options = to;
    char *end;
    unsigned long read = strtoul(text, &end, 10), write = read;

    (void)row;
    if (*text >= '0' && *text <= '9' && *end == ',' && end[1] >= '0' && end[1] <= '9')
        write = strtoul(end + 1, &end, 10);
    if (*text < '0' || *text > '9' || *end || read > 1u << 20 || write > 1u << 20)
        return command_line_complain(&line, "--serve-fd takes one or two descriptors, not", text);
    options->serve_read = (int)read;
    options->serve_write = (int)write;
    return true;
}

/* ---- The table of options -------------------------------------------------------------------- */

static const char *const sort_words[] = {"retained", "bytes", "count", "age", "growth", NULL};
static const char *const match_words[] = {"caller", "any", NULL};
static const char *const switch_words[] = {"on", "off", "print", "", NULL};
static const char *const json_frames_words[] = {"auto", "inline", "table", NULL};
static const char *const colour_words[] = {"auto", "always", "never", NULL};
static const char *const weight_choices[] = {
#define W(name, word, meaning) word,
    WEIGHT_TABLE(W)
#undef W
        NULL};
static const char *const by_words[] = {
#define K(name, word, head) word,
    BY_TABLE(K)
#undef K
        NULL};

#define AT(field) offsetof(struct options, field)
#define FLAG(field) OPTION_TYPE_FLAG, AT(field), 0, 0, NULL, NULL
#define TEXT(field) OPTION_TYPE_TEXT, AT(field), 0, 0, NULL, NULL
#define LIST(field) OPTION_TYPE_LIST, AT(field), 0, 0, NULL, NULL
#define NUMBER(field, most) OPTION_TYPE_NUMBER, AT(field), 0, most, NULL, NULL
#define WORD(field, words, first) OPTION_TYPE_WORD, AT(field), first, 0, words, NULL
#define CALL(parse) OPTION_TYPE_CALL, 0, 0, 0, NULL, parse
#define CALL_AT(parse, field) OPTION_TYPE_CALL, AT(field), 0, 0, NULL, parse

/* For each row NAME of report_options.def, SETS_NAME says what the option sets. A row without such
 * a macro does not compile. */
#define SETS_FORMAT CALL(parse_format)
#define SETS_BROWSE CALL(parse_browse)
#define SETS_OUTPUT TEXT(output)
#define SETS_TO CALL(parse_targets)
#define SETS_FORCE FLAG(force)
#define SETS_APPEND FLAG(append)
#define SETS_LAST FLAG(last)
#define SETS_TOP NUMBER(view.top, 1u << 30)
#define SETS_SORT WORD(build.group.order, sort_words, 0)
#define SETS_SHOW CALL(parse_show)
#define SETS_ALL CALL(parse_all)
#define SETS_ALL_FRAMES FLAG(view.all_frames)
#define SETS_FULL_NAMES FLAG(view.full_names)
#define SETS_APART FLAG(view.apart)
#define SETS_INHERITED FLAG(build.group.inherited)
#define SETS_SINCE CALL_AT(parse_mark, since.from)
#define SETS_UNTIL CALL_AT(parse_mark, since.until)
#define SETS_REPORTED FLAG(since.known)
#define SETS_SURVIVORS FLAG(survivors)
#define SETS_GROWING FLAG(view.growing)
#define SETS_OWNERS FLAG(view.owners)
#define SETS_BY WORD(view.by, by_words, 1)
#define SETS_WEIGHT WORD(view.weight, weight_choices, 0)
#define SETS_INVERTED FLAG(view.inverted)
#define SETS_HEAP TEXT(view.heap)
#define SETS_NO_PAGER FLAG(no_pager)
#define SETS_BLOCKS FLAG(view.blocks)
#define SETS_CONTENT FLAG(view.content)
#define SETS_ANONYMIZE FLAG(build.anonymous)
#define SETS_ONLY LIST(only)
#define SETS_MODULES TEXT(scope[SCOPE_MODULES])
#define SETS_MATCH WORD(match, match_words, MATCH_CALLER)
#define SETS_FUNCTIONS TEXT(scope[SCOPE_FUNCTIONS])
#define SETS_THREADS TEXT(scope[SCOPE_THREADS])
#define SETS_WRAPPERS TEXT(build.wrappers)
#define SETS_SUPPRESSIONS LIST(suppressions)
#define SETS_DEFAULTS WORD(defaults, switch_words, 0)
#define SETS_GENERATE CALL(parse_generate)
#define SETS_BASELINE TEXT(baseline)
#define SETS_SHOW_SUPPRESSED FLAG(view.suppressed)
#define SETS_FREED CALL(parse_address)
#define SETS_WHO CALL(parse_address)
#define SETS_FOLLOWED LIST(followed)
#define SETS_TO_FOLLOW TEXT(to_follow)
#define SETS_SYSROOT TEXT(sysroot)
#define SETS_DEBUG_DIR LIST(debug_dirs)
#define SETS_SOURCE_PATH LIST(source_dirs)
#define SETS_SUBSTITUTE CALL(parse_substitute)
#define SETS_PERF_MAP TEXT(build.perf_map)
#define SETS_JSON_FRAMES WORD(view.json_frames, json_frames_words, JSON_FRAMES_AUTO)
#define SETS_COLOR WORD(colour, colour_words, 0)
#define SETS_EXITCODE NUMBER(error_exitcode, 255)
#define SETS_ERRORS_FOR CALL(parse_errors_for)
#define SETS_STABLE FLAG(build.stable)
#define SETS_SERVE CALL(parse_descriptors)
#define SETS_TEXT TEXT(text)
#define SETS_AGAIN TEXT(view.again)
#define SETS_QUIET FLAG(view.quiet)
#define SETS_VERBOSE FLAG(view.verbose)
#define SETS_HELP FLAG(help)
#define SETS_VERSION FLAG(version)

static bool list_options(void *options, const struct option_row *row, const char *value);

static const struct option_row option_table[] = {
#define O(id, letter, name, value, help) {letter, name, value, help, SETS_##id},
#include "common/options/report_options.def"
    {.name = COMMAND_LINE_LIST, .type = OPTION_TYPE_CALL, .parse = list_options}, {0}};

/* Lists the words that the value of an option may be, for options whose row has no such list. The
 * caller frees the text. */
static char *list_words(const struct option_row *row)
{
    size_t length;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &length);
    for (size_t i = 0; row->parse == parse_format && format_at(i); i++)
        fprintf(stream, "%s ", format_at(i)->name);
    for (size_t i = 0; row->parse == parse_generate && i < sizeof(syntaxes) / sizeof(*syntaxes);
         i++)
        fprintf(stream, "%s ", syntaxes[i].word);
    if (row->parse == parse_targets) {
#define T(name, word, argument) fputs(word " ", stream);
        LEAK_TARGET_TABLE(T)
#undef T
    }
    if (row->parse == parse_show || row->parse == parse_errors_for)
        for (int v = 0; v < VERDICT_MAX; v++)
            fprintf(stream, "%s ", verdict_word[v]);
    if (row->parse == parse_errors_for)
        fputs("errors growing resources ", stream);
    if (row->parse == parse_show || row->parse == parse_errors_for)
        fputs("all none", stream);
    fclose(stream);
    return text;
}

static bool list_options(void *options, const struct option_row *row, const char *value)
{
    (void)options, (void)value;
    for (row = option_table; row->name; row++) {
        char *words = row->type == OPTION_TYPE_CALL ? list_words(row) : NULL;
        if (row->help)
            command_line_list_row("leakreport", row, words);
        free(words);
    }
    exit(0);
}

void options_help(FILE *stream)
{
    fputs("usage: leakreport [options] FILE...\n"
          "       leakreport --last [options] [NAME|PID]...\n"
          "       leakreport diff [options] OLD NEW\n"
          "       leakreport diff --survivors [options] A B C\n"
          "       leakreport merge [options] FILE...\n"
          "       leakreport tree|peak|temporary|histogram [options] FILE...\n"
          "       leakreport preflight PROGRAM\n"
          "       leakreport log FILE...\n"
          "Reports what the recording files of libleak say about the heap.\n\n",
          stream);
    command_line_print_table(option_table, 30, stream);
    fputs("\nFormats:\n", stream);
    for (size_t i = 0; format_at(i); i++)
        fprintf(stream, "      %-20s  %s\n", format_at(i)->name, format_at(i)->help);
    fputs("\nExit status: 0, what --error-exitcode says, 124 where it finds nothing but something "
          "may be\n"
          "missing, 1 where diff finds something new, or 2 for usage and unreadable input.\n",
          stream);
}

/* ---- Parsing the command line ---------------------------------------------------------------- */

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->view.top = SIZE_MAX;
    options->serve_read = options->serve_write = -1;
    options->view.show[VERDICT_LOST] = options->view.show[VERDICT_POSSIBLE] = true;
    options->view.show[VERDICT_HIDDEN] = options->view.show[VERDICT_UNFREED] = true;
    options->errors_for[VERDICT_LOST] = options->errors_for_errors = true;
}

/* Checks that no option excludes another one that was given. False: one does, and a message says
 * so. */
static bool options_fit(const struct options *options)
{
    const struct format *format = options->format ? options->format : format_at(0);

    if (options->generate && options->format)
        return command_line_complain(
            &line, "--gen-suppressions writes no report, so it goes without", "--format");
    if (options->view.who && format != format_at(0))
        return command_line_complain(&line, "--who writes text, so it goes without", "--format");
    if ((options->view.by && !(format->traits & FORMAT_BY)) ||
        (options->view.blocks && !(format->traits & FORMAT_BLOCKS)))
        return command_line_complain(&line, "--by and --blocks go with text and json, not with",
                                     format->name);
    if (options->view.weight && !(format->traits & FORMAT_WEIGHT))
        return command_line_complain(&line, "--weight goes with folded, tree and pprof, not with",
                                     format->name);
    if (format->write == pprof_write && !pprof_has_weight(options->view.weight))
        return command_line_complain(&line, "--format=pprof has no samples of --weight",
                                     weight_word[options->view.weight]);
    if (options->view.heap && format->write != html_write)
        return command_line_complain(&line, "--heap goes with html, not with", format->name);
    if (options->view.inverted && !(format->traits & FORMAT_TREE))
        return command_line_complain(&line, "--inverted goes with tree and peak, not with",
                                     format->name);
    if (options->generate && (options->view.by || options->view.blocks))
        return command_line_complain(&line, "--gen-suppressions goes without", "--by and --blocks");
    return true;
}

#define TYPES_LISTED 256 /* most records whose types are found, in a report that lists records */
/* most records whose types are found, in a report that sums up or shows all records */
#define TYPES_COUNTED 65536

/* Limits the search for types to the records that the report shows, because it reads the debug
 * information of the program. */
static void choose_types(struct options *options)
{
    const struct view *view = &options->view;
    struct group_options *group = &options->build.group;
    unsigned traits = options->format->traits;

    if (!(traits & FORMAT_TYPES) || (view->by && view->by != BY_TYPE))
        return;
    group->types = view->by || view->blocks || (traits & (FORMAT_ALL | FORMAT_SCREEN))
                       ? TYPES_COUNTED
                       : TYPES_LISTED;
    for (int v = 0; v < VERDICT_MAX; v++)
        group->types_of[v] = view->show[v] || (traits & FORMAT_EVERY);
    group->types_of[VERDICT_INDIRECT] |= view->show[VERDICT_LOST];
    group->types_of[VERDICT_RUNTIME] = false;
    group->owners = view->owners || (traits & FORMAT_EVERY) ? TYPES_LISTED : 1;
    group->fields = view->content && !options->build.anonymous;
}

/* Sets the fields that depend on several options. */
static void derive_options(struct options *options)
{
    if (!options->format)
        options->format = format_at(0);
    if (options->targets.count && options->output)
        targets_add_output(&options->targets, options->output);
    options->view.chosen = options->show_given;
    options->view.no_source = options->build.anonymous;
    options->build.group.blocks = options->view.blocks;
    options->build.content = options->view.content || options->view.verbose ||
                             (options->format->traits & FORMAT_CONTENT) != 0;
    options->build.allocated = (options->format->traits & FORMAT_ALLOCATED) != 0 ||
                               options->view.weight == WEIGHT_ALLOCATED;
    options->build.recent.all = options->view.verbose && (options->format->traits & FORMAT_RECENT);
    if (!options->show_given && (options->format->traits & FORMAT_ALL))
        memset(options->view.show, true, sizeof(options->view.show));
    choose_types(options);
    if (options->view.top == SIZE_MAX)
        options->view.top = options->generate ? 0 : options->format->top;
    options->view.source = (struct source_search){.dirs = options->source_dirs.text,
                                                  .dir_count = options->source_dirs.count,
                                                  .substitutes = options->substitutes.text,
                                                  .substitute_count = options->substitutes.count};
}

bool options_parse(int argc, char **argv, const struct format *format, struct options *options)
{
    bool only_files = false;

    line.tables[0] = option_table;
    set_defaults(options);
    options->format = format;
    for (int i = 1; i < argc;) {
        bool separator = !only_files && strcmp(argv[i], "--") == 0;

        if (!only_files && command_line_is_option(argv[i])) {
            if (!command_line_parse(&line, options, argv, &i))
                return false;
            continue;
        }
        if (!separator)
            command_line_append(&options->files, argv[i]);
        only_files |= separator;
        i++;
    }
    if (!options_fit(options))
        return false;
    derive_options(options);
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
    free(options->followed.text);
    free(options->targets.at);
}
