/* term_text.c - makes foreign text fit for a terminal; see term_text.h. */
#include "common/base/term_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define CLEAN_MAX ((size_t)64 << 10)

/* Append one character of text to out; returns how many bytes of text were used. */
static size_t clean_one(const char *text, char *out, size_t *used)
{
    unsigned char first = (unsigned char)*text;
    size_t length = utf8_length(text);
    int is_control = first < 0x20 || first == 0x7f ||
                     (length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);

    if (!length || is_control) {
        *used += (size_t)sprintf(out + *used, "\\x%02x", first);
        if (length == 2)
            *used += (size_t)sprintf(out + *used, "\\x%02x", (unsigned char)text[1]);
        return length == 2 ? 2 : 1;
    }
    memcpy(out + *used, text, length);
    *used += length;
    return length;
}

static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Bytes of the first `columns` characters. */
static size_t bytes_of(const char *text, size_t length, size_t columns)
{
    size_t i = 0;

    for (; i < length && columns; columns--)
        do
            i++;
        while (i < length && ((unsigned char)text[i] & 0xc0) == 0x80);
    return i;
}

struct shown show(const char *text, size_t length, size_t columns)
{
    static char clean[CLEAN_MAX + 16];
    struct shown shown;
    size_t used = 0, all, head, tail;

    for (size_t i = 0; i < length && used < CLEAN_MAX;)
        i += clean_one(text + i, clean, &used);
    all = columns_of(clean, used);
    if (!columns || columns > SHOW_MAX / 4 - 2)
        columns = SHOW_MAX / 4 - 2;
    if (all <= columns) {
        memcpy(shown.text, clean, used);
        shown.text[used] = 0;
        shown.columns = all;
        return shown;
    }
    head = bytes_of(clean, used, columns - columns / 3 - 1);
    tail = bytes_of(clean, used, all - columns / 3);
    memcpy(shown.text, clean, head);
    memcpy(shown.text + head, ELLIPSIS, strlen(ELLIPSIS));
    memcpy(shown.text + head + strlen(ELLIPSIS), clean + tail, used - tail);
    shown.text[head + strlen(ELLIPSIS) + used - tail] = 0;
    shown.columns = columns;
    return shown;
}

struct shown show_number(uint64_t number)
{
    char digits[32];
    struct shown shown;
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

struct shown show_count(uint64_t number, const char *word)
{
    struct shown shown = show_number(number);
    size_t room = sizeof(shown.text) - shown.columns;

    shown.columns += (size_t)snprintf(shown.text + shown.columns, room, " %s%s", word,
                                      number == 1                     ? ""
                                      : word[strlen(word) - 1] == 's' ? "es"
                                                                      : "s");
    return shown;
}

struct shown show_size(uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    struct shown shown;
    double number = (double)bytes / 1000;
    size_t unit = 0;

    if (bytes < 10000)
        return show_count(bytes, "byte");
    for (; number >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        number /= 1000;
    shown.columns = (size_t)snprintf(shown.text, sizeof(shown.text), "%.*f %s",
                                     number < 9.95 ? 1 : 0, number, units[unit]);
    return shown;
}

struct shown show_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
    struct shown shown = show(word, strlen(word), 0), quoted;

    if (*word && word[strspn(word, plain)] == 0)
        return shown;
    if (strchr(word, '\'') || strcmp(shown.text, word) != 0) /* too odd for a line to copy */
        return shown;
    quoted.columns = shown.columns + 2;
    snprintf(quoted.text, sizeof(quoted.text), "'%.*s'", SHOW_MAX - 3, shown.text);
    return quoted;
}
