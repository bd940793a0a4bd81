/* cfi_cache.h - the rows met so far, by return address: an insert-only table that readers walk
 * without a lock.
 *
 * Rows are many and nearly all alike, so a slot is one word: the address, and above it the number
 * of its row among the different ones. When a module goes, the slots of its range are given up
 * before the range can be used again (rows_forget, called by modules), and may then be taken by
 * others: nobody can be reading a row of code that no longer exists. A table that is half full is
 * outgrown: its slots are copied into one twice as large, and its memory goes back. It stays
 * mapped, since a reader may still be in it, and reads as empty. Programs have 131 to 11.9 k rows,
 * 85 to 175 different ones. Where there is no room (or no number: there are 6144), no memory,
 * somebody else at it, or a crash to tell of, a row is simply worked out again the next time.
 */
#ifndef PRELOAD_UNWIND_CFI_CACHE_H
#define PRELOAD_UNWIND_CFI_CACHE_H

#include "preload/base/base.h"
#include "preload/unwind/cfi.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#define ROWS_LEAST_BITS 11
#define ROWS_MOST_BITS 16

/* The address of the slots, and below it the bits of a hash that say nothing of the place: of so
 * many more there are slots. 0: not started. */
extern uintptr_t rows_table HIDDEN;
/* By number: rule (3), fp_offset (16), ra_offset (13: CFI_RA_LEAST to _MOST), offset (32). */
extern uint64_t *rows_different HIDDEN;

bool rows_start(void);
/* cfi_other_at for a return address; not kept. */
int16_t rows_other(struct guard *guard, uintptr_t pc);
struct cfi_row rows_look(struct guard *guard, uintptr_t pc);

static inline uint64_t *rows_slots(uintptr_t table)
{
    return (uint64_t *)(table & -LEAK_PAGE);
}

static inline uint32_t rows_home(uintptr_t table, uintptr_t pc)
{
    return (uint32_t)(hash_u64(pc) >> 16) >> (table % 32);
}

static inline struct cfi_row rows_unpack(uint64_t word)
{
    return (struct cfi_row){.rule = word & 7,
                            .fp_offset = (int16_t)(word >> 3),
                            .ra_offset = (int16_t)(word >> 16) >> 3,
                            .offset = (int32_t)(word >> 32)};
}

/* The row for a return address. In the header, so that it goes straight into registers. */
static inline struct cfi_row rows_get(struct guard *guard, uintptr_t pc)
{
    uintptr_t table = load_acquire(&rows_table); /* pairs with the release in grow */
    uint64_t slot = load_acquire(&rows_slots(table)[rows_home(table, pc)]); /* with that in keep */
    if (likely((slot & LEAK_PC_MOST) == pc))
        return rows_unpack(rows_different[slot >> LEAK_PC_BITS]);
    return rows_look(guard, pc);
}

void rows_forget(uintptr_t start, uintptr_t end);

void rows_fork_lock(void);
void rows_fork_unlock(void);
void rows_fork_child(void);

#endif
