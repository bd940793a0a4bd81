/* stack_fold.h - two helpers for call stacks: comparing saved stack words, and folding recursion.
 *
 * Pure functions.
 */
#ifndef PRELOAD_UNWIND_STACK_FOLD_H
#define PRELOAD_UNWIND_STACK_FOLD_H

#include "preload/base/base.h"
#include "leak_store.h"

/* Two words, which most CPUs compare at once. */
typedef uintptr_t stack_pair __attribute__((vector_size(2 * WORD), aligned(WORD), may_alias));

static inline stack_pair stack_pair_at(uintptr_t low, const uint32_t *offset)
{
    return (stack_pair){*(const uintptr_t *)(low + offset[0]),
                        *(const uintptr_t *)(low + offset[1])};
}

/* Says whether these words of a stack are unchanged. Word i was read at low + offset[i]; low is the
 * low end of the thread's stack. Shared traces and the stack cache depend on this comparison, so it
 * is written for speed: four words a step, one branch a step, and the innermost words, which are
 * the last, are compared first, because stacks of one place differ there. */
static inline bool stack_words_match(uintptr_t low, const uint32_t *offset, const uintptr_t *word,
                                     unsigned count)
{
    offset += count;
    word += count;
    for (; count >= 4; count -= 4) {
        offset -= 4;
        word -= 4;
        stack_pair differs = stack_pair_at(low, offset) ^ *(const stack_pair *)word;
        differs |= stack_pair_at(low, offset + 2) ^ *(const stack_pair *)(word + 2);
        if (differs[0] | differs[1])
            return false;
    }
    uintptr_t differs = 0;
    while (count--)
        differs |= *--word ^ *(const uintptr_t *)(low + *--offset);
    return !differs;
}

/* ---- A stack of any depth in a small row ---------------------------------------------------- */

#define STACK_FOLD_PERIOD 16
#define STACK_FOLD_ROUNDS 4 /* two equal frames are often part of a longer period */

/* Frames are added one by one, innermost first. When p frames (p up to STACK_FOLD_PERIOD) have
 * occurred STACK_FOLD_ROUNDS times in succession, all rounds but the first are removed from the
 * row, and the last frame of the first round says "these p frames occur that many times more"; each
 * further round only increments that number. Frames for which the row has no room go into a ring
 * buffer, so that the outermost ones are there at the end:
 *
 *     depth = frames in the row + sum of period * times + left out + those in the ring */
struct stack_fold {
    struct leak_crash_frame *row; /* "count" frames of room for "most" */
    uint32_t most, count;
    uint64_t *ring;   /* LEAK_CRASH_OUTER of them */
    uint64_t in_ring; /* how many were ever put there */
    uint64_t depth;
    uint32_t period; /* of the current repetition, 0 = none */
    uint32_t seen;   /* how many frames of the next round have been added */
};

void stack_fold_add(struct stack_fold *fold, uint64_t pc);
/* Puts the ring into order after the last frame. Returns how many frames it holds. */
uint32_t stack_fold_finish(struct stack_fold *fold, uint64_t *left_out);

#endif
