#include "preload/rows.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/modules.h"
#include "preload/sys.h"

#include <sys/auxv.h>

#define PROBES 8

/* Keys that are no address. A lookup stops at an empty slot and passes the other two. */
enum { EMPTY, BEING_FILLED, GIVEN_UP };

struct rows_slot *rows_slots;

bool rows_start(void)
{
    rows_slots = arena_map(ROWS_SLOTS * sizeof *rows_slots);
    return rows_slots != NULL;
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
    return row;
}

struct cfi_row rows_look(struct guard *guard, uintptr_t pc)
{
    struct rows_slot *room = NULL;
    uint64_t at = rows_home(pc);
    for (unsigned probe = 0; probe < PROBES; probe++, at++) {
        struct rows_slot *slot = &rows_slots[at % ROWS_SLOTS];
        uint64_t key = load_acquire(&slot->key);
        if (likely(key == pc))
            return rows_unpack(load_relaxed(&slot->row));
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

void rows_forget(uintptr_t start, uintptr_t end)
{
    for (unsigned i = 0; rows_slots && i < ROWS_SLOTS; i++)
        if (load_relaxed(&rows_slots[i].key) - start - 1 < end - start)
            store_relaxed(&rows_slots[i].key, GIVEN_UP);
}
