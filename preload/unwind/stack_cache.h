/* stack_cache.h - the stacks a thread comes back to: from "same place, same words" to the site at
 * once.
 *
 * A program allocates in few places, over and over, with the same callers. Per thread, keyed by the
 * pc and sp of the hook's caller: every word of the stack that the last walk from there read, and
 * the site it led to. Unwinding is a pure function of pc, sp, fp where it is used, the words read
 * and the rows, so when all words are the same the site is the same, and neither rows nor tree are
 * asked. All words are compared, always (unwind.h says why).
 *
 * Two ways: two leaves that share a set do not throw each other out. A thread that misses often
 * gets four times as many sets, unless eight others have them. Where contexts keep changing the
 * cache does not pay; when it has had time to fill it goes to sleep, and looks again later:
 *     after WINDOW lookups:  misses > 3/4 of them  ->  the next SLEEP lookups are not made
 */
#ifndef PRELOAD_UNWIND_STACK_CACHE_H
#define PRELOAD_UNWIND_STACK_CACHE_H

#include "preload/interpose/modules.h"
#include "preload/unwind/unwind.h"
#include "preload/base/stack_fold.h"

#define LEAVES_FREE LEAK_PC_FREE /* the sort of a free: its "site" is a node */
#define LEAVES_FEW 32
#define LEAVES_MANY 128
#define LEAVES_MANY_THREADS 8 /* that have the many at one time */
#define LEAVES_WAYS 2
#define LEAVES_WORDS 56 /* a stack that was read in more places is not kept */

struct leaf {
    uintptr_t pc; /* 0 = empty */
    uintptr_t sp, fp;
    uint32_t site;
    uint32_t looked; /* modules_looked() then */
    uint16_t sort;   /* kind and tag, as in a leaf of the tree */
    uint8_t words;
    bool fp_matters;
    uint32_t offset[LEAVES_WORDS];
    uintptr_t word[LEAVES_WORDS];
};

struct leaf_set {
    struct leaf leaf[LEAVES_WAYS];
};

struct leaves {
    uint32_t lookups, misses;         /* in this window */
    uint32_t asleep;                  /* lookups still to be left out */
    uint32_t missed;                  /* in the windows with many misses */
    struct leaf *newest[LEAVES_MANY]; /* of each set: no jump depends on which of the two it is */
    struct leaf_set *many;            /* LEAVES_MANY of them, or NULL: the few are used */
    struct leaf_set few[LEAVES_FEW];
};

static inline unsigned leaves_set(const struct leaves *leaves, uintptr_t pc, uintptr_t sp)
{
    uint64_t hash = (pc + sp) * 0x9e3779b97f4a7c15ull;
    return hash >> (64 - __builtin_ctz(leaves->many ? LEAVES_MANY : LEAVES_FEW));
}

static ALWAYS_INLINE bool leaves_fits(const struct leaf *leaf, uintptr_t low,
                                      const struct frame *caller, unsigned sort)
{
    return leaf->pc == caller->pc && leaf->sp == caller->sp && leaf->sort == sort &&
           leaf->looked == modules_looked() && (!leaf->fp_matters || leaf->fp == caller->fp) &&
           stack_words_match(low, leaf->offset, leaf->word, leaf->words);
}

/* The newest of the set is not it. */
uint32_t leaves_find_older(struct leaves *leaves, uintptr_t low, const struct frame *caller,
                           unsigned sort);

/* The site of the caller's stack and that sort, or 0: unknown, ask unwind and tree. */
static ALWAYS_INLINE uint32_t leaves_find(struct leaves *leaves, uintptr_t low,
                                          const struct frame *caller, unsigned sort)
{
    if (unlikely(leaves->asleep)) {
        leaves->asleep--;
        return 0;
    }
    leaves->lookups++;
    const struct leaf *newest = leaves->newest[leaves_set(leaves, caller->pc, caller->sp)];
    if (likely(newest && leaves_fits(newest, low, caller, sort)))
        return newest->site;
    return leaves_find_older(leaves, low, COPY_OF(caller), sort);
}

/* What they said. The trace is that of the caller. */
void leaves_keep(struct leaves *leaves, const struct unwind_trace *trace, unsigned sort,
                 uint32_t site);
/* Nothing that was kept holds any more. */
void leaves_forget(struct leaves *leaves);
/* The thread ends: others may have its many. */
void leaves_close(struct leaves *leaves);
/* In the child only the thread that forked is left; its leaves, or NULL. */
void leaves_fork_child(const struct leaves *leaves);

#endif
