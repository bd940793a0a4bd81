/* quarantine.h - delays frees (option quarantine=BYTES).
 *
 * Blocks that the program has freed wait in a queue before they are passed to libc's free. While a
 * block is queued its memory is not reused: so a second free of it is certainly a double free, the
 * stack of the first free is known, and the second free is not passed on. The oldest blocks leave
 * the queue when they exceed BYTES together, or when all places of the queue are used.
 *
 *     recording:  a quarantined block counts as freed; for libc it is still allocated
 *     fork:       the child has the same queue and the same heap
 *     realloc:    of a quarantined block removes the block from the queue and goes on; a block that
 *                 realloc has moved is not quarantined
 *     exit:       quarantined blocks are not freed
 *
 * Large blocks are not quarantined: they would displace all others.
 */
#ifndef PRELOAD_HEAP_QUARANTINE_H
#define PRELOAD_HEAP_QUARANTINE_H

#include "preload/blocks/blocks.h"
#include "leak_store.h"

#define QUARANTINE_LARGEST (64u << 10)

/* A queued block, and the free that has put it into the queue. */
struct quarantined {
    void *pointer; /* the pointer that the program passed to free, tag bits (MTE) included */
    struct block block;
    uintptr_t pc;
    uint32_t node, thread, tick, form;
};

/* Starts the quarantine. bytes: the largest sum of the queued blocks' bytes; 0: nothing is
 * quarantined. False: no memory for the queue. */
bool quarantine_start(uint64_t bytes);
bool quarantine_is_on(void);
/* Puts a freed block into the queue. False: the block is too large or the queue is full, and
 * the caller frees it now. */
bool quarantine_add(struct guard *guard, const struct quarantined *block);
/* Removes the oldest block if the queue exceeds its limits, and returns it for the real free. NULL:
 * the queue is within its limits. */
void *quarantine_pop_surplus(struct guard *guard);
/* Says whether the block at this address is in the queue, and copies its entry to *out. take: also
 * removes the block from the queue. */
bool quarantine_find(struct guard *guard, uintptr_t address, bool take, struct quarantined *out);

/* Checks that the stored sum of the queued blocks' bytes is right and that the chains contain
 * exactly the queued blocks. */
bool quarantine_check(void);

void quarantine_fork_child(void);

#endif
