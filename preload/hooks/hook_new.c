/* hook_new.c - hooks of all replaceable operators new and delete, each with its own kind.
 *
 * operator new is a loop. It calls the real malloc; if that fails, it calls the program's new
 * handler (without the token, so that its allocations are tracked) and tries again; without a
 * handler the program's own C++ runtime throws the exception. The functions of the C++ runtime are
 * looked up only after an allocation has failed, because the runtime may come with a plugin that is
 * loaded later. This file is compiled with -fexceptions, because the exception passes through its
 * frames.
 *
 * A program may define some forms of the operators itself. By the C++ standard other forms call
 * these: a sized delete calls the plain one, new[] calls new. The forms of the C++ library do so,
 * so in such a program the hooks call the library's forms (operator_override.h).
 */
#include "preload/hooks/hooks.h"
#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/log.h"
#include "preload/interpose/operator_override.h"
#include "preload/track/track_hot.h"

typedef void new_handler(void);

/* Searches a function of the C++ runtime. NULL: there is none. Allocations that the search itself
 * makes do not count as the program's. */
static NOINLINE void *find_in_runtime(const char *name)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (guard)
        guard->calling_real = true;
    void *found = real_functions_find_cxx(name);
    if (guard) {
        guard->calling_real = false;
        guard_leave(guard);
    }
    return found;
}

static new_handler *current_handler(void)
{
    new_handler *(*get)(void) = find_in_runtime("_ZSt15get_new_handlerv");
    return get ? get() : NULL;
}

static COLD void throw_bad_alloc(size_t size)
{
    void (*throw_it)(void) = find_in_runtime("_ZSt17__throw_bad_allocv");
    if (throw_it)
        throw_it();
    void *(*throwing)(size_t) = find_in_runtime(OPERATOR_NAME(_Znwm));
    if (throwing)
        throwing(size); /* this call fails as well, and throws */
    log_line("operator new is out of memory and no C++ runtime was found to throw bad_alloc", NULL);
    abort();
}

/* Tries once to allocate. Returns a tracked block, or NULL. */
static void *try_new(size_t size, size_t alignment, enum leak_kind kind, const struct frame *caller)
{
    /* Allocates at least one byte, as C++ runtimes do; with an alignment, a multiple of the
     * alignment, as aligned_alloc requires. */
    size_t bytes = size ? size : 1;
    if (alignment) {
        size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
        if (rounded < bytes)
            return NULL;
        bytes = rounded;
    }
    if (unlikely(track_state.selective) && sample_passes(size))
        return alignment ? real.cxx.aligned_alloc(alignment, bytes) : real.cxx.malloc(bytes);
    struct guard *guard = process_enter(caller);
    if (!guard)
        process_count_missed();
    bool before = guard_self.calling_real;
    guard_self.calling_real = true;
    void *block = alignment ? real.cxx.aligned_alloc(alignment, bytes) : real.cxx.malloc(bytes);
    guard_self.calling_real = before;
    if (!guard)
        return block;
    modules_poll_loader();
    if (likely(block))
        fill_new(block, size);
    if (unlikely(alignment))
        guard->kind_flags = (guard->kind_flags & BLOCKS_IGNORED) | blocks_alignment_bits(alignment);
    if (likely(block))
        track_alloc(guard, caller, block, size, kind);
    else
        sample_redraw();
    if (unlikely(alignment))
        guard->kind_flags &= BLOCKS_IGNORED;
    guard_leave(guard);
    return block;
}

/* After a first failed attempt, calls the new handler and tries again until an allocation
 * succeeds. */
static NOINLINE void *new_again(size_t size, size_t alignment, enum leak_kind kind,
                                const struct frame *caller)
{
    void *block;
    do {
        new_handler *handler = current_handler();
        if (!handler)
            throw_bad_alloc(size);
        handler();
    } while (!(block = try_new(size, alignment, kind, caller)));
    return block;
}

static inline void *new_or_throw(size_t size, size_t alignment, enum leak_kind kind,
                                 const struct frame *caller)
{
    void *block = try_new(size, alignment, kind, caller);
    return likely(block) ? block : new_again(size, alignment, kind, caller);
}

/* Defines one of the most frequent forms of operator new. A single test, of track_state.selective,
 * tells that no unusual option is set. The hook enters its second function by a jump, so that it
 * has no stack frame (ALLOCATING_OFTEN in hooks.h). */
#define NEW_OFTEN(name, kind)                                                                      \
    static NOINLINE void *name##_slow(size_t size)                                                 \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return new_or_throw(size, 0, kind, &caller);                                               \
    }                                                                                              \
    static NOINLINE void *name##_fast(size_t size)                                                 \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (unlikely(!guard))                                                                      \
            return new_or_throw(size, 0, kind, COPY_OF(&caller));                                  \
        modules_poll_loader();                                                                     \
        void *block = REAL(guard, real.cxx.malloc(size + !size));                                  \
        if (likely(block)) {                                                                       \
            fill_new(block, size);                                                                 \
            track_alloc_inline(guard, &caller, block, size, kind);                                 \
        }                                                                                          \
        guard_leave(guard);                                                                        \
        return likely(block) ? block : new_again(size, 0, kind, COPY_OF(&caller));                 \
    }                                                                                              \
    static ALWAYS_INLINE void *name(size_t size)                                                   \
    {                                                                                              \
        return likely(!track_state.selective) ? name##_fast(size) : name##_slow(size);             \
    }
NEW_OFTEN(new_object, LEAK_KIND_NEW)
NEW_OFTEN(new_array, LEAK_KIND_NEW_ARRAY)

/* Allocates for a nothrow form of operator new. The program's new handler may throw, and C code
 * cannot catch that. So after a failed first attempt the C++ runtime's own nothrow form is called;
 * inside of a try block it calls the throwing form, whose hook calls the new handler. */
static inline void *new_or_null(size_t size, size_t alignment, enum leak_kind kind,
                                const struct frame *caller, const char *original, const void *tag)
{
    void *block = try_new(size, alignment, kind, caller);
    if (likely(block) || !current_handler())
        return block;
    void *form = find_in_runtime(original);
    if (!form)
        return NULL;
    if (alignment)
        return ((void *(*)(size_t, size_t, const void *))form)(size, alignment, tag);
    return ((void *(*)(size_t, const void *))form)(size, tag);
}

/* Allocates with an alignment that is no power of two. The C++ runtime decides what that means:
 * libstdc++ throws an exception without calling the new handler. */
static COLD void *new_oddly_aligned(size_t size, size_t alignment)
{
    void *(*form)(size_t, size_t) = find_in_runtime(OPERATOR_NAME(_ZnwmSt11align_val_t));
    if (form)
        return form(size, alignment);
    throw_bad_alloc(size);
    return NULL;
}

static COLD void *new_oddly_aligned_or_null(size_t size, size_t alignment, const void *tag)
{
    void *(*form)(size_t, size_t, const void *) =
        find_in_runtime(OPERATOR_NAME(_ZnwmSt11align_val_tRKSt9nothrow_t));
    return form ? form(size, alignment, tag) : NULL;
}

/* Defines a function that returns the C++ runtime's own form of an operator; NULL: it is not found.
 * The hooks call that form when the program defines a form on which it depends. This is a separate
 * function, so that the usual path needs no stack frame. */
#define ORIGINAL(result, name, parameters)                                                         \
    static COLD result(*original_##name(void)) parameters                                          \
    {                                                                                              \
        if (!operator_override.original.name)                                                      \
            operator_override.original.name = find_in_runtime(OPERATOR_NAME(name));                \
        return (result(*) parameters)operator_override.original.name;                              \
    }

/* Define hooks of operator new. NEW_BASIC: a form that calls no other form. NEW: a form whose
 * version in the C++ standard library calls another form. The plain forms new and new[] are not
 * defined by these macros, because their hooks do not take the frame of their caller. */
#define NEW_BASIC(name, parameters, go)                                                            \
    EXPORT void *name parameters;                                                                  \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return go;                                                                                 \
    }
/* One more expansion: with a 32-bit size_t the name is itself a macro. */
#define NEW(...) NEW_FORM(__VA_ARGS__)
#define NEW_FORM(name, parameters, arguments, go)                                                  \
    ORIGINAL(void *, name, parameters)                                                             \
    EXPORT void *name parameters;                                                                  \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (unlikely(operator_override_any()) && original_##name())                                \
            return original_##name() arguments;                                                    \
        return go;                                                                                 \
    }

EXPORT void *_Znwm(size_t size);
EXPORT void *_Znwm(size_t size)
{
    return new_object(size);
}
ORIGINAL(void *, _Znam, (size_t size))
EXPORT void *_Znam(size_t size);
EXPORT void *_Znam(size_t size)
{
    if (unlikely(operator_override_any()) && original__Znam())
        return original__Znam()(size);
    return new_array(size);
}
NEW_BASIC(_ZnwmSt11align_val_t, (size_t size, size_t to),
          is_power_of_two(to) ? new_or_throw(size, to, LEAK_KIND_ALIGNED_NEW, &caller)
                              : new_oddly_aligned(size, to))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag),
    new_or_null(size, 0, LEAK_KIND_NEW, &caller, OPERATOR_NAME(_ZnwmRKSt9nothrow_t), tag))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag),
    new_or_null(size, 0, LEAK_KIND_NEW_ARRAY, &caller, OPERATOR_NAME(_ZnamRKSt9nothrow_t), tag))
NEW(_ZnamSt11align_val_t, (size_t size, size_t to), (size, to),
    is_power_of_two(to) ? new_or_throw(size, to, LEAK_KIND_ALIGNED_NEW_ARRAY, &caller)
                        : new_oddly_aligned(size, to))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag), (size, to, tag),
    is_power_of_two(to) ? new_or_null(size, to, LEAK_KIND_ALIGNED_NEW, &caller,
                                      OPERATOR_NAME(_ZnwmSt11align_val_tRKSt9nothrow_t), tag)
                        : new_oddly_aligned_or_null(size, to, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag), (size, to, tag),
    is_power_of_two(to) ? new_or_null(size, to, LEAK_KIND_ALIGNED_NEW_ARRAY, &caller,
                                      OPERATOR_NAME(_ZnamSt11align_val_tRKSt9nothrow_t), tag)
                        : new_oddly_aligned_or_null(size, to, tag))

/* Define hooks of operator delete. All forms of delete free the block; they differ in what they
 * state about it (its size, its alignment). */
#define DELETE(...) DELETE_FORM(__VA_ARGS__)
#define DELETE_FORM(name, parameters, arguments, go)                                               \
    ORIGINAL(void, name, parameters)                                                               \
    static COLD void call_original_##name parameters                                               \
    {                                                                                              \
        if (original_##name())                                                                     \
            original_##name() arguments;                                                           \
        else                                                                                       \
            go;                                                                                    \
    }                                                                                              \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        if (unlikely(operator_override_any()))                                                     \
            call_original_##name arguments;                                                        \
        else                                                                                       \
            go;                                                                                    \
    }
#define DELETE_BASIC(name, parameters, go)                                                         \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        go;                                                                                        \
    }

DELETE_BASIC(_ZdlPv, (void *block), hook_delete(block, FREED_BY_DELETE))
DELETE_BASIC(_ZdlPvSt11align_val_t, (void *block, size_t to),
             hook_delete_checked(block, FREED_BY_ALIGNED_DELETE, 0, to))
DELETE(_ZdaPv, (void *block), (block), hook_delete(block, FREED_BY_DELETE_ARRAY))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag),
       hook_delete(block, FREED_BY_DELETE))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag),
       hook_delete(block, FREED_BY_DELETE_ARRAY))
DELETE(_ZdlPvm, (void *block, size_t size), (block, size),
       hook_delete_checked(block, FREED_BY_DELETE_SIZED, size, 0))
DELETE(_ZdaPvm, (void *block, size_t size), (block, size),
       hook_delete_checked(block, FREED_BY_DELETE_ARRAY_SIZED, size, 0))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to),
       hook_delete_checked(block, FREED_BY_ALIGNED_DELETE_ARRAY, 0, to))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
       (block, to, tag), hook_delete_checked(block, FREED_BY_ALIGNED_DELETE, 0, to))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
       (block, to, tag), hook_delete_checked(block, FREED_BY_ALIGNED_DELETE_ARRAY, 0, to))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to),
       hook_delete_checked(block, FREED_BY_ALIGNED_DELETE_SIZED, size, to))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to),
       hook_delete_checked(block, FREED_BY_ALIGNED_DELETE_ARRAY_SIZED, size, to))
