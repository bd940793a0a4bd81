#include "preload/leaves.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/modules.h"

#define WINDOW 256
#define SLEEP 4096

static uint32_t threads_with_many;

/* A thread's memory serves the next thread, so it is never given back. */
static bool grow(struct leaves *leaves)
{
    if (leaves->many)
        return false;
    if (add_relaxed(&threads_with_many, 1) < LEAVES_MANY_THREADS)
        leaves->many = arena_map(LEAVES_MANY * sizeof *leaves->many);
    if (!leaves->many)
        sub_relaxed(&threads_with_many, 1);
    else
        leaves->missed = 0; /* it is given time to fill */
    return leaves->many;
}

/* At the end of a window: are they enough, is it worth the while? */
static NOINLINE void take_stock(struct leaves *leaves)
{
    if (leaves->hits * 16 < leaves->lookups * 15)
        leaves->missed += leaves->lookups - leaves->hits;
    bool long_enough = leaves->missed > 4 * LEAVES_FEW * LEAVES_WAYS;
    if (long_enough && !grow(leaves) && leaves->hits * 4 < leaves->lookups)
        leaves->asleep = SLEEP;
    leaves->lookups = leaves->hits = 0;
}

uint32_t leaves_find(struct leaves *leaves, uintptr_t low, const struct frame *caller,
                     unsigned kind)
{
    if (leaves->asleep) {
        leaves->asleep--;
        return 0;
    }
    unsigned set = leaves_set(leaves, caller->pc, caller->sp);
    const struct leaf *both = leaves_of_set(leaves, set);
    uint32_t looked = modules_looked();
    leaves->lookups++;
    for (unsigned i = 0, newest = leaves->newest[set]; i < LEAVES_WAYS; i++) {
        unsigned way = i ^ newest; /* no jump depends on which of the two it is */
        const struct leaf *leaf = &both[way];
        if (leaf->pc == caller->pc && leaf->sp == caller->sp && leaf->kind == kind &&
            leaf->looked == looked && leaf->site && (!leaf->fp_matters || leaf->fp == caller->fp) &&
            words_hold(low, leaf->offset, leaf->word, leaf->words)) {
            leaves->newest[set] = way;
            leaves->hits++;
            return leaf->site;
        }
    }
    if (unlikely(leaves->lookups >= WINDOW))
        take_stock(leaves);
    return 0;
}

void leaves_keep(struct leaves *leaves, const struct unwind_trace *trace, unsigned kind,
                 uint32_t site)
{
    if (leaves->asleep || !trace->serves || !trace->depth)
        return;
    const struct unwind_step *inner = &trace->step[trace->depth - 1];
    if (!inner->in_words || inner->words > LEAVES_WORDS)
        return;
    unsigned set = leaves_set(leaves, inner->pc, inner->sp), way = !leaves->newest[set];
    struct leaf *leaf = &leaves_of_set(leaves, set)[way];
    leaf->site = 0; /* a handler may come in between and find it half made */
    __asm__ volatile("" ::: "memory");
    leaf->pc = inner->pc;
    leaf->sp = inner->sp;
    leaf->fp = inner->fp;
    leaf->fp_matters = inner->fp_matters;
    leaf->looked = trace->looked;
    leaf->kind = kind;
    leaf->words = inner->words;
    memcpy(leaf->offset, trace->offset, inner->words * sizeof *leaf->offset);
    memcpy(leaf->word, trace->word, inner->words * sizeof *leaf->word);
    __asm__ volatile("" ::: "memory");
    leaf->site = site;
    leaves->newest[set] = way;
}

void leaves_forget(struct leaves *leaves)
{
    for (unsigned set = 0; set < (leaves->many ? LEAVES_MANY : LEAVES_FEW); set++)
        for (unsigned way = 0; way < LEAVES_WAYS; way++)
            leaves_of_set(leaves, set)[way].site = 0;
    leaves->lookups = leaves->hits = leaves->asleep = leaves->missed = 0;
}
