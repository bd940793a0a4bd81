/* string_list.h - a growing, NULL-terminated list of strings as exec wants it, and functions
 * that return new strings.
 *
 * The list owns copies of its strings. When memory runs out the process exits with status 125
 * (STATUS_INTERNAL_ERROR). */
#ifndef COMMON_BASE_STRING_LIST_H
#define COMMON_BASE_STRING_LIST_H

#include <stddef.h>

struct string_list {
    char **at; /* NULL until the first string is added, from then on NULL-terminated */
    size_t count, room;
};

void string_list_add(struct string_list *list, const char *word);
void string_list_addf(struct string_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes `to` a copy of `from`; the copy is NULL-terminated even when it is empty. */
void string_list_copy(struct string_list *to, const struct string_list *from);
void string_list_free(struct string_list *list);

/* Formats like printf into memory that the caller frees. Never NULL. */
char *string_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Quotes a word for a shell if that is necessary. The caller frees the result. */
char *shell_quote(const char *word);

#endif
