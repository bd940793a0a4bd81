#include "preload/options/lsan_options.h"
#include "preload/base/strbuf.h"

enum type { TYPE_BOOL, TYPE_NUMBER, TYPE_TEXT };

static const struct {
    const char *name;
    enum type type;
    const char *root; /* the word in libleak's option roots that this option switches, or NULL */
} table[] = {
#define O(name, type, root) {#name, TYPE_##type, root},
    LSAN_OPTION_TABLE(O)
#undef O
};

/* ---- Parsing --------------------------------------------------------------------------------- */

static bool set_value(struct lsan_options *lsan, size_t i, const char *value, size_t length)
{
    bool on;
    switch (table[i].type) {
    case TYPE_BOOL:
        if (!parse_bool(value, length, &on))
            return false;
        lsan->value[i] = on;
        return true;
    case TYPE_NUMBER:
        return parse_number(value, length, &lsan->value[i]);
    default:
        if (length >= sizeof lsan->suppressions)
            return false;
        memcpy(lsan->suppressions, value, length);
        lsan->suppressions[length] = '\0';
        return true;
    }
}

bool lsan_options_set(struct lsan_options *lsan, const char *name, size_t name_length,
                      const char *value, size_t value_length, enum option_source source,
                      options_complain *complain)
{
    char copy[80];
    struct strbuf item = STRBUF_ON(copy);
    size_t i = 0;
    while (i < ARRAY_LENGTH(table) && !equals_word(name, name_length, table[i].name))
        i++;
    if (i == ARRAY_LENGTH(table))
        return false;
    if (lsan->source[i] > source)
        return true;
    if (set_value(lsan, i, value, value_length)) {
        lsan->source[i] = source;
        return true;
    }
    strbuf_add_all(&item, table[i].name, "=", NULL);
    strbuf_add_bytes(&item, value, value_length);
    complain("bad value in", copy, options_source_name(source));
    return true;
}

static bool is_separator(char byte)
{
    return byte == ':' || byte == ',' || byte == ' ' || (byte >= '\t' && byte <= '\r');
}

void lsan_options_parse(struct lsan_options *lsan, const char *string, size_t length,
                        enum option_source source, options_complain *complain)
{
    const char *end = string + length;
    while (string < end) {
        if (is_separator(*string)) {
            string++;
            continue;
        }
        const char *name = string;
        while (string < end && !is_separator(*string) && *string != '=')
            string++;
        size_t name_length = string - name;
        string += string < end && *string == '=';
        char quote = string < end && (*string == '"' || *string == '\'') ? *string++ : '\0';
        const char *value = string;
        while (string < end && (quote ? *string != quote : !is_separator(*string)))
            string++;
        size_t value_length = string - value;
        string += quote && string < end;
        lsan_options_set(lsan, name, name_length, value, value_length, source, complain);
    }
}

/* ---- Translation into libleak's options ------------------------------------------------------ */

/* Adds a word to a list with commas, or removes it; an empty list is "none". */
static void switch_word(char list[OPTION_TEXT_MAX], const char *word, bool wanted)
{
    char buffer[OPTION_TEXT_MAX];
    struct strbuf out = STRBUF_ON(buffer);
    bool there = false;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        bool same = equals_word(at, length, word), none = equals_word(at, length, "none");
        there |= same;
        if (same ? wanted : !none) {
            strbuf_add(&out, out.length ? "," : "");
            strbuf_add_bytes(&out, at, length);
        }
        at += length + (at[length] == ',');
    }
    if (wanted && !there) {
        strbuf_add_all(&out, out.length ? "," : "", word, NULL);
    }
    if (!out.length)
        strbuf_add(&out, "none");
    if (!out.cut)
        memcpy(list, buffer, out.length + 1);
}

static bool is_off(const struct lsan_options *lsan, enum lsan_option option)
{
    return lsan->source[option] && !lsan->value[option];
}

static uint8_t stronger_source(const struct lsan_options *lsan, enum lsan_option a,
                               enum lsan_option b)
{
    return lsan->source[a] > lsan->source[b] ? lsan->source[a] : lsan->source[b];
}

/* Says whether an option of libleak was set by a source that takes precedence over the source of a
 * LeakSanitizer option. In LIBLEAK_OPTIONS libleak's own names take precedence over
 * LeakSanitizer's. */
static bool is_set_stronger(enum option_source by, enum option_source source)
{
    return by == SOURCE_ENVIRONMENT || (source != SOURCE_PROGRAM && by > source);
}

bool lsan_options_apply(const struct lsan_options *lsan, struct options *options)
{
    bool changed = false;
    uint8_t source =
        stronger_source(lsan, LSAN_OPTION_detect_leaks, LSAN_OPTION_leak_check_at_exit);
    if (source && !is_set_stronger(options->source[OPTION_exit_look], source)) {
        options->exit_look =
            lsan_options_detect_leaks(lsan) && !is_off(lsan, LSAN_OPTION_leak_check_at_exit);
        options->source[OPTION_exit_look] = source;
        changed = true;
    }
    /* Read before the loop, which changes source[OPTION_roots]: several options of LeakSanitizer
     * change the one list "roots". */
    uint8_t roots_by = options->source[OPTION_roots];
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        if (!table[i].root || !lsan->source[i] || is_set_stronger(roots_by, lsan->source[i]))
            continue;
        switch_word(options->roots, table[i].root, lsan->value[i]);
        if (lsan->source[i] > options->source[OPTION_roots])
            options->source[OPTION_roots] = lsan->source[i];
        changed = true;
    }
    return changed;
}

bool lsan_options_detect_leaks(const struct lsan_options *lsan)
{
    return !is_off(lsan, LSAN_OPTION_detect_leaks);
}

int lsan_options_exit_code(const struct lsan_options *lsan)
{
    return lsan->source[LSAN_OPTION_exitcode] ? (int)(lsan->value[LSAN_OPTION_exitcode] & 0xff)
                                              : LSAN_OPTION_EXIT_CODE;
}
