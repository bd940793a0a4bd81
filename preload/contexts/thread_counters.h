/* thread_counters.h - the counters of one thread by site, in the recording file, written with plain
 * stores by that thread alone.
 *
 * A two-way associative cache from site to counts. A site without a slot evicts another: the
 * evicted counts are folded into their site. A thread that evicts too often gets a larger cache.
 * When the thread ends everything is folded and the memory serves the next thread.
 */
#ifndef PRELOAD_CONTEXTS_THREAD_COUNTERS_H
#define PRELOAD_CONTEXTS_THREAD_COUNTERS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct thread_counters {
    struct leak_slots *memory; /* in the recording file; NULL = no memory */
    uint32_t pairs;            /* half its slots */
    uint32_t serial;           /* the owner's */
    uint32_t evictions;        /* since the cache has this size */
    uint8_t size_class;
    struct leak_slot *newest;  /* the slot of the last allocation, or any other one */
    struct leak_counts folded; /* so far; the owner's totals = folded + the sum of its slots */
};

bool thread_counters_open(struct guard *guard, struct thread_counters *slots, uint32_t serial);
/* The two slots that a site may have. */
static inline struct leak_slot *thread_counters_pair(const struct thread_counters *slots,
                                                     uint32_t site)
{
    uint32_t hash = site * 0x9e3779b1u;
    return &slots->memory->slot[(uint64_t)hash * slots->pairs >> 32 << 1];
}

/* Finds the counters of a site, and prefetches them. */
static inline struct leak_slot *thread_counters_prefetch(const struct thread_counters *slots,
                                                         uint32_t site)
{
    struct leak_slot *pair = thread_counters_pair(slots, site);
    __builtin_prefetch(pair, 1);
    return pair;
}

/* Gives a site one of its two slots; evicts if both are taken. */
struct leak_slot *thread_counters_claim(struct guard *guard, struct thread_counters *slots,
                                        uint32_t site);

/* The slot of a pair that counts for a site. Which of the two it is cannot be predicted, so no
 * branch may depend on it. */
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

/* The slot of a block that is freed right after its allocation: mostly still the newest. */
static inline struct leak_slot *
thread_counters_find_newest(struct guard *guard, struct thread_counters *slots, uint32_t site)
{
    struct leak_slot *slot = slots->newest;
    return likely(slot->site == site) ? slot : thread_counters_find(guard, slots, site);
}

void thread_counters_close(struct guard *guard, struct thread_counters *slots);

/* Drops the free caches, which belong to the parent's recording file. */
void thread_counters_fork_child(void);

#endif
