#include "preload/options/vld_options.h"

/* How a setting of Visual Leak Detector becomes an option of libleak:
 *   SWITCH, INVERTED   the option gets the same value (on, off), or the opposite one
 *   VALUE              the option gets the same value
 *   MODULES, REPORT_FILE, REPORT_TO   functions below translate the value
 *   ALWAYS             libleak always does it; only the value off is unsupported
 *   NEVER              libleak never does it; only the value off is supported */
enum meaning { SWITCH, INVERTED, VALUE, MODULES, REPORT_FILE, REPORT_TO, ALWAYS, NEVER };

static const struct {
    const char *name;
    enum meaning meaning;
    const char *option;
} table[] = {
    {"VLD", SWITCH, "enabled"},
    {"StartDisabled", INVERTED, "start"},
    {"MaxDataDump", VALUE, "content"},
    {"MaxTraceFrames", VALUE, "depth"},
    {"ForceIncludeModules", MODULES, "modules"},
    {"ReportFile", REPORT_FILE, "report_file"},
    {"ReportTo", REPORT_TO, "report_to"},
    {"AggregateDuplicates", ALWAYS, NULL},
    {"SkipCrtStartupLeaks", ALWAYS, NULL},
    {"ReportEncoding", NEVER, NULL},
    {"SelfTest", NEVER, NULL},
    {"SkipHeapFreeLeaks", NEVER, NULL},
    {"SlowDebuggerDump", NEVER, NULL},
    {"StackWalkMethod", NEVER, NULL},
    {"TraceInternalFrames", NEVER, NULL},
    {"ValidateHeapAllocs", NEVER, NULL},
};

struct word {
    const char *at;
    size_t length;
};

/* The values of ReportTo and their equivalents in libleak's option report_to. The nearest
 * equivalent of VLD's debugger window is standard error. */
static const struct {
    const char *name, *targets;
} report_targets[] = {
    {"debugger", "stderr"},
    {"stdout", "stdout"},
    {"file", "file"},
    {"both", "stderr,file"},
};

#define DEFAULT_FILE "memory_leak_report.txt"

/* ---- Words, compared without regard to case -------------------------------------------------- */

static char to_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

static bool equals_any_case(struct word word, const char *text)
{
    size_t i = 0;
    while (i < word.length && text[i] && to_lower(word.at[i]) == to_lower(text[i]))
        i++;
    return i == word.length && !text[i];
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static struct word trim(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    while (end > at && is_blank(end[-1]))
        end--;
    return (struct word){at, end - at};
}

static bool read_switch(struct word value, bool *on)
{
    char lower[8];
    for (size_t i = 0; i < value.length && i < sizeof lower; i++)
        lower[i] = to_lower(value.at[i]);
    return value.length <= sizeof lower && parse_bool(lower, value.length, on);
}

/* ---- Translation ---------------------------------------------------------------------------- */

static void add_option(struct strbuf *options, const char *name, struct word value)
{
    strbuf_add_all(options, name, "=", NULL);
    strbuf_add_bytes(options, value.at, value.length);
    strbuf_add(options, "\n");
}

static void add_unsupported(struct vld_source *source, struct word name, struct word value)
{
    strbuf_add(source->unsupported, source->unsupported->length ? ", " : "");
    strbuf_add_bytes(source->unsupported, name.at, name.length);
    strbuf_add(source->unsupported, "=");
    strbuf_add_bytes(source->unsupported, value.at, value.length);
}

static bool ends_with(struct word word, const char *ending)
{
    size_t length = strlen(ending);
    return word.length > length &&
           equals_any_case((struct word){word.at + word.length - length, length}, ending);
}

/* Translates a list of modules: "foo.dll, bar.exe" becomes "foo,libfoo.so*,bar,libbar.so*". */
static void add_modules(struct strbuf *options, struct word value)
{
    const char *at = value.at, *end = at + value.length, *between = "";
    strbuf_add(options, "modules=");
    while (at < end) {
        const char *start = at;
        while (at < end && *at != ',' && *at != ';' && !is_blank(*at))
            at++;
        struct word name = {start, at - start};
        if (ends_with(name, ".dll") || ends_with(name, ".exe"))
            name.length -= 4;
        if (name.length) {
            strbuf_add(options, between);
            strbuf_add_bytes(options, name.at, name.length);
            strbuf_add(options, ",lib");
            strbuf_add_bytes(options, name.at, name.length);
            strbuf_add(options, ".so*");
            between = ",";
        }
        at += at < end;
    }
    strbuf_add(options, "\n");
}

/* Adds the options that request a report at exit, once ReportTo is known. Backslashes of a Windows
 * path become slashes. */
static void add_report(const struct vld_source *source, struct strbuf *options)
{
    struct word file = {source->file, source->file_length};
    size_t start;
    if (!source->to)
        return;
    add_option(options, "report", (struct word){"exit", 4});
    add_option(options, "report_to", (struct word){source->to, strlen(source->to)});
    if (!strstr(source->to, "file"))
        return;
    start = options->length;
    add_option(options, "report_file",
               file.length ? file : (struct word){DEFAULT_FILE, sizeof DEFAULT_FILE - 1});
    for (size_t i = start; i < options->length; i++)
        if (options->bytes[i] == '\\')
            options->bytes[i] = '/';
}

/* Reads the value of ReportTo. Returns false when there is no such target. */
static bool set_report_target(struct vld_source *source, struct word value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(report_targets); i++)
        if (equals_any_case(value, report_targets[i].name)) {
            source->to = report_targets[i].targets;
            return true;
        }
    return false;
}

/* Says whether an option of libleak does what this value of the setting does in VLD. */
static bool is_supported(size_t row, struct word value)
{
    bool on, known = read_switch(value, &on);
    switch (table[row].meaning) {
    case SWITCH:
    case INVERTED:
        return known;
    case ALWAYS:
        return !known || on;
    case NEVER:
        return known && !on;
    default:
        return true;
    }
}

bool vld_options_translate_item(struct vld_source *source, const char *at, size_t length,
                                const char *value_at, size_t value_length, struct strbuf *options)
{
    struct word name = {at, length}, value = {value_at, value_length};
    bool on = false;
    size_t i = 0;
    while (i < ARRAY_LENGTH(table) && !equals_any_case(name, table[i].name))
        i++;
    if (i == ARRAY_LENGTH(table))
        return false;
    if (!is_supported(i, value)) {
        add_unsupported(source, name, value);
        return true;
    }
    switch (table[i].meaning) {
    case SWITCH:
    case INVERTED:
        read_switch(value, &on);
        add_option(options, table[i].option,
                   on == (table[i].meaning == SWITCH) ? (struct word){"on", 2}
                                                      : (struct word){"off", 3});
        break;
    case VALUE:
        add_option(options, table[i].option, value);
        break;
    case MODULES:
        add_modules(options, value);
        break;
    case REPORT_FILE:
        source->file = value.at;
        source->file_length = value.length;
        add_report(source, options);
        break;
    case REPORT_TO:
        if (set_report_target(source, value))
            add_report(source, options);
        else
            add_unsupported(source, name, value);
        break;
    default:
        break;
    }
    return true;
}

void vld_options_translate(const char *ini, size_t length, struct strbuf *options,
                           struct strbuf *unsupported)
{
    struct vld_source source = {.unsupported = unsupported};
    const char *end = ini + length;
    while (ini < end) {
        const char *line = ini, *stop = memchr(ini, '\n', end - ini);
        stop = stop ? stop : end;
        ini = stop + 1;
        const char *comment = memchr(line, ';', stop - line), *equals;
        stop = comment && trim(line, comment).length == 0 ? comment : stop;
        if (!(equals = memchr(line, '=', stop - line)))
            continue;
        struct word name = trim(line, equals), value = trim(equals + 1, stop);
        if (name.length && value.length &&
            !vld_options_translate_item(&source, name.at, name.length, value.at, value.length,
                                        options))
            add_unsupported(&source, name, value);
    }
}
