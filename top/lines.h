/* lines.h - a glance as lines of text: what the table and the screen have in common. Each is
 * written without its newline. */
#ifndef TOP_LINES_H
#define TOP_LINES_H

#include <stdio.h>

#include "top/glance.h"
#include "top/order.h"

/* How a glance is written: what is asked for. */
struct listing_options {
    struct ordering ordering;
    size_t top;     /* rows, 0 = all */
    size_t columns; /* of the terminal, 0 = no matter */
};

/* "shelf (pid 42), running for 14 s: 13.4 MB in 13,400 blocks" */
void lines_title(const struct glance *glance, FILE *stream);
/* "+1.1 MB, 1100 allocs/s, 0 frees/s, peak 13.4 MB, 1 growing": since the look before */
void lines_totals(const struct glance *glance, const struct account *mark, FILE *stream);

/* The head of the table and one row of it, at most so many columns wide; 0 = as wide as it is. */
void lines_head(size_t columns, const struct account *mark, FILE *stream);
void lines_row(const struct glance *glance, size_t row, const struct account *mark, size_t columns,
               FILE *stream);

/* Its function, or the place in its module; and where that is, as far as there is room. */
void lines_frame(const struct frame *frame, size_t columns, FILE *stream);

#endif
