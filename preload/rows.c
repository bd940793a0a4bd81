#include "preload/rows.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/modules.h"
#include "preload/sys.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#define PROBES 8

/* Keys that are no address. A lookup stops at an empty slot and passes the other two. */
enum { EMPTY, BEING_FILLED, GIVEN_UP };

uintptr_t rows_table;
static uint32_t used;    /* slots that are not empty, or a few less */
static struct lock lock; /* guards growing, and forgetting what would be copied meanwhile */

/* 0 without memory. */
static uintptr_t make_table(unsigned bits)
{
    uintptr_t slots = (uintptr_t)arena_map(sizeof(struct rows_slot) << bits);
    return slots ? slots | (32 - bits) : 0;
}

static uint32_t size_of(uintptr_t table)
{
    return 1u << (32 - table % 32);
}

bool rows_start(void)
{
    rows_table = make_table(ROWS_LEAST_BITS);
    return rows_table != 0;
}

static uint64_t pack(struct cfi_row row)
{
    return row.rule | (uint64_t)(uint16_t)row.fp_offset << 3 |
           (uint64_t)(row.ra_offset & 0x1fff) << 19 | (uint64_t)(uint32_t)row.offset << 32;
}

/* Handlers of signals return to a piece of code that the kernel provides (or libc, or qemu-user).
 * On some CPUs it has not always a table that says so. */
static bool is_trampoline(uintptr_t pc)
{
    uint64_t code;
    return ARCH_SIGRETURN && sys_peek(pc, &code, sizeof code) && code == ARCH_SIGRETURN;
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
    if (is_trampoline(pc))
        return (struct cfi_row){.rule = CFI_SIGNAL};
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
    return row;
}

/* The copy of a row whose place there is free, or taken: then it is worked out again. */
static uint32_t copy(uintptr_t table, uint64_t key, uint64_t row)
{
    uint32_t at = rows_home(table, key);
    for (unsigned probe = 0; probe < PROBES; probe++, at++) {
        struct rows_slot *slot = rows_slots(table) + at % size_of(table);
        if (slot->key != EMPTY)
            continue;
        *slot = (struct rows_slot){key, row};
        return 1;
    }
    return 0;
}

static NOINLINE void grow(uintptr_t full)
{
    struct locked locked = lock_take(&lock);
    uintptr_t table = full == rows_table ? make_table(32 - full % 32 + 1) : 0;
    if (table) {
        uint32_t copied = 0;
        for (uint32_t i = 0; i < size_of(full); i++) {
            struct rows_slot *slot = rows_slots(full) + i;
            uint64_t key = load_acquire(&slot->key);
            if (key > GIVEN_UP)
                copied += copy(table, key, load_relaxed(&slot->row));
        }
        store_relaxed(&used, copied);
        store_release(&rows_table, table);
        sys_advise(rows_slots(full), size_of(full) * sizeof(struct rows_slot), MADV_DONTNEED);
    }
    lock_give(&locked);
}

static void keep(uintptr_t table, struct rows_slot *room, uintptr_t pc, struct cfi_row row)
{
    uint64_t seen = load_relaxed(&room->key);
    if ((seen != EMPTY && seen != GIVEN_UP) || !cas_acquire(&room->key, &seen, BEING_FILLED))
        return;
    store_relaxed(&room->row, pack(row));
    store_release(&room->key, pc); /* pairs with the acquire in rows_get */
    if (seen == EMPTY && add_relaxed(&used, 1) >= size_of(table) / 2 &&
        size_of(table) < 1u << ROWS_MOST_BITS)
        grow(table);
}

struct cfi_row rows_look(struct guard *guard, uintptr_t pc)
{
    struct rows_slot *room = NULL;
    uintptr_t table = load_acquire(&rows_table);
    uint32_t at = rows_home(table, pc);
    for (unsigned probe = 0; probe < PROBES; probe++, at++) {
        struct rows_slot *slot = rows_slots(table) + at % size_of(table);
        uint64_t key = load_acquire(&slot->key);
        if (likely(key == pc))
            return rows_unpack(load_relaxed(&slot->row));
        if (!room && (key == EMPTY || key == GIVEN_UP))
            room = slot;
        if (key == EMPTY)
            break;
    }
    struct cfi_row row = work_out(guard, pc);
    if (room)
        keep(table, room, pc, row);
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
    struct locked locked = lock_take(&lock);
    struct rows_slot *slots = rows_slots(rows_table);
    for (uint32_t i = 0; slots && i < size_of(rows_table); i++)
        if (load_relaxed(&slots[i].key) - start - 1 < end - start)
            store_relaxed(&slots[i].key, GIVEN_UP);
    lock_give(&locked);
}

LOCK_FOR_FORK(rows, &lock)

void rows_fork_child(void)
{
    lock.word = 0;
}
