/* values.c - see values.h. */
#include "live/values.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/string_list.h"
#include "leak_targets.h"

static const struct {
    const char *name, *type;
} options[] = {
#define OPTION(name, type, fallback, words) {#name, #type},
#include "leak_options.def"
};

/* A type and its words; what is no CHOICE in the table stands here. */
static const char *const choices[][10] = {
    {"BOOL", "on", "off", "1", "0", "yes", "no", "true", "false"},
#define CHOICE(name, ...) {"CHOICE_" #name, __VA_ARGS__},
#include "leak_options.def"
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* Digits, or 0x and hex digits; returns what follows them, NULL when there are none. */
static const char *after_number(const char *value)
{
    bool hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X') && value[2];
    const char *digits = value + (hex ? 2 : 0);
    size_t count = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    return count ? digits + count : NULL;
}

static char *choice_wanted(const char *const *words, const char *value)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return NULL;
    char *wanted = string_format("%s", words[0]);
    for (size_t i = 1; words[i]; i++) {
        char *longer = string_format("%s, %s", wanted, words[i]);
        free(wanted);
        wanted = longer;
    }
    return wanted;
}

static char *wanted_by_type(const char *type, const char *value)
{
    const char *rest = after_number(value);
    if (strcmp(type, "NUMBER") == 0)
        return rest && !*rest ? NULL : string_format("a number");
    if (strcmp(type, "SIZE") == 0) {
        bool fits = rest && (!*rest || (strchr("kmgKMG", *rest) && !rest[1]));
        return fits ? NULL : string_format("bytes, or a number and k, m or g");
    }
    if (strcmp(type, "TIME") == 0) {
        static const char *const units[] = {"", "ms", "s", "m", "h"};
        size_t unit = 0;
        rest = value + strspn(value, "0123456789");
        while (unit < ROWS(units) && strcmp(units[unit], rest) != 0)
            unit++;
        return rest > value && unit < ROWS(units)
                   ? NULL
                   : string_format("a time: a number and ms, s, m or h");
    }
    if (strcmp(type, "SHARE") == 0) {
        rest = value + strspn(value, "0123456789");
        bool fits = rest > value && rest - value <= 3 && atoi(value) <= 100 &&
                    (!*rest || strcmp(rest, "%") == 0);
        return fits ? NULL : string_format("a share from 0 to 100%%");
    }
    for (size_t i = 0; i < ROWS(choices); i++)
        if (strcmp(choices[i][0], type) == 0)
            return choice_wanted(choices[i] + 1, value);
    return NULL; /* TEXT */
}

char *value_wanted(const char *name, const char *value)
{
    if (strcmp(name, "report_to") == 0)
        return leak_targets_good(value) ? NULL : string_format("%s", LEAK_TARGET_WORDS);
    for (size_t i = 0; i < ROWS(options); i++)
        if (strcmp(options[i].name, name) == 0)
            return wanted_by_type(options[i].type, value);
    return NULL;
}
