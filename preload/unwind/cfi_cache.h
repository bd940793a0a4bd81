/* cfi_cache.h - which CFI row holds at a return address? A cache of cfi_row_at: readers take no
 * lock.
 *
 * Programs use 131 to 11.9 k return addresses but only 85 to 175 different rows, so a slot is one
 * word: the address, and above it the number of its row among the different rows. dlclose removes
 * the slots of a module's range before the range can be mapped again (cfi_cache_forget, called by
 * modules); later insertions may reuse them, because no thread can be looking up a return address
 * in code that no longer exists. A table that is half full is copied into one twice as large. The
 * old table's memory is returned but its addresses stay mapped and read as empty, since a reader
 * may still be in it. An address that finds no slot nearby displaces another one. A row that cannot
 * be cached (no number left of 6144, no memory, lock taken, crash in progress) is computed again by
 * the next lookup.
 */
#ifndef PRELOAD_UNWIND_CFI_CACHE_H
#define PRELOAD_UNWIND_CFI_CACHE_H

#include "preload/base/base.h"
#include "preload/unwind/cfi.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#define CFI_CACHE_BITS_MIN 11
#define CFI_CACHE_BITS_MAX 19 /* 4 MiB: 400,000 addresses; torch has 66,000 */

extern struct cfi_cache {
    /* The address of the slots; in its low bits 32 - log2 of their number, by which a 32-bit hash
     * is shifted to get a slot's index. 0: not started. */
    uintptr_t table;
    /* Rows, indexed by their number: rule (3), fp_offset (16), ra_offset (13: CFI_RA_LEAST to
     * _MOST), offset (32). */
    uint64_t *rows;
} cfi_cache HIDDEN;

bool cfi_cache_start(void);
/* Answers like cfi_other_at for a return address, which is not cached. */
int16_t cfi_cache_find_other(struct guard *guard, uintptr_t pc);
/* Finds the row when the home slot has another address: probes the other slots, or computes the
 * row. */
struct cfi_row cfi_cache_find_slow(struct guard *guard, uintptr_t pc);

static inline uint64_t *cfi_cache_slots(uintptr_t table)
{
    return (uint64_t *)(table & -(uintptr_t)LEAK_PAGE);
}

static inline uint32_t cfi_cache_home(uintptr_t table, uintptr_t pc)
{
    return (uint32_t)(hash_u64(pc) >> 16) >> (table % 32);
}

static inline struct cfi_row cfi_cache_unpack(uint64_t word)
{
    return (struct cfi_row){.rule = word & 7,
                            .fp_offset = (int16_t)(word >> 3),
                            .ra_offset = (int16_t)(word >> 16) >> 3,
                            .offset = (int32_t)(word >> 32)};
}

/* The row for a return address. Inline, so that the compiler keeps the row in registers. */
static inline struct cfi_row cfi_cache_find(struct guard *guard, uintptr_t pc)
{
    /* The acquires pair with the releases in grow_slot_table and cache_row. */
    uintptr_t table = load_acquire(&cfi_cache.table);
    uint64_t slot = load_acquire(&cfi_cache_slots(table)[cfi_cache_home(table, pc)]);
    if (likely((slot & LEAK_PC_MOST) == pc))
        return cfi_cache_unpack(cfi_cache.rows[slot >> LEAK_PC_BITS]);
    return cfi_cache_find_slow(guard, pc);
}

/* Removes the rows of the addresses in (start, end]. */
void cfi_cache_forget(uintptr_t start, uintptr_t end);

void cfi_cache_fork_child(void);

#endif
