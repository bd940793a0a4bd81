/* totals.h - how much was allocated and freed so far, in numbers alone.
 *
 * Of the process: the sum over all sites and the slots of all threads, some 3 ns each; exact when
 * the other threads stand still, else of no one moment. Of a thread: what its slots count and what
 * it has folded, exact, since only the thread itself writes them.
 */
#ifndef PRELOAD_HEAP_TOTALS_H
#define PRELOAD_HEAP_TOTALS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct leak_counts counts_of_process(struct guard *guard);
/* The calling one's. False: it has none of its own, being at its end, or there was no memory. */
bool counts_of_thread(struct guard *guard, struct leak_counts *out);
/* Of the process, as far as it was allocated with that tag. */
struct leak_counts counts_of_tag(struct guard *guard, unsigned tag);

#endif
