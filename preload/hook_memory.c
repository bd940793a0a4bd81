/* hook_memory.c - memory that the program has from the kernel itself: which of it a copy of the
 * process would not have, and with track=mmap what is mapped.
 */
#include "preload/process.h"
#include "preload/real.h"
#include "preload/regions.h"
#include "preload/unforked.h"

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
        unforked_note((uintptr_t)start, size, advice);
    return result;
}

static NOINLINE void note_mapped(const struct frame *caller, void *start, size_t size, int fd)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    regions_came(guard, caller, (uintptr_t)start, size, fd);
    guard_leave(guard);
}

#define MAPPED(call)                                                                               \
    ({                                                                                             \
        real_find();                                                                               \
        void *mapped_ = call;                                                                      \
        if (records_track(LEAK_RESOURCE_MMAP) && mapped_ != MAP_FAILED) {                          \
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
    if (!records_track(LEAK_RESOURCE_MMAP))
        return real.munmap(start, size);
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (!guard)
        return real.munmap(start, size);
    struct locked held = regions_hold(guard);
    int result = real.munmap(start, size);
    if (result == 0)
        regions_went(guard, (uintptr_t)start, size);
    regions_let_go(&held);
    guard_leave(guard);
    return result;
}

/* The address it is to go to is there for MREMAP_FIXED alone; libc reads it in any case. */
EXPORT void *mremap(void *start, size_t size, size_t wanted, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    real_find();
    if (!records_track(LEAK_RESOURCE_MMAP))
        return real.mremap(start, size, wanted, flags, to);
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (!guard)
        return real.mremap(start, size, wanted, flags, to);
    struct leak_mark mark = records_mark(guard, &caller);
    struct locked held = regions_hold(guard);
    void *moved = real.mremap(start, size, wanted, flags, to);
    if (moved != MAP_FAILED)
        regions_moved(guard, mark, (uintptr_t)start, size, (uintptr_t)moved, wanted,
                      size == 0 || flags & MREMAP_DONTUNMAP);
    regions_let_go(&held);
    guard_leave(guard);
    return moved;
}
