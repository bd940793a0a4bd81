#include "preload/options/vld_options.h"

/* What becomes of a word:
 *   SWITCH, INVERTED   on and off are those of the option, or the other way round
 *   VALUE              as it is
 *   ALWAYS             libleak does it; only its opposite has no form here
 *   NEVER              has no form here; "no" asks for nothing */
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

/* ReportTo. The debugger of VLD is a window of text; standard error is what comes nearest. */
static const struct {
    const char *name, *targets;
} places[] = {
    {"debugger", "stderr"},
    {"stdout", "stdout"},
    {"file", "file"},
    {"both", "stderr,file"},
};

#define USUAL_FILE "memory_leak_report.txt"

/* ---- Words ----------------------------------------------------------------------------------- */

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

static bool is(struct word word, const char *text)
{
    size_t i = 0;
    while (i < word.length && text[i] && small(word.at[i]) == small(text[i]))
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

static bool is_off(struct word value)
{
    return is(value, "off") || is(value, "no") || is(value, "0") || is(value, "false");
}

static bool is_on(struct word value)
{
    return is(value, "on") || is(value, "yes") || is(value, "1") || is(value, "true");
}

/* ---- What they become --------------------------------------------------------------------------
 */

static void put(struct text *options, const char *name, struct word value)
{
    text_add(options, name);
    text_add(options, "=");
    text_add_bytes(options, value.at, value.length);
    text_add(options, "\n");
}

static void pass(struct vld_reading *reading, struct word name, struct word value)
{
    text_add(reading->passed, reading->passed->length ? ", " : "");
    text_add_bytes(reading->passed, name.at, name.length);
    text_add(reading->passed, "=");
    text_add_bytes(reading->passed, value.at, value.length);
}

static bool ends_so(struct word word, const char *ending)
{
    size_t length = strlen(ending);
    return word.length > length &&
           is((struct word){word.at + word.length - length, length}, ending);
}

/* "foo.dll, bar.exe" are the modules that are called foo here, libfoo.so.1 and bar. */
static void put_modules(struct text *options, struct word value)
{
    const char *at = value.at, *end = at + value.length, *between = "";
    text_add(options, "modules=");
    while (at < end) {
        const char *start = at;
        while (at < end && *at != ',' && *at != ';' && !is_blank(*at))
            at++;
        struct word name = {start, at - start};
        if (ends_so(name, ".dll") || ends_so(name, ".exe"))
            name.length -= 4;
        if (name.length) {
            text_add(options, between);
            text_add_bytes(options, name.at, name.length);
            text_add(options, ",lib");
            text_add_bytes(options, name.at, name.length);
            text_add(options, ".so*");
            between = ",";
        }
        at += at < end;
    }
    text_add(options, "\n");
}

/* A report is wanted at the end; VLD's paths have the other slash. */
static void put_report(const struct vld_reading *reading, struct text *options)
{
    struct word file = {reading->file, reading->file_length};
    size_t start;
    if (!reading->to)
        return;
    put(options, "report", (struct word){"exit", 4});
    put(options, "report_to", (struct word){reading->to, strlen(reading->to)});
    if (!strstr(reading->to, "file"))
        return;
    start = options->length;
    put(options, "report_file",
        file.length ? file : (struct word){USUAL_FILE, sizeof USUAL_FILE - 1});
    for (size_t i = start; i < options->length; i++)
        if (options->bytes[i] == '\\')
            options->bytes[i] = '/';
}

/* False: there is no such place. */
static bool report_to(struct vld_reading *reading, struct word value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
        if (is(value, places[i].name)) {
            reading->to = places[i].targets;
            return true;
        }
    return false;
}

/* Has the word a form here, with that value? */
static bool has_form(size_t row, struct word value)
{
    switch (table[row].meaning) {
    case SWITCH:
    case INVERTED:
        return is_on(value) || is_off(value);
    case ALWAYS:
        return !is_off(value);
    case NEVER:
        return is_off(value);
    default:
        return true;
    }
}

bool vld_take(struct vld_reading *reading, const char *at, size_t length, const char *value_at,
              size_t value_length, struct text *options)
{
    struct word name = {at, length}, value = {value_at, value_length};
    size_t i = 0;
    while (i < ARRAY_LENGTH(table) && !is(name, table[i].name))
        i++;
    if (i == ARRAY_LENGTH(table))
        return false;
    if (!has_form(i, value)) {
        pass(reading, name, value);
        return true;
    }
    switch (table[i].meaning) {
    case SWITCH:
    case INVERTED:
        put(options, table[i].option,
            is_on(value) == (table[i].meaning == SWITCH) ? (struct word){"on", 2}
                                                         : (struct word){"off", 3});
        break;
    case VALUE:
        put(options, table[i].option, value);
        break;
    case MODULES:
        put_modules(options, value);
        break;
    case REPORT_FILE:
        reading->file = value.at;
        reading->file_length = value.length;
        put_report(reading, options);
        break;
    case REPORT_TO:
        if (report_to(reading, value))
            put_report(reading, options);
        else
            pass(reading, name, value);
        break;
    default:
        break;
    }
    return true;
}

void vld_translate(const char *ini, size_t length, struct text *options, struct text *passed)
{
    struct vld_reading reading = {.passed = passed};
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
            !vld_take(&reading, name.at, name.length, value.at, value.length, options))
            pass(&reading, name, value);
    }
}
