/* block_counts.h - who counts the references to a block? Of a block that is lost because one of them
 * was not given back, no pointer tells who took it.
 *
 * Each use of the block's first words (block_uses.h) is a question: has one of them changed by one? A
 * word that never changes otherwise may be a counter, and each place that counted it up or down is
 * kept, with how often it did so (struct leak_counters).
 */
#ifndef PRELOAD_FOLLOW_BLOCK_COUNTS_H
#define PRELOAD_FOLLOW_BLOCK_COUNTS_H

#include "preload/base/base.h"

/* Creates the records. */
void block_counts_start(void);

/* Begins to watch the words of a block. bytes: how many of its bytes are looked at. */
void block_counts_begin(uintptr_t block, uint64_t bytes);

/* The call stack, innermost frame first, of an instruction that may have changed a word. One thread
 * at a time. */
void block_counts_note(uintptr_t block, const uint64_t *frames, unsigned count);

#endif
