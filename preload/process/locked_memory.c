#include "preload/process/locked_memory.h"
#include "preload/memory/arena.h"
#include "preload/base/sys.h"
#include "preload/elf/procmaps.h"
#include "preload/store/store.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

#define TEXT_SIZE (4 * LEAK_PAGE) /* size of a buffer for lines of /proc/self/maps */

/* ---- Finding the program's memory ------------------------------------------------------------ */

/* The first and the last byte of libleak.so in memory; the linker defines both symbols. */
extern char __ehdr_start[] HIDDEN, _end[] HIDDEN;

static void note_range(struct arena_range *first, uintptr_t above, uintptr_t start, uintptr_t end)
{
    if (start < end && end > above && (!first->size || start < first->start))
        *first = (struct arena_range){start, end - start};
}

/* Finds the first range of libleak's memory that ends above an address; size 0: there is none. */
static struct arena_range next_own_range(uintptr_t above)
{
    struct arena_range first = arena_next_range(above);
    uintptr_t store = (uintptr_t)store_header;
    note_range(&first, above, store, store + (store ? store_mapped_size() : 0));
    note_range(&first, above, (uintptr_t)__ehdr_start, round_up((uintptr_t)_end, sys_page_size()));
    return first;
}

struct walk {
    bool lock; /* true: lock the ranges; false: only add up their bytes */
    bool on_fault;
    uint64_t bytes; /* sum of the sizes of the program's ranges */
};

static void visit_program_range(struct walk *walk, uintptr_t start, uintptr_t end)
{
    if (start < end && walk->lock)
        sys_lock(start, end - start, walk->on_fault);
    if (start < end)
        walk->bytes += end - start;
}

/* Visits the program's parts of a mapping: the kernel merges neighbours, so a mapping may contain
 * ranges of libleak and of the program. */
static void visit_mapping(const struct mapping *mapping, void *context)
{
    struct walk *walk = context;
    /* The kernel's page, which belongs to no process. */
    if (strcmp(mapping->path, "[vsyscall]") == 0)
        return;
    for (uintptr_t at = mapping->start; at < mapping->end;) {
        struct arena_range own = next_own_range(at);
        uintptr_t start = own.size && own.start < mapping->end ? own.start : mapping->end;
        uintptr_t end = start < mapping->end ? own.start + own.size : mapping->end;
        visit_program_range(walk, at, start);
        at = start > at ? start : at;
        end = end < mapping->end ? end : mapping->end;
        if (at < end && walk->lock)
            sys_unlock(at, end - at);
        at = end > at ? end : at;
    }
}

static bool walk_mappings(struct walk *walk)
{
    char *text = arena_map(TEXT_SIZE);
    bool read = text && procmaps_each(text, TEXT_SIZE, visit_mapping, walk);
    arena_unmap(text, TEXT_SIZE);
    return read;
}

/* ---- Replacing mlockall ---------------------------------------------------------------------- */

static bool locks_future;

static void set_future(bool locked)
{
    locks_future = locked;
    sys_set_maps_locked(locked);
}

/* Locks the program's memory as mlockall(flags) would, and unlocks libleak's. */
static void lock_program(int flags)
{
    struct walk walk = {.lock = true, .on_fault = flags & MCL_ONFAULT};
    if (flags & MCL_FUTURE)
        sys_lock_all(flags & ~MCL_CURRENT);
    else if (locks_future)
        sys_unlock_all();
    set_future(flags & MCL_FUTURE);
    walk_mappings(&walk);
}

int locked_memory_lock_all(int flags, int (*call_real)(int flags))
{
    struct walk program = {.lock = false};
    int before = errno;
    bool had_future = locks_future, all = flags & MCL_CURRENT && walk_mappings(&program);
    bool fits = all && program.bytes <= sys_rlimit(RLIMIT_MEMLOCK);
    /* Memory that other threads map for libleak meanwhile must not be locked. */
    sys_set_maps_locked(had_future || flags & MCL_FUTURE);
    /* The real call shows whether locking is allowed; MCL_ONFAULT keeps it from filling any
     * page. */
    int result = call_real(all ? flags | MCL_ONFAULT : flags);
    if (all && (result == 0 || (errno == ENOMEM && fits))) {
        lock_program(flags);
        errno = before;
        return 0;
    }
    set_future(result == 0 ? flags & MCL_FUTURE : had_future);
    return result;
}

int locked_memory_unlock_all(int (*call_real)(void))
{
    int result = call_real();
    if (result == 0)
        set_future(false);
    return result;
}

/* Finds out whether memory that is mapped from now on is locked: the kernel refuses the advice
 * MADV_DONTNEED for locked memory. */
void locked_memory_start_late(void)
{
    void *page = sys_map(LEAK_PAGE);
    if (!page)
        return;
    set_future(sys_advise(page, LEAK_PAGE, MADV_DONTNEED) == -EINVAL);
    sys_unmap(page, LEAK_PAGE);
}
