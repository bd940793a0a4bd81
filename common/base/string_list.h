/* words.h - a growing, NULL-terminated list of strings, as exec wants them.
 *
 * The list owns copies of its strings. Out of memory ends leakwatch with 125: it happens, if at
 * all, before the program starts or after it ended. */
#ifndef COMMON_BASE_STRING_LIST_H
#define COMMON_BASE_STRING_LIST_H

#include <stddef.h>

struct words {
    char **at; /* NULL-terminated once something was added */
    size_t count, room;
};

void words_add(struct words *list, const char *word);
void words_addf(struct words *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* to becomes a copy of from; an empty list too ends in NULL then. */
void words_copy(struct words *to, const struct words *from);
void words_free(struct words *list);

/* printf into fresh memory that the caller frees. Never NULL. */
char *words_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The word as a shell reads it back, in quotes if it needs them. For the caller to free. */
char *words_quote(const char *word);

#endif
