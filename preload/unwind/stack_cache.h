/* stack_cache.h - the stacks that a thread allocates with again and again: from the same pc and sp
 * with the same stack words directly to the site.
 *
 * A program allocates in few places, over and over, with the same callers. Each thread has a cache
 * keyed by the pc and sp of the hook's caller; an entry has every stack word that the last walk
 * from there read, and the site. Unwinding is a pure function of pc, sp, fp where it is used, the
 * words read and the CFI rows, so when all words are the same the site is the same, and neither the
 * CFI cache nor the context tree is consulted. All words are compared, always (unwind.h says why).
 *
 * The cache is four-way associative, so a few stacks that share a set do not evict each other. The
 * words of all entries lie in one ring, one entry after the other, so that an entry takes only what
 * its stack needs; an entry whose words were overwritten is empty. A thread that misses often gets
 * 64 times as many sets, and more of all else, unless eight others have them.
 *
 * Most stacks of a thread have the outer frames in common. So there is a base, one of the last stacks;
 * an entry that agrees with it in half of its words or more has the inner ones only, and the outer ones
 * are the base's. They are compared for each entry alike; but they are in the processor's cache.
 *
 * A function that allocates for many callers (xmalloc) has one pc, and often one sp. When two stacks
 * with the same pc and sp alternate in a set for some time, or one evicts the other, the cache learns in which word
 * they differ first, going outwards; from then on that word of the stack is a part of the key, too.
 *
 * Where contexts keep changing the cache does not pay; after it has had time to fill it suspends
 * itself for a while:
 *     after WINDOW lookups:  misses > 3/4 of them  ->  the next SLEEP lookups are skipped
 */
#ifndef PRELOAD_UNWIND_STACK_CACHE_H
#define PRELOAD_UNWIND_STACK_CACHE_H

#include "preload/interpose/modules.h"
#include "preload/unwind/unwind.h"
#include "preload/unwind/stack_fold.h"

#define STACK_CACHE_FREE LEAK_PC_FREE /* the sort of a free: its "site" is a node */
#define STACK_CACHE_SETS_MIN 16
#define STACK_CACHE_SETS_MAX 1024
#define STACK_CACHE_LARGE_THREADS 8 /* that may have STACK_CACHE_SETS_MAX sets at one time */
#define STACK_CACHE_WAYS 4
#define STACK_CACHE_WORDS 384 /* a stack of which more words were read is not cached */
/* Rings, in steps of STACK_STEP_WORDS: each holds several of the largest stacks. */
#define STACK_CACHE_RING_MIN 864
#define STACK_CACHE_RING_MAX 32768

struct stack_cache_entry {
    uintptr_t pc __attribute__((aligned(64))); /* 0 = empty */
    uintptr_t sp, fp;
    uint32_t site;
    uint32_t looked;                /* modules_generation() at that time */
    uint64_t start;                 /* stack_cache.written before the first of its steps */
    const struct stack_step *inner; /* in the ring: the words of the inner frames, … */
    int32_t to_outer;               /* … and so many steps from there those of the outer ones */
    uint32_t key;                   /* the low half: most entries of other stacks are told by it */
    uint8_t inner_steps, outer_steps;
    uint16_t sort; /* kind and tag, as in context_tree.h */
    bool fp_matters;
    uint8_t
        passed; /* so many times it was the newest of its set, and an older one was looked for */
};
_Static_assert(sizeof(struct stack_cache_entry) == 64, "an entry is not a cache line");

struct stack_cache_set {
    struct stack_cache_entry entry[STACK_CACHE_WAYS];
};

/* The words that are part of the key for a pc and sp: offsets from sp, in words. Those behind the first
 * "count" repeat the last of them, so that no branch depends on their number. */
#define STACK_CACHE_HINTS_MIN 256
#define STACK_CACHE_HINTS_MAX 4096
#define STACK_CACHE_HINT_WORDS 3
struct stack_cache_hint {
    uintptr_t pc, sp;
    uint16_t count;
    uint16_t offset[STACK_CACHE_HINT_WORDS];
};

struct stack_cache_large {
    struct stack_cache_entry *newest[STACK_CACHE_SETS_MAX]; /* as in struct stack_cache */
    struct stack_cache_set set[STACK_CACHE_SETS_MAX];
    struct stack_step ring[STACK_CACHE_RING_MAX];
    struct stack_cache_hint hint[STACK_CACHE_HINTS_MAX];
};

struct stack_cache {
    uint32_t lookups, misses; /* in this window */
    uint32_t asleep;          /* lookups still to be skipped */
    uint32_t missed;          /* misses in all windows with many of them */
    /* The ring: steps ever written, those left out at its end included; where the next are written:
     *     head = written % size of the ring
     * and what is not overwritten yet: intact = max(written - size of the ring, 0). */
    uint64_t written, intact;
    uint32_t head;
    /* The base; 0 steps: none. */
    uint32_t base_steps;
    uint64_t base_start;
    const struct stack_step *base;
    struct stack_cache_large *large; /* NULL: the small sets are in use */
    /* The entry of each small set that was used last, NULL: the set was not used. A pointer, so that
     * no branch depends on the way. */
    struct stack_cache_entry *newest[STACK_CACHE_SETS_MIN];
    struct stack_cache_set small[STACK_CACHE_SETS_MIN];
    struct stack_step ring[STACK_CACHE_RING_MIN];
    struct stack_cache_hint hint[STACK_CACHE_HINTS_MIN];
};

static ALWAYS_INLINE uint64_t stack_cache_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15ull;
}

/* The slot of the hint for a pc and sp, if they have one. */
static ALWAYS_INLINE struct stack_cache_hint *stack_cache_hint_at(struct stack_cache *cache,
                                                                  uintptr_t pc, uintptr_t sp)
{
    uint64_t hash = stack_cache_hash(pc + sp);
    if (cache->large)
        return &cache->large->hint[hash >> (64 - __builtin_ctz(STACK_CACHE_HINTS_MAX))];
    return &cache->hint[hash >> (64 - __builtin_ctz(STACK_CACHE_HINTS_MIN))];
}

/* The key of a live stack: pc + sp, and more if it has a hint. */
static ALWAYS_INLINE uint64_t stack_cache_key(struct stack_cache *cache, uintptr_t pc, uintptr_t sp)
{
    const struct stack_cache_hint *hint = stack_cache_hint_at(cache, pc, sp);
    const uintptr_t *words = (const uintptr_t *)sp;
    uint64_t key = pc + sp;
    if (hint->pc != pc || hint->sp != sp || !hint->count)
        return key;
    for (unsigned i = 0; i < STACK_CACHE_HINT_WORDS; i++)
        key = stack_cache_hash(key) + words[hint->offset[i]];
    return key;
}

/* The index of the set of a key. */
static ALWAYS_INLINE unsigned stack_cache_set_index(const struct stack_cache *cache, uint64_t key)
{
    return stack_cache_hash(key) >>
           (64 - __builtin_ctz(cache->large ? STACK_CACHE_SETS_MAX : STACK_CACHE_SETS_MIN));
}

/* The newest entry of each set in use. */
static ALWAYS_INLINE struct stack_cache_entry **stack_cache_newest(struct stack_cache *cache)
{
    return cache->large ? cache->large->newest : cache->newest;
}

static ALWAYS_INLINE bool stack_cache_matches(const struct stack_cache *cache,
                                              const struct stack_cache_entry *entry, uintptr_t low,
                                              const struct frame *caller, unsigned sort)
{
    return entry->pc == caller->pc && entry->sp == caller->sp && entry->sort == sort &&
           modules_are_unchanged_since(entry->looked) && entry->start >= cache->intact &&
           (!entry->fp_matters || entry->fp == caller->fp) &&
           stack_steps_match(low, entry->inner, entry->inner_steps) &&
           (!entry->outer_steps ||
            stack_steps_match(low, entry->inner + entry->to_outer, entry->outer_steps));
}

/* When the newest entry of the set of that key does not match. */
uint32_t stack_cache_find_older(struct stack_cache *cache, uintptr_t low,
                                const struct frame *caller, unsigned sort, uint64_t key);

/* The site of the caller's stack and that sort; 0: not cached. */
static ALWAYS_INLINE uint32_t stack_cache_find(struct stack_cache *cache, uintptr_t low,
                                               const struct frame *caller, unsigned sort)
{
    if (unlikely(cache->asleep)) {
        cache->asleep--;
        return 0;
    }
    cache->lookups++;
    uint64_t key = stack_cache_key(cache, caller->pc, caller->sp);
    const struct stack_cache_entry *newest =
        stack_cache_newest(cache)[stack_cache_set_index(cache, key)];
    if (likely(newest && stack_cache_matches(cache, newest, low, caller, sort)))
        return newest->site;
    return stack_cache_find_older(cache, low, COPY_OF(caller), sort, key);
}

/* Caches the site that a walk has led to. trace: the caller's; low: as in its walk. */
void stack_cache_add(struct stack_cache *cache, uintptr_t low, const struct unwind_trace *trace,
                     unsigned sort, uint32_t site);
/* Removes all entries. */
void stack_cache_clear(struct stack_cache *cache);
/* The thread ends: other threads may have its large sets. */
void stack_cache_close(struct stack_cache *cache);
/* Frees the caches of other threads in a fork child, where only the forking thread remains. cache:
 * that thread's, or NULL. */
void stack_cache_fork_child(const struct stack_cache *cache);

#endif
