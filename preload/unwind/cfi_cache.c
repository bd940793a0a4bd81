/* cfi_cache.c - stores each different row once, and caches the numbers of rows by return
 * address. */
#include "preload/unwind/cfi_cache.h"
#include "preload/unwind/debug_frame.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/base/sys.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#define PROBES 8
/* Number of slots of the hash index of different CFI rows; the process cc1plus has 175 such rows,
 * cppcheck 100. */
#define NUMBERS 8192
#define DIFFERENT_MOST (NUMBERS / 4 * 3)

/* Values of slots without an address. A lookup stops at EMPTY and continues after REMOVED. */
enum { EMPTY, REMOVED };

struct cfi_cache cfi_cache;
/* Variables that only writers use, under the lock. */
static struct lock lock;
static uint32_t used;      /* number of slots that are not EMPTY */
static uint32_t different; /* number of different CFI rows; they are numbered from 1 */
static uint32_t displaced; /* number of addresses that lost their slot to another address */
static uint16_t *numbers;  /* hash table that finds the number of a CFI row; 0: empty slot */

/* Makes a table of 1 << bits slots. Returns its address with 32 - bits in the low bits, the form of
 * cfi_cache.table; 0: there is no memory. */
static uintptr_t make_slot_table(unsigned bits)
{
    uintptr_t slots = (uintptr_t)arena_map(sizeof(uint64_t) << bits);
    return slots ? slots | (32 - bits) : 0;
}

static uint32_t slot_count(uintptr_t table)
{
    return 1u << (32 - table % 32);
}

bool cfi_cache_start(void)
{
    cfi_cache.table = make_slot_table(CFI_CACHE_BITS_MIN);
    cfi_cache.rows = arena_map((DIFFERENT_MOST + 1) * sizeof *cfi_cache.rows);
    numbers = arena_map(NUMBERS * sizeof *numbers);
    return cfi_cache.table && cfi_cache.rows && numbers;
}

static uint64_t pack_row(struct cfi_row row)
{
    return row.rule | (uint64_t)(uint16_t)row.fp_offset << 3 |
           (uint64_t)(row.ra_offset & 0x1fff) << 19 | (uint64_t)(uint32_t)row.offset << 32;
}

/* Says whether pc is in a signal trampoline: a signal handler returns into one, which the kernel,
 * libc or qemu-user provides. On some CPUs it has no CFI, so it is recognised by its code. */
static bool is_signal_trampoline(uintptr_t pc)
{
    uint64_t code;
    return ARCH_SIGRETURN && sys_peek(pc, &code, sizeof code) && code == ARCH_SIGRETURN;
}

/* Finds a row (struct cfi_row) for code without CFI by the instructions between pc and the return
 * of the function. Only one such function is recognised: that of libc which calls destructors. */
static struct cfi_row find_row_of_code(uintptr_t pc)
{
    uint8_t code[ARCH_DTORS_SIZE];
    if (!sys_peek(pc, code, sizeof code) || !arch_is_dtors(code))
        return (struct cfi_row){.rule = CFI_NONE};
    return (struct cfi_row){CFI_SP, ARCH_DTORS_FP, ARCH_DTORS_RA, ARCH_DTORS_CFA};
}

/* Finds the CFI row for pc in the file's .debug_frame. A thread that must not wait for locks gets
 * CFI_NONE, a result that is not cached. */
static struct cfi_row find_row_in_file(const struct module_view *module, uintptr_t pc)
{
    if (!modules_may_wait())
        return (struct cfi_row){.rule = CFI_NONE};
    struct locked locked = lock_take(&lock);
    struct cfi_row row = debug_frame_row_at(module, pc);
    lock_give(&locked);
    return row;
}

static NOINLINE struct cfi_row compute_row(struct guard *guard, uintptr_t pc)
{
    struct module_view module;
    if (is_signal_trampoline(pc))
        return (struct cfi_row){.rule = CFI_SIGNAL};
    if (!modules_find(guard, pc - 1, &module))
        return (struct cfi_row){.rule = CFI_NONE};
    struct cfi_row row = cfi_row_at(module.eh_frame_hdr, pc - 1);
    /* The entry point of the loader is assembly without CFI; it is the outermost frame of every
     * constructor. */
    if (row.rule == CFI_NONE && module.start == getauxval(AT_BASE))
        row.rule = CFI_END;
    if (row.rule == CFI_NONE)
        row = find_row_in_file(&module, pc - 1);
    /* There is no CFI before pc, but a function begins at pc: it was entered by a return
     * instruction, so it is the outermost frame of a fibre (__start_context). */
    if (row.rule == CFI_NONE && cfi_row_at(module.eh_frame_hdr, pc).rule != CFI_NONE)
        row.rule = CFI_END;
    if (row.rule == CFI_NONE)
        row = find_row_of_code(pc);
    return row;
}

/* Returns the number of a CFI row, and stores the row if it is new. 0: it is new, but
 * DIFFERENT_MOST rows are stored already. */
static uint64_t intern_row(uint64_t row)
{
    uint32_t at = hash_u64(row) % NUMBERS;
    for (; numbers[at]; at = (at + 1) % NUMBERS)
        if (cfi_cache.rows[numbers[at]] == row)
            return numbers[at];
    if (different == DIFFERENT_MOST)
        return 0;
    cfi_cache.rows[++different] = row;
    numbers[at] = different;
    return different;
}

/* Finds the slot of an address, or a free slot for it. NULL: all PROBES slots for the address are
 * used by others. */
static uint64_t *find_slot(uintptr_t table, uintptr_t pc)
{
    uint64_t *free_slot = NULL;
    uint32_t at = cfi_cache_home(table, pc);
    for (unsigned probe = 0; probe < PROBES; probe++, at++) {
        uint64_t *slot = cfi_cache_slots(table) + at % slot_count(table), word = load_acquire(slot);
        if ((word & LEAK_PC_MOST) == pc)
            return slot;
        if (!free_slot && (word == EMPTY || word == REMOVED))
            free_slot = slot;
        if (word == EMPTY)
            break;
    }
    return free_slot;
}

/* Returns the slot in which an address is put. In a table that is half full, one of 100 addresses
 * finds no free slot and replaces another. */
static uint64_t *claim_slot(uintptr_t table, uintptr_t pc)
{
    uint64_t *slot = find_slot(table, pc);
    uint32_t at = cfi_cache_home(table, pc) + displaced % PROBES;
    if (likely(slot))
        return slot;
    displaced++;
    return cfi_cache_slots(table) + at % slot_count(table);
}

static void grow_slot_table(void)
{
    uintptr_t full = cfi_cache.table, table = make_slot_table(32 - full % 32 + 1);
    if (!table)
        return;
    used = 0;
    for (uint32_t i = 0; i < slot_count(full); i++) {
        uint64_t word = cfi_cache_slots(full)[i], *slot;
        if (word > REMOVED && (slot = find_slot(table, word & LEAK_PC_MOST))) {
            *slot = word;
            used++;
        }
    }
    store_release(&cfi_cache.table, table);
    sys_advise(cfi_cache_slots(full), slot_count(full) * sizeof(uint64_t), MADV_DONTNEED);
}

static void cache_row(uintptr_t pc, struct cfi_row row)
{
    struct locked locked;
    if ((uint64_t)pc > LEAK_PC_MOST || !modules_may_wait() || !lock_try(&lock, &locked))
        return;
    uint64_t number = intern_row(pack_row(row));
    if (number) {
        uint64_t *slot = claim_slot(cfi_cache.table, pc);
        used += *slot == EMPTY;
        /* Pairs with load_acquire in cfi_cache_find. */
        store_release(slot, pc | number << LEAK_PC_BITS);
    }
    if (used > slot_count(cfi_cache.table) / 2 &&
        slot_count(cfi_cache.table) < 1u << CFI_CACHE_BITS_MAX)
        grow_slot_table();
    lock_give(&locked);
}

struct cfi_row cfi_cache_find_slow(struct guard *guard, uintptr_t pc)
{
    const uint64_t *slot = find_slot(load_acquire(&cfi_cache.table), pc);
    uint64_t word = slot ? load_acquire(slot) : EMPTY;
    if (likely(word > REMOVED && (word & LEAK_PC_MOST) == pc))
        return cfi_cache_unpack(cfi_cache.rows[word >> LEAK_PC_BITS]);
    struct cfi_row row = compute_row(guard, pc);
    cache_row(pc, row);
    return row;
}

int16_t cfi_cache_find_other(struct guard *guard, uintptr_t pc)
{
    struct module_view module;
    return modules_find(guard, pc - 1, &module) ? cfi_other_at(module.eh_frame_hdr, pc - 1)
                                                : CFI_LOST;
}

void cfi_cache_forget(uintptr_t start, uintptr_t end)
{
    struct locked locked = lock_take(&lock);
    uint64_t *slots = cfi_cache_slots(cfi_cache.table);
    for (uint32_t i = 0; slots && i < slot_count(cfi_cache.table); i++)
        if ((slots[i] & LEAK_PC_MOST) - start - 1 < end - start)
            store_relaxed(&slots[i], REMOVED);
    debug_frame_forget(start, end);
    lock_give(&locked);
}

LOCK_FOR_FORK(cfi_cache, &lock)

void cfi_cache_fork_child(void)
{
    lock.word = 0;
}
