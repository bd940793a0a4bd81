#include "preload/unwind/cfi_cache.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/base/sys.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#define PROBES 8
#define NUMBERS 8192 /* places for the numbers of different rows: cc1plus has 175, cppcheck 100 */
#define DIFFERENT_MOST (NUMBERS / 4 * 3)

/* Slots without an address. A lookup stops at an empty one and passes the other. */
enum { EMPTY, GIVEN_UP };

uintptr_t rows_table;
uint64_t *rows_different;
/* Readers need none of this. */
static struct lock lock;
static uint32_t used;      /* slots that are not empty */
static uint32_t different; /* the last number */
static uint16_t *numbers;  /* by the row; 0 = empty */

/* 0 without memory. */
static uintptr_t make_table(unsigned bits)
{
    uintptr_t slots = (uintptr_t)arena_map(sizeof(uint64_t) << bits);
    return slots ? slots | (32 - bits) : 0;
}

static uint32_t size_of(uintptr_t table)
{
    return 1u << (32 - table % 32);
}

bool rows_start(void)
{
    rows_table = make_table(ROWS_LEAST_BITS);
    rows_different = arena_map((DIFFERENT_MOST + 1) * sizeof *rows_different);
    numbers = arena_map(NUMBERS * sizeof *numbers);
    return rows_table && rows_different && numbers;
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

/* 0: there are too many. */
static uint64_t number_of(uint64_t row)
{
    uint32_t at = hash_u64(row) % NUMBERS;
    for (; numbers[at]; at = (at + 1) % NUMBERS)
        if (rows_different[numbers[at]] == row)
            return numbers[at];
    if (different == DIFFERENT_MOST)
        return 0;
    rows_different[++different] = row;
    numbers[at] = different;
    return different;
}

/* Where an address is, or may be put; NULL: there is no room near its home. */
static uint64_t *find(uintptr_t table, uintptr_t pc)
{
    uint64_t *room = NULL;
    uint32_t at = rows_home(table, pc);
    for (unsigned probe = 0; probe < PROBES; probe++, at++) {
        uint64_t *slot = rows_slots(table) + at % size_of(table), word = load_acquire(slot);
        if ((word & LEAK_PC_MOST) == pc)
            return slot;
        if (!room && (word == EMPTY || word == GIVEN_UP))
            room = slot;
        if (word == EMPTY)
            break;
    }
    return room;
}

static void grow(void)
{
    uintptr_t full = rows_table, table = make_table(32 - full % 32 + 1);
    if (!table)
        return;
    used = 0;
    for (uint32_t i = 0; i < size_of(full); i++) {
        uint64_t word = rows_slots(full)[i], *room;
        if (word > GIVEN_UP && (room = find(table, word & LEAK_PC_MOST))) {
            *room = word;
            used++;
        }
    }
    store_release(&rows_table, table);
    sys_advise(rows_slots(full), size_of(full) * sizeof(uint64_t), MADV_DONTNEED);
}

static void keep(uintptr_t pc, struct cfi_row row)
{
    struct locked locked;
    if (pc > LEAK_PC_MOST || !modules_may_wait() || !lock_try(&lock, &locked))
        return;
    uint64_t *slot = find(rows_table, pc), number = slot ? number_of(pack(row)) : 0;
    if (number) {
        used += *slot == EMPTY;
        store_release(slot, pc | number << LEAK_PC_BITS); /* pairs with the acquire in rows_get */
    }
    if (used > size_of(rows_table) / 2 && size_of(rows_table) < 1u << ROWS_MOST_BITS)
        grow();
    lock_give(&locked);
}

struct cfi_row rows_look(struct guard *guard, uintptr_t pc)
{
    const uint64_t *slot = find(load_acquire(&rows_table), pc);
    uint64_t word = slot ? load_acquire(slot) : EMPTY;
    if (likely(word > GIVEN_UP && (word & LEAK_PC_MOST) == pc))
        return rows_unpack(rows_different[word >> LEAK_PC_BITS]);
    struct cfi_row row = work_out(guard, pc);
    keep(pc, row);
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
    uint64_t *slots = rows_slots(rows_table);
    for (uint32_t i = 0; slots && i < size_of(rows_table); i++)
        if ((slots[i] & LEAK_PC_MOST) - start - 1 < end - start)
            store_relaxed(&slots[i], GIVEN_UP);
    lock_give(&locked);
}

LOCK_FOR_FORK(rows, &lock)

void rows_fork_child(void)
{
    lock.word = 0;
}
