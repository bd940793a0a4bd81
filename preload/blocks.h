/* blocks.h - the table of live blocks: address -> size, site, kind, thread, serial, time.
 *
 * What a program allocates together lies together, so the table keeps together what lies together:
 * the blocks of one region (2 KiB of addresses) stand side by side in one tray. The table proper
 * maps regions to trays: lock-striped, open addressing, linear probing, each stripe grown alone by
 * a quarter, 16 bytes a slot:
 *
 *     region: blocks in the tray (10), size class of the tray (6), number (48); the tray (64)
 *
 * A tray is a row of one-byte keys (which 8 bytes of the region) and a row of 20-byte entries, in
 * no order (trays.h):
 *
 *     size (48)   thread (16, low bits of its serial)   site (32)
 *     count (32, n-th allocation of its thread)   tick (24, saturating: 24 days)   kind (8)
 *
 * A block at an address that is no multiple of 8 is not kept. A region without blocks stays until
 * its stripe is full. In each stripe:
 *     used <= capacity * 7/8,   and every region is reachable from its home without passing a gap.
 */
#ifndef PRELOAD_BLOCKS_H
#define PRELOAD_BLOCKS_H

#include "preload/guard.h"

struct block {
    uintptr_t address;
    uint64_t size;
    uint32_t site;
    uint32_t tick;
    uint32_t count;
    uint16_t thread;
    uint8_t kind;
};

enum blocks_insert {
    BLOCKS_NEW,
    BLOCKS_REPLACED, /* *old stood where this block goes, or where an earlier one has gone by now */
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
