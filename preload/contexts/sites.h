/* sites.h - the allocation sites and their folded counters, in the recording file.
 *
 * A thread counts in slots of its own (thread_counters.h); now and then a slot is folded into its
 * site. The fold is atomic for a reader of the recording file after a sudden death: the new sum is
 * written beside the thread's slots, and then one word declares it valid in place of the site and
 * the slot, until both are updated (struct leak_slots).
 */
#ifndef PRELOAD_CONTEXTS_SITES_H
#define PRELOAD_CONTEXTS_SITES_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

void sites_start(void);
/* A new site; 0 when there is no memory. sort: kind and tag, as in context_tree.h. */
uint32_t sites_make(struct guard *guard, uint32_t node, unsigned sort);
/* Adds a slot to its site and clears the slot. */
void sites_fold(struct guard *guard, struct leak_slots *slots, struct leak_slot *slot);
/* Counts frees directly, for a thread that has no slots for lack of memory. */
void sites_count_free(struct guard *guard, uint32_t site, uint64_t blocks, uint64_t bytes);
/* The node of the innermost frame, or a root. */
uint32_t sites_node(uint32_t site);
enum leak_kind sites_kind(uint32_t site);
/* The tag of its blocks, 0 = none. */
unsigned sites_tag(uint32_t site);
/* The folded counts; exact only while no fold of that site is in progress. */
struct leak_counts sites_counts(uint32_t site);
/* A lower bound of the site's frees, also during a fold. */
uint64_t sites_folded_frees(uint32_t site);
struct leak_counts sites_sum(const struct leak_counts *a, const struct leak_counts *b);
uint32_t sites_last(void);

/* The child's sites: the same ids, all counts zero. */
bool sites_fork_child(void);
/* Counts blocks that a fork child has inherited. */
void sites_add_inherited(uint32_t site, uint64_t blocks, uint64_t bytes);

#endif
