/* text_names.c - writes as many names as fit one line; described in text.h. */
#include "symbolize/text/text.h"

#include <string.h>

#define NAME_COLUMNS 50 /* most columns of a name */
#define REST_COLUMNS 11 /* columns that are kept for " and 9 more." */

void text_names_add(struct text_names *names, const char *name)
{
    struct term_text shown = term_text(name, strlen(name), NAME_COLUMNS);
    const char *join = names->columns ? ", " : names->head;
    size_t columns = strlen(join) + shown.columns;

    if (names->left_out ||
        (names->columns && names->columns + columns > TEXT_COLUMNS - REST_COLUMNS)) {
        names->left_out++;
        return;
    }
    fprintf(names->stream, "%s%s", join, shown.text);
    names->columns += columns;
}

void text_names_end(const struct text_names *names, const char *end)
{
    if (names->left_out)
        fprintf(names->stream, " and %s more", term_number(names->left_out).text);
    if (names->columns)
        fputs(end, names->stream);
}
