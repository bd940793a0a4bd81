/* blocks.h - the table of live blocks: address -> size, site, kind, thread, serial, time.
 *
 * Lock-striped, open addressing, linear probing, backward-shift deletion. Memory from mmap only;
 * each stripe grows alone by a quarter, so nobody ever waits for the whole table. An entry is 24
 * bytes:
 *
 *     word 0   address (48)             thread (16, low bits of its serial)
 *     word 1   size (36)   kind (4)     tick (24, saturating: 24 days)
 *     word 2   site (32)                count (32, n-th allocation of its thread)
 *
 * A size that does not fit in 36 bits stands in a small side table. In each stripe:
 *     used <= capacity * 7/8,   and every entry is reachable from its home without passing a gap.
 */
#ifndef PRELOAD_BLOCKS_H
#define PRELOAD_BLOCKS_H

#include "preload/guard.h"

struct block {
    uintptr_t address;
    uint64_t size;
    uint32_t site;
    uint32_t count;
    uint32_t tick;
    uint16_t thread;
    uint8_t kind;
};

enum blocks_insert {
    BLOCKS_NEW,
    BLOCKS_REPLACED, /* the address was there: *old is what stood there */
    BLOCKS_NO_MEMORY
};

bool blocks_start(void);
enum blocks_insert blocks_insert(struct guard *guard, const struct block *block, struct block *old);
/* Removes the block at an address; false when there is none. */
bool blocks_remove(struct guard *guard, uintptr_t address, struct block *out);
/* Gets the cache line on its way while the caller does something else. */
void blocks_prefetch(uintptr_t address);

uint64_t blocks_count(void);
/* Calls visit for every block; the table must not change meanwhile. */
void blocks_each(void (*visit)(const struct block *block, void *context), void *context);
/* The invariants above. */
bool blocks_check(void);

void blocks_fork_lock(void);
void blocks_fork_unlock(void);
void blocks_fork_child(void);

#endif
