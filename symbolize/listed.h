/* listed.h - the records that the user wants to see, one after the other, for formats that list
 * each one by itself.
 *
 * Suppressed ones only on request. What hangs under a lost record is lost, and listed as it is.
 */
#ifndef SYMBOLIZE_LISTED_H
#define SYMBOLIZE_LISTED_H

#include "symbolize/report.h"

struct listing {
    const struct process *process;
    const struct view *view;
    size_t at;    /* index of the next record */
    size_t given; /* so many were */
};

/* NULL = no more. Starts as {process, view}. */
const struct record *listed_next(struct listing *listing);

#endif
