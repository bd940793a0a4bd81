/* explore.h - what a report says beyond its records, as plain text: call trees, the peak, temporary
 * blocks, sizes. Each is a format (format_table.c), and a command of leakreport of the same name.
 */
#ifndef SYMBOLIZE_EXPLORE_EXPLORE_H
#define SYMBOLIZE_EXPLORE_EXPLORE_H

#include "common/view/format_api.h"

/* The call tree of a weight (--weight): from main to the allocations, or inverted. Calls of less than
 * half a percent are a sum, unless the view is verbose. peak_write: of what lived at the peak. */
void tree_write(const struct report *report, const struct view *view, FILE *stream);
void peak_write(const struct report *report, const struct view *view, FILE *stream);

/* The call stacks whose blocks lived for a moment, the most blocks first. */
void temporary_write(const struct report *report, const struct view *view, FILE *stream);

/* Blocks and bytes by powers of two of the size: ever allocated, and live. */
void histogram_write(const struct report *report, const struct view *view, FILE *stream);

#endif
