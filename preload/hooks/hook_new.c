/* hook_new.c - every replaceable operator new and delete, each with its own kind.
 *
 * operator new is our own loop: real malloc, then the program's new handler (with the token given
 * back: what it allocates is tracked), then the exception, thrown by the program's own libstdc++.
 * That library is looked for only when an allocation has failed: it may have come in with a plugin,
 * where dlsym(RTLD_NEXT) sees nothing. Built with -fexceptions: the throw passes through these
 * frames.
 *
 * A program may replace some of the forms, and the standard says which of the others then call
 * them: a sized delete the plain one, new[] new. The C++ library's do so, so there ours give way to
 * these.
 */
#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/hooks/hook_free.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/heap/sample.h"
#include "preload/track/track.h"
#include "preload/track/track_hot.h"

typedef void new_handler(void);

/* The search itself may allocate: that is ours, not the program's. */
static NOINLINE void *find(const char *name)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (guard)
        guard->calling_real = true;
    void *found = real_find_cxx(name);
    if (guard) {
        guard->calling_real = false;
        guard_leave(guard);
    }
    return found;
}

static new_handler *current_handler(void)
{
    new_handler *(*get)(void) = find("_ZSt15get_new_handlerv");
    return get ? get() : NULL;
}

static COLD void throw_bad_alloc(size_t size)
{
    void (*throw_it)(void) = find("_ZSt17__throw_bad_allocv");
    if (throw_it)
        throw_it();
    void *(*throwing)(size_t) = find("_Znwm");
    if (throwing)
        throwing(size); /* fails as ours did, and throws */
    log_line("operator new is out of memory and no C++ runtime was found to throw bad_alloc", NULL);
    abort();
}

/* One attempt: a tracked block or NULL. */
static void *attempt(size_t size, size_t alignment, enum leak_kind kind, const struct frame *caller)
{
    /* As C++ runtimes do: at least one byte, and for aligned_alloc a multiple of the alignment. */
    size_t bytes = size ? size : 1;
    if (alignment) {
        size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
        if (rounded < bytes)
            return NULL;
        bytes = rounded;
    }
    if (unlikely(track_state.selective) && sample_passes(size))
        return alignment ? real_new.aligned_alloc(alignment, bytes) : real_new.malloc(bytes);
    struct guard *guard = process_enter(caller);
    if (!guard)
        process_count_missed();
    bool before = guard_self.calling_real;
    guard_self.calling_real = true;
    void *block = alignment ? real_new.aligned_alloc(alignment, bytes) : real_new.malloc(bytes);
    guard_self.calling_real = before;
    if (!guard)
        return block;
    modules_notice();
    if (unlikely(alignment))
        guard->kind_flags = (guard->kind_flags & BLOCKS_IGNORED) | blocks_alignment_bits(alignment);
    if (likely(block && !track_state.selective))
        track_alloc_inline(guard, caller, block, size, kind);
    else if (block)
        track_alloc(guard, caller, block, size, kind);
    else
        sample_redraw();
    if (unlikely(alignment))
        guard->kind_flags &= BLOCKS_IGNORED;
    guard_leave(guard);
    return block;
}

static inline void *new_or_throw(size_t size, size_t alignment, enum leak_kind kind,
                                 const struct frame *caller)
{
    for (;;) {
        void *block = attempt(size, alignment, kind, caller);
        if (likely(block))
            return block;
        new_handler *handler = current_handler();
        if (!handler)
            throw_bad_alloc(size);
        handler();
    }
}

/* A handler may throw, and catching is not for C: when the first attempt has failed the program's
 * own nothrow form goes on; it calls the throwing one (ours) inside its try block. */
static inline void *new_or_null(size_t size, size_t alignment, enum leak_kind kind,
                                const struct frame *caller, const char *original, const void *tag)
{
    void *block = attempt(size, alignment, kind, caller);
    if (likely(block) || !current_handler())
        return block;
    void *form = find(original);
    if (!form)
        return NULL;
    if (alignment)
        return ((void *(*)(size_t, size_t, const void *))form)(size, alignment, tag);
    return ((void *(*)(size_t, const void *))form)(size, tag);
}

/* Forms that stand on others: the library's own, where the program has replaced one of these. A
 * function of its own: what is not replaced needs no frame for it. */
#define GIVE_WAY(result, name, parameters)                                                         \
    static COLD result(*original_##name(void)) parameters                                          \
    {                                                                                              \
        if (!operators_original.name)                                                              \
            operators_original.name = find(#name);                                                 \
        return (result(*) parameters)operators_original.name;                                      \
    }

#define NEW_BASE(name, kind)                                                                       \
    EXPORT void *name(size_t size);                                                                \
    EXPORT void *name(size_t size)                                                                 \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return new_or_throw(size, 0, kind, &caller);                                               \
    }
#define NEW(name, kind)                                                                            \
    GIVE_WAY(void *, name, (size_t))                                                               \
    EXPORT void *name(size_t size);                                                                \
    EXPORT void *name(size_t size)                                                                 \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (unlikely(operators_replaced()) && original_##name())                                   \
            return original_##name()(size);                                                        \
        return new_or_throw(size, 0, kind, &caller);                                               \
    }
#define NEW_NOTHROW(name, kind)                                                                    \
    GIVE_WAY(void *, name, (size_t, const void *))                                                 \
    EXPORT void *name(size_t size, const void *tag);                                               \
    EXPORT void *name(size_t size, const void *tag)                                                \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (unlikely(operators_replaced()) && original_##name())                                   \
            return original_##name()(size, tag);                                                   \
        return new_or_null(size, 0, kind, &caller, #name, tag);                                    \
    }
#define NEW_ALIGNED_BASE(name, kind)                                                               \
    EXPORT void *name(size_t size, size_t alignment);                                              \
    EXPORT void *name(size_t size, size_t alignment)                                               \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        return new_or_throw(size, alignment, kind, &caller);                                       \
    }
#define NEW_ALIGNED(name, kind)                                                                    \
    GIVE_WAY(void *, name, (size_t, size_t))                                                       \
    EXPORT void *name(size_t size, size_t alignment);                                              \
    EXPORT void *name(size_t size, size_t alignment)                                               \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (unlikely(operators_replaced()) && original_##name())                                   \
            return original_##name()(size, alignment);                                             \
        return new_or_throw(size, alignment, kind, &caller);                                       \
    }
#define NEW_ALIGNED_NOTHROW(name, kind)                                                            \
    GIVE_WAY(void *, name, (size_t, size_t, const void *))                                         \
    EXPORT void *name(size_t size, size_t alignment, const void *tag);                             \
    EXPORT void *name(size_t size, size_t alignment, const void *tag)                              \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        if (unlikely(operators_replaced()) && original_##name())                                   \
            return original_##name()(size, alignment, tag);                                        \
        return new_or_null(size, alignment, kind, &caller, #name, tag);                            \
    }

NEW_BASE(_Znwm, LEAK_KIND_NEW)
NEW(_Znam, LEAK_KIND_NEW_ARRAY)
NEW_NOTHROW(_ZnwmRKSt9nothrow_t, LEAK_KIND_NEW)
NEW_NOTHROW(_ZnamRKSt9nothrow_t, LEAK_KIND_NEW_ARRAY)
NEW_ALIGNED_BASE(_ZnwmSt11align_val_t, LEAK_KIND_ALIGNED_NEW)
NEW_ALIGNED(_ZnamSt11align_val_t, LEAK_KIND_ALIGNED_NEW_ARRAY)
NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t, LEAK_KIND_ALIGNED_NEW)
NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t, LEAK_KIND_ALIGNED_NEW_ARRAY)

/* The forms of delete differ in what they promise about the block, not in what they do to it. */
#define DELETE_FORM(name, parameters, arguments, go)                                               \
    GIVE_WAY(void, name, parameters)                                                               \
    static COLD void give_way_##name parameters                                                    \
    {                                                                                              \
        if (original_##name())                                                                     \
            original_##name() arguments;                                                           \
        else                                                                                       \
            go;                                                                                    \
    }                                                                                              \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        if (unlikely(operators_replaced()))                                                        \
            give_way_##name arguments;                                                             \
        else                                                                                       \
            go;                                                                                    \
    }
#define DELETE_BASE(name, parameters, go)                                                          \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        go;                                                                                        \
    }

DELETE_BASE(_ZdlPv, (void *block), hook_free(block, FREED_BY_DELETE))
DELETE_BASE(_ZdlPvSt11align_val_t, (void *block, size_t to),
            hook_free_said(block, FREED_BY_ALIGNED_DELETE, 0, to))
DELETE_FORM(_ZdaPv, (void *block), (block), hook_free(block, FREED_BY_DELETE_ARRAY))
DELETE_FORM(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag),
            hook_free(block, FREED_BY_DELETE))
DELETE_FORM(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag),
            hook_free(block, FREED_BY_DELETE_ARRAY))
DELETE_FORM(_ZdlPvm, (void *block, size_t size), (block, size),
            hook_free_said(block, FREED_BY_DELETE_SIZED, size, 0))
DELETE_FORM(_ZdaPvm, (void *block, size_t size), (block, size),
            hook_free_said(block, FREED_BY_DELETE_ARRAY_SIZED, size, 0))
DELETE_FORM(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to),
            hook_free_said(block, FREED_BY_ALIGNED_DELETE_ARRAY, 0, to))
DELETE_FORM(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
            (block, to, tag), hook_free_said(block, FREED_BY_ALIGNED_DELETE, 0, to))
DELETE_FORM(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
            (block, to, tag), hook_free_said(block, FREED_BY_ALIGNED_DELETE_ARRAY, 0, to))
DELETE_FORM(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to),
            hook_free_said(block, FREED_BY_ALIGNED_DELETE_SIZED, size, to))
DELETE_FORM(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to),
            hook_free_said(block, FREED_BY_ALIGNED_DELETE_ARRAY_SIZED, size, to))
