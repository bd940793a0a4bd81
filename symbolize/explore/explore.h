/* explore.h - writes views of the heap that are not lists of records, as plain text: call trees,
 * the peak, temporary blocks, sizes. Each view is a format (format_table.c), and a command of
 * leakreport with the name of the format.
 */
#ifndef SYMBOLIZE_EXPLORE_EXPLORE_H
#define SYMBOLIZE_EXPLORE_EXPLORE_H

#include "common/view/format_api.h"

/* Writes the call tree of one weight (--weight): from main to the allocations, or inverted. Calls
 * with less than half a percent of the bytes are summed up, unless the view is verbose. peak_write
 * writes the tree of the blocks that lived when the heap was largest. */
void tree_write(const struct report *report, const struct view *view, FILE *stream);
void peak_write(const struct report *report, const struct view *view, FILE *stream);

/* Lists the call stacks whose blocks were freed soon after they were allocated, the stack with the
 * most such blocks first. */
void temporary_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes the number of blocks and their bytes by size, in classes of powers of two: of all blocks
 * that were ever allocated, and of the live blocks. */
void histogram_write(const struct report *report, const struct view *view, FILE *stream);

#endif
