/* hook_alloc.h - what the hooks of an allocator's functions are made of.
 *
 * Made twice: for the functions that the loader finds (hook_malloc.c), and for those of an
 * allocator that is linked into the program (hook_linked.c). next is the function that a hook
 * stands in front of.
 */
#ifndef PRELOAD_HOOKS_HOOK_ALLOC_H
#define PRELOAD_HOOKS_HOOK_ALLOC_H

#include "preload/interpose/bootstrap_alloc.h"
#include "preload/interpose/modules.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/heap/sample.h"
#include "preload/track/track.h"

/* What the real function calls of ours meanwhile (an allocator behind us may be made of
 * __libc_malloc) is part of this call, and not missed once more. */
#define FORWARD(call)                                                                              \
    ({                                                                                             \
        process_count_missed();                                                                          \
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

/* The body of an allocating hook; track: track_alloc, or track_alloc_inline (track_hot.h). */
#define ALLOCATES(name, track, next, parameters, arguments, bytes, kind)                           \
    static NOINLINE void *name parameters                                                          \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return FORWARD(next arguments);                                                        \
        modules_notice();                                                                          \
        void *block = REAL(guard, next arguments);                                                 \
        if (likely(block))                                                                         \
            track(guard, &caller, block, (bytes), (kind));                                         \
        else                                                                                       \
            sample_redraw();                                                                        \
        guard_leave(guard);                                                                        \
        return block;                                                                              \
    }

/* Every allocating hook but the two that report by other means than a pointer. The second function
 * is entered by a jump (when optimised): its caller's frame is the program's, and a block that is
 * no sample pays for no frame at all. */
#define ALLOCATING(linkage, name, next, parameters, arguments, bytes, kind)                        \
    ALLOCATES(name##_in_full, track_alloc, next, parameters, arguments, bytes, kind)               \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        return sample_passes(bytes) ? next arguments : name##_in_full arguments;                   \
    }

/* The same for those that programs call most: they ask once whether all is as usual. */
#define ALLOCATING_OFTEN(linkage, name, next, parameters, arguments, bytes, kind)                  \
    ALLOCATES(name##_in_full, track_alloc, next, parameters, arguments, bytes, kind)               \
    ALLOCATES(name##_as_usual, track_alloc_inline, next, parameters, arguments, bytes, kind)         \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        if (likely(!track_state.selective))                                                                 \
            return name##_as_usual arguments;                                                      \
        return sample_passes(bytes) ? next arguments : name##_in_full arguments;                   \
    }

#define ALLOCATING_BY_ARGUMENT(linkage, name, next)                                                \
    linkage int name(void **out, size_t alignment, size_t size)                                    \
    {                                                                                              \
        if (sample_passes(size))                                                                   \
            return next(out, alignment, size);                                                     \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return FORWARD(next(out, alignment, size));                                            \
        modules_notice();                                                                          \
        int error = REAL(guard, next(out, alignment, size));                                       \
        if (!error && *out)                                                                        \
            track_alloc(guard, &caller, *out, size, LEAK_KIND_MEMALIGN);                           \
        else                                                                                       \
            sample_redraw();                                                                        \
        guard_leave(guard);                                                                        \
        return error;                                                                              \
    }

/* go: the call that frees the block for good. Blocks of the boot pool are never freed. */
#define FREEING(guard, caller, block, tracked, go)                                                 \
    ({                                                                                             \
        struct guard *guard = process_enter(caller);                                               \
        if (unlikely(!guard)) {                                                                    \
            if (!boot_owns(block))                                                                 \
                go;                                                                                \
            return;                                                                                \
        }                                                                                          \
        modules_notice();                                                                          \
        block = tracked;                                                                           \
        guard->calling_real = true;                                                                \
        go;                                                                                        \
        guard->calling_real = false;                                                               \
        guard_leave(guard);                                                                        \
    })

/* Is there no more to do than to free it? Then it is done. */
#define PASSES_BY(block, go)                                                                       \
    ({                                                                                             \
        bool passes_ = boot_owns(block);                                                           \
        if (unlikely(passes_)) {                                                                   \
        } else if (!sample_excludes(block)) {                                                        \
            passes_ = !(block);                                                                    \
        } else {                                                                                   \
            modules_notice(); /* the loader's frees under dlclose are the only sign of some */     \
            go;                                                                                    \
            passes_ = true;                                                                        \
        }                                                                                          \
        passes_;                                                                                   \
    })

/* realloc, with the function behind it. */
void *hook_resize(void *old, size_t size, const struct frame *caller,
                  void *(*next)(void *, size_t));
/* A block of the boot pool moves into the real heap. */
void *hook_leave_boot_pool(void *old, void *block, size_t size);

#endif
