#include "preload/leaves.h"
#include "preload/modules.h"

#define WINDOW 256
#define SLEEP 4096

/* At the end of a window: is it worth the while? */
static NOINLINE void take_stock(struct leaves *leaves)
{
    if (leaves->hits * 4 < leaves->lookups)
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
    unsigned set = leaves_set(caller->pc, caller->sp);
    uint32_t looked = modules_looked();
    if (unlikely(++leaves->lookups == WINDOW))
        take_stock(leaves);
    for (unsigned way = 0; way < LEAVES_WAYS; way++) {
        const struct leaf *leaf = &leaves->leaf[set][way];
        if (leaf->pc == caller->pc && leaf->sp == caller->sp && leaf->kind == kind &&
            leaf->looked == looked && leaf->site && (!leaf->fp_matters || leaf->fp == caller->fp) &&
            words_hold(low, leaf->offset, leaf->word, leaf->words)) {
            leaves->newest[set] = way;
            leaves->hits++;
            return leaf->site;
        }
    }
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
    unsigned set = leaves_set(inner->pc, inner->sp), way = !leaves->newest[set];
    struct leaf *leaf = &leaves->leaf[set][way];
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
    for (unsigned set = 0; set < LEAVES_SETS; set++)
        for (unsigned way = 0; way < LEAVES_WAYS; way++)
            leaves->leaf[set][way].site = 0;
    leaves->lookups = leaves->hits = leaves->asleep = 0;
}
