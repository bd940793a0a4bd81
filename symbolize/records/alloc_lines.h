/* alloc_lines.h - the lines of one function where the blocks of a record were allocated.
 *
 * Signatures know no lines, so what a function allocates in three of them is one record. Each of
 * the three is told, or two of them would be hidden behind the largest.
 */
#ifndef SYMBOLIZE_RECORDS_ALLOC_LINES_H
#define SYMBOLIZE_RECORDS_ALLOC_LINES_H

#include "common/sites/free_sites.h"
#include "common/sites/reconcile.h"

/* sites: all of the record's signature and kind. The largest line first, into the record, and only
 * when there are two at least. */
void lines_tell(struct mem *mem, struct signatures *signatures, struct settling *settling,
                struct site_list sites, struct record *record);

#endif
