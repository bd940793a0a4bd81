/* labels.c - see labels.h. */
#include "top/labels.h"

#include <string.h>

#include "common/base/text.h"

static size_t name_length(const char *word)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return strspn(word, allowed);
}

bool label_fits(const char *word)
{
    static const char *const own[] = {LABELS_OWN};
    size_t length = name_length(word);

    if (!length || word[length] != '=' || (*word >= '0' && *word <= '9'))
        return false;
    if (strncmp(word, "__", 2) == 0) /* Prometheus' own, which it takes away */
        return false;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strlen(own[i]) == length && memcmp(word, own[i], length) == 0)
            return false;
    return true;
}

bool label_same(const char *word, const char *other)
{
    size_t length = name_length(word);

    return name_length(other) == length && memcmp(word, other, length) == 0;
}

/* What term_text() leaves has no newline, so two characters have another form in a value. */
static void write_value(const char *value, size_t columns, FILE *stream)
{
    struct term_text shown = term_text(value, strlen(value), columns);

    for (const char *at = shown.text; *at; at++) {
        if (*at == '\\' || *at == '"')
            putc('\\', stream);
        putc(*at, stream);
    }
}

void label_write(const char *name, const char *value, size_t columns, bool first, FILE *stream)
{
    fprintf(stream, "%s%s=\"", first ? "" : ",", name);
    write_value(value, columns, stream);
    putc('"', stream);
}

void label_write_word(const char *word, bool first, FILE *stream)
{
    size_t length = name_length(word);

    fprintf(stream, "%s%.*s=\"", first ? "" : ",", (int)length, word);
    write_value(word + length + 1, 0, stream);
    putc('"', stream);
}
