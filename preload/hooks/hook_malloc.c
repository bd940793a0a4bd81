/* hook_malloc.c - malloc and its family.
 *
 * Each hook: token, real function, account, token back. What libc returns and what errno holds
 * afterwards is libc's doing. Without a token (libleak itself is calling, or there is no account)
 * the call is only forwarded. Addresses from the boot pool are ours for ever: never given to the
 * real allocator.
 */
#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/misuse/eventlog.h"
#include "preload/hooks/hook_alloc.h"
#include "preload/hooks/hook_free.h"
#include "preload/track/track_hot.h"
#include "arch.h"

#include <errno.h>
#include <malloc.h>

ALLOCATING_OFTEN(EXPORT, malloc, real.malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
/* When the product overflows the real one fails, and nothing is recorded. */
ALLOCATING_OFTEN(EXPORT, calloc, real.calloc, (size_t count, size_t size), (count, size),
                 (count * size), LEAK_KIND_MALLOC)
ALLOCATING(EXPORT, aligned_alloc, real.aligned_alloc, (size_t alignment, size_t size),
           (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, memalign, real.memalign, (size_t alignment, size_t size), (alignment, size),
           size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, valloc, real.valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, pvalloc, real.pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

/* Each goes on to the function of its name: an allocator behind us may be made of them. */
#define BY_LIBC_NAME(name, parameters, arguments, bytes, kind)                                     \
    EXPORT void *name parameters;                                                                  \
    ALLOCATING(EXPORT, name, real.name, parameters, arguments, bytes, kind)

BY_LIBC_NAME(__libc_malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_calloc, (size_t count, size_t size), (count, size), (count * size),
             LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_memalign, (size_t alignment, size_t size), (alignment, size), size,
             LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

ALLOCATING_BY_ARGUMENT(EXPORT, posix_memalign, real.posix_memalign)

void *hook_leave_boot_pool(void *old, void *block, size_t size)
{
    if (block)
        memcpy(block, old, boot_size(old) < size ? boot_size(old) : size);
    return block;
}

static COLD void stays(struct guard *guard, const struct block *before)
{
    track_reinsert(guard, before);
    if (eventlog_is_on())
        eventlog_realloc_failed(guard, before);
}

void *hook_resize(void *old, size_t size, const struct frame *caller, void *(*next)(void *, size_t))
{
    if (sample_excludes(old) && sample_passes(size))
        return next(old, size);
    struct guard *guard = process_enter(caller);
    if (unlikely(!guard))
        return FORWARD(next(old, size));
    modules_notice();
    struct block before;
    bool known = old && track_remove_for_realloc(guard, caller, old, &before);
    void *block = REAL(guard, next(old, size));
    /* NULL for a size of 0 means that the old block is gone; else it is as it was. */
    if (known && (block || size == 0)) {
        size_t kept = block == old && size < before.size ? size : block == old ? before.size : 0;
        if (unlikely(load_relaxed(&suballoc_count)))
            track_free_contained(guard, caller, before.address + kept, before.size - kept,
                               FREED_BY_REALLOC);
        track_free_removed(guard, caller, &before);
    } else if (known)
        stays(guard, &before);
    if (block)
        track_alloc(guard, caller, block, size, LEAK_KIND_MALLOC);
    else
        sample_redraw();
    guard_leave(guard);
    return block;
}

EXPORT void *realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, malloc(size), size);
    return hook_resize(old, size, &caller, real.realloc);
}

EXPORT void *__libc_realloc(void *old, size_t size);
EXPORT void *__libc_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, __libc_malloc(size), size);
    return hook_resize(old, size, &caller, real.__libc_realloc);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
    struct frame caller = CALLER_FRAME();
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM; /* as libc's own does */
        return NULL;
    }
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, malloc(bytes), bytes);
    return hook_resize(old, bytes, &caller, real.realloc);
}

/* free and delete may go to different allocators: a program may have a malloc of its own. */
#define RELEASES(name, go)                                                                         \
    static NOINLINE void name##_as_usual(void *block, uint32_t how)                                \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (!block) /* below */                                                                    \
            __builtin_unreachable();                                                               \
        FREEING(guard, &caller, block, track_free_inline(guard, &caller, block, how), go);           \
    }                                                                                              \
    static NOINLINE void name##_in_full(void *block, uint32_t how)                                 \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        FREEING(guard, &caller, block, track_free(guard, &caller, block, how), go);                \
    }                                                                                              \
    static NOINLINE void name##_as_said(void *block, uint32_t how, size_t size, size_t alignment)  \
    {                                                                                              \
        struct free_form_frame frame = {CALLER_FRAME(), size, alignment};                            \
        FREEING(guard, &frame.caller, block, track_free_sized(guard, &frame, block, how), go);      \
    }                                                                                              \
    /* Often all is as usual, which is asked once. */                                              \
    static ALWAYS_INLINE void name##_often(void *block, uint32_t how)                              \
    {                                                                                              \
        if (likely(!track_state.detour && block))                                                        \
            name##_as_usual(block, how);                                                           \
        else if (!PASSES_BY(block, go))                                                            \
            name##_in_full(block, how);                                                            \
    }

RELEASES(free, real.free(block))
RELEASES(delete, real_new.free(block))

void hook_free(void *block, uint32_t how)
{
    delete_often(block, how);
}

void hook_free_said(void *block, uint32_t how, size_t size, size_t alignment)
{
    if (!PASSES_BY(block, real_new.free(block)))
        delete_as_said(block, how, size, alignment);
}

EXPORT void free(void *block)
{
    free_often(block, FREED_BY_FREE);
}

EXPORT void cfree(void *block);
EXPORT void cfree(void *block)
{
    free_often(block, FREED_BY_FREE);
}

EXPORT void free_sized(void *block, size_t size);
EXPORT void free_sized(void *block, size_t size)
{
    if (!PASSES_BY(block, real.free(block)))
        free_as_said(block, FREED_BY_FREE_SIZED, size, 0);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    if (!PASSES_BY(block, real.free(block)))
        free_as_said(block, FREED_BY_FREE_ALIGNED_SIZED, size, alignment);
}

/* Whoever frees by this name knows what he does: it is counted, and neither compared nor put off.
 */
static NOINLINE void free_by_libc_name(void *block)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    struct block before;
    if (guard) {
        modules_notice();
        bool known = track_remove(guard, block, &before);
        if (known && eventlog_is_on())
            eventlog_free(guard, &caller, &before, FREED_BY_FREE);
        if (known && load_relaxed(&suballoc_count))
            track_free_contained(guard, &caller, before.address, before.size, FREED_BY_FREE);
        if (known)
            track_free_removed(guard, &caller, &before);
        guard->calling_real = true;
    }
    real.__libc_free(block);
    if (!guard)
        return;
    guard->calling_real = false;
    guard_leave(guard);
}

EXPORT void __libc_free(void *block);
EXPORT void __libc_free(void *block)
{
    if (unlikely(boot_owns(block)))
        return;
    if (!block || sample_excludes(block))
        real.__libc_free(block);
    else
        free_by_libc_name(block);
}

EXPORT size_t malloc_usable_size(void *block)
{
    if (unlikely(boot_owns(block)))
        return boot_size(block);
    return block && real.malloc_usable_size ? real.malloc_usable_size(block) : 0;
}
