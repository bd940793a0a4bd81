#include "preload/rows.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/modules.h"
#include "preload/sys.h"
#include "arch.h"

#include <sys/auxv.h>

#define SLOTS (1u << 16)
#define PROBES 8

/* Keys that are no address. A lookup stops at an empty slot and passes the other two. */
enum { EMPTY, BEING_FILLED, GIVEN_UP };

/* row: rule (3), fp_offset (16), ra_offset (13), offset (32). */
struct slot {
    uint64_t key, row;
};

static struct slot *slots;

bool rows_start(void)
{
    slots = arena_map(SLOTS * sizeof *slots);
    return slots != NULL;
}

static uint64_t pack(struct cfi_row row)
{
    return row.rule | (uint64_t)(uint16_t)row.fp_offset << 3 |
           (uint64_t)(row.ra_offset & 0x1fff) << 19 | (uint64_t)(uint32_t)row.offset << 32;
}

static struct cfi_row unpack(uint64_t word)
{
    return (struct cfi_row){.rule = word & 7,
                            .fp_offset = (int16_t)(word >> 3),
                            .ra_offset = (int16_t)(word >> 16) >> 3,
                            .offset = (int32_t)(word >> 32)};
}

/* Where there is no table the code itself may be known: what it does from pc on to its return. */
static struct cfi_row row_of_code(uintptr_t pc)
{
    uint8_t code[ARCH_DTORS_SIZE];
    if (!sys_peek(pc, code, sizeof code) || !arch_is_dtors(code))
        return (struct cfi_row){.rule = CFI_NONE};
    return (struct cfi_row){CFI_SP, ARCH_DTORS_FP, ARCH_DTORS_RA, ARCH_DTORS_CFA};
}

static NOINLINE struct cfi_row work_out(struct guard *guard, uintptr_t pc)
{
    struct module_view module;
    if (!modules_find(guard, pc - 1, &module))
        return (struct cfi_row){.rule = CFI_NONE};
    struct cfi_row row = cfi_row_at(module.eh_frame_hdr, pc - 1);
    /* The loader's entry is assembly without a table, and the outermost frame of every constructor.
     */
    if (row.rule == CFI_NONE && module.start == getauxval(AT_BASE))
        row.rule = CFI_END;
    /* Nothing before pc, and a function that begins right there: it was entered by a return, as the
     * outermost frame of a fibre is (__start_context). */
    if (row.rule == CFI_NONE && cfi_row_at(module.eh_frame_hdr, pc).rule != CFI_NONE)
        row.rule = CFI_END;
    if (row.rule == CFI_NONE)
        row = row_of_code(pc);
    if (row.ra_offset < -4096 || row.ra_offset > 4095)
        row.rule = CFI_COMPLEX;
    return row;
}

struct cfi_row rows_get(struct guard *guard, uintptr_t pc)
{
    struct slot *room = NULL;
    uint64_t at = hash_u64(pc) >> 16;
    for (unsigned probe = 0; slots && probe < PROBES; probe++, at++) {
        struct slot *slot = &slots[at % SLOTS];
        uint64_t key = load_acquire(&slot->key);
        if (likely(key == pc))
            return unpack(slot->row);
        if (!room && (key == EMPTY || key == GIVEN_UP))
            room = slot;
        if (key == EMPTY)
            break;
    }
    struct cfi_row row = work_out(guard, pc);
    uint64_t seen = room ? load_relaxed(&room->key) : BEING_FILLED;
    if ((seen == EMPTY || seen == GIVEN_UP) && cas_acquire(&room->key, &seen, BEING_FILLED)) {
        store_relaxed(&room->row, pack(row));
        store_release(&room->key, pc); /* pairs with the acquire above */
    }
    return row;
}

int16_t rows_other(struct guard *guard, uintptr_t pc)
{
    struct module_view module;
    return modules_find(guard, pc - 1, &module) ? cfi_other_at(module.eh_frame_hdr, pc - 1)
                                                : CFI_LOST;
}

void rows_forget(uintptr_t start, uintptr_t end)
{
    for (unsigned i = 0; slots && i < SLOTS; i++)
        if (load_relaxed(&slots[i].key) - start - 1 < end - start)
            store_relaxed(&slots[i].key, GIVEN_UP);
}
