/* stack_fold.h - helpers for call stacks: compares saved stack words with the stack, and folds
 * recursion.
 *
 * Pure functions. */
#ifndef PRELOAD_UNWIND_STACK_FOLD_H
#define PRELOAD_UNWIND_STACK_FOLD_H

#include "preload/base/base.h"
#include "leak_store.h"

/* Two words, which most CPUs compare with one instruction. */
typedef uintptr_t stack_pair __attribute__((vector_size(2 * WORD), aligned(WORD), may_alias));

static inline stack_pair stack_pair_at(uintptr_t low, const uint32_t *offset)
{
    return (stack_pair){*(const uintptr_t *)(low + offset[0]),
                        *(const uintptr_t *)(low + offset[1])};
}

/* Says whether these words of a stack are unchanged. Word i was read at low + offset[i]; low is the
 * low end of the thread's stack. Shared traces and the stack cache depend on this comparison, so it
 * is written for speed: it compares four words with one branch, and begins with the innermost
 * words, which are the last, because stacks of one place differ there. */
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

/* Four words of a stack and where they were read, together in memory. If there are fewer words, the
 * last one, which is the innermost, is repeated. */
#define STACK_STEP_WORDS 4
struct stack_step {
    uint32_t offset[STACK_STEP_WORDS];
    uintptr_t word[STACK_STEP_WORDS];
} __attribute__((aligned(2 * WORD)));

/* Computes the differences between a step and the stack: all are 0 if no word has changed. */
static inline stack_pair stack_step_difference(uintptr_t low, const struct stack_step *step)
{
    typedef uintptr_t pair __attribute__((vector_size(2 * WORD), may_alias));
    const pair *word = (const pair *)step->word;
    return (stack_pair_at(low, step->offset) ^ word[0]) |
           (stack_pair_at(low, step->offset + 2) ^ word[1]);
}

/* Says whether the words of these steps are unchanged. It compares two steps, eight words, with one
 * branch, and the innermost step alone if their number is odd. */
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

/* ---- A stack of any depth in a small array --------------------------------------------------- */

#define STACK_FOLD_PERIOD 16
/* How often a group of frames must occur in succession before it is folded. More than two, because
 * two equal frames are often part of a longer group. */
#define STACK_FOLD_ROUNDS 4

/* A stack of any depth in an array (row) and a ring. Frames are added one by one, innermost first.
 * When p frames (p up to STACK_FOLD_PERIOD) have occurred STACK_FOLD_ROUNDS times in succession,
 * all rounds but the first are removed from the row, and the last frame of the first round says
 * "these p frames occur that many times more"; each further round only increments that number.
 * Frames for which the row has no room go into a ring buffer, so that the outermost ones are there
 * at the end:
 *
 *     depth = frames in the row + sum of period * times + left out + those in the ring */
struct stack_fold {
    struct leak_crash_frame *row; /* array with room for "most" frames, of which "count" are used */
    uint32_t most, count;
    uint64_t *ring;   /* the outermost frames so far: ring buffer of LEAK_CRASH_OUTER frames */
    uint64_t in_ring; /* number of frames that were ever put into the ring */
    uint64_t depth;
    uint32_t period; /* number of frames that the current repetition repeats; 0: there is none */
    uint32_t seen;   /* number of frames of the current round (repetition of these frames) so far */
};

void stack_fold_add(struct stack_fold *fold, uint64_t pc);
/* Sorts the ring, so that its frames are in order and continue the row. Returns how many frames the
 * ring holds; *left_out gets the number of frames between row and ring that were dropped. */
uint32_t stack_fold_finish(struct stack_fold *fold, uint64_t *left_out);

#endif
