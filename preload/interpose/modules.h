/* modules.h - knows which loaded object (module) contains a code address, and since when.
 *
 * Modules are learnt from the addresses in call stacks, not from dlopen: an object that is in no
 * call stack is not needed, and when libc itself loads objects (NSS, iconv) it calls no hook. An
 * unloaded object keeps its record; its address range is "retired" with the serial number of that
 * event. The CFI cache drops its rows of the range. Nodes of the context tree contain
 * modules_retired(pc), which distinguishes them from nodes of another library that is loaded at the
 * same address. Most programs never retire a range: then modules_retired reads one word and returns
 * 0.
 *
 * How a change is noticed: the loader allocates and frees while its r_state is not RT_CONSISTENT,
 * so every hook reads that word (modules_poll_loader); the hooks of dlclose and dlmopen report
 * changes as well. Changes are counted. Each capture of a call stack first makes sure that every
 * known module was checked since the last change, by _dl_find_object, which takes no lock. Memory
 * of objects is read without faults (sys_peek), because an object may be unmapped meanwhile.
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
    const void *eh_frame_hdr; /* NULL: the object has no unwind table */
    const struct link_map *map;
};

/* Starts to learn which objects are loaded. forget: called for each range of an unloaded object,
 * before any stack in a later object at these addresses is recorded. */
void modules_start(void (*forget)(uintptr_t start, uintptr_t end));

/* State for the inline functions below. Other source files set only on_load and on_object. */
struct modules_state {
    uint32_t changes;       /* number of changes to the list of loaded objects */
    uint32_t checked;       /* value of "changes" when all known modules were last checked */
    uint32_t retired_count; /* number of retired ranges: addresses of unloaded modules */
    void (*on_load)(void);  /* called while the loader is active; NULL: no function */
    /* Called, under a lock, for each object that is found for the first time; NULL: no function. */
    void (*on_object)(const struct link_map *object);
};
extern struct modules_state modules_state HIDDEN;

/* Notes that the loader changes, or has changed, the list of objects. */
static inline void modules_note_change(void)
{
    __atomic_fetch_add(&modules_state.changes, 1, __ATOMIC_RELEASE);
}

/* Notices that the loader is loading or unloading objects. Each hook calls it, so it costs only a
 * load of a word that hardly ever changes. */
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

/* Returns the number of the last check of the modules. Unwind data (CFI) of modules that is read
 * now is valid as long as this number does not change. */
static inline uint32_t modules_generation(void)
{
    return __atomic_load_n(&modules_state.checked, __ATOMIC_ACQUIRE);
}

/* Says whether no object was loaded or unloaded since the check of the modules with the number
 * "generation" (modules_generation). Then what was computed after that check is still valid. */
static inline bool modules_are_unchanged_since(uint32_t generation)
{
    return __atomic_load_n(&modules_state.changes, __ATOMIC_RELAXED) == generation;
}

/* Rechecks the known modules after changes. Call it before each capture of a call stack. */
static inline void modules_refresh(struct guard *guard)
{
    if (unlikely(__atomic_load_n(&modules_state.changes, __ATOMIC_RELAXED) !=
                 __atomic_load_n(&modules_state.checked, __ATOMIC_ACQUIRE)))
        modules_recheck(guard);
}

uint32_t modules_find_retired(uintptr_t pc);

/* Returns the serial number of the last unload of an object that contained pc; 0: none. */
static inline uint32_t modules_retired(uintptr_t pc)
{
    if (likely(!__atomic_load_n(&modules_state.retired_count, __ATOMIC_ACQUIRE)))
        return 0;
    return modules_find_retired(pc);
}

/* Finds the object around pc, and records it in the recording file if it is new. False: pc is in no
 * object (JIT code). */
bool modules_find(struct guard *guard, uintptr_t pc, struct module_view *out);

/* What a symbolizer needs to find the name of an address in a recorded object. */
struct module_location {
    uint64_t offset; /* the address as the object's file counts it, without the load address */
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t build_id_length;
};
struct strbuf;
bool modules_locate(uintptr_t pc, struct module_location *out, struct strbuf *path);

/* ---- Look-ups that record nothing ------------------------------------------------------------ */

/* Says whether pc is inside libleak.so. */
bool modules_is_own(uintptr_t pc);
/* Say whether an object contains the address, and whether two addresses lie in the same object. */
bool modules_has_object(uintptr_t address);
bool modules_same_object(uintptr_t address, uintptr_t other);
/* Gets the headers of the object around an address, as dl_iterate_phdr gives them, but without its
 * lock: the object must stay loaded meanwhile. False: there is no object, or its first page is no
 * ELF header. */
bool modules_get_headers(uintptr_t address, struct dl_phdr_info *out);

/* Finds the build-id in a copy of a PT_NOTE segment: its bytes, and their offset in the copy.
 * Returns the length; 0: there is none. */
uint32_t modules_parse_build_id(const char *notes, size_t length, uint8_t *out, size_t *offset);
/* Reads the build-id of the object mapped at start, at most LEAK_BUILD_ID_MAX bytes. Returns its
 * length; 0: there is none. It takes no lock and never faults. */
uint32_t modules_read_build_id(uintptr_t start, uintptr_t bias, uint8_t *out);

/* ---- The child of a leak check, fatal signals, fork ------------------------------------------ */

/* Stops writing to the recording file, in the child of a leak check, which shares the file with its
 * parent. */
void modules_stop_recording(void);

/* Forbids (change 1) or allows again (change -1) to wait for locks: in the handler of a fatal
 * signal the calling thread itself may hold any lock. While it is forbidden, modules_find finds
 * objects but does not record them. */
void modules_forbid_waiting(int change);
bool modules_may_wait(void);

/* Copies the record of each known module to the new recording file of a fork child. The copies have
 * the same serial numbers. */
void modules_fork_child(void);

#endif
