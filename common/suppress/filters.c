/* filters.c - parses --only, --modules, --functions and --threads, and matches records against
 * them. */
#include "common/suppress/filters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/suppress/rules.h"
#include "leak_store.h"

enum only_key { FUNCTION, FILE_NAME, MODULE, THREAD, KIND, SIZE, BYTES, BLOCKS, AGE, KEYS };

static const char *const key_word[KEYS] = {
    [FUNCTION] = "function", [FILE_NAME] = "file", [MODULE] = "module",
    [THREAD] = "thread",     [KIND] = "kind",      [SIZE] = "size",
    [BYTES] = "bytes",       [BLOCKS] = "blocks",  [AGE] = "age"};

struct only_filter {
    struct only_filter *rest;
    enum only_key key;
    bool turned;
    bool found; /* the name occurred in a process, or cannot be missing (a negated name, a
                 * number) */
    const char *pattern;
    const char *scope;    /* option whose list contains the name: "modules"; NULL = --only */
    uint64_t least, most; /* range of the numbers that match; for ages in seconds */
};

/* Says whether a path, a thread's name or a kind matches a pattern with * and ?. A path also
 * matches by its last component. */
static bool pattern_matches_name(const char *pattern, const char *text)
{
    return text && (glob_match(pattern, text, true) || glob_match(pattern, base_name(text), true));
}

/* ---- Parsing --only -------------------------------------------------------------------------- */

static bool names_kind(const char *pattern)
{
    for (int kind = 0; kind < KIND_MAX; kind++)
        if (pattern_matches_name(pattern, kind_word[kind]))
            return true;
    return false;
}

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

static bool parse_number(const char **at, bool age, uint64_t *out)
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

/* Parses a range: "10", "10-", "-10", "10-20". False: the text is no range. */
static bool parse_range(const char *text, struct only_filter *only)
{
    bool age = only->key == AGE, first = *text != '-';

    only->least = 0;
    only->most = UINT64_MAX;
    if (first && !parse_number(&text, age, &only->least))
        return false;
    if (!*text) {
        only->most = only->least;
        return first;
    }
    if (*text++ != '-')
        return false;
    if (!*text)
        return first;
    return parse_number(&text, age, &only->most) && !*text;
}

struct only_filter *only_filter_parse(struct arena *mem, const char *text, struct only_filter *rest,
                                      const char **wrong)
{
    const char *colon = strchr(text, ':');
    struct only_filter *only = arena_alloc(mem, sizeof(*only));

    *only = (struct only_filter){.rest = rest, .key = KEYS};
    for (int key = 0; key < KEYS && colon; key++)
        if (strlen(key_word[key]) == (size_t)(colon - text) &&
            memcmp(key_word[key], text, (size_t)(colon - text)) == 0)
            only->key = (enum only_key)key;
    *wrong =
        "it takes function, file, module, thread, kind, size, bytes, blocks or age, : and a value";
    if (only->key == KEYS || !colon[1])
        return NULL;
    only->turned = colon[1] == '!';
    only->pattern = colon + 1 + only->turned;
    only->found = only->turned || only->key >= KIND;
    *wrong = "no such kind of allocation: malloc, calloc, realloc, new, new[] ...";
    if (only->key == KIND && !names_kind(only->pattern))
        return NULL;
    *wrong = "a range is A-B, A- or -B, with k, m, g, and for ages s, m, h, d";
    if (only->key >= SIZE && !parse_range(only->pattern, only))
        return NULL;
    return only;
}

/* ---- Matching --only ------------------------------------------------------------------------- */

static bool pattern_matches_function(const char *pattern, const char *function)
{
    char bare[512];
    size_t length = function ? strcspn(function, "(") : 0;

    if (!function)
        return false;
    snprintf(bare, sizeof(bare), "%.*s", (int)(length < 500 ? length : 500), function);
    return glob_match(pattern, function, true) || glob_match(pattern, bare, true);
}

/* Says whether a frame matches a condition on FUNCTION, FILE_NAME or MODULE. */
static bool condition_names_frame(const struct only_filter *only, const struct frame *frame)
{
    return only->key == FUNCTION
               ? pattern_matches_function(only->pattern, frame->function)
               : pattern_matches_name(only->pattern,
                                      only->key == FILE_NAME ? frame->file : frame->module);
}

static bool only_has_frame(const struct only_filter *only, const struct record *record)
{
    for (size_t i = 0; i < record->frame_count; i++)
        if (frame_is_user_code(record->frames[i]) && condition_names_frame(only, record->frames[i]))
            return true;
    return false;
}

static bool pattern_matches_thread(const char *pattern, const struct thread_ref *thread)
{
    char serial[24];

    snprintf(serial, sizeof(serial), "T%" PRIu32, thread->serial);
    return strcmp(serial, pattern) == 0 || pattern_matches_name(pattern, thread->name);
}

static bool only_has_thread(const struct only_filter *only, const struct record *record)
{
    for (size_t i = 0; i < record->thread_count; i++)
        if (pattern_matches_thread(only->pattern, &record->threads[i]))
            return true;
    return false;
}

static bool in_range(const struct only_filter *only, uint64_t value)
{
    return value >= only->least && value <= only->most;
}

static bool matches_condition(const struct only_filter *only, const struct record *record,
                              uint64_t until_ns)
{
    switch (only->key) {
    case THREAD:
        return only_has_thread(only, record);
    case KIND:
        return pattern_matches_name(only->pattern, kind_word[record->kind]);
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
        return only_has_frame(only, record);
    }
}

bool only_filter_matches(const struct only_filter *only, const struct record *record,
                         uint64_t until_ns)
{
    bool asked[KEYS] = {false}, fits[KEYS] = {false}, all = true;

    for (; only; only = only->rest) {
        asked[only->key] = true;
        fits[only->key] |= matches_condition(only, record, until_ns) != only->turned;
    }
    for (int key = 0; key < KEYS; key++)
        all &= fits[key] || !asked[key];
    return all;
}

/* ---- Names in --only that no process has ----------------------------------------------------- */

static bool key_seeks(const struct only_filter *only, enum only_key key, const char *scope)
{
    bool asked = false, found = false;

    for (; only; only = only->rest)
        if (only->key == key && only->scope == scope) {
            asked = true;
            found |= only->found;
        }
    return asked && !found;
}

bool only_filter_seeks(const struct only_filter *only)
{
    for (const struct only_filter *at = only; at; at = at->rest)
        if (key_seeks(only, at->key, at->scope))
            return true;
    return false;
}

void only_filter_show_module(struct only_filter *only, const char *path)
{
    for (; only; only = only->rest)
        if (only->key == MODULE)
            only->found |= pattern_matches_name(only->pattern, path);
}

void only_filter_show_frame(struct only_filter *only, const struct frame *frame)
{
    for (; only; only = only->rest)
        if (only->key <= MODULE && !only->found)
            only->found = condition_names_frame(only, frame);
}

void only_filter_show_thread(struct only_filter *only, const struct thread_ref *thread)
{
    for (; only; only = only->rest)
        if (only->key == THREAD)
            only->found |= pattern_matches_thread(only->pattern, thread);
}

const char *only_filter_unfound(struct arena *mem, const struct only_filter *only)
{
    static const char *const missing[KEYS] = {
        [FUNCTION] = "no recorded call stack has such a function",
        [FILE_NAME] = "no recorded call stack has such a source file",
        [MODULE] = "no process loaded such a module",
        [THREAD] = "no process had such a thread"};

    for (const struct only_filter *at = only; at; at = at->rest)
        if (key_seeks(only, at->key, at->scope))
            return arena_format(mem, "--%s%s%s: %s", at->scope ? at->scope : "only=",
                                at->scope ? "=" : arena_format(mem, "%s:", key_word[at->key]),
                                at->pattern, missing[at->key]);
    return NULL;
}

/* ---- Scopes: --modules, --functions, --threads ----------------------------------------------- */

const char *const scope_option_name[SCOPE_KEYS] = {"modules", "functions", "threads"};

struct scope_item {
    bool out; /* a match excludes the record */
    const char *pattern;
};

/* ---- Parsing scopes -------------------------------------------------------------------------- */

static size_t count_items(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

bool scope_list_parse(struct arena *mem, const char *text, struct scope_list *list)
{
    bool whole = true;

    *list = (struct scope_list){0};
    if (!*text)
        return true;
    list->items = arena_alloc_array(mem, count_items(text), sizeof(*list->items));
    for (const char *at = text; at;) {
        size_t length = strcspn(at, ","), sign = *at == '+' || *at == '-';

        if (length > sign)
            list->items[list->count++] =
                (struct scope_item){*at == '-', arena_copy(mem, at + sign, length - sign)};
        whole &= length > sign;
        at = at[length] ? at + length + 1 : NULL;
    }
    return whole;
}

struct only_filter *scope_list_sought(struct arena *mem, const struct scope_list *list,
                                      enum scope_key key, struct only_filter *rest)
{
    static const enum only_key keys[SCOPE_KEYS] = {MODULE, FUNCTION, THREAD};

    for (size_t i = 0; i < list->count; i++) {
        struct only_filter *only;

        if (list->items[i].out)
            continue;
        only = arena_alloc(mem, sizeof(*only));
        *only = (struct only_filter){.rest = rest,
                                     .key = keys[key],
                                     .pattern = list->items[i].pattern,
                                     .scope = scope_option_name[key]};
        rest = only;
    }
    return rest;
}

/* ---- Matching scopes ------------------------------------------------------------------------- */

static bool names_frame(const char *pattern, enum scope_key key, const struct frame *frame)
{
    return key == SCOPE_MODULES ? pattern_matches_name(pattern, frame->module)
                                : pattern_matches_function(pattern, frame->function);
}

/* Says whether the caller of the allocator matches a pattern; with any_frame, whether any frame
 * of user code does. In a stack without user code, the first frame that is no allocator is the
 * caller. */
static bool scope_has_frame(const char *pattern, enum scope_key key, bool any_frame,
                            const struct record *record)
{
    size_t i = 0;

    while (i < record->frame_count && !frame_is_user_code(record->frames[i]))
        i++;
    if (i == record->frame_count)
        return i &&
               names_frame(pattern, key,
                           record->frames[frame_first_caller(record->frames, record->frame_count)]);
    if (!any_frame)
        return names_frame(pattern, key, record->frames[i]);
    for (; i < record->frame_count; i++)
        if (frame_is_user_code(record->frames[i]) && names_frame(pattern, key, record->frames[i]))
            return true;
    return false;
}

/* Says whether a thread of the record matches the pattern. all: every thread must match. */
static bool scope_has_thread(const char *pattern, bool all, const struct record *record)
{
    size_t named = 0;

    for (size_t i = 0; i < record->thread_count; i++)
        named += pattern_matches_thread(pattern, &record->threads[i]);
    return named && (!all || (named == record->thread_count && !record->more_threads));
}

bool scope_list_includes(const struct scope_list *list, enum scope_key key, bool any_frame,
                         const struct record *record)
{
    bool wanted = false, fits = false;

    for (size_t i = 0; i < list->count; i++) {
        const struct scope_item *item = &list->items[i];
        bool named =
            key == SCOPE_THREADS
                ? scope_has_thread(item->pattern, item->out, record)
                : scope_has_frame(item->pattern, key, any_frame || key == SCOPE_FUNCTIONS, record);

        if (item->out && named)
            return false;
        wanted |= !item->out;
        fits |= named;
    }
    return fits || !wanted;
}

int scope_list_match_function(const struct scope_list *list, const char *function)
{
    for (size_t i = list->count; function && i-- > 0;)
        if (pattern_matches_function(list->items[i].pattern, function))
            return list->items[i].out ? -1 : 1;
    return 0;
}
