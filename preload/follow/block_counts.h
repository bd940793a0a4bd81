/* block_counts.h - finds the reference counter of a followed block, and the code that counts
 * references. When a block is lost because a reference was not given back, no pointer tells which
 * code took that reference.
 *
 * At each use of the block that block_uses.h sees, each 32-bit word of the block's first 24 bytes
 * is checked: has it changed by one? A word that never changes by more than one may be a reference
 * counter. For such a word every call stack that counted up or down is recorded, with the number of
 * times (struct leak_counters).
 */
#ifndef PRELOAD_FOLLOW_BLOCK_COUNTS_H
#define PRELOAD_FOLLOW_BLOCK_COUNTS_H

#include "preload/base/base.h"
#include "leak_store.h"

/* The tables in the recording file that get the counts. */
struct counts_table {
    struct leak_counter *words;
    unsigned word_count;
    struct leak_counting *countings; /* LEAK_COUNTINGS_MOST records */
};

/* Creates the records in the recording file. */
void block_counts_start(void);
/* Uses records that the recording file has already, instead of creating them. */
void block_counts_start_in(struct counts_table table);

/* Begins to watch the block's 32-bit words. bytes: size of the part at the start of the block that
 * is watched. */
void block_counts_begin(uintptr_t block, uint64_t bytes);

/* Records the watched 32-bit words of the block that have changed since the last call. frames: call
 * stack of the instruction that may have changed them, innermost frame first. Not reentrant: one
 * thread at a time. */
void block_counts_note(uintptr_t block, const uint64_t *frames, unsigned count);

#endif
