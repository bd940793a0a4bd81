/* hooks.h - what the hooks share: taking the token, macros that define the hooks of allocation
 * functions, and functions that the constructor of the library calls. */
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

/* Calls "what" with the token, in a helper function of a hook; WITH_GUARD (process.h) is for the
 * hook itself. caller: address of the frame of the hook's caller. */
#define WITH_TOKEN_FOR(caller, what)                                                               \
    do {                                                                                           \
        struct guard *guard = process_enter(caller);                                               \
        if (!guard)                                                                                \
            break;                                                                                 \
        what;                                                                                      \
        guard_leave(guard);                                                                        \
    } while (0)

/* Says whether a hook can read an argument, which libc only passes on to the kernel, without a
 * fault: for an invalid pointer the program must get the kernel's error. Most arguments lie on the
 * thread's own stack, above the hook's frame; for others the kernel is asked. */
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
/* Redirects the calls of all objects to the hooks, in a process that ran before libleak was
 * loaded. */
void hook_main_redirect(void);
/* Reads the option pair= and redirects the calls of its functions, in all objects. */
void hook_pair_start(void);

/* ---- Allocation functions -------------------------------------------------------------------
 *
 * The following macros are used twice: for the functions that the loader resolves (hook_malloc.c),
 * and for those of an allocator that is linked into the program (hook_static_malloc.c). "next" is
 * the function behind a hook. */

/* Calls the real function without the token, and counts the call as missed. If the real function
 * itself calls hooks (an allocator may be built on __libc_malloc), these calls are not counted
 * again. */
#define FORWARD(call)                                                                              \
    ({                                                                                             \
        process_count_missed();                                                                    \
        bool before_ = guard_self.calling_real;                                                    \
        guard_self.calling_real = true;                                                            \
        __auto_type forwarded_ = call;                                                             \
        guard_self.calling_real = before_;                                                         \
        forwarded_;                                                                                \
    })

/* Calls a real function with the token. Hooks that the real function calls record nothing. */
#define REAL(guard, call)                                                                          \
    ({                                                                                             \
        (guard)->calling_real = true;                                                              \
        __auto_type result_ = call;                                                                \
        (guard)->calling_real = false;                                                             \
        result_;                                                                                   \
    })

/* Defines the function that calls "next", the real function, and records the block. track:
 * track_alloc or track_alloc_inline (track_hot.h). fill: fill_new or fill_zeroed (fill.h). */
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

/* Defines the hook of an allocation function that returns the block. The optimiser turns the call
 * of name##_slow into a jump, so the frame above is that of the program, and with sample= a block
 * that is no sample costs no stack frame. */
#define ALLOCATING(linkage, name, fill, next, parameters, arguments, bytes, kind)                  \
    ALLOCATES(name##_slow, track_alloc, fill, next, parameters, arguments, bytes, kind)            \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        return sample_passes(bytes) ? next arguments : name##_slow arguments;                      \
    }

/* Defines the hook of one of the most frequent allocation functions. A single test, of
 * track_state.selective, tells that no unusual option is set. */
#define ALLOCATING_OFTEN(linkage, name, fill, next, parameters, arguments, bytes, kind)            \
    ALLOCATES(name##_slow, track_alloc, fill, next, parameters, arguments, bytes, kind)            \
    ALLOCATES(name##_fast, track_alloc_inline, fill, next, parameters, arguments, bytes, kind)     \
    linkage void *name parameters                                                                  \
    {                                                                                              \
        if (likely(!track_state.selective))                                                        \
            return name##_fast arguments;                                                          \
        return sample_passes(bytes) ? next arguments : name##_slow arguments;                      \
    }

/* Defines the hook of a function like posix_memalign, which returns the block through an
 * argument. */
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

/* Records and frees a block. tracked: expression that records the free and returns the block to
 * free. go: the call that frees it. Blocks of the bootstrap pool are never freed. */
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

/* Frees a block that needs no tracking. True: the block was freed, or it lies in the bootstrap pool
 * and is never freed. False: the caller must record the free. */
#define FREED_UNTRACKED(block, go)                                                                 \
    ({                                                                                             \
        bool passes_ = bootstrap_owns(block);                                                      \
        if (unlikely(passes_)) {                                                                   \
        } else if (!sample_excludes(block)) {                                                      \
            passes_ = !(block);                                                                    \
        } else {                                                                                   \
            modules_poll_loader(); /* the caller may be dlclose, which is noticed here */          \
            go;                                                                                    \
            passes_ = true;                                                                        \
        }                                                                                          \
        passes_;                                                                                   \
    })

/* Reallocates and records: the common part of the hooks of realloc. next: the real function. */
void *hook_realloc(void *old, size_t size, const struct frame *caller,
                   void *(*next)(void *, size_t));
/* Moves a block of the bootstrap pool into the heap, for realloc. block: its new place. */
void *hook_leave_bootstrap_pool(void *old, void *block, size_t size);

/* Frees a block for all operators delete that state neither size nor alignment. how: the form
 * (free_form.h). */
void hook_delete(void *block, uint32_t how);
/* Frees a block for operators delete that state a size or an alignment (0: not stated). */
void hook_delete_checked(void *block, uint32_t how, size_t size, size_t alignment);

#endif
