/* quarantine.h - delays frees: quarantine=BYTES.
 *
 * A queue of blocks that the program has freed but that are not yet passed to libc. While a block
 * is queued its memory is not reused: so a second free of it is certainly a double free, the stack
 * of the first free is known, and the second is not passed on. The oldest blocks leave the queue
 * when it has more bytes than the limit, or is full.
 *
 *     recording:  a quarantined block counts as freed; for libc it is still allocated
 *     fork:       the child has the same queue and the same heap
 *     realloc:    of a quarantined block proceeds, after the block left the queue; a block that
 *                 realloc has moved is not quarantined
 *     exit:       quarantined blocks are not freed
 *
 * Large blocks are not quarantined: they would displace all others, and a freed mapping is no root.
 */
#ifndef PRELOAD_HEAP_QUARANTINE_H
#define PRELOAD_HEAP_QUARANTINE_H

#include "preload/blocks/blocks.h"
#include "leak_store.h"

#define QUARANTINE_LARGEST (64u << 10)

/* A queued block, and who freed it. */
struct quarantined {
    void *pointer; /* as passed to free, tag bits included */
    struct block block;
    uintptr_t pc;
    uint32_t node, thread, tick, form;
};

/* bytes 0: off. False: no memory for the queue. */
bool quarantine_start(uint64_t bytes);
bool quarantine_is_on(void);
/* Puts a freed block into the queue. False: it was not taken, so the caller frees it now. */
bool quarantine_add(struct guard *guard, const struct quarantined *block);
/* Removes the oldest block if the queue exceeds its limits, for the real free; NULL: it does not.
 */
void *quarantine_pop_surplus(struct guard *guard);
/* Is the block at this address quarantined? take: removes it. */
bool quarantine_find(struct guard *guard, uintptr_t address, bool take, struct quarantined *out);

/* The recorded sum of bytes is right; the chains contain exactly the queued blocks. */
bool quarantine_check(void);

void quarantine_fork_child(void);

#endif
