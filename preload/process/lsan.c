#include "preload/process/lsan.h"
#include "preload/options/lsan_options.h"
#include "preload/memory/arena.h"
#include "preload/base/log.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <limits.h>

#define SCRATCH (LEAK_SUPPRESSIONS_MAX + PATH_MAX)

static struct lsan_options aliases;
/* Functions that the program may define; the loader binds them. */
extern const char *__lsan_default_options(void) __attribute__((weak));
extern const char *__lsan_default_suppressions(void) __attribute__((weak));

/* Copies of the suppressions as they are in the recording file (origin, NUL, text); fork children
 * write them to their own files. */
static struct {
    char *bytes;
    size_t length;
} stored[2];
static unsigned stored_count;

static void log_ignored(const char *what, const char *item, const char *where)
{
    log_line(what, " '", item, "' in ", where, ": ignored", NULL);
}

/* ---- Suppressions ---------------------------------------------------------------------------- */

/* Reads a file with a relative path in the directory of the program, if the working directory does
 * not have it. */
static ssize_t read_beside_program(const char *path, char *buffer, size_t size)
{
    char place[PATH_MAX];
    struct strbuf text = STRBUF_ON(place);
    sys_program_path(place, sizeof place);
    const char *slash = strrchr(place, '/');
    if (path[0] == '/' || !slash)
        return -1;
    text.length = slash + 1 - place;
    strbuf_add(&text, path);
    return text.cut ? -1 : sys_read_file(place, buffer, size);
}

/* Returns the length to which a text is truncated: at most `most` bytes, up to the end of a line.
 * Logs that it is truncated. */
static size_t cut_to_lines(const char *bytes, size_t length, size_t most, const char *where)
{
    if (length <= most)
        return length;
    for (length = most; length && bytes[length - 1] != '\n';)
        length--;
    log_line("too long: the end of ", where, ": at most 64 KiB of suppressions are read", NULL);
    return length;
}

static void store_suppressions(char *scratch, size_t where, size_t length)
{
    store_write_chunk(LEAK_CHUNK_SUPPRESSIONS, scratch, where + length);
    if (stored_count == ARRAY_LENGTH(stored))
        return;
    char *kept = arena_map(where + length);
    if (!kept)
        return;
    stored[stored_count].bytes = memcpy(kept, scratch, where + length);
    stored[stored_count++].length = where + length;
}

static void load_suppression_file(const char *path)
{
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    size_t where = strlen(path) + 1;
    char *bytes = memcpy(scratch, path, where) + where;
    ssize_t length = sys_read_file(path, bytes, LEAK_SUPPRESSIONS_MAX + 2);
    if (length < 0)
        length = read_beside_program(path, bytes, LEAK_SUPPRESSIONS_MAX + 2);
    if (length < 0)
        log_line("cannot read suppressions=", path, ": nothing is suppressed by it", NULL);
    else
        store_suppressions(scratch, where,
                           cut_to_lines(bytes, length, LEAK_SUPPRESSIONS_MAX, path));
    arena_unmap(scratch, SCRATCH);
}

static void load_suppression_text(const char *text)
{
    static const char origin[] = "__lsan_default_suppressions";
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    size_t length = cut_to_lines(text, strlen(text), LEAK_SUPPRESSIONS_MAX, origin);
    memcpy(scratch, origin, sizeof origin);
    memcpy(scratch + sizeof origin, text, length);
    store_suppressions(scratch, sizeof origin, length);
    arena_unmap(scratch, SCRATCH);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static bool parse_lsan_option(const char *name, size_t name_length, const char *value,
                              size_t value_length, enum option_source source, options_complain *say)
{
    return lsan_options_set(&aliases, name, name_length, value, value_length, source, say);
}

void lsan_register_parser(void)
{
    options_set_foreign_parser(parse_lsan_option);
}

void lsan_load_options(char **envp)
{
    const char *given = options_getenv(envp, "LSAN_OPTIONS");
    if (given)
        lsan_options_parse(&aliases, given, strlen(given), SOURCE_LSAN, log_ignored);
    lsan_options_apply(&aliases, &options_current);
}

void lsan_start(void)
{
    if (aliases.suppressions[0])
        load_suppression_file(aliases.suppressions);
}

void lsan_fork_child(void)
{
    for (unsigned i = 0; i < stored_count; i++)
        store_write_chunk(LEAK_CHUNK_SUPPRESSIONS, stored[i].bytes, stored[i].length);
}

/* ---- Functions that the program defines ------------------------------------------------------ */

struct lsan_defaults lsan_call_defaults(void)
{
    return (struct lsan_defaults){__lsan_default_options ? __lsan_default_options() : NULL,
                                  __lsan_default_suppressions ? __lsan_default_suppressions()
                                                              : NULL};
}

bool lsan_apply_defaults(const struct lsan_defaults *defaults)
{
    uint8_t before = aliases.source[LSAN_OPTION_suppressions];
    bool changed = false;
    if (defaults->options) {
        lsan_options_parse(&aliases, defaults->options, strlen(defaults->options), SOURCE_PROGRAM,
                           log_ignored);
        changed = lsan_options_apply(&aliases, &options_current);
        snapshot_set_roots();
    }
    if (aliases.source[LSAN_OPTION_suppressions] != before && aliases.suppressions[0])
        load_suppression_file(aliases.suppressions);
    if (defaults->suppressions)
        load_suppression_text(defaults->suppressions);
    return changed;
}

bool lsan_detect_leaks(void)
{
    return lsan_options_detect_leaks(&aliases);
}

int lsan_exit_code(void)
{
    return lsan_options_exit_code(&aliases);
}
