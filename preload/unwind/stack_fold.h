/* stack_fold.h - helpers for call stacks: comparing saved stack words, and folding recursion.
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

/* Four words of a stack and where they were read, as one piece of memory. A step of fewer words repeats
 * its last one, the innermost. */
#define STACK_STEP_WORDS 4
struct stack_step {
    uint32_t offset[STACK_STEP_WORDS];
    uintptr_t word[STACK_STEP_WORDS];
} __attribute__((aligned(2 * WORD)));

/* Not all zero if a word of the step has changed. */
static inline stack_pair stack_step_difference(uintptr_t low, const struct stack_step *step)
{
    typedef uintptr_t pair __attribute__((vector_size(2 * WORD), may_alias));
    const pair *word = (const pair *)step->word;
    return (stack_pair_at(low, step->offset) ^ word[0]) |
           (stack_pair_at(low, step->offset + 2) ^ word[1]);
}

/* stack_words_match for steps: eight words for each branch, and the innermost step alone if there is an
 * odd one. */
static inline bool stack_steps_match(uintptr_t low, const struct stack_step *step, unsigned count)
{
    const struct stack_step *at = step + count;
    if (count % 2) {
        stack_pair differs = stack_step_difference(low, --at);
        if (differs[0] | differs[1])
            return false;
    }
    while (at != step) {
        at -= 2;
        stack_pair differs = stack_step_difference(low, at) | stack_step_difference(low, at + 1);
        if (differs[0] | differs[1])
            return false;
    }
    return true;
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
