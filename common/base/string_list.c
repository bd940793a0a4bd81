/* string_list.c - a NULL-terminated list of copied strings, printf into new memory, and shell
 * quoting. */
#include "common/base/string_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"

static void reserve_strings(struct string_list *list, size_t count)
{
    if (count + 1 > list->room) {
        list->room = 2 * count + 16;
        list->at = reallocarray(list->at, list->room, sizeof *list->at);
        if (!list->at)
            fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
        list->at[list->count] = NULL;
    }
}

static void append_owned(struct string_list *list, char *word)
{
    reserve_strings(list, list->count + 1);
    if (!word)
        fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
    list->at[list->count++] = word;
    list->at[list->count] = NULL;
}

void string_list_add(struct string_list *list, const char *word)
{
    append_owned(list, strdup(word));
}

static char *format_args(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
    return text;
}

void string_list_addf(struct string_list *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_owned(list, format_args(format, args));
    va_end(args);
}

char *string_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_args(format, args);
    va_end(args);
    return text;
}

void string_list_copy(struct string_list *to, const struct string_list *from)
{
    *to = (struct string_list){0};
    reserve_strings(to, from->count);
    for (size_t i = 0; i < from->count; i++)
        string_list_add(to, from->at[i]);
}

void string_list_free(struct string_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i]);
    free(list->at);
    *list = (struct string_list){0};
}

char *shell_quote(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (*word && !word[strspn(word, plain)])
        return string_format("%s", word);
    char *quoted = malloc(4 * strlen(word) + 3), *to = quoted;
    if (!quoted)
        fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            to = mempcpy(to, "'\\''", 4);
        else
            *to++ = *word;
    }
    *to++ = '\'';
    *to = '\0';
    return quoted;
}
