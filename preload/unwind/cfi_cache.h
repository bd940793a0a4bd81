/* cfi_cache.h - finds the CFI row for a return address: a cache of the results of cfi_row_at.
 * Readers take no lock.
 *
 * Programs use 131 to 11,900 return addresses but only 85 to 175 different rows. So a slot of the
 * cache is one word: the address, and above it the number of its row. dlclose removes the slots of
 * a module's range before the range can be mapped again (cfi_cache_forget, called by modules);
 * later insertions may use them again, because no thread can look up a return address in code that
 * does not exist any more. A table that is half full is copied into one twice as large. The kernel
 * gets the memory of the old table back, but its addresses stay mapped and read as empty, because
 * another thread may still read it. An address that finds no free slot nearby replaces another one.
 * A row that cannot be cached (all 6144 numbers are used, no memory, lock taken, crash in progress)
 * is computed again at the next lookup. */
#ifndef PRELOAD_UNWIND_CFI_CACHE_H
#define PRELOAD_UNWIND_CFI_CACHE_H

#include "preload/base/base.h"
#include "preload/unwind/cfi.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#define CFI_CACHE_BITS_MIN 11
/* The largest table has 1 << 19 slots, 4 MiB, for 400,000 addresses; a process with PyTorch has
 * 66,000. */
#define CFI_CACHE_BITS_MAX 19

extern struct cfi_cache {
    /* The address of the slots. Its low bits contain 32 minus the logarithm of their number: a
     * 32-bit hash shifted by that is the index of a slot. 0: not started. */
    uintptr_t table;
    /* The different CFI rows, by their number (from 1). Bits of a row from the low end: rule 3,
     * fp_offset 16, ra_offset 13 (CFI_RA_LEAST to CFI_RA_MOST), offset 32. */
    uint64_t *rows;
} cfi_cache HIDDEN;

bool cfi_cache_start(void);
/* Does the work of cfi_other_at for a return address, without caching the result. */
int16_t cfi_cache_find_other(struct guard *guard, uintptr_t pc);
/* Finds the CFI row for pc when the first slot that pc may have contains another address: looks
 * into the next slots, or computes the row. */
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

/* Finds the CFI row for a return address. Inline, so that the compiler keeps the row in
 * registers. */
static inline struct cfi_row cfi_cache_find(struct guard *guard, uintptr_t pc)
{
    /* The two loads pair with store_release in grow_slot_table and cache_row. */
    uintptr_t table = load_acquire(&cfi_cache.table);
    uint64_t slot = load_acquire(&cfi_cache_slots(table)[cfi_cache_home(table, pc)]);
    if (likely((slot & LEAK_PC_MOST) == pc))
        return cfi_cache_unpack(cfi_cache.rows[slot >> LEAK_PC_BITS]);
    return cfi_cache_find_slow(guard, pc);
}

/* Removes the return addresses in (start, end], behind calls in an unloaded object at [start,
 * end). */
void cfi_cache_forget(uintptr_t start, uintptr_t end);

void cfi_cache_fork_child(void);

#endif
