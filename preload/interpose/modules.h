/* modules.h - which loaded object contains a code address, and since when.
 *
 * Modules are learnt from the addresses in call stacks, not from dlopen: an object that never
 * allocates is of no interest, and libc's own loading (NSS, iconv) calls no hook. An unloaded
 * object keeps its record; its address range is "retired" with the serial number of that event: the
 * CFI cache drops its rows of the range, and nodes of the context tree carry modules_retired(pc),
 * so that another library at the same address is told apart. Most programs never retire a range:
 * then the answer is 0 and costs one load.
 *
 * How a change is noticed: the loader allocates and frees while its r_state is not RT_CONSISTENT,
 * so every hook reads that word (modules_poll_loader); the hooks of dlclose and dlmopen report
 * changes as well. Changes are counted. Each capture of a call stack first makes sure that every
 * known module was checked since the last change, by _dl_find_object, which takes no lock. All
 * memory is read there without faulting, for an object may be unmapped meanwhile.
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

/* Finds the loaded objects. forget: called for each retired range, before an object loaded there
 * later can be seen. */
void modules_start(void (*forget)(uintptr_t start, uintptr_t end));

/* Private to the inline functions below, but for on_load. */
struct modules_state {
    uint32_t changes;       /* of the list of loaded objects */
    uint32_t checked;       /* value of changes when all known modules were last checked */
    uint32_t retired_count; /* retired ranges */
    void (*on_load)(void);  /* called while the loader is active; NULL: none */
    /* Called for each object that is found for the first time, under a lock; NULL: none. */
    void (*on_object)(const struct link_map *object);
};
extern struct modules_state modules_state HIDDEN;

/* The loader changes, or has changed, the list of objects. */
static inline void modules_note_change(void)
{
    __atomic_fetch_add(&modules_state.changes, 1, __ATOMIC_RELEASE);
}

/* Notices that the loader is active. Each hook calls it: one load of a word that hardly ever
 * changes. */
static inline void modules_poll_loader(void)
{
    if (unlikely(__atomic_load_n(&_r_debug.r_state, __ATOMIC_RELAXED) != RT_CONSISTENT)) {
        modules_note_change();
        got_patch_on_load(guard_self.pc);
        if (modules_state.on_load)
            modules_state.on_load();
    }
}

void modules_recheck(struct guard *guard);

/* Number of the check that rows read now belong to. */
static inline uint32_t modules_generation(void)
{
    return __atomic_load_n(&modules_state.checked, __ATOMIC_ACQUIRE);
}

/* Says whether no object was loaded or unloaded since the check of that generation. What was worked out
 * then needs no modules_refresh. */
static inline bool modules_are_unchanged_since(uint32_t generation)
{
    return __atomic_load_n(&modules_state.changes, __ATOMIC_RELAXED) == generation;
}

/* Rechecks the objects after changes. Call it before each capture. */
static inline void modules_refresh(struct guard *guard)
{
    if (unlikely(__atomic_load_n(&modules_state.changes, __ATOMIC_RELAXED) !=
                 __atomic_load_n(&modules_state.checked, __ATOMIC_ACQUIRE)))
        modules_recheck(guard);
}

uint32_t modules_find_retired(uintptr_t pc);

/* Serial number of the last unload that covered pc, 0 = none. */
static inline uint32_t modules_retired(uintptr_t pc)
{
    if (likely(!__atomic_load_n(&modules_state.retired_count, __ATOMIC_ACQUIRE)))
        return 0;
    return modules_find_retired(pc);
}

/* The object around pc, recorded in the recording file on first sight. False: no object (JIT code).
 */
bool modules_find(struct guard *guard, uintptr_t pc, struct module_view *out);

/* What a symbolizer needs of a pc in a recorded object. False: no recorded object contains it. */
struct module_location {
    uint64_t offset; /* pc in the object's own addresses */
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};
struct strbuf;
bool modules_locate(uintptr_t pc, struct module_location *out, struct strbuf *path);

/* ---- Questions that record nothing ---------------------------------------------------------- */

/* Is pc inside libleak.so? */
bool modules_is_own(uintptr_t pc);
/* Does an object contain the address? Do two addresses lie in the same object? */
bool modules_has_object(uintptr_t address);
bool modules_same_object(uintptr_t address, uintptr_t other);
/* The headers of the object around an address, as dl_iterate_phdr gives them, without its lock; the
 * object must stay loaded meanwhile. False: there is none, or its first page is no ELF header. */
bool modules_get_headers(uintptr_t address, struct dl_phdr_info *out);

/* The build-id in a copy of a PT_NOTE segment: its bytes, and their offset. Returns the length, 0 =
 * none. */
uint32_t modules_parse_build_id(const char *notes, size_t length, uint8_t *out, size_t *offset);
/* The build-id of the object mapped at start, at most LEAK_BUILD_ID_MAX bytes; its length, 0 =
 * none. Takes no lock, never faults. */
uint32_t modules_read_build_id(uintptr_t start, uintptr_t bias, uint8_t *out);

/* ---- Special situations --------------------------------------------------------------------- */

/* Leaves the recording file alone from here on: for the child of a leak check, which shares it with
 * its parent. */
void modules_stop_recording(void);

/* In the handler of a fatal signal any lock may be held by the calling thread itself. Between
 * modules_forbid_waiting(1) and the matching (-1) objects are found, and not recorded. */
void modules_forbid_waiting(int change);
bool modules_may_wait(void);

/* The child's new recording file gets a record of each known module, with the same serials. */
void modules_fork_child(void);

#endif
