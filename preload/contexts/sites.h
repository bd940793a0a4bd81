/* sites.h - the allocation sites and their counts, in the recording file.
 *
 * A thread counts in slots of its own (thread_counters.h). From time to time the counts of a slot
 * are added to those of its site: the slot is folded. A reader of the recording file sees a fold as
 * one step, even if the process dies in it: the new sum is first written beside the thread's slots,
 * then one word makes it valid in place of the site and the slot, until both are updated (struct
 * leak_slots). */
#ifndef PRELOAD_CONTEXTS_SITES_H
#define PRELOAD_CONTEXTS_SITES_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

void sites_start(void);
/* Makes a site; 0: there is no memory. sort: kind and tag, as in context_tree.h. */
uint32_t sites_make(struct guard *guard, uint32_t node, unsigned sort);
/* Adds the counts of a slot to those of its site, and clears the slot. */
void sites_fold(struct guard *guard, struct leak_slots *slots, struct leak_slot *slot);
/* Counts frees at the site, for a thread that has no slots for lack of memory. */
void sites_count_free(struct guard *guard, uint32_t site, uint64_t blocks, uint64_t bytes);
/* Returns the node of the innermost frame of the site's stack; for a stack without frames a root of
 * the context tree. */
uint32_t sites_node(uint32_t site);
enum leak_kind sites_kind(uint32_t site);
/* Returns the tag of the site's blocks; 0: none. */
unsigned sites_tag(uint32_t site);
/* Returns the counts of a site without those in slots of threads; exact only while no slot of the
 * site is being folded. */
struct leak_counts sites_counts(uint32_t site);
/* Returns the number of frees of a site without those in slots of threads. May be called while a
 * slot is folded. */
uint64_t sites_folded_frees(uint32_t site);
struct leak_counts sites_sum(const struct leak_counts *a, const struct leak_counts *b);
uint32_t sites_last(void);

/* Copies the sites to the recording file of a fork child: with the same ids, and all counts 0.
 * False: there is no memory. */
bool sites_fork_child(void);
/* Counts blocks of a site that a fork child has inherited. */
void sites_add_inherited(uint32_t site, uint64_t blocks, uint64_t bytes);

#endif
