#include "preload/leaves.h"
#include "preload/modules.h"

#define WINDOW 256
#define SLEEP 4096

static unsigned set_of(uintptr_t pc, uintptr_t sp)
{
    return hash_u64(pc + sp) % LEAVES_SETS;
}

static inline bool holds(const struct leaf *leaf, const struct frame *caller)
{
    const uint32_t *offset = leaf->offset, *end = offset + leaf->words;
    const uintptr_t *word = leaf->word;
    uintptr_t differs = leaf->fp_matters ? leaf->fp ^ caller->fp : 0;
#define COMPARE(i) differs |= word[i] ^ *(const uintptr_t *)(caller->sp + offset[i])
    for (; offset < end; offset += LEAVES_STEP, word += LEAVES_STEP) {
        COMPARE(0);
        COMPARE(1);
        COMPARE(2);
        COMPARE(3);
    }
#undef COMPARE
    return !differs;
}

/* At the end of a window: is it worth the while? */
static NOINLINE void take_stock(struct leaves *leaves)
{
    if (leaves->hits * 4 < leaves->lookups)
        leaves->asleep = SLEEP;
    leaves->lookups = leaves->hits = 0;
}

uint32_t leaves_find(struct leaves *leaves, const struct frame *caller, unsigned kind)
{
    if (leaves->asleep) {
        leaves->asleep--;
        return 0;
    }
    unsigned set = set_of(caller->pc, caller->sp);
    uint32_t looked = modules_looked();
    if (unlikely(++leaves->lookups == WINDOW))
        take_stock(leaves);
    for (unsigned way = 0; way < LEAVES_WAYS; way++) {
        const struct leaf *leaf = &leaves->leaf[set][way];
        if (leaf->pc == caller->pc && leaf->sp == caller->sp && leaf->kind == kind &&
            leaf->looked == looked && leaf->site && holds(leaf, caller)) {
            leaves->newest[set] = way;
            leaves->hits++;
            return leaf->site;
        }
    }
    return 0;
}

static bool add(struct leaf *leaf, const uintptr_t *slot, uintptr_t value)
{
    uintptr_t offset = (uintptr_t)slot - leaf->sp;
    if (leaf->words == LEAVES_WORDS || offset > UINT32_MAX)
        return false;
    leaf->offset[leaf->words] = offset;
    leaf->word[leaf->words++] = value;
    return true;
}

/* Every word that led from the innermost frame to the outermost. False: not all can be checked. */
static bool copy_words(struct leaf *leaf, const struct unwind_trace *trace)
{
    for (unsigned i = trace->depth - 1; i > 0; i--) {
        const struct unwind_step *step = &trace->step[i], *caller = step - 1;
        if (!step->pc_slot || !add(leaf, step->pc_slot, caller->pc) ||
            (step->sp_slot && !add(leaf, step->sp_slot, caller->sp)) ||
            (step->fp_slot && caller->fp_matters && !add(leaf, step->fp_slot, caller->fp)))
            return false;
    }
    while (leaf->words % LEAVES_STEP) {
        leaf->offset[leaf->words] = leaf->offset[leaf->words - 1];
        leaf->word[leaf->words] = leaf->word[leaf->words - 1];
        leaf->words++;
    }
    return true;
}

void leaves_keep(struct leaves *leaves, const struct unwind_trace *trace, unsigned kind,
                 uint32_t site)
{
    if (leaves->asleep || !trace->serves || !trace->depth)
        return;
    const struct unwind_step *inner = &trace->step[trace->depth - 1];
    unsigned set = set_of(inner->pc, inner->sp), way = !leaves->newest[set];
    struct leaf *leaf = &leaves->leaf[set][way];
    leaf->site = 0; /* a handler may come in between and find it half made */
    __asm__ volatile("" ::: "memory");
    leaf->pc = inner->pc;
    leaf->sp = inner->sp;
    leaf->fp = inner->fp;
    leaf->fp_matters = inner->fp_matters;
    leaf->looked = trace->looked;
    leaf->kind = kind;
    leaf->words = 0;
    if (!copy_words(leaf, trace))
        return;
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
