/* hook_memory.c - hooks of functions that map memory, give advice about it, lock it, or limit it.
 *
 * They record ranges that a forked copy of the process would lack (MADV_DONTFORK); with track=mmap,
 * mappings; and the end of blocks that the program has announced in memory which it unmaps.
 * mlockall applies only to the program's memory, not to libleak's. When the program limits its
 * address space, libleak gives most of its own up.
 */
#include "preload/hooks/hooks.h"
#include "preload/base/base.h"
#include "preload/heap/suballoc.h"
#include "preload/resources/mmap_regions.h"
#include "preload/resources/resource_records.h"
#include "preload/base/sys.h"
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/process/locked_memory.h"
#include "preload/store/store.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

EXPORT int madvise(void *start, size_t size, int advice)
{
    real_functions_find();
    int result = real.madvise(start, size, advice);
    if (result == 0)
        dontfork_note_advice((uintptr_t)start, size, advice);
    return result;
}

/* Records that the blocks which the program has announced in a range of memory (libleak_block_new)
 * are freed. */
static NOINLINE void end_content(const struct frame *caller, void *start, size_t size)
{
    WITH_TOKEN_FOR(caller,
                   track_free_contained(guard, caller, (uintptr_t)start, size, FREED_BY_FREE));
}

#define END_CONTENT(start, size)                                                                   \
    ({                                                                                             \
        if (unlikely(load_relaxed(&suballoc_count))) {                                             \
            struct frame content_ = CALLER_FRAME();                                                \
            end_content(&content_, start, size);                                                   \
        }                                                                                          \
    })

static NOINLINE void note_mapped(const struct frame *caller, void *start, size_t size, int fd)
{
    WITH_TOKEN_FOR(caller, mmap_regions_add(guard, caller, (uintptr_t)start, size, fd));
}

#define MMAP(name, type)                                                                           \
    EXPORT void *name(void *start, size_t size, int access, int flags, int fd, type offset)        \
    {                                                                                              \
        real_functions_find();                                                                     \
        void *mapped = real.name(start, size, access, flags, fd, offset);                          \
        if (flags & MAP_FIXED && mapped != MAP_FAILED)                                             \
            END_CONTENT(mapped, size);                                                             \
        if (resource_is_tracked(LEAK_RESOURCE_MMAP) && mapped != MAP_FAILED) {                     \
            struct frame caller = CALLER_FRAME();                                                  \
            note_mapped(&caller, mapped, size, flags &MAP_ANONYMOUS ? -1 : fd);                    \
        }                                                                                          \
        return mapped;                                                                             \
    }

MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

EXPORT int munmap(void *start, size_t size)
{
    real_functions_find();
    if ((uintptr_t)start % sys_page_size() == 0) /* otherwise munmap fails */
        END_CONTENT(start, size);
    if (!resource_is_tracked(LEAK_RESOURCE_MMAP))
        return real.munmap(start, size);
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (!guard)
        return real.munmap(start, size);
    struct locked held = mmap_regions_lock(guard);
    int result = real.munmap(start, size);
    if (result == 0)
        mmap_regions_remove(guard, (uintptr_t)start, size);
    mmap_regions_unlock(&held);
    guard_leave(guard);
    return result;
}

static NOINLINE void *remap_region(const struct frame *caller, void *start, size_t size,
                                   size_t wanted, int flags, void *to)
{
    if (!resource_is_tracked(LEAK_RESOURCE_MMAP))
        return real.mremap(start, size, wanted, flags, to);
    struct guard *guard = process_enter(caller);
    if (!guard)
        return real.mremap(start, size, wanted, flags, to);
    struct leak_mark mark = resource_mark_caller(guard, caller);
    struct locked held = mmap_regions_lock(guard);
    void *moved = real.mremap(start, size, wanted, flags, to);
    if (moved != MAP_FAILED)
        mmap_regions_move(guard, mark, (uintptr_t)start, size, (uintptr_t)moved, wanted,
                          size == 0 || flags & MREMAP_DONTUNMAP);
    mmap_regions_unlock(&held);
    guard_leave(guard);
    return moved;
}

/* Hook of mremap. It always reads the fifth argument, as libc does, although the program passes it
 * only with MREMAP_FIXED. */
EXPORT void *mremap(void *start, size_t size, size_t wanted, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    real_functions_find();
    struct frame caller = CALLER_FRAME();
    void *moved = remap_region(&caller, start, size, wanted, flags, to);
    if (moved == MAP_FAILED)
        return moved;
    if (moved != start) /* announced blocks do not move with the mapping */
        END_CONTENT(start, size);
    else if (wanted < size)
        END_CONTENT((char *)start + wanted, size - wanted);
    return moved;
}

EXPORT int mlockall(int flags)
{
    real_functions_find();
    return locked_memory_lock_all(flags, real.mlockall);
}

EXPORT int munlockall(void)
{
    real_functions_find();
    return locked_memory_unlock_all(real.munlockall);
}

/* ---- A limited address space ----------------------------------------------------------------- */

/* Notes that the program has limited its address space: libleak then gives up nearly all that it
 * has reserved, as it does when the limit exists from the start of the process. A limit that a
 * vfork child sets does not apply to the parent, in whose memory the child runs. */
static void note_limit(int resource, int result)
{
    if (resource == RLIMIT_AS && result == 0 && !resource_is_vfork_child(&guard_self))
        store_limit_space(sys_rlimit(RLIMIT_AS));
}

#define SET_LIMIT(name, type)                                                                      \
    EXPORT int name(__rlimit_resource_t resource, const type *limit)                               \
    {                                                                                              \
        real_functions_find();                                                                     \
        int result = real.name(resource, limit);                                                   \
        note_limit(resource, result);                                                              \
        return result;                                                                             \
    }

SET_LIMIT(setrlimit, struct rlimit)
SET_LIMIT(setrlimit64, struct rlimit64)

#define EXCHANGE_LIMIT(name, type)                                                                 \
    EXPORT int name(pid_t pid, enum __rlimit_resource resource, const type *limit, type *old)      \
    {                                                                                              \
        real_functions_find();                                                                     \
        int result = real.name(pid, resource, limit, old);                                         \
        note_limit(resource, result);                                                              \
        return result;                                                                             \
    }

EXCHANGE_LIMIT(prlimit, struct rlimit)
EXCHANGE_LIMIT(prlimit64, struct rlimit64)
