#include "preload/unwind/stack_fold.h"

/* Says whether the last STACK_FOLD_ROUNDS * period frames are STACK_FOLD_ROUNDS equal groups of
 * period frames, and none of them is part of an earlier repetition. */
static bool has_period(const struct stack_fold *fold, uint32_t period)
{
    uint32_t all = STACK_FOLD_ROUNDS * period;
    if (fold->count < all)
        return false;
    const struct leak_crash_frame *first = fold->row + fold->count - all;
    for (uint32_t i = all; i--;)
        if (first[i].times || (i >= period && first[i].pc != first[i - period].pc))
            return false;
    return true;
}

static void find_period(struct stack_fold *fold)
{
    for (uint32_t period = 1; period <= STACK_FOLD_PERIOD; period++) {
        if (!has_period(fold, period))
            continue;
        fold->count -= (STACK_FOLD_ROUNDS - 1) * period;
        fold->row[fold->count - 1].period = period;
        fold->row[fold->count - 1].times = STACK_FOLD_ROUNDS - 1;
        fold->period = period;
        fold->seen = 0;
        return;
    }
}

static void put_unfolded(struct stack_fold *fold, uint64_t pc)
{
    if (fold->count == fold->most) {
        fold->ring[fold->in_ring++ % LEAK_CRASH_OUTER] = pc;
        return;
    }
    fold->row[fold->count++] = (struct leak_crash_frame){.pc = pc};
    find_period(fold);
}

static void take_frame(struct stack_fold *fold, uint64_t pc);

/* Ends a repetition whose current round differs: adds the frames of this round again, one by
 * one. */
static void undo_round(struct stack_fold *fold)
{
    uint64_t partial[STACK_FOLD_PERIOD];
    uint32_t seen = fold->seen;
    for (uint32_t i = 0; i < seen; i++)
        partial[i] = fold->row[fold->count - fold->period + i].pc;
    fold->period = fold->seen = 0;
    for (uint32_t i = 0; i < seen; i++)
        take_frame(fold, partial[i]); /* recursion with fewer frames each time, so it ends */
}

static void take_frame(struct stack_fold *fold, uint64_t pc)
{
    if (!fold->period || fold->row[fold->count - fold->period + fold->seen].pc != pc) {
        if (fold->period)
            undo_round(fold);
        put_unfolded(fold, pc);
        return;
    }
    if (++fold->seen < fold->period)
        return;
    uint32_t *times = &fold->row[fold->count - 1].times;
    *times += *times < UINT32_MAX;
    fold->seen = 0;
}

void stack_fold_add(struct stack_fold *fold, uint64_t pc)
{
    fold->depth++;
    take_frame(fold, pc);
}

static void reverse_words(uint64_t *at, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        uint64_t kept = at[i];
        at[i] = at[count - 1 - i];
        at[count - 1 - i] = kept;
    }
}

uint32_t stack_fold_finish(struct stack_fold *fold, uint64_t *left_out)
{
    if (fold->period)
        undo_round(fold);
    uint64_t kept = fold->in_ring < LEAK_CRASH_OUTER ? fold->in_ring : LEAK_CRASH_OUTER;
    uint64_t first = fold->in_ring > LEAK_CRASH_OUTER ? fold->in_ring % LEAK_CRASH_OUTER : 0;
    /* Moves the oldest frame of the ring to its front: reverses both parts, then the whole. */
    reverse_words(fold->ring, first);
    reverse_words(fold->ring + first, kept - first);
    reverse_words(fold->ring, kept);
    *left_out = fold->in_ring - kept;
    return kept;
}
