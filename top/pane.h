/* pane.h - all that is known of one row: how it grew, its source, its stack. Lines of text. */
#ifndef TOP_PANE_H
#define TOP_PANE_H

#include "top/lines.h"

/* At most so many lines, each ended by a newline; the source has the line itself marked. */
void pane_write(const struct row *row, size_t lines, size_t columns, FILE *stream);

#endif
