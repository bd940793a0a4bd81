/* stack_fold.h - a stack of any depth in a small row: what repeats is told once, and counted.
 *
 * Frames come one by one, innermost first. When p frames (p up to FOLD_PERIOD) have come
 * FOLD_ROUNDS times in a row, all but the first round go, and its last frame says "these p come so
 * many times more"; as long as the same go on coming only that number grows. What the row has no
 * room for goes round in a ring, so that the outermost frames are there at the end:
 *
 *     depth = frames in the row + sum of period * times + left out + those of the ring
 *
 * Pure functions.
 */
#ifndef PRELOAD_BASE_STACK_FOLD_H
#define PRELOAD_BASE_STACK_FOLD_H

#include "preload/base/base.h"
#include "leak_store.h"

#define FOLD_PERIOD 16
#define FOLD_ROUNDS 4 /* two equal frames are often part of a longer round */

struct fold {
    struct leak_crash_frame *row; /* count of at most "most" are used */
    uint32_t most, count;
    uint64_t *ring;   /* LEAK_CRASH_OUTER of them */
    uint64_t in_ring; /* ever put there */
    uint64_t depth;
    uint32_t period, seen; /* being folded: so many of the next round have come; 0 = nothing is */
};

void fold_add(struct fold *fold, uint64_t pc);
/* Nothing more comes: the ring is put in order. How many it holds. */
uint32_t fold_end(struct fold *fold, uint64_t *left_out);

#endif
