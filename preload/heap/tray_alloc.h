/* tray_alloc.h - memory for trays: small arrays of block entries, in sizes a region of the heap
 * needs.
 *
 * A tray of capacity n is n bytes of keys, then n entries (so that 16 bytes may be read at any 16th
 * key that is used); its size class is all one must remember of it. Trays are carved from chunks of
 * the arena and live in free lists, one a class; chunks never go back. Chunks grow with what is
 * there (an eighth more, 64 to 256 KiB), already populated: one call to the kernel instead of a
 * fault a page.
 */
#ifndef PRELOAD_HEAP_TRAY_ALLOC_H
#define PRELOAD_HEAP_TRAY_ALLOC_H

#include "preload/base/base.h"

#define TRAYS_ENTRY 20
#define TRAYS_CLASSES 20

extern const uint16_t trays_capacity[TRAYS_CLASSES] HIDDEN;

/* Where the entries begin. */
static inline uint8_t *trays_entries(uint8_t *tray, unsigned size_class)
{
    return tray + ((trays_capacity[size_class] + 3u) & ~3u);
}

/* NULL when there is no memory. Any thread. */
uint8_t *trays_take(unsigned size_class);
void trays_give(uint8_t *tray, unsigned size_class);

void trays_fork_lock(void);
void trays_fork_unlock(void);
void trays_fork_child(void);

#endif
