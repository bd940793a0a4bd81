/* only_filter.c - see only_filter.h. */
#include "common/suppress/only_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/suppress/rules.h"

enum key { FUNCTION, FILE_NAME, MODULE, THREAD, KIND, SIZE, BYTES, BLOCKS, AGE, KEYS };

static const char *const key_word[KEYS] = {
    [FUNCTION] = "function", [FILE_NAME] = "file", [MODULE] = "module",
    [THREAD] = "thread",     [KIND] = "kind",      [SIZE] = "size",
    [BYTES] = "bytes",       [BLOCKS] = "blocks",  [AGE] = "age"};

struct only {
    const struct only *rest;
    enum key key;
    bool turned;
    const char *pattern;
    uint64_t least, most; /* ages in seconds */
};

/* ---- Reading -------------------------------------------------------------------------------- */

static uint64_t unit_of(char letter, bool age)
{
    static const struct {
        char letter;
        uint64_t size, seconds;
    } units[] = {{'k', 1024, 0}, {'m', 1024 * 1024, 60}, {'g', 1 << 30, 0},
                 {'s', 0, 1},    {'h', 0, 3600},         {'d', 0, 86400}};

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (units[i].letter == letter)
            return age ? units[i].seconds : units[i].size;
    return 0;
}

static bool read_number(const char **at, bool age, uint64_t *out)
{
    char *end;
    uint64_t unit;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoull(*at, &end, 10);
    unit = *end && *end != '-' ? unit_of(*end++, age) : 1;
    *at = end;
    return unit && !__builtin_mul_overflow(*out, unit, out);
}

/* "10", "10-", "-10", "10-20" */
static bool read_range(const char *text, struct only *only)
{
    bool age = only->key == AGE, first = *text != '-';

    only->least = 0;
    only->most = UINT64_MAX;
    if (first && !read_number(&text, age, &only->least))
        return false;
    if (!*text) {
        only->most = only->least;
        return first;
    }
    if (*text++ != '-')
        return false;
    if (!*text)
        return first;
    return read_number(&text, age, &only->most) && !*text;
}

struct only *only_read(struct mem *mem, const char *text, struct only *rest, const char **wrong)
{
    const char *colon = strchr(text, ':');
    struct only *only = arena_alloc(mem, sizeof(*only));

    *only = (struct only){.rest = rest, .key = KEYS};
    for (int key = 0; key < KEYS && colon; key++)
        if (strlen(key_word[key]) == (size_t)(colon - text) &&
            memcmp(key_word[key], text, (size_t)(colon - text)) == 0)
            only->key = (enum key)key;
    *wrong =
        "it takes function, file, module, thread, kind, size, bytes, blocks or age, : and a value";
    if (only->key == KEYS || !colon[1])
        return NULL;
    only->turned = colon[1] == '!';
    only->pattern = colon + 1 + only->turned;
    *wrong = "a range is A-B, A- or -B, with k, m, g, and for ages s, m, h, d";
    if (only->key >= SIZE && !read_range(only->pattern, only))
        return NULL;
    return only;
}

/* ---- Asking --------------------------------------------------------------------------------- */

bool only_names(const char *pattern, const char *text)
{
    return text && (rules_glob(pattern, text, true) || rules_glob(pattern, base_name(text), true));
}

bool only_names_function(const char *pattern, const char *function)
{
    char bare[512];
    size_t length = function ? strcspn(function, "(") : 0;

    if (!function)
        return false;
    snprintf(bare, sizeof(bare), "%.*s", (int)(length < 500 ? length : 500), function);
    return rules_glob(pattern, function, true) || rules_glob(pattern, bare, true);
}

static bool has_frame(const struct only *only, const struct record *record)
{
    for (size_t i = 0; i < record->frame_count; i++) {
        const struct frame *frame = record->frames[i];

        if (!frame_is_user_code(frame))
            continue;
        if (only->key == FUNCTION
                ? only_names_function(only->pattern, frame->function)
                : only_names(only->pattern, only->key == FILE_NAME ? frame->file : frame->module))
            return true;
    }
    return false;
}

bool only_names_thread(const char *pattern, const struct thread_ref *thread)
{
    char serial[24];

    snprintf(serial, sizeof(serial), "T%" PRIu32, thread->serial);
    return strcmp(serial, pattern) == 0 || only_names(pattern, thread->name);
}

static bool has_thread(const struct only *only, const struct record *record)
{
    for (size_t i = 0; i < record->thread_count; i++)
        if (only_names_thread(only->pattern, &record->threads[i]))
            return true;
    return false;
}

static bool in_range(const struct only *only, uint64_t value)
{
    return value >= only->least && value <= only->most;
}

static bool fits_one(const struct only *only, const struct record *record, uint64_t until_ns)
{
    switch (only->key) {
    case THREAD:
        return has_thread(only, record);
    case KIND:
        return only_names(only->pattern, kind_word[record->kind]);
    case SIZE:
        return in_range(only, record->bytes / (record->blocks ? record->blocks : 1));
    case BYTES:
        return in_range(only, record->bytes);
    case BLOCKS:
        return in_range(only, record->blocks);
    case AGE:
        return until_ns && record->first_ns && until_ns >= record->first_ns &&
               in_range(only, (until_ns - record->first_ns) / 1000000000u);
    default:
        return has_frame(only, record);
    }
}

bool only_fits(const struct only *only, const struct record *record, uint64_t until_ns)
{
    bool asked[KEYS] = {false}, fits[KEYS] = {false}, all = true;

    for (; only; only = only->rest) {
        asked[only->key] = true;
        fits[only->key] |= fits_one(only, record, until_ns) != only->turned;
    }
    for (int key = 0; key < KEYS; key++)
        all &= fits[key] || !asked[key];
    return all;
}
