#include "preload/base/stack_fold.h"

/* Are the last "period" frames those before them, and these … as often as it takes to be worth it?
 * None of them was folded before. */
static bool same(const struct fold *fold, uint32_t period)
{
    uint32_t all = FOLD_ROUNDS * period;
    if (fold->count < all)
        return false;
    const struct leak_crash_frame *first = fold->row + fold->count - all;
    for (uint32_t i = all; i--;)
        if (first[i].times || (i >= period && first[i].pc != first[i - period].pc))
            return false;
    return true;
}

static void find_period(struct fold *fold)
{
    for (uint32_t period = 1; period <= FOLD_PERIOD; period++) {
        if (!same(fold, period))
            continue;
        fold->count -= (FOLD_ROUNDS - 1) * period;
        fold->row[fold->count - 1].period = period;
        fold->row[fold->count - 1].times = FOLD_ROUNDS - 1;
        fold->period = period;
        fold->seen = 0;
        return;
    }
}

static void put(struct fold *fold, uint64_t pc)
{
    if (fold->count == fold->most) {
        fold->ring[fold->in_ring++ % LEAK_CRASH_OUTER] = pc;
        return;
    }
    fold->row[fold->count++] = (struct leak_crash_frame){.pc = pc};
    find_period(fold);
}

static void take(struct fold *fold, uint64_t pc);

/* The round that was begun is not the same to its end: its frames are others. */
static void unfold(struct fold *fold)
{
    uint64_t begun[FOLD_PERIOD];
    uint32_t seen = fold->seen;
    for (uint32_t i = 0; i < seen; i++)
        begun[i] = fold->row[fold->count - fold->period + i].pc;
    fold->period = fold->seen = 0;
    for (uint32_t i = 0; i < seen; i++)
        take(fold, begun[i]); /* fewer than before: this ends */
}

static void take(struct fold *fold, uint64_t pc)
{
    if (!fold->period || fold->row[fold->count - fold->period + fold->seen].pc != pc) {
        if (fold->period)
            unfold(fold);
        put(fold, pc);
        return;
    }
    if (++fold->seen < fold->period)
        return;
    uint32_t *times = &fold->row[fold->count - 1].times;
    *times += *times < UINT32_MAX;
    fold->seen = 0;
}

void fold_add(struct fold *fold, uint64_t pc)
{
    fold->depth++;
    take(fold, pc);
}

static void reverse(uint64_t *at, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        uint64_t kept = at[i];
        at[i] = at[count - 1 - i];
        at[count - 1 - i] = kept;
    }
}

uint32_t fold_end(struct fold *fold, uint64_t *left_out)
{
    if (fold->period)
        unfold(fold);
    uint64_t kept = fold->in_ring < LEAK_CRASH_OUTER ? fold->in_ring : LEAK_CRASH_OUTER;
    uint64_t first = fold->in_ring > LEAK_CRASH_OUTER ? fold->in_ring % LEAK_CRASH_OUTER : 0;
    /* The oldest to the front: both parts turned round, then the whole. */
    reverse(fold->ring, first);
    reverse(fold->ring + first, kept - first);
    reverse(fold->ring, kept);
    *left_out = fold->in_ring - kept;
    return kept;
}
