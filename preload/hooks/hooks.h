/* hooks.h - what the hooks share: the token, the building blocks of allocation functions, and what
 * the constructor of the library starts.
 */
#ifndef PRELOAD_HOOKS_HOOKS_H
#define PRELOAD_HOOKS_HOOKS_H

#include "preload/interpose/operator_names.h"
#include "preload/base/sys.h"
#include "preload/heap/free_form.h"
#include "preload/heap/sample.h"
#include "preload/heap/threads.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/process/process.h"
#include "preload/track/fill.h"
#include "preload/track/track.h"

/* WITH_GUARD (process.h) in a helper function of a hook. caller: the frame of the hook's caller,
 * whose address it is. */
#define WITH_TOKEN_FOR(caller, what)                                                               \
    do {                                                                                           \
        struct guard *guard = process_enter(caller);                                               \
        if (!guard)                                                                                \
            break;                                                                                 \
        what;                                                                                      \
        guard_leave(guard);                                                                        \
    } while (0)

/* Says whether a hook can read an argument that libc passes on to the kernel, without a fault: the
 * program gets the kernel's answer to a bad pointer. Most arguments lie on the thread's own stack,
 * above the caller; for others the kernel tells. */
static inline bool hook_can_read(const void *argument)
{
    const struct thread *thread = guard_self.thread;
    uintptr_t at = (uintptr_t)argument, sp = arch_stack_pointer();
    return (thread && sp >= thread->bounds.low && at >= sp && at < thread->bounds.high) ||
           !sys_faults(at);
}

/* Redirects an allocator that is linked into the program, or logs why that is not possible (option
 * linked_malloc=). The constructor of the library (hook_main.c) calls it after process_start; it
 * does nothing in a process that is not recorded. */
void hook_static_malloc_start(void);
/* Redirects calls to the hooks, in a process that ran before libleak. */
void hook_main_redirect(void);
/* Option pair=: redirects the calls of the pairs in all objects. */
void hook_pair_start(void);

/* ---- Allocation functions -------------------------------------------------------------------
 *
 * The following is instantiated twice: for the functions that the loader resolves (hook_malloc.c),
 * and for those of an allocator that is linked into the program (hook_static_malloc.c). next is the
 * function behind a hook. */

/* Forwards a call without the token, and counts it as missed. Hooks that the real function calls
 * (an allocator may be built on __libc_malloc) belong to this call, and are not counted again. */
#define FORWARD(call)                                                                              \
    ({                                                                                             \
        process_count_missed();                                                                    \
        bool before_ = guard_self.calling_real;                                                    \
        guard_self.calling_real = true;                                                            \
        __auto_type forwarded_ = call;                                                             \
        guard_self.calling_real = before_;                                                         \
        forwarded_;                                                                                \
    })

/* Calls a real function with the token: hooks that it calls belong to this call. */
#define REAL(guard, call)                                                                          \
    ({                                                                                             \
        (guard)->calling_real = true;                                                              \
        __auto_type result_ = call;                                                                \
        (guard)->calling_real = false;                                                             \
        result_;                                                                                   \
    })

/* The body of an allocating hook; track: track_alloc, or track_alloc_inline (track_hot.h); fill:
 * fill_new or fill_zeroed (fill.h). */
#define ALLOCATES(name, track, fill, next, parameters, arguments, bytes, kind)                     \
    static NOINLINE void *name parameters                                                          \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return FORWARD(next arguments);                                                        \
        modules_poll_loader();                                                                     \
        void *block = REAL(guard, next arguments);                                                 \
        if (likely(block)) {                                                                       \
            fill(block, (bytes));                                                                  \
            track(guard, &caller, block, (bytes), (kind));                                         \
        } else {                                                                                   \
            sample_redraw();                                                                       \
        }                                                                                          \
        guard_leave(guard);                                                                        \
        return block;                                                                              \
    }

/* A hook that returns the block. The second function is entered by a jump (when optimised), so its
 * caller's frame is the program's, and a block outside of the sample costs no stack frame. */
#define ALLOCATING(linkage, name, fill, next, parameters, arguments, bytes, kind)                  \
    ALLOCATES(name##_slow, track_alloc, fill, next, parameters, arguments, bytes, kind)            \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        return sample_passes(bytes) ? next arguments : name##_slow arguments;                      \
    }

/* The same for the most frequent functions: one test covers all unusual options. */
#define ALLOCATING_OFTEN(linkage, name, fill, next, parameters, arguments, bytes, kind)            \
    ALLOCATES(name##_slow, track_alloc, fill, next, parameters, arguments, bytes, kind)            \
    ALLOCATES(name##_fast, track_alloc_inline, fill, next, parameters, arguments, bytes, kind)     \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        if (likely(!track_state.selective))                                                        \
            return name##_fast arguments;                                                          \
        return sample_passes(bytes) ? next arguments : name##_slow arguments;                      \
    }

/* A hook like posix_memalign, which returns the block through an argument. */
#define ALLOCATING_BY_ARGUMENT(linkage, name, next)                                                \
    linkage int name(void **out, size_t alignment, size_t size)                                    \
    {                                                                                              \
        if (sample_passes(size))                                                                   \
            return next(out, alignment, size);                                                     \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return FORWARD(next(out, alignment, size));                                            \
        modules_poll_loader();                                                                     \
        int error = REAL(guard, next(out, alignment, size));                                       \
        if (!error && *out) {                                                                      \
            fill_new(*out, size);                                                                  \
            track_alloc(guard, &caller, *out, size, LEAK_KIND_MEMALIGN);                           \
        } else {                                                                                   \
            sample_redraw();                                                                       \
        }                                                                                          \
        guard_leave(guard);                                                                        \
        return error;                                                                              \
    }

/* Frees a block. go: the call that frees it. Blocks of the bootstrap pool are never freed. */
#define FREEING(guard, caller, block, tracked, go)                                                 \
    ({                                                                                             \
        struct guard *guard = process_enter(caller);                                               \
        if (unlikely(!guard)) {                                                                    \
            if (!bootstrap_owns(block))                                                            \
                go;                                                                                \
            return;                                                                                \
        }                                                                                          \
        modules_poll_loader();                                                                     \
        block = tracked;                                                                           \
        guard->calling_real = true;                                                                \
        go;                                                                                        \
        guard->calling_real = false;                                                               \
        guard_leave(guard);                                                                        \
    })

/* Frees a block that needs no tracking. True: it was freed. */
#define FREED_UNTRACKED(block, go)                                                                 \
    ({                                                                                             \
        bool passes_ = bootstrap_owns(block);                                                      \
        if (unlikely(passes_)) {                                                                   \
        } else if (!sample_excludes(block)) {                                                      \
            passes_ = !(block);                                                                    \
        } else {                                                                                   \
            modules_poll_loader(); /* a free inside of dlclose may be its only sign */             \
            go;                                                                                    \
            passes_ = true;                                                                        \
        }                                                                                          \
        passes_;                                                                                   \
    })

/* Does the work of realloc. next: the real function. */
void *hook_realloc(void *old, size_t size, const struct frame *caller,
                   void *(*next)(void *, size_t));
/* Moves a block of the bootstrap pool into the heap. */
void *hook_leave_bootstrap_pool(void *old, void *block, size_t size);

/* Every operator delete ends in one of these. how: enum free_form. */
void hook_delete(void *block, uint32_t how);
/* Deletes a block by a form that states a size or an alignment (0: not stated). */
void hook_delete_checked(void *block, uint32_t how, size_t size, size_t alignment);

#endif
