/* leaves.h - the stacks a thread comes back to: from "same place, same words" to the site at once.
 *
 * A program allocates in few places, over and over, with the same callers. Per thread, keyed by the
 * pc and sp of the hook's caller: every word of the stack that the last walk from there read, and
 * the site it led to. Unwinding is a pure function of pc, sp, fp where it is used, the words read
 * and the rows, so when all words are the same the site is the same, and neither rows nor tree are
 * asked. All words are compared, always (unwind.h says why).
 *
 * Two ways: two leaves that share a set do not throw each other out. A thread that misses often
 * gets four times as many sets, as long as few threads have them. Where contexts keep changing the
 * cache does not pay; when it has had time to fill it goes to sleep, and looks again later:
 *     after WINDOW lookups:  hits * 4 < lookups  ->  the next SLEEP lookups are not made
 */
#ifndef PRELOAD_LEAVES_H
#define PRELOAD_LEAVES_H

#include "preload/unwind.h"

#define LEAVES_FREE 255 /* the kind of a free: its "site" is a node */
#define LEAVES_FEW 32
#define LEAVES_MANY 128
#define LEAVES_MANY_THREADS 8
#define LEAVES_WAYS 2
#define LEAVES_WORDS 56 /* a stack that was read in more places is not kept */

struct leaf {
    uintptr_t pc, sp, fp;
    uint32_t site;   /* 0 = empty */
    uint32_t looked; /* modules_looked() then */
    uint8_t kind, words;
    bool fp_matters;
    uint32_t offset[LEAVES_WORDS];
    uintptr_t word[LEAVES_WORDS];
};

struct leaf_set {
    struct leaf leaf[LEAVES_WAYS];
};

struct leaves {
    uint32_t lookups, hits; /* in this window */
    uint32_t asleep;        /* lookups still to be left out */
    uint32_t missed;        /* in the windows with many misses */
    uint8_t newest[LEAVES_MANY];
    struct leaf_set *many; /* LEAVES_MANY of them, or NULL: the few are used */
    struct leaf_set few[LEAVES_FEW];
};

static inline unsigned leaves_set(const struct leaves *leaves, uintptr_t pc, uintptr_t sp)
{
    uint64_t hash = (pc + sp) * 0x9e3779b97f4a7c15ull;
    return hash / (UINT64_MAX / (leaves->many ? LEAVES_MANY : LEAVES_FEW) + 1);
}

static inline struct leaf *leaves_of_set(struct leaves *leaves, unsigned set)
{
    return (leaves->many ? leaves->many : leaves->few)[set].leaf;
}

/* The site of the caller's stack and that kind, or 0: unknown, ask unwind and tree. */
uint32_t leaves_find(struct leaves *leaves, uintptr_t low, const struct frame *caller,
                     unsigned kind);
/* What they said. The trace is that of the caller. */
void leaves_keep(struct leaves *leaves, const struct unwind_trace *trace, unsigned kind,
                 uint32_t site);
/* Nothing that was kept holds any more. */
void leaves_forget(struct leaves *leaves);

#endif
