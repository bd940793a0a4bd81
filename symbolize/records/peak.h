/* peak.h - the heap over time, and what it was made of when it was largest.
 *
 * The runtime writes a peak down when the heap begins to fall. Where it never did, or grew beyond
 * that since, what lives is what lived.
 */
#ifndef SYMBOLIZE_RECORDS_PEAK_H
#define SYMBOLIZE_RECORDS_PEAK_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

void peaks_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                struct process *process);

#endif
