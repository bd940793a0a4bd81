/* record_filter.h - the records that the user wants to see, one after the other, for formats that
 * list each one by itself.
 *
 * Suppressed ones only on request. What hangs under a lost record is lost, too, and listed beside
 * it.
 */
#ifndef SYMBOLIZE_VIEW_RECORD_FILTER_H
#define SYMBOLIZE_VIEW_RECORD_FILTER_H

#include "common/view/format_api.h"

struct listing {
    const struct process *process;
    const struct view *view;
    size_t at, given; /* index of the next record; so many were given */
    bool owners; /* what hangs under a record that is listed is left out, unless asked for … */
    bool suppressed; /* and suppressed ones are given in any case */
};

/* NULL = no more. Starts as {process, view}. */
const struct record *listed_next(struct listing *listing);

#endif
