#include "preload/process/lsan.h"
#include "preload/options/lsan_options.h"
#include "preload/base/arena.h"
#include "preload/base/log.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"

#include <limits.h>

#define SCRATCH (LEAK_SUPPRESSIONS_MAX + PATH_MAX)

static struct aliases aliases;
/* The program's, if it has them; the loader binds them. */
extern const char *__lsan_default_options(void) __attribute__((weak));
extern const char *__lsan_default_suppressions(void) __attribute__((weak));

/* Where it is from, NUL, the text: as it stands in the store. A fork child writes it again. */
static struct {
    char *bytes;
    size_t length;
} told[2];
static unsigned told_count;

static void complain(const char *what, const char *item, const char *where)
{
    log_line(what, " '", item, "' in ", where, ": ignored", NULL);
}

/* ---- Suppressions --------------------------------------------------------------------------- */

/* From the folder the program is in, for a relative path that is not found from here. */
static ssize_t read_beside_program(const char *path, char *buffer, size_t size)
{
    char place[PATH_MAX];
    struct text text = TEXT_ON(place);
    ssize_t length = sys_readlink("/proc/self/exe", place, sizeof place - 1);
    place[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(place, '/');
    if (path[0] == '/' || !slash)
        return -1;
    text.length = slash + 1 - place;
    text_add(&text, path);
    return text.cut ? -1 : sys_read_file(place, buffer, size);
}

/* The whole lines of what is too long. */
static size_t cut(const char *bytes, size_t length, size_t most, const char *where)
{
    if (length <= most)
        return length;
    for (length = most; length && bytes[length - 1] != '\n';)
        length--;
    log_line("too long: the end of ", where, ": at most 64 KiB of suppressions are heard", NULL);
    return length;
}

static void tell(char *scratch, size_t where, size_t length)
{
    store_put(LEAK_CHUNK_SUPPRESSIONS, scratch, where + length);
    if (told_count == ARRAY_LENGTH(told))
        return;
    char *kept = arena_map(where + length);
    if (!kept)
        return;
    told[told_count].bytes = memcpy(kept, scratch, where + length);
    told[told_count++].length = where + length;
}

static void hear_file(const char *path)
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
        tell(scratch, where, cut(bytes, length, LEAK_SUPPRESSIONS_MAX, path));
    arena_unmap(scratch, SCRATCH);
}

static void hear_text(const char *text)
{
    static const char origin[] = "__lsan_default_suppressions";
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    size_t length = cut(text, strlen(text), LEAK_SUPPRESSIONS_MAX, origin);
    memcpy(scratch, origin, sizeof origin);
    memcpy(scratch + sizeof origin, text, length);
    tell(scratch, sizeof origin, length);
    arena_unmap(scratch, SCRATCH);
}

/* ---- Start ---------------------------------------------------------------------------------- */

static bool hear_word(const char *name, size_t name_length, const char *value, size_t value_length,
                      enum option_source source, options_complain *say)
{
    return aliases_take(&aliases, name, name_length, value, value_length, source, say);
}

void lsan_hear_options(void)
{
    options_hear_others(hear_word);
}

void lsan_load(char **envp)
{
    const char *given = environment_get(envp, "LSAN_OPTIONS");
    if (given)
        aliases_parse(&aliases, given, strlen(given), SOURCE_LSAN, complain);
    aliases_apply(&aliases, &track_options);
}

void lsan_start(void)
{
    if (aliases.suppressions[0])
        hear_file(aliases.suppressions);
}

void lsan_fork_child(void)
{
    for (unsigned i = 0; i < told_count; i++)
        store_put(LEAK_CHUNK_SUPPRESSIONS, told[i].bytes, told[i].length);
}

/* ---- The program's own ---------------------------------------------------------------------- */

struct lsan_words lsan_ask(void)
{
    return (struct lsan_words){__lsan_default_options ? __lsan_default_options() : NULL,
                               __lsan_default_suppressions ? __lsan_default_suppressions() : NULL};
}

bool lsan_hear(const struct lsan_words *words)
{
    uint8_t before = aliases.source[ALIAS_suppressions];
    bool changed = false;
    if (words->options) {
        aliases_parse(&aliases, words->options, strlen(words->options), SOURCE_PROGRAM, complain);
        changed = aliases_apply(&aliases, &track_options);
        snapshot_choose_roots();
    }
    if (aliases.source[ALIAS_suppressions] != before && aliases.suppressions[0])
        hear_file(aliases.suppressions);
    if (words->suppressions)
        hear_text(words->suppressions);
    return changed;
}

bool lsan_detects(void)
{
    return aliases_detect(&aliases);
}

int lsan_exit_code(void)
{
    return aliases_exit_code(&aliases);
}
