/* hook_memory.c - memory that the program has from the kernel itself: which of it a copy of the
 * process would not have, with track=mmap what is mapped, and where the program has told of blocks
 * in such memory, that they go with it.
 */
#include "preload/base/base.h"
#include "preload/heap/suballoc.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/resources/mmap_regions.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"
#include "preload/leakcheck/fork_snapshot.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

EXPORT int madvise(void *start, size_t size, int advice)
{
    real_find();
    int result = real.madvise(start, size, advice);
    if (result == 0)
        dontfork_note_advice((uintptr_t)start, size, advice);
    return result;
}

/* What the program's own allocators have carved from it goes with it. */
static NOINLINE void let_content_go(const struct frame *caller, void *start, size_t size)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    track_free_contained(guard, caller, (uintptr_t)start, size, FREED_BY_FREE);
    guard_leave(guard);
}

#define CONTENT_GOES(start, size)                                                                  \
    ({                                                                                             \
        if (unlikely(load_relaxed(&suballoc_count))) {                                               \
            struct frame content_ = CALLER_FRAME();                                                \
            let_content_go(&content_, start, size);                                                \
        }                                                                                          \
    })

static NOINLINE void note_mapped(const struct frame *caller, void *start, size_t size, int fd)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    mmap_regions_add(guard, caller, (uintptr_t)start, size, fd);
    guard_leave(guard);
}

#define MAPPED(call)                                                                               \
    ({                                                                                             \
        real_find();                                                                               \
        void *mapped_ = call;                                                                      \
        if (flags & MAP_FIXED && mapped_ != MAP_FAILED)                                            \
            CONTENT_GOES(mapped_, size);                                                           \
        if (resource_is_tracked(LEAK_RESOURCE_MMAP) && mapped_ != MAP_FAILED) {                          \
            struct frame caller_ = CALLER_FRAME();                                                 \
            note_mapped(&caller_, mapped_, size, flags &MAP_ANONYMOUS ? -1 : fd);                  \
        }                                                                                          \
        mapped_;                                                                                   \
    })

EXPORT void *mmap(void *start, size_t size, int access, int flags, int fd, off_t offset)
{
    return MAPPED(real.mmap(start, size, access, flags, fd, offset));
}

EXPORT void *mmap64(void *start, size_t size, int access, int flags, int fd, off_t offset)
{
    return MAPPED(real.mmap64(start, size, access, flags, fd, offset));
}

EXPORT int munmap(void *start, size_t size)
{
    real_find();
    if ((uintptr_t)start % sys_page_size() == 0) /* else it fails */
        CONTENT_GOES(start, size);
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

static NOINLINE void *remap(const struct frame *caller, void *start, size_t size, size_t wanted,
                            int flags, void *to)
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

/* The address it is to go to is there for MREMAP_FIXED alone; libc reads it in any case. */
EXPORT void *mremap(void *start, size_t size, size_t wanted, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    real_find();
    struct frame caller = CALLER_FRAME();
    void *moved = remap(&caller, start, size, wanted, flags, to);
    if (moved == MAP_FAILED)
        return moved;
    if (moved != start) /* what has moved is not where it was told to be */
        CONTENT_GOES(start, size);
    else if (wanted < size)
        CONTENT_GOES((char *)start + wanted, size - wanted);
    return moved;
}
