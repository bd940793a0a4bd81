/* table.c - see table.h. */
#include "top/table.h"

#include <stdlib.h>

#include "common/base/text.h"

void table_write(const struct glance *glance, const struct listing_options *options, FILE *stream)
{
    size_t count, shown;
    size_t *rows = order_rows(glance, &options->ordering, &count);

    lines_title(glance, stream);
    putc('\n', stream);
    lines_totals(glance, options->ordering.mark, stream);
    putc('\n', stream);
    lines_head(options->columns, options->ordering.mark, stream);
    putc('\n', stream);
    shown = options->top && options->top < count ? options->top : count;
    for (size_t i = 0; i < shown; i++) {
        lines_row(glance, rows[i], options->ordering.mark, options->columns, stream);
        putc('\n', stream);
    }
    if (shown < count)
        fprintf(stream, "%s more\n", term_count(count - shown, "site").text);
    free(rows);
}
