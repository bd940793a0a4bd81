/* peaks.h - the heap over time, and what it was made of when it was largest.
 *
 * The runtime writes a peak down when the heap begins to fall. Where it never did, or grew beyond that
 * since, what lives is what lived.
 */
#ifndef SYMBOLIZE_PEAKS_H
#define SYMBOLIZE_PEAKS_H

#include "symbolize/model.h"
#include "symbolize/resolve.h"
#include "symbolize/store.h"

void peaks_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                struct process *process);

#endif
