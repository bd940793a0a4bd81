/* words.c - see words.h. */
#include "common/base/string_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fatal.h"

static void words_reserve(struct words *list, size_t count)
{
    if (count + 1 > list->room) {
        list->room = 2 * count + 16;
        list->at = reallocarray(list->at, list->room, sizeof *list->at);
        if (!list->at)
            say_and_exit(STATUS_OUR_TROUBLE, "out of memory");
        list->at[list->count] = NULL;
    }
}

static void words_take(struct words *list, char *word)
{
    words_reserve(list, list->count + 1);
    if (!word)
        say_and_exit(STATUS_OUR_TROUBLE, "out of memory");
    list->at[list->count++] = word;
    list->at[list->count] = NULL;
}

void words_add(struct words *list, const char *word)
{
    words_take(list, strdup(word));
}

static char *words_vprint(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        say_and_exit(STATUS_OUR_TROUBLE, "out of memory");
    return text;
}

void words_addf(struct words *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    words_take(list, words_vprint(format, args));
    va_end(args);
}

char *words_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = words_vprint(format, args);
    va_end(args);
    return text;
}

void words_copy(struct words *to, const struct words *from)
{
    *to = (struct words){0};
    words_reserve(to, from->count);
    for (size_t i = 0; i < from->count; i++)
        words_add(to, from->at[i]);
}

void words_free(struct words *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i]);
    free(list->at);
    *list = (struct words){0};
}

char *words_quote(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (*word && !word[strspn(word, plain)])
        return words_print("%s", word);
    char *quoted = malloc(4 * strlen(word) + 3), *to = quoted;
    if (!quoted)
        say_and_exit(STATUS_OUR_TROUBLE, "out of memory");
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
