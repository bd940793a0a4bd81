/* sites.h - the folded counters of each site, in the store.
 *
 * A thread counts in slots of its own (thread_counters.h); now and then a slot is folded into its
 * site. The fold is atomic for whoever reads the store after a sudden death: the new sum is written
 * beside the thread's slots, and one word then says that it stands for the site and for the slot,
 * until both are what they should be (struct leak_slots).
 */
#ifndef PRELOAD_UNWIND_SITES_H
#define PRELOAD_UNWIND_SITES_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

void sites_start(void);
/* A new site; 0 when there is no memory. sort: kind and tag, as in the leaf's pc. */
uint32_t sites_make(struct guard *guard, uint32_t node, unsigned sort);
/* Adds a slot to its site and clears it. */
void sites_fold(struct guard *guard, struct leak_slots *slots, struct leak_slot *slot);
/* Frees by a thread there is no memory for. */
void sites_count_free(struct guard *guard, uint32_t site, uint64_t blocks, uint64_t bytes);
/* The innermost frame's node, or a root. */
uint32_t sites_node(uint32_t site);
enum leak_kind sites_kind(uint32_t site);
/* Its blocks' tag, 0 = none. */
unsigned sites_tag(uint32_t site);
/* Folded counts; no fold of that site may be under way. */
struct leak_counts sites_counts(uint32_t site);
/* At least so many frees; a fold may be under way. */
uint64_t sites_folded_frees(uint32_t site);
struct leak_counts sites_sum(const struct leak_counts *a, const struct leak_counts *b);
uint32_t sites_last(void);

void sites_fork_lock(void);
void sites_fork_unlock(void);
/* The child's sites: the same ids, all counts zero. */
bool sites_fork_child(void);
/* Fork child, while it counts what it inherited. */
void sites_inherit(uint32_t site, uint64_t blocks, uint64_t bytes);

#endif
