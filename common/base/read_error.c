/* read_error.c - words for what went wrong; see read_error.h. */
#include "common/base/read_error.h"

#include <stdio.h>
#include <string.h>

static const char *const table[] = {
#define E(name, words) words,
    ERROR_TABLE(E)
#undef E
};

void error_words(const struct trouble *trouble, char *words, size_t size)
{
    const char *text = table[trouble->code];
    const char *hole = strstr(text, "%llu");
    int n;

    if (hole)
        n = snprintf(words, size, "%.*s%llu%s", (int)(hole - text), text,
                     (unsigned long long)trouble->number, hole + strlen("%llu"));
    else
        n = snprintf(words, size, "%s", text);
    if (trouble->os && n >= 0 && (size_t)n < size)
        snprintf(words + n, size - (size_t)n, ": %s", strerror(trouble->os));
}
