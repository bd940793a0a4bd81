/* thread_counters.h - the counters of one thread, in the store, written with plain stores by that
 * thread alone.
 *
 * A two-way cache from site to counts. A site without a slot takes one over: what stood there is
 * folded into its own site. A thread that folds too often gets a larger cache. When the thread ends
 * everything is folded and the memory serves the next thread.
 */
#ifndef PRELOAD_UNWIND_THREAD_COUNTERS_H
#define PRELOAD_UNWIND_THREAD_COUNTERS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct slots {
    struct leak_slots *memory; /* in the store; NULL = none to be had */
    uint32_t pairs;            /* half its slots */
    uint32_t serial;           /* the owner's */
    uint32_t evictions;        /* since the cache has this size */
    uint8_t size_class;
    struct leak_slot *newest;  /* where a block that came was counted last, or any other one */
    struct leak_counts folded; /* by the owner so far: with what the slots count, all that it did */
};

bool slots_open(struct guard *guard, struct slots *slots, uint32_t serial);
/* The two slots that a site may have. */
static inline struct leak_slot *slots_pair(const struct slots *slots, uint32_t site)
{
    uint32_t hash = site * 0x9e3779b1u;
    return &slots->memory->slot[(uint64_t)hash * slots->pairs >> 32 << 1];
}

/* Likewise, and gets them on their way while the caller does something else. */
static inline struct leak_slot *slots_prefetch(const struct slots *slots, uint32_t site)
{
    struct leak_slot *pair = slots_pair(slots, site);
    __builtin_prefetch(pair, 1);
    return pair;
}

/* Gives a site one of them. */
struct leak_slot *slots_take_over(struct guard *guard, struct slots *slots, uint32_t site);

/* The slot of a pair that counts for a site. Which of the two it is nobody can foretell: no jump
 * may depend on it. */
static inline struct leak_slot *slots_find_in(struct guard *guard, struct slots *slots,
                                              struct leak_slot *pair, uint32_t site)
{
    size_t which = pair[1].site == site;
    __asm__("" : "+r"(which)); /* the compiler would like to jump */
    struct leak_slot *slot = &pair[which];
    return likely(slot->site == site) ? slot : slots_take_over(guard, slots, site);
}

static inline struct leak_slot *slots_find(struct guard *guard, struct slots *slots, uint32_t site)
{
    return slots_find_in(guard, slots, slots_pair(slots, site), site);
}

/* The same for a block that has just come: most often none has come since. */
static inline struct leak_slot *slots_find_newest(struct guard *guard, struct slots *slots,
                                                  uint32_t site)
{
    struct leak_slot *slot = slots->newest;
    return likely(slot->site == site) ? slot : slots_find(guard, slots, site);
}

void slots_close(struct guard *guard, struct slots *slots);

void slots_fork_lock(void);
void slots_fork_unlock(void);
/* The free caches belong to the parent's store. */
void slots_fork_child(void);

#endif
