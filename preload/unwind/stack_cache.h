/* stack_cache.h - finds the site of a stack that a thread has allocated with before, without
 * unwinding: if pc, sp and all words of the stack that matter are the same, the site is the same.
 *
 * A program allocates in few places again and again, with the same callers. Each thread has a cache
 * keyed by the pc and sp of the hook's caller; an entry contains every stack word that the last
 * walk from there has read, and the site. Unwinding is a pure function of pc, sp, fp where it is
 * used, the words read and the CFI rows, so when all words are the same the site is the same, and
 * neither the CFI cache nor the context tree is consulted. All words are compared, always (unwind.h
 * says why).
 *
 * The cache is four-way associative, so a few stacks that share a set do not replace each other.
 * The words of all entries are in one ring buffer, one entry after the other, so that an entry uses
 * only as much as its stack needs; an entry whose words were overwritten is empty. A thread with
 * many misses gets a large cache, with 64 times as many sets, unless eight other threads have one.
 *
 * Most stacks of a thread have their outer frames in common. So one of the last stacks is the base.
 * If at least half of the words of a new entry are equal to those of the base, the entry stores
 * only its inner words and refers to the base for the outer ones. These are compared for each
 * entry, too, but they are in the processor's cache.
 *
 * A function that allocates for many callers (xmalloc) has one pc, and often one sp. When two
 * stacks with the same pc and sp alternate in a set for some time, or one replaces the other, the
 * cache finds the innermost word in which they differ; from then on that word of the stack is part
 * of the key (a hint).
 *
 * Programs run in loops, so the entry that was found after another one is mostly found after it
 * again. It is guessed and compared first, because the key of a stack must wait for the stack's
 * words.
 *
 * If a thread rarely allocates with the same stack again, the cache costs more than it saves. After
 * it has had time to fill, it suspends itself for a while:
 *     after WINDOW lookups:  misses > 3/4 of them  ->  the next SLEEP lookups are skipped */
#ifndef PRELOAD_UNWIND_STACK_CACHE_H
#define PRELOAD_UNWIND_STACK_CACHE_H

#include "preload/interpose/modules.h"
#include "preload/unwind/unwind.h"
#include "preload/unwind/stack_fold.h"

/* Value of "sort" in the entry of a stack that frees: the entry has a node instead of a site. */
#define STACK_CACHE_FREE LEAK_PC_FREE
#define STACK_CACHE_SETS_MIN 16
#define STACK_CACHE_SETS_MAX 1024
#define STACK_CACHE_LARGE_THREADS 8 /* number of threads that may have a large cache at one time */
#define STACK_CACHE_WAYS 4
#define STACK_CACHE_WORDS 384 /* a stack is not cached if the walk has read more words */
/* Sizes of the rings, in steps of STACK_STEP_WORDS words: each has room for several of the largest
 * stacks. */
#define STACK_CACHE_RING_MIN 864
#define STACK_CACHE_RING_MAX 32768

struct stack_cache_entry {
    uintptr_t pc __attribute__((aligned(64))); /* 0: the entry is empty */
    uintptr_t sp, fp;
    uint32_t site;
    uint32_t looked; /* modules_generation() when the stack was walked */
    uint64_t start;  /* stack_cache.written before the first of the entry's steps was written */
    const struct stack_step *inner; /* the steps of the entry's inner words, in the ring */
    int32_t to_outer; /* distance in the ring from inner to the steps of the outer words */
    uint32_t key;     /* low half of the key: it differs in most entries of other stacks */
    uint8_t inner_steps, outer_steps;
    uint16_t sort; /* kind and tag, as in context_tree.h */
    bool fp_matters;
    /* How many times a stack was found in an older entry of the set while this entry was the
     * newest. */
    uint8_t passed;
    uint16_t next; /* number of the entry that was found after this one */
};
_Static_assert(sizeof(struct stack_cache_entry) == 64, "an entry is not a cache line");

struct stack_cache_set {
    struct stack_cache_entry entry[STACK_CACHE_WAYS];
};

/* A hint: the words of the stack that are part of the key for a pc and sp, as offsets from sp in
 * words. Offsets behind the first "count" repeat the last one, so that no branch depends on their
 * number. */
#define STACK_CACHE_HINTS_MIN 256
#define STACK_CACHE_HINTS_MAX 4096
#define STACK_CACHE_HINT_WORDS 3
struct stack_cache_hint {
    uintptr_t pc, sp;
    uint16_t count;
    uint16_t offset[STACK_CACHE_HINT_WORDS];
};

struct stack_cache_large {
    /* For each set the entry that was used last; NULL: the set is not in use. */
    struct stack_cache_entry *newest[STACK_CACHE_SETS_MAX];
    struct stack_cache_set set[STACK_CACHE_SETS_MAX];
    struct stack_step ring[STACK_CACHE_RING_MAX];
    struct stack_cache_hint hint[STACK_CACHE_HINTS_MAX];
};

struct stack_cache {
    /* in the current window: number of lookups, and of those that failed */
    uint32_t lookups, misses;
    uint32_t asleep; /* number of lookups still to be skipped */
    uint32_t missed; /* sum of the misses in windows where more than 1/16 of the lookups missed */
    /* Numbers of entries: of the one that was found last, and of the one that was found after it the
     * time before. */
    uint16_t last, guess;
    bool is_sure; /* the last guess was right */
    /* State of the ring. written: number of steps ever written, including those left out at its
     * end; head: where the next step is written; intact: steps from this number on are not
     * overwritten.
     *     head = written % size of the ring
     *     intact = max(written - size of the ring, 0) */
    uint64_t written, intact;
    uint32_t head;
    /* The base: steps of a recent stack, whose outermost ones entries may refer to instead of
     * storing them. base_steps 0: there is none. base_start: value of "written" before its first
     * step was written. */
    uint32_t base_steps;
    uint64_t base_start;
    const struct stack_step *base;
    struct stack_cache_large *large; /* NULL: the small cache below is in use */
    /* For each set of "small" the entry that was used last; NULL: the set is not in use. A pointer
     * and not an index, so that no branch depends on which entry it is. */
    struct stack_cache_entry *newest[STACK_CACHE_SETS_MIN];
    struct stack_cache_set small[STACK_CACHE_SETS_MIN];
    struct stack_step ring[STACK_CACHE_RING_MIN];
    struct stack_cache_hint hint[STACK_CACHE_HINTS_MIN];
};

static ALWAYS_INLINE uint64_t stack_cache_hash(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15ull;
}

/* Finds the slot for the hint of a pc and sp (which words of the stack belong to their key); the
 * slot may contain the hint of another pc and sp. */
static ALWAYS_INLINE struct stack_cache_hint *stack_cache_hint_at(struct stack_cache *cache,
                                                                  uintptr_t pc, uintptr_t sp)
{
    uint64_t hash = stack_cache_hash(pc + sp);
    if (cache->large)
        return &cache->large->hint[hash >> (64 - __builtin_ctz(STACK_CACHE_HINTS_MAX))];
    return &cache->hint[hash >> (64 - __builtin_ctz(STACK_CACHE_HINTS_MIN))];
}

/* Computes the key of a live stack from pc, sp and the words of the stack that the hint for this pc
 * and sp names, if there is one. */
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

static ALWAYS_INLINE unsigned stack_cache_set_index(const struct stack_cache *cache, uint64_t key)
{
    return stack_cache_hash(key) >>
           (64 - __builtin_ctz(cache->large ? STACK_CACHE_SETS_MAX : STACK_CACHE_SETS_MIN));
}

/* Returns the array that holds for each set the entry that was used last. */
static ALWAYS_INLINE struct stack_cache_entry **stack_cache_newest(struct stack_cache *cache)
{
    return cache->large ? cache->large->newest : cache->newest;
}

/* Returns the entry with number 0; entry number i stands i entries behind it. */
static ALWAYS_INLINE struct stack_cache_entry *stack_cache_first(struct stack_cache *cache)
{
    return (cache->large ? cache->large->set : cache->small)->entry;
}

/* Notes which entry was found, to guess it when the one before is found again. */
static ALWAYS_INLINE void stack_cache_note(struct stack_cache *cache,
                                           const struct stack_cache_entry *found)
{
    struct stack_cache_entry *first = stack_cache_first(cache);
    uint16_t number = found - first;
    cache->is_sure = number == cache->guess;
    first[cache->last].next = number;
    cache->last = number;
    cache->guess = found->next;
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

/* Does the work of stack_cache_find when the entry that was used last does not match. key: that of
 * the stack. */
uint32_t stack_cache_find_older(struct stack_cache *cache, uintptr_t low,
                                const struct frame *caller, unsigned sort, uint64_t key);

/* Finds the site of the caller's stack for an allocation with a kind and tag (sort); 0: it is not
 * in the cache. */
static ALWAYS_INLINE uint32_t stack_cache_find(struct stack_cache *cache, uintptr_t low,
                                               const struct frame *caller, unsigned sort)
{
    if (unlikely(cache->asleep)) {
        cache->asleep--;
        return 0;
    }
    cache->lookups++;
    struct stack_cache_entry *guess = stack_cache_first(cache) + cache->guess;
    if (likely(cache->is_sure && stack_cache_matches(cache, guess, low, caller, sort))) {
        cache->last = cache->guess;
        stack_cache_newest(cache)[cache->guess / STACK_CACHE_WAYS] = guess;
        cache->guess = guess->next;
        return guess->site;
    }
    uint64_t key = stack_cache_key(cache, caller->pc, caller->sp);
    const struct stack_cache_entry *newest =
        stack_cache_newest(cache)[stack_cache_set_index(cache, key)];
    if (likely(newest && stack_cache_matches(cache, newest, low, caller, sort))) {
        stack_cache_note(cache, newest);
        return newest->site;
    }
    return stack_cache_find_older(cache, low, COPY_OF(caller), sort, key);
}

/* Caches the site that was found by a walk. trace: the result of the walk; low: low end of the
 * thread's stack, from which the offsets of words count. */
void stack_cache_add(struct stack_cache *cache, uintptr_t low, const struct unwind_trace *trace,
                     unsigned sort, uint32_t site);
void stack_cache_clear(struct stack_cache *cache);
/* Closes the cache when its thread ends: another thread may then use its large cache. */
void stack_cache_close(struct stack_cache *cache);
/* Frees the large caches of other threads in a fork child, which has only the forking thread.
 * cache: that of this thread, or NULL. */
void stack_cache_fork_child(const struct stack_cache *cache);

#endif
