/* modules.h - which object a code address belongs to, and since when.
 *
 * Modules are learnt from the addresses in stacks, not from dlopen: an object that never allocates
 * is of no interest, and libc's own loading (NSS, iconv) passes no hook. An object that goes leaves
 * its record; its range is then "retired" with the serial of that event: rows of the range are
 * dropped, and tree nodes carry modules_retired(pc), so that a library at a reused address is
 * somebody new. Nothing is ever retired in most programs: the answer is 0 and costs one load.
 *
 * How a change is noticed: the loader allocates and frees while its r_state is not RT_CONSISTENT,
 * so hooks look at that word (modules_notice); dlclose and dlmopen hooks say it too. Changes are
 * counted; a capture first makes sure that every known module was looked at since the last one,
 * by _dl_find_object, which takes no lock. Nothing read there can fault: an object may be going.
 */
#ifndef PRELOAD_INTERPOSE_MODULES_H
#define PRELOAD_INTERPOSE_MODULES_H

#include "preload/base/base.h"
#include "preload/interpose/got_patch.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#include <link.h>

struct module_view {
    uintptr_t start, end;
    const void *eh_frame_hdr; /* NULL: no unwind table */
    const struct link_map *map;
};

/* forget: called for each range that is retired, before anybody can meet its successor. */
void modules_start(void (*forget)(uintptr_t start, uintptr_t end));

extern uint32_t modules_changes_ HIDDEN, modules_looked_ HIDDEN;
extern uint32_t modules_retired_count_ HIDDEN;

/* The loader is, or was, at work. */
static inline void modules_change(void)
{
    __atomic_fetch_add(&modules_changes_, 1, __ATOMIC_RELEASE);
}

/* Who else wants to know while the loader is at work; NULL: nobody. */
extern void (*modules_loading)(void) HIDDEN;

/* In every hook: one load of a word that hardly ever changes. */
static inline void modules_notice(void)
{
    if (unlikely(__atomic_load_n(&_r_debug.r_state, __ATOMIC_RELAXED) != RT_CONSISTENT)) {
        modules_change();
        got_loading(guard_self.pc);
        if (modules_loading)
            modules_loading();
    }
}

void modules_look_again(struct guard *guard);

/* Which look the rows of today belong to. */
static inline uint32_t modules_looked(void)
{
    return __atomic_load_n(&modules_looked_, __ATOMIC_ACQUIRE);
}

/* Before each capture. */
static inline void modules_refresh(struct guard *guard)
{
    if (unlikely(__atomic_load_n(&modules_changes_, __ATOMIC_RELAXED) !=
                 __atomic_load_n(&modules_looked_, __ATOMIC_ACQUIRE)))
        modules_look_again(guard);
}

uint32_t modules_retired_slow(uintptr_t pc);

/* Serial of the last unload that covered pc, 0 = none. */
static inline uint32_t modules_retired(uintptr_t pc)
{
    if (likely(!__atomic_load_n(&modules_retired_count_, __ATOMIC_ACQUIRE)))
        return 0;
    return modules_retired_slow(pc);
}

/* The object around pc, recorded in the store on first sight. False: no object (JIT, assembly). */
bool modules_find(struct guard *guard, uintptr_t pc, struct module_view *out);

/* The build-id in a PT_NOTE segment, or a copy of it: its bytes, and at which offset they are. How
 * many; 0: there is none. */
uint32_t modules_take_build_id(const char *notes, size_t length, uint8_t *out, size_t *offset);
/* Is there an object around an address, and is another address in it, too? Nothing is recorded. */
bool modules_around(uintptr_t address);
bool modules_same(uintptr_t address, uintptr_t other);
/* The headers of the object around an address, as dl_iterate_phdr tells them, without its lock; the
 * object must stay meanwhile. False: there is none, or its headers are not where they should be. */
bool modules_headers(uintptr_t address, struct dl_phdr_info *out);

/* What a resolver asks of a pc: the recorded object around it. False: there is none. */
struct module_place {
    uint64_t offset; /* pc in the object's own addresses */
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};
struct text;
bool modules_place(uintptr_t pc, struct module_place *out, struct text *path);

/* Is pc inside libleak.so? */
bool modules_own(uintptr_t pc);

/* From here on the store is left alone: for the child of a look, which shares it with its parent.
 */
void modules_keep_quiet(void);

/* In a handler of a signal that kills: any lock may be held by the very thread that asks. Objects
 * are found, and not recorded, from the first 1 to the last -1. */
void modules_wait_for_nobody(int change);
bool modules_may_wait(void);
/* The build-id of the object mapped at start, in at most LEAK_BUILD_ID_MAX bytes; its length, 0 =
 * none. Takes no lock, never faults. */
uint32_t modules_read_build_id(uintptr_t start, uintptr_t bias, uint8_t *out);

/* Fork: no other thread may be half-way through a change. */
void modules_fork_lock(void);
void modules_fork_unlock(void);
/* The child's new store gets a record of each module known, with the same serials. */
void modules_fork_child(void);

#endif
