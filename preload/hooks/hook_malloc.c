/* hook_malloc.c - hooks of malloc and its family.
 *
 * Each hook takes the token, calls the real function, records the block and gives the token back.
 * The result and errno are those of libc. Without a token (libleak itself is calling, or the
 * process is not recorded) the call is only forwarded. Addresses in the bootstrap pool are never
 * passed to the real allocator.
 */
#include "preload/hooks/hooks.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/misuse/eventlog.h"
#include "preload/track/track_hot.h"
#include "arch.h"

#include <errno.h>
#include <malloc.h>

ALLOCATING_OFTEN(EXPORT, malloc, fill_new, real.malloc, (size_t size), (size), size,
                 LEAK_KIND_MALLOC)
/* If count * size overflows, libc's calloc fails and nothing is recorded. */
ALLOCATING_OFTEN(EXPORT, calloc, fill_zeroed, real.calloc, (size_t count, size_t size),
                 (count, size), (count * size), LEAK_KIND_MALLOC)
ALLOCATING(EXPORT, aligned_alloc, fill_new, real.aligned_alloc, (size_t alignment, size_t size),
           (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, memalign, fill_new, real.memalign, (size_t alignment, size_t size),
           (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, valloc, fill_new, real.valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(EXPORT, pvalloc, fill_new, real.pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

/* Defines the hook of a function with a name that is internal to libc. It calls libc's function of
 * the same name and not real.malloc, because that may be another allocator, which is built on these
 * functions. */
#define BY_LIBC_NAME(name, fill, parameters, arguments, bytes, kind)                               \
    EXPORT void *name parameters;                                                                  \
    ALLOCATING(EXPORT, name, fill, real.name, parameters, arguments, bytes, kind)

BY_LIBC_NAME(__libc_malloc, fill_new, (size_t size), (size), size, LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_calloc, fill_zeroed, (size_t count, size_t size), (count, size), (count * size),
             LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_memalign, fill_new, (size_t alignment, size_t size), (alignment, size), size,
             LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_valloc, fill_new, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_pvalloc, fill_new, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

ALLOCATING_BY_ARGUMENT(EXPORT, posix_memalign, real.posix_memalign)

void *hook_leave_bootstrap_pool(void *old, void *block, size_t size)
{
    if (block)
        memcpy(block, old, bootstrap_size(old) < size ? bootstrap_size(old) : size);
    return block;
}

static COLD void restore_block(struct guard *guard, const struct block *before)
{
    track_reinsert(guard, before);
    if (eventlog_is_on())
        eventlog_realloc_failed(guard, before);
}

void *hook_realloc(void *old, size_t size, const struct frame *caller,
                   void *(*next)(void *, size_t))
{
    if (sample_excludes(old) && sample_passes(size))
        return next(old, size);
    struct guard *guard = process_enter(caller);
    if (unlikely(!guard))
        return FORWARD(next(old, size));
    modules_poll_loader();
    struct block before;
    bool known = old && track_remove_for_realloc(guard, caller, old, &before);
    /* Number of bytes of the old block that the new block takes over; the bytes behind them are
     * new. */
    size_t kept = !old ? 0 : known && size > before.size ? fill_kept(old, size) : size;
    void *block = REAL(guard, next(old, size));
    /* If the size is 0, NULL means that the old block was freed. Otherwise NULL means that realloc
     * failed and the old block is unchanged. */
    if (known && (block || size == 0)) {
        size_t stays = block == old && size < before.size ? size : block == old ? before.size : 0;
        if (unlikely(load_relaxed(&suballoc_count)))
            track_free_contained(guard, caller, before.address + stays, before.size - stays,
                                 FREED_BY_REALLOC);
        track_free_removed(guard, caller, &before);
    } else if (known)
        restore_block(guard, &before);
    if (block && kept < size)
        fill_grown(block, kept, size);
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
    if (unlikely(bootstrap_owns(old)))
        return hook_leave_bootstrap_pool(old, malloc(size), size);
    return hook_realloc(old, size, &caller, real.realloc);
}

EXPORT void *__libc_realloc(void *old, size_t size);
EXPORT void *__libc_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(bootstrap_owns(old)))
        return hook_leave_bootstrap_pool(old, __libc_malloc(size), size);
    return hook_realloc(old, size, &caller, real.__libc_realloc);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
    struct frame caller = CALLER_FRAME();
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM; /* libc's reallocarray sets the same error */
        return NULL;
    }
    if (unlikely(bootstrap_owns(old)))
        return hook_leave_bootstrap_pool(old, malloc(bytes), bytes);
    return hook_realloc(old, bytes, &caller, real.realloc);
}

/* Defines the functions that record a free and then free the block with "go". They are defined once
 * for free and once for delete, whose real functions differ if the program has a malloc of its
 * own. */
#define RELEASES(name, go)                                                                         \
    static NOINLINE void name##_fast(void *block, uint32_t how)                                    \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (!block) /* callers pass no NULL */                                                     \
            __builtin_unreachable();                                                               \
        FREEING(guard, &caller, block, track_free_inline(guard, &caller, block, how), go);         \
    }                                                                                              \
    static NOINLINE void name##_slow(void *block, uint32_t how)                                    \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        FREEING(guard, &caller, block, track_free(guard, &caller, block, how), go);                \
    }                                                                                              \
    static NOINLINE void name##_checked(void *block, uint32_t how, size_t size, size_t alignment)  \
    {                                                                                              \
        struct free_form_frame frame = {CALLER_FRAME(), size, alignment};                          \
        FREEING(guard, &frame.caller, block, track_free_sized(guard, &frame, block, how), go);     \
    }                                                                                              \
    static NOINLINE void name##_checked_fast(void *block, uint32_t how, size_t size,               \
                                             size_t alignment)                                     \
    {                                                                                              \
        struct free_form_frame frame = {CALLER_FRAME(), size, alignment};                          \
        if (!block) /* callers pass no NULL */                                                     \
            __builtin_unreachable();                                                               \
        FREEING(guard, &frame.caller, block, track_free_sized_inline(guard, &frame, block, how),   \
                go);                                                                               \
    }                                                                                              \
    static ALWAYS_INLINE void release_##name(void *block, uint32_t how)                            \
    {                                                                                              \
        if (likely(!track_state.detour && block))                                                  \
            name##_fast(block, how);                                                               \
        else if (!FREED_UNTRACKED(block, go))                                                      \
            name##_slow(block, how);                                                               \
    }                                                                                              \
    static ALWAYS_INLINE void release_##name##_checked(void *block, uint32_t how, size_t size,     \
                                                       size_t alignment)                           \
    {                                                                                              \
        if (likely(!track_state.detour && block))                                                  \
            name##_checked_fast(block, how, size, alignment);                                      \
        else if (!FREED_UNTRACKED(block, go))                                                      \
            name##_checked(block, how, size, alignment);                                           \
    }

RELEASES(free, real.free(block))
RELEASES(delete, real.cxx.free(block))

void hook_delete(void *block, uint32_t how)
{
    release_delete(block, how);
}

void hook_delete_checked(void *block, uint32_t how, size_t size, size_t alignment)
{
    release_delete_checked(block, how, size, alignment);
}

EXPORT void free(void *block)
{
    release_free(block, FREED_BY_FREE);
}

EXPORT void cfree(void *block);
EXPORT void cfree(void *block)
{
    release_free(block, FREED_BY_FREE);
}

EXPORT void free_sized(void *block, size_t size);
EXPORT void free_sized(void *block, size_t size)
{
    release_free_checked(block, FREED_BY_FREE_SIZED, size, 0);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    release_free_checked(block, FREED_BY_FREE_ALIGNED_SIZED, size, alignment);
}

/* Frees a block by a name that is internal to libc. A caller that uses this name does so
 * deliberately, so the free is counted, but not checked for mismatches and not put into
 * quarantine. */
static NOINLINE void free_by_libc_name(void *block)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    struct block before;
    if (guard) {
        modules_poll_loader();
        bool known = track_remove(guard, block, &before);
        if (known && eventlog_is_on())
            eventlog_free(guard, &caller, &before, FREED_BY_FREE);
        if (known && alloc_watch_calls.freed)
            alloc_watch_calls.freed(guard, &caller, &before, FREED_BY_FREE);
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
    if (unlikely(bootstrap_owns(block)))
        return;
    if (!block || sample_excludes(block))
        real.__libc_free(block);
    else
        free_by_libc_name(block);
}

EXPORT size_t malloc_usable_size(void *block)
{
    if (unlikely(bootstrap_owns(block)))
        return bootstrap_size(block);
    return block && real.malloc_usable_size ? real.malloc_usable_size(block) : 0;
}
