/* sites.h - the folded counters of each site, in the store.
 *
 * A thread counts in slots of its own (slots.h); now and then a slot is folded into its site. The
 * fold is atomic for whoever reads the store after a sudden death: the sum goes into the copy that
 * is not in force, and one word then switches copies and names the slot that went in. Until that
 * slot is cleared (still under the site's lock) a reader knows by that word that it is already
 * counted.
 */
#ifndef PRELOAD_SITES_H
#define PRELOAD_SITES_H

#include "preload/guard.h"
#include "leak_store.h"

void sites_start(void);
/* A new site; 0 when there is no memory. */
uint32_t sites_make(struct guard *guard, uint32_t node, enum leak_kind kind);
/* Adds a slot of the thread with that serial to its site and clears it. */
void sites_fold(struct guard *guard, struct leak_slot *slot, uint32_t serial);
/* The innermost frame's node, or a root. */
uint32_t sites_node(uint32_t site);
/* Folded counts, as a reader sees them. */
struct leak_counts sites_counts(uint32_t site);
uint32_t sites_last(void);

void sites_fork_lock(void);
void sites_fork_unlock(void);
/* The child's sites: the same ids, all counts zero. */
bool sites_fork_child(void);
/* Fork child, while it counts what it inherited. */
void sites_inherit(uint32_t site, uint64_t bytes);

#endif
