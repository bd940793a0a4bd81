#include "preload/options/lsan_options.h"
#include "preload/base/strbuf.h"

enum type { TYPE_BOOL, TYPE_NUMBER, TYPE_TEXT };

static const struct {
    const char *name;
    enum type type;
    const char *root; /* a word of the option roots, or NULL */
} table[] = {
#define A(name, type, root) {#name, TYPE_##type, root},
    ALIAS_TABLE(A)
#undef A
};

/* ---- Reading -------------------------------------------------------------------------------- */

static bool set(struct aliases *aliases, size_t i, const char *value, size_t length)
{
    bool on;
    switch (table[i].type) {
    case TYPE_BOOL:
        if (!options_read_bool(value, length, &on))
            return false;
        aliases->value[i] = on;
        return true;
    case TYPE_NUMBER:
        return text_read_number(value, length, &aliases->value[i]);
    default:
        if (length >= sizeof aliases->suppressions)
            return false;
        memcpy(aliases->suppressions, value, length);
        aliases->suppressions[length] = '\0';
        return true;
    }
}

bool aliases_take(struct aliases *aliases, const char *name, size_t name_length, const char *value,
                  size_t value_length, enum option_source source, options_complain *complain)
{
    char copy[80];
    struct text shown = TEXT_ON(copy);
    size_t i = 0;
    while (i < ARRAY_LENGTH(table) &&
           (strlen(table[i].name) != name_length || memcmp(table[i].name, name, name_length) != 0))
        i++;
    if (i == ARRAY_LENGTH(table))
        return false;
    if (aliases->source[i] > source)
        return true;
    if (set(aliases, i, value, value_length)) {
        aliases->source[i] = source;
        return true;
    }
    text_add(&shown, table[i].name);
    text_add(&shown, "=");
    text_add_bytes(&shown, value, value_length);
    complain("bad value in", copy, options_source_name(source));
    return true;
}

static bool separates(char byte)
{
    return byte == ':' || byte == ',' || byte == ' ' || (byte >= '\t' && byte <= '\r');
}

void aliases_parse(struct aliases *aliases, const char *string, size_t length,
                   enum option_source source, options_complain *complain)
{
    const char *end = string + length;
    while (string < end) {
        if (separates(*string)) {
            string++;
            continue;
        }
        const char *name = string;
        while (string < end && !separates(*string) && *string != '=')
            string++;
        size_t name_length = string - name;
        string += string < end && *string == '=';
        char quote = string < end && (*string == '"' || *string == '\'') ? *string++ : '\0';
        const char *value = string;
        while (string < end && (quote ? *string != quote : !separates(*string)))
            string++;
        size_t value_length = string - value;
        string += quote && string < end;
        aliases_take(aliases, name, name_length, value, value_length, source, complain);
    }
}

/* ---- Meaning -------------------------------------------------------------------------------- */

/* The list with that word in it, or without. */
static void set_word(char list[OPTION_TEXT_MAX], const char *word, bool wanted)
{
    char buffer[OPTION_TEXT_MAX];
    struct text out = TEXT_ON(buffer);
    bool there = false;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        bool same = strlen(word) == length && memcmp(at, word, length) == 0;
        bool none = length == 4 && memcmp(at, "none", 4) == 0;
        there |= same;
        if (same ? wanted : !none) {
            text_add(&out, out.length ? "," : "");
            text_add_bytes(&out, at, length);
        }
        at += length + (at[length] == ',');
    }
    if (wanted && !there) {
        text_add(&out, out.length ? "," : "");
        text_add(&out, word);
    }
    if (!out.length)
        text_add(&out, "none");
    if (!out.cut)
        memcpy(list, buffer, out.length + 1);
}

static bool is_off(const struct aliases *aliases, enum alias alias)
{
    return aliases->source[alias] && !aliases->value[alias];
}

static uint8_t stronger(const struct aliases *aliases, enum alias a, enum alias b)
{
    return aliases->source[a] > aliases->source[b] ? aliases->source[a] : aliases->source[b];
}

/* By a stronger source; libleak's own words in LIBLEAK_OPTIONS are louder than the others there. */
static bool is_said(enum option_source by, enum option_source source)
{
    return by == SOURCE_ENVIRONMENT || (source != SOURCE_PROGRAM && by > source);
}

bool aliases_apply(const struct aliases *aliases, struct options *options)
{
    bool changed = false;
    uint8_t source = stronger(aliases, ALIAS_detect_leaks, ALIAS_leak_check_at_exit);
    if (source && !is_said(options->source[OPTION_exit_look], source)) {
        options->exit_look = aliases_detect(aliases) && !is_off(aliases, ALIAS_leak_check_at_exit);
        options->source[OPTION_exit_look] = source;
        changed = true;
    }
    uint8_t roots_by = options->source[OPTION_roots]; /* before: several words make one list */
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        if (!table[i].root || !aliases->source[i] || is_said(roots_by, aliases->source[i]))
            continue;
        set_word(options->roots, table[i].root, aliases->value[i]);
        if (aliases->source[i] > options->source[OPTION_roots])
            options->source[OPTION_roots] = aliases->source[i];
        changed = true;
    }
    return changed;
}

bool aliases_detect(const struct aliases *aliases)
{
    return !is_off(aliases, ALIAS_detect_leaks);
}

int aliases_exit_code(const struct aliases *aliases)
{
    return aliases->source[ALIAS_exitcode] ? (int)(aliases->value[ALIAS_exitcode] & 0xff)
                                           : ALIAS_EXIT_CODE;
}
