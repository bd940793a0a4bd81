#include "preload/options/options.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/options/option_file.h"
#include "preload/options/vld_options.h"

#include <sys/stat.h>

enum type {
    TYPE_BOOL,
    TYPE_SIZE,
    TYPE_NUMBER,
    TYPE_TIME,
    TYPE_SHARE,
    TYPE_TEXT,
#define CHOICE(name, ...) TYPE_CHOICE_##name,
#include "leak_options.def"
};

#define WORDS_MAX 4
static const char *const choice_words[][WORDS_MAX + 1] = {
#define CHOICE(name, ...) [TYPE_CHOICE_##name] = {__VA_ARGS__, NULL},
#include "leak_options.def"
};

static const struct {
    const char *name, *value, *help;
    enum type type;
    size_t offset;
} table[] = {
#define OPTION(name, type, value, help)                                                            \
    {#name, value, help, TYPE_##type, offsetof(struct options, name)},
#include "leak_options.def"
};

static const char *const source_names[] = {
    [SOURCE_BUILT_IN] = "built-in",       [SOURCE_SYSTEM] = "/etc/libleak.conf",
    [SOURCE_USER] = "user configuration", [SOURCE_VLD] = "./vld.ini",
    [SOURCE_DIRECTORY] = "./.libleakrc",  [SOURCE_PROGRAM] = "__lsan_default_options",
    [SOURCE_LSAN] = "LSAN_OPTIONS",       [SOURCE_ENVIRONMENT] = "LIBLEAK_OPTIONS",
    [SOURCE_CALL] = "libleak_set_option",
};

static const bool changeable[OPTION_MAX] = {
#define RUNNING(name) [OPTION_##name] = true,
#include "leak_options.def"
};

struct options options_current;
static bool help_wanted;
static char unsupported[SOURCE_MAX][256];
static options_foreign_parser *foreign_parser;

bool options_help_wanted(void)
{
    return help_wanted;
}

const char *options_unsupported(enum option_source source)
{
    return unsupported[source];
}

const char *options_source_name(enum option_source source)
{
    return source_names[source];
}

void options_set_foreign_parser(options_foreign_parser *parser)
{
    foreign_parser = parser;
}

static bool read_choice(enum type type, const char *value, size_t length, unsigned *out)
{
    for (unsigned i = 0; choice_words[type][i]; i++)
        if (equals_word(value, length, choice_words[type][i])) {
            *out = i;
            return true;
        }
    return false;
}

static bool set_option(struct options *options, size_t index, const char *value, size_t length)
{
    void *field = (char *)options + table[index].offset;
    switch (table[index].type) {
    case TYPE_BOOL:
        return parse_bool(value, length, field);
    case TYPE_SIZE:
        return parse_size(value, length, field);
    case TYPE_NUMBER:
        return parse_number(value, length, field);
    case TYPE_TIME:
        return parse_time(value, length, field);
    case TYPE_SHARE:
        length -= length && value[length - 1] == '%';
        return parse_number(value, length, field) && *(uint64_t *)field <= 100;
    case TYPE_TEXT:
        if (length >= OPTION_TEXT_MAX)
            return false;
        memcpy(field, value, length);
        ((char *)field)[length] = '\0';
        return true;
    default:
        return read_choice(table[index].type, value, length, field);
    }
}

void options_defaults(struct options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        set_option(options, i, table[i].value, strlen(table[i].value));
}

static bool read_fill(const char *word, size_t length, int *out)
{
    uint64_t byte = 0;
    bool off = equals_word(word, length, "off"), clears = equals_word(word, length, "auto");
    if (!off && !clears && (!parse_number(word, length, &byte) || byte > UINT8_MAX))
        return false;
    *out = off ? FILL_OFF : clears ? FILL_AUTO : (int)byte;
    return true;
}

bool options_get_fill(const struct options *options, struct fill_bytes *out)
{
    const char *comma = strchr(options->fill, ',');
    size_t length = comma ? (size_t)(comma - options->fill) : strlen(options->fill);
    out->freed = FILL_OFF;
    if (!read_fill(options->fill, length, &out->fresh))
        return false;
    return !comma ||
           (read_fill(comma + 1, strlen(comma + 1), &out->freed) && out->freed != FILL_AUTO);
}

/* Says whether all values are in their ranges. */
static bool is_sensible(const struct options *options)
{
    struct fill_bytes fill;
    return options_get_fill(options, &fill) && options->depth >= 1 && options->depth <= 1024 &&
           options->sample <= OPTION_SAMPLE_MOST &&
           options->snapshot_signal >= OPTION_SIGNAL_LEAST &&
           options->snapshot_signal <= OPTION_SIGNAL_MOST;
}

/* Returns the index of an option in the table, or OPTION_MAX. */
static size_t find_option(const char *name, size_t length)
{
    size_t i = 0;
    while (i < OPTION_MAX && !equals_word(name, length, table[i].name))
        i++;
    return i;
}

/* Changes one option. Returns false, and changes nothing, when the value is not valid. */
static bool change_option(struct options *options, size_t index, const char *value, size_t length,
                          enum option_source source)
{
    struct options before = *options;
    if (set_option(options, index, value, length) && is_sensible(options)) {
        options->source[index] = source;
        return true;
    }
    *options = before;
    return false;
}

struct parsing {
    enum option_source source;
    options_complain *complain;
    struct vld_source vld;
    struct strbuf unsupported;
};

/* Handles an option name of another tool. item: "name=value", for messages. Returns false when no
 * tool has such an option. */
static bool parse_foreign_item(struct options *options, struct parsing *parsing, const char *item,
                               const char *name, size_t name_length, const char *value,
                               size_t value_length)
{
    char lines[4 * OPTION_TEXT_MAX];
    struct strbuf out = STRBUF_ON(lines);
    bool valid;
    if (!vld_options_translate_item(&parsing->vld, name, name_length, value, value_length, &out))
        return foreign_parser && foreign_parser(name, name_length, value, value_length,
                                                parsing->source, parsing->complain);
    valid = !out.cut;
    for (const char *line = lines, *end; valid && (end = strchr(line, '\n')); line = end + 1) {
        const char *equals = strchr(line, '=');
        valid = change_option(options, find_option(line, equals - line), equals + 1,
                              end - equals - 1, parsing->source);
    }
    if (!valid)
        parsing->complain("bad value in", item, source_names[parsing->source]);
    return true;
}

static void parse_item(struct options *options, const char *item, size_t length,
                       struct parsing *parsing)
{
    enum option_source source = parsing->source;
    options_complain *complain = parsing->complain;
    char copy[80];
    struct strbuf for_message = STRBUF_ON(copy);
    strbuf_add_bytes(&for_message, item, length);
    const char *equals = memchr(item, '=', length);
    size_t name_length = equals ? (size_t)(equals - item) : length;
    const char *value = equals ? equals + 1 : "";
    size_t value_length = equals ? length - name_length - 1 : 0;
    if (value_length >= 2 && value[0] == '\'' && value[value_length - 1] == '\'') {
        value++;
        value_length -= 2;
    }
    if (equals_word(item, name_length, "help")) {
        bool wanted = true;
        if (equals && !parse_bool(value, value_length, &wanted))
            complain("bad value in", copy, source_names[source]);
        else
            help_wanted = wanted;
        return;
    }
    size_t index = find_option(item, name_length);
    if (index == OPTION_MAX && equals &&
        parse_foreign_item(options, parsing, copy, item, name_length, value, value_length))
        return;
    if (index == OPTION_MAX)
        complain("unknown option", copy, source_names[source]);
    else if (!equals || !change_option(options, index, value, value_length, source))
        complain("bad value in", copy, source_names[source]);
}

bool options_change(struct options *options, const char *name, const char *value)
{
    size_t index = find_option(name, strlen(name));
    return index < OPTION_MAX && changeable[index] &&
           change_option(options, index, value, strlen(value), SOURCE_CALL);
}

void options_parse(struct options *options, const char *string, size_t length, bool lines,
                   enum option_source source, options_complain *complain)
{
    const char *end = string + length;
    struct parsing parsing = {.source = source, .complain = complain};
    parsing.unsupported = STRBUF_ON(unsupported[source]);
    parsing.vld.unsupported = &parsing.unsupported;
    while (string < end) {
        bool quoted = false;
        const char *stop = string;
        for (; stop < end && (quoted || *stop != (lines ? '\n' : ':')); stop++)
            quoted ^= *stop == '\'' && !lines;
        const char *last = stop;
        while (last > string && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r'))
            last--;
        while (string < last && (*string == ' ' || *string == '\t'))
            string++;
        bool comment = lines && string < last && *string == '#';
        if (last > string && !comment)
            parse_item(options, string, last - string, &parsing);
        string = stop + 1;
    }
}

const char *options_getenv(char **envp, const char *name)
{
    size_t length = strlen(name);
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    return NULL;
}

#define FILE_SIZE 16384

static struct options_file files[SOURCE_MAX];

const struct options_file *options_get_file(enum option_source source)
{
    return *files[source].path ? &files[source] : NULL;
}

/* Returns the user who is trusted like root for files in /etc: the owner of /etc, which in a user
 * namespace need not be 0. */
static unsigned read_system_owner(void)
{
    struct stat folder;
    return sys_lstat("/etc", &folder) == 0 ? folder.st_uid : 0;
}

/* Reads a configuration file. Returns the length of its complete lines; 0 or less: there is no
 * file, or it is not trusted. */
static ssize_t read_config(const char *path, char buffer[FILE_SIZE], enum option_source source,
                           options_complain *complain)
{
    struct options_file *file = &files[source];
    struct strbuf kept = STRBUF_ON(file->path);
    unsigned root = source == SOURCE_SYSTEM ? read_system_owner() : 0;
    ssize_t length = option_file_read(path, buffer, FILE_SIZE, root, &file->refusal);
    if (length >= 0 || file->refusal)
        strbuf_add(&kept, path);
    if (length == FILE_SIZE - 1) {
        while (length && buffer[length - 1] != '\n')
            length--;
        complain("too long: the end of", path, source_names[source]);
    }
    return length;
}

static void load_vld(struct options *options, options_complain *complain)
{
    char buffer[FILE_SIZE], lines[2048], remaining[sizeof *unsupported];
    struct strbuf out = STRBUF_ON(lines), foreign = STRBUF_ON(remaining);
    ssize_t length = read_config(VLD_FILE, buffer, SOURCE_VLD, complain);
    if (length <= 0)
        return;
    vld_options_translate(buffer, length, &out, &foreign);
    options_parse(options, lines, out.length, true, SOURCE_VLD, complain);
    memcpy(unsupported[SOURCE_VLD], remaining, foreign.length + 1);
}

static void load_file(struct options *options, const char *path, enum option_source source,
                      options_complain *complain)
{
    char buffer[FILE_SIZE];
    ssize_t length = read_config(path, buffer, source, complain);
    if (length > 0)
        options_parse(options, buffer, length, true, source, complain);
}

static void load_user_file(struct options *options, char **envp, options_complain *complain)
{
    char buffer[512];
    struct strbuf path = STRBUF_ON(buffer);
    const char *base = options_getenv(envp, "XDG_CONFIG_HOME");
    if (base && *base) {
        strbuf_add(&path, base);
    } else if ((base = options_getenv(envp, "HOME")) && *base) {
        strbuf_add_all(&path, base, "/.config", NULL);
    } else {
        return;
    }
    strbuf_add(&path, "/libleak/config");
    if (!path.cut)
        load_file(options, buffer, SOURCE_USER, complain);
}

void options_load(struct options *options, char **envp, options_complain *complain)
{
    options_defaults(options);
    load_file(options, "/etc/libleak.conf", SOURCE_SYSTEM, complain);
    if (!envp)
        return;
    load_user_file(options, envp, complain);
    load_vld(options, complain);
    load_file(options, "./.libleakrc", SOURCE_DIRECTORY, complain);
    const char *given = options_getenv(envp, "LIBLEAK_OPTIONS");
    if (given)
        options_parse(options, given, strlen(given), false, SOURCE_ENVIRONMENT, complain);
    const char *dir = options_getenv(envp, "LIBLEAK_DIR");
    if (dir && set_option(options, OPTION_dir, dir, strlen(dir)))
        options->source[OPTION_dir] = SOURCE_ENVIRONMENT;
}

static void add_value(const struct options *options, size_t index, struct strbuf *out)
{
    const void *field = (const char *)options + table[index].offset;
    switch (table[index].type) {
    case TYPE_BOOL:
        strbuf_add(out, *(const bool *)field ? "on" : "off");
        break;
    case TYPE_SIZE:
    case TYPE_NUMBER:
        strbuf_add_number(out, *(const uint64_t *)field);
        break;
    case TYPE_TIME:
        strbuf_add_time(out, *(const uint64_t *)field);
        break;
    case TYPE_SHARE:
        strbuf_add_number(out, *(const uint64_t *)field);
        strbuf_add(out, "%");
        break;
    case TYPE_TEXT:
        strbuf_add(out, field);
        break;
    default:
        strbuf_add(out, choice_words[table[index].type][*(const unsigned *)field]);
    }
}

bool options_get_value(const struct options *options, const char *name, struct strbuf *out)
{
    size_t index = find_option(name, strlen(name));
    if (index < OPTION_MAX)
        add_value(options, index, out);
    return index < OPTION_MAX;
}

void options_describe(const struct options *options, struct strbuf *out)
{
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        if (options->source[i] == SOURCE_BUILT_IN)
            continue;
        strbuf_add_all(out, table[i].name, "=", NULL);
        add_value(options, i, out);
        strbuf_add_all(out, " (", source_names[options->source[i]], ")\n", NULL);
    }
}

void options_help(void (*print)(const char *line))
{
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        char buffer[400];
        struct strbuf line = STRBUF_ON(buffer);
        strbuf_add_all(&line, table[i].name, "=", table[i].value, "  ", table[i].help, NULL);
        print(buffer);
    }
}
