/* term_text.c - text for a terminal: escaped, cut to a width, and numbers with units. */

#include "common/base/term_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

bool utf8_valid(const char *text)
{
    while (*text) {
        size_t length = leak_utf8_length(text);

        if (!length)
            return false;
        text += length;
    }
    return true;
}

/* ---- Text for a terminal --------------------------------------------------------------------- */

#define ELLIPSIS "\xe2\x80\xa6"
#define CLEAN_MAX ((size_t)64 << 10)

static size_t count_columns(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* The number of bytes that the first `columns` characters of a text take; a character is one
 * column. */
static size_t bytes_of_columns(const char *text, size_t length, size_t columns)
{
    size_t i = 0;

    for (; i < length && columns; columns--)
        do
            i++;
        while (i < length && ((unsigned char)text[i] & 0xc0) == 0x80);
    return i;
}

struct term_text term_text(const char *text, size_t length, size_t columns)
{
    static _Thread_local char clean[CLEAN_MAX + 16];
    struct term_text shown;
    size_t used = 0, all, head, tail;

    for (size_t i = 0; i < length && text[i] && used < CLEAN_MAX; used += strlen(clean + used))
        i += leak_escape(text + i, clean + used);
    all = count_columns(clean, used);
    if (!columns || columns > TERM_TEXT_MAX / 4 - 2)
        columns = TERM_TEXT_MAX / 4 - 2;
    if (all <= columns) {
        memcpy(shown.text, clean, used);
        shown.text[used] = 0;
        shown.columns = all;
        return shown;
    }
    head = bytes_of_columns(clean, used, columns - columns / 3 - 1);
    tail = bytes_of_columns(clean, used, all - columns / 3);
    memcpy(shown.text, clean, head);
    memcpy(shown.text + head, ELLIPSIS, strlen(ELLIPSIS));
    memcpy(shown.text + head + strlen(ELLIPSIS), clean + tail, used - tail);
    shown.text[head + strlen(ELLIPSIS) + used - tail] = 0;
    shown.columns = columns;
    return shown;
}

struct term_text term_number(uint64_t number)
{
    char digits[32];
    struct term_text shown;
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

    shown.columns = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            shown.text[shown.columns++] = ',';
        shown.text[shown.columns++] = digits[i];
    }
    shown.text[shown.columns] = 0;
    return shown;
}

struct term_text term_count(uint64_t number, const char *word)
{
    struct term_text shown = term_number(number);
    size_t room = sizeof(shown.text) - shown.columns;

    shown.columns += (size_t)snprintf(shown.text + shown.columns, room, " %s%s", word,
                                      number == 1                     ? ""
                                      : word[strlen(word) - 1] == 's' ? "es"
                                                                      : "s");
    return shown;
}

struct term_text term_size(uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    struct term_text shown;
    double number = (double)bytes / 1000;
    size_t unit = 0;

    if (bytes < 10000)
        return term_count(bytes, "byte");
    for (; number >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        number /= 1000;
    shown.columns = (size_t)snprintf(shown.text, sizeof(shown.text), "%.*f %s",
                                     number < 9.95 ? 1 : 0, number, units[unit]);
    return shown;
}

struct term_text term_shell_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
    struct term_text shown = term_text(word, strlen(word), 0), quoted;

    if (*word && word[strspn(word, plain)] == 0)
        return shown;
    /* A word with ' or with escaped characters is shown without quotes, because a shell would not
     * read it as the same word even with them. */
    if (strchr(word, '\'') || strcmp(shown.text, word) != 0)
        return shown;
    quoted.columns = shown.columns + 2;
    snprintf(quoted.text, sizeof(quoted.text), "'%.*s'", TERM_TEXT_MAX - 3, shown.text);
    return quoted;
}
