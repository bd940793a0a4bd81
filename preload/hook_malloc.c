/* hook_malloc.c - malloc and its family.
 *
 * Each hook: token, real function, account, token back. What libc returns and what errno holds
 * afterwards is libc's doing. Without a token (libleak itself is calling, or there is no account)
 * the call is only forwarded. Addresses from the boot pool are ours for ever: never given to the
 * real allocator.
 */
#include "preload/atomic.h"
#include "preload/blocks.h"
#include "preload/boot.h"
#include "preload/carved.h"
#include "preload/eventlog.h"
#include "preload/hook_free.h"
#include "preload/modules.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/sample.h"
#include "preload/track.h"
#include "arch.h"

#include <errno.h>
#include <malloc.h>

/* What the real function calls of ours meanwhile (an allocator behind us may be made of
 * __libc_malloc) is part of this call, and not missed once more. */
#define FORWARD(call)                                                                              \
    ({                                                                                             \
        process_missed();                                                                          \
        bool before_ = guard_self.calling_real;                                                    \
        guard_self.calling_real = true;                                                            \
        __auto_type forwarded_ = call;                                                             \
        guard_self.calling_real = before_;                                                         \
        forwarded_;                                                                                \
    })

/* The token's state while the allocator works: nested calls then are part of this one. */
#define REAL(guard, call)                                                                          \
    ({                                                                                             \
        (guard)->calling_real = true;                                                              \
        __auto_type result_ = call;                                                                \
        (guard)->calling_real = false;                                                             \
        result_;                                                                                   \
    })

/* Every allocating hook but the two that report by other means than a pointer. The second function
 * is entered by a jump (when optimised): its caller's frame is the program's, and a block that is
 * no sample pays for no frame at all. */
#define ALLOCATING(name, parameters, arguments, bytes, kind)                                       \
    static NOINLINE void *name##_in_full parameters                                                \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return FORWARD(real.name arguments);                                                   \
        modules_notice();                                                                          \
        void *block = REAL(guard, real.name arguments);                                            \
        if (likely(block))                                                                         \
            track_alloc(guard, &caller, block, (bytes), (kind));                                   \
        else                                                                                       \
            sample_again();                                                                        \
        guard_leave(guard);                                                                        \
        return block;                                                                              \
    }                                                                                              \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        return sample_passes(bytes) ? real.name arguments : name##_in_full arguments;              \
    }

ALLOCATING(malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
/* When the product overflows the real one fails, and nothing is recorded. */
ALLOCATING(calloc, (size_t count, size_t size), (count, size), (count * size), LEAK_KIND_MALLOC)
ALLOCATING(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size,
           LEAK_KIND_MEMALIGN)
ALLOCATING(memalign, (size_t alignment, size_t size), (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

/* Each goes on to the function of its name: an allocator behind us may be made of them. */
#define BY_LIBC_NAME(name, parameters, arguments, bytes, kind)                                     \
    EXPORT void *name parameters;                                                                  \
    ALLOCATING(name, parameters, arguments, bytes, kind)

BY_LIBC_NAME(__libc_malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_calloc, (size_t count, size_t size), (count, size), (count * size),
             LEAK_KIND_MALLOC)
BY_LIBC_NAME(__libc_memalign, (size_t alignment, size_t size), (alignment, size), size,
             LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
BY_LIBC_NAME(__libc_pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (sample_passes(size))
        return real.posix_memalign(out, alignment, size);
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (unlikely(!guard))
        return FORWARD(real.posix_memalign(out, alignment, size));
    modules_notice();
    int error = REAL(guard, real.posix_memalign(out, alignment, size));
    if (!error && *out)
        track_alloc(guard, &caller, *out, size, LEAK_KIND_MEMALIGN);
    else
        sample_again();
    guard_leave(guard);
    return error;
}

/* A block of the boot pool moves into the real heap. */
static void *leave_boot_pool(void *old, void *block, size_t size)
{
    if (block)
        memcpy(block, old, boot_size(old) < size ? boot_size(old) : size);
    return block;
}

static COLD void stays(struct guard *guard, const struct block *before)
{
    track_put_back(guard, before);
    if (eventlog_level)
        eventlog_left(guard, before);
}

static void *resize(void *old, size_t size, const struct frame *caller,
                    void *(*real_one)(void *, size_t))
{
    if (sample_spares(old) && sample_passes(size))
        return real_one(old, size);
    struct guard *guard = process_enter(caller);
    if (unlikely(!guard))
        return FORWARD(real_one(old, size));
    modules_notice();
    struct block before;
    bool known = old && track_move(guard, caller, old, &before);
    void *block = REAL(guard, real_one(old, size));
    /* NULL for a size of 0 means that the old block is gone; else it is as it was. */
    if (known && (block || size == 0)) {
        size_t kept = block == old && size < before.size ? size : block == old ? before.size : 0;
        if (unlikely(load_relaxed(&carved_count)))
            track_content_gone(guard, caller, before.address + kept, before.size - kept,
                               BY_REALLOC);
        track_gone(guard, caller, &before);
    }
    else if (known)
        stays(guard, &before);
    if (block)
        track_alloc(guard, caller, block, size, LEAK_KIND_MALLOC);
    else
        sample_again();
    guard_leave(guard);
    return block;
}

EXPORT void *realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return leave_boot_pool(old, malloc(size), size);
    return resize(old, size, &caller, real.realloc);
}

EXPORT void *__libc_realloc(void *old, size_t size);
EXPORT void *__libc_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return leave_boot_pool(old, __libc_malloc(size), size);
    return resize(old, size, &caller, real.__libc_realloc);
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
        return leave_boot_pool(old, malloc(bytes), bytes);
    return resize(old, bytes, &caller, real.realloc);
}

#define FREEING(guard, caller, block, tracked)                                                     \
    ({                                                                                             \
        struct guard *guard = process_enter(caller);                                               \
        if (unlikely(!guard)) {                                                                    \
            real.free(block);                                                                      \
            return;                                                                                \
        }                                                                                          \
        modules_notice();                                                                          \
        block = tracked;                                                                           \
        guard->calling_real = true;                                                                \
        real.free(block);                                                                          \
        guard->calling_real = false;                                                               \
        guard_leave(guard);                                                                        \
    })

static NOINLINE void free_in_full(void *block, uint32_t how)
{
    struct frame caller = CALLER_FRAME();
    FREEING(guard, &caller, block, track_free(guard, &caller, block, how));
}

static NOINLINE void free_as_said(void *block, uint32_t how, size_t size, size_t alignment)
{
    struct release_frame frame = {CALLER_FRAME(), size, alignment};
    FREEING(guard, &frame.caller, block, track_free_said(guard, &frame, block, how));
}

static ALWAYS_INLINE bool is_passed_by(void *block)
{
    if (unlikely(boot_owns(block)))
        return true;
    if (!sample_spares(block))
        return !block;
    modules_notice(); /* the loader's frees under dlclose are the only sign of some of them */
    real.free(block);
    return true;
}

void hook_free(void *block, uint32_t how)
{
    if (!is_passed_by(block))
        free_in_full(block, how);
}

void hook_free_said(void *block, uint32_t how, size_t size, size_t alignment)
{
    if (!is_passed_by(block))
        free_as_said(block, how, size, alignment);
}

EXPORT void free(void *block)
{
    hook_free(block, BY_FREE);
}

EXPORT void cfree(void *block);
EXPORT void cfree(void *block)
{
    hook_free(block, BY_FREE);
}

EXPORT void free_sized(void *block, size_t size);
EXPORT void free_sized(void *block, size_t size)
{
    hook_free_said(block, BY_FREE_SIZED, size, 0);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size);
EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    hook_free_said(block, BY_FREE_ALIGNED_SIZED, size, alignment);
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
        bool known = track_take(guard, block, &before);
        if (known && eventlog_level)
            eventlog_went(guard, &caller, &before, BY_FREE);
        if (known && load_relaxed(&carved_count))
            track_content_gone(guard, &caller, before.address, before.size, BY_FREE);
        if (known)
            track_gone(guard, &caller, &before);
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
    if (!block || sample_spares(block))
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
