/* rows.h - the rows met so far, by return address: a lock-free, insert-only table.
 *
 * A slot is two words, key and row; the key is written last. When a module goes, the slots of its
 * range are given up before the range can be used again (rows_forget, called by modules), and may
 * then be taken by others: nobody can be reading a row of code that no longer exists.
 * The table has a fixed size and is dense enough in practice (131 to 11.9 k rows per program
 * against 64 k slots); when a probe finds no room the row is simply worked out each time.
 */
#ifndef PRELOAD_ROWS_H
#define PRELOAD_ROWS_H

#include "preload/atomic.h"
#include "preload/cfi.h"
#include "preload/guard.h"

#define ROWS_SLOTS (1u << 16)

struct rows_slot {
    uint64_t key; /* the pc; 0, 1, 2: no address (rows.c) */
    uint64_t row; /* rule (3), fp_offset (16), ra_offset (13: CFI_RA_LEAST to _MOST), offset (32) */
};

extern struct rows_slot *rows_slots HIDDEN;

bool rows_start(void);
/* cfi_other_at for a return address; not kept. */
int16_t rows_other(struct guard *guard, uintptr_t pc);
struct cfi_row rows_look(struct guard *guard, uintptr_t pc);

static inline uint64_t rows_home(uintptr_t pc)
{
    return hash_u64(pc) >> 16;
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
    const struct rows_slot *slot = &rows_slots[rows_home(pc) % ROWS_SLOTS];
    if (likely(load_acquire(&slot->key) == pc))
        return rows_unpack(slot->row);
    return rows_look(guard, pc);
}

void rows_forget(uintptr_t start, uintptr_t end);

#endif
