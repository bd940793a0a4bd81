/* thread_counters.h - the counters of one thread by site, in the recording file, written with plain
 * stores by that thread alone.
 *
 * The counters are a two-way associative cache from site to counts. A site without a slot takes the
 * slot of another one, whose counts are added to its site (folded, sites.h). A thread in which that
 * happens too often gets a larger cache. When the thread ends all slots are folded, and the next
 * thread gets the memory. */
#ifndef PRELOAD_CONTEXTS_THREAD_COUNTERS_H
#define PRELOAD_CONTEXTS_THREAD_COUNTERS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct thread_counters {
    struct leak_slots *memory; /* in the recording file; NULL: there was no memory */
    uint32_t pairs;            /* half the number of slots */
    uint32_t serial;
    /* How often a slot was taken from another site since the cache has this size. */
    uint32_t evictions;
    uint8_t size_class;
    struct leak_slot *newest; /* slot of the last allocation, or any other slot */
    /* Counts that were folded so far; the thread's totals are these and the sum of its slots. */
    struct leak_counts folded;
};

bool thread_counters_open(struct guard *guard, struct thread_counters *slots, uint32_t serial);
/* Finds the two slots that a site may use. */
static inline struct leak_slot *thread_counters_pair(const struct thread_counters *slots,
                                                     uint32_t site)
{
    uint32_t hash = site * 0x9e3779b1u;
    return &slots->memory->slot[(uint64_t)hash * slots->pairs >> 32 << 1];
}

/* Finds the two slots that a site may use, and prefetches them. */
static inline struct leak_slot *thread_counters_prefetch(const struct thread_counters *slots,
                                                         uint32_t site)
{
    struct leak_slot *pair = thread_counters_pair(slots, site);
    __builtin_prefetch(pair, 1);
    return pair;
}

/* Gives a site one of its two slots, which is taken from another site if both are in use. */
struct leak_slot *thread_counters_claim(struct guard *guard, struct thread_counters *slots,
                                        uint32_t site);

/* Finds the slot of a pair that belongs to a site. Which of the two it is cannot be predicted, so
 * no branch depends on it. */
static inline struct leak_slot *thread_counters_find_in(struct guard *guard,
                                                        struct thread_counters *slots,
                                                        struct leak_slot *pair, uint32_t site)
{
    size_t which = pair[1].site == site;
    __asm__("" : "+r"(which)); /* keeps the compiler from branching */
    struct leak_slot *slot = &pair[which];
    return likely(slot->site == site) ? slot : thread_counters_claim(guard, slots, site);
}

static inline struct leak_slot *thread_counters_find(struct guard *guard,
                                                     struct thread_counters *slots, uint32_t site)
{
    return thread_counters_find_in(guard, slots, thread_counters_pair(slots, site), site);
}

/* Finds the slot of a site when a block is freed soon after its allocation: mostly still the newest
 * slot. */
static inline struct leak_slot *
thread_counters_find_newest(struct guard *guard, struct thread_counters *slots, uint32_t site)
{
    struct leak_slot *slot = slots->newest;
    return likely(slot->site == site) ? slot : thread_counters_find(guard, slots, site);
}

void thread_counters_close(struct guard *guard, struct thread_counters *slots);

/* Forgets the free caches in a fork child: they belong to the parent's recording file. */
void thread_counters_fork_child(void);

#endif
