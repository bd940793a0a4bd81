/* hook_linked.c - the hooks of an allocator that is linked into the program (static_malloc.h).
 *
 * They are not those that the loader finds: a malloc in the program may be made of the one that it
 * asks the loader for, which is ours. Each set goes on to its own allocator; what is called while
 * the token is out is part of the outer call. Operators new and delete go where malloc goes by its
 * name.
 */
#include "preload/hooks/hook_linked.h"
#include "preload/hooks/hook_alloc.h"
#include "preload/interpose/late_load.h"
#include "preload/interpose/static_malloc.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/heap/quarantine.h"
#include "preload/store/store.h"

#include <errno.h>

/* Each function of the family: FORM(name, result, parameters). */
#define FAMILY(FORM)                                                                               \
    FORM(malloc, void *, (size_t))                                                                 \
    FORM(free, void, (void *))                                                                     \
    FORM(calloc, void *, (size_t, size_t))                                                         \
    FORM(realloc, void *, (void *, size_t))                                                        \
    FORM(posix_memalign, int, (void **, size_t, size_t))                                           \
    FORM(aligned_alloc, void *, (size_t, size_t))                                                  \
    FORM(memalign, void *, (size_t, size_t))                                                       \
    FORM(valloc, void *, (size_t))                                                                 \
    FORM(pvalloc, void *, (size_t))                                                                \
    FORM(reallocarray, void *, (void *, size_t, size_t))                                           \
    FORM(cfree, void, (void *))                                                                    \
    FORM(free_sized, void, (void *, size_t))                                                       \
    FORM(free_aligned_sized, void, (void *, size_t, size_t))                                       \
    FORM(_Znwm, void *, (size_t))                                                                  \
    FORM(_Znam, void *, (size_t))                                                                  \
    FORM(_ZnwmRKSt9nothrow_t, void *, (size_t, const void *))                                      \
    FORM(_ZnamRKSt9nothrow_t, void *, (size_t, const void *))                                      \
    FORM(_ZnwmSt11align_val_t, void *, (size_t, size_t))                                           \
    FORM(_ZnamSt11align_val_t, void *, (size_t, size_t))                                           \
    FORM(_ZnwmSt11align_val_tRKSt9nothrow_t, void *, (size_t, size_t, const void *))               \
    FORM(_ZnamSt11align_val_tRKSt9nothrow_t, void *, (size_t, size_t, const void *))               \
    FORM(_ZdlPv, void, (void *))                                                                   \
    FORM(_ZdaPv, void, (void *))                                                                   \
    FORM(_ZdlPvRKSt9nothrow_t, void, (void *, const void *))                                       \
    FORM(_ZdaPvRKSt9nothrow_t, void, (void *, const void *))                                       \
    FORM(_ZdlPvm, void, (void *, size_t))                                                          \
    FORM(_ZdaPvm, void, (void *, size_t))                                                          \
    FORM(_ZdlPvSt11align_val_t, void, (void *, size_t))                                            \
    FORM(_ZdaPvSt11align_val_t, void, (void *, size_t))                                            \
    FORM(_ZdlPvSt11align_val_tRKSt9nothrow_t, void, (void *, size_t, const void *))                \
    FORM(_ZdaPvSt11align_val_tRKSt9nothrow_t, void, (void *, size_t, const void *))                \
    FORM(_ZdlPvmSt11align_val_t, void, (void *, size_t, size_t))                                   \
    FORM(_ZdaPvmSt11align_val_t, void, (void *, size_t, size_t))

/* The functions as they were. */
static struct {
#define FORM(name, result, parameters) result(*name) parameters;
    FAMILY(FORM)
#undef FORM
} next;

/* ---- malloc and its family ------------------------------------------------------------------ */

#define LINKED(name, parameters, arguments, bytes, kind)                                           \
    ALLOCATING(static, linked_##name, next.name, parameters, arguments, bytes, kind)

LINKED(malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
LINKED(calloc, (size_t count, size_t size), (count, size), (count * size), LEAK_KIND_MALLOC)
LINKED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size, LEAK_KIND_MEMALIGN)
LINKED(memalign, (size_t alignment, size_t size), (alignment, size), size, LEAK_KIND_MEMALIGN)
LINKED(valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
LINKED(pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING_BY_ARGUMENT(static, linked_posix_memalign, next.posix_memalign)

static void *linked_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, linked_malloc(size), size);
    return hook_resize(old, size, &caller, next.realloc);
}

static void *resize_array(void *old, size_t size)
{
    return next.reallocarray(old, 1, size);
}

/* Where the product overflows the program's own says so. */
static void *linked_reallocarray(void *old, size_t count, size_t size)
{
    struct frame caller = CALLER_FRAME();
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return next.reallocarray(old, count, size);
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, linked_malloc(bytes), bytes);
    return hook_resize(old, bytes, &caller, resize_array);
}

/* ---- What frees ----------------------------------------------------------------------------- */

#define LINKED_FREE(name, parameters, arguments, how)                                              \
    static NOINLINE void linked_##name##_in_full parameters                                        \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        FREEING(guard, &caller, block, track_free(guard, &caller, block, how),                     \
                next.name arguments);                                                              \
    }                                                                                              \
    static void linked_##name parameters                                                           \
    {                                                                                              \
        if (!PASSES_BY(block, next.name arguments))                                                \
            linked_##name##_in_full arguments;                                                     \
    }
/* It says the size or the alignment. */
#define LINKED_FREE_SAID(name, parameters, arguments, how, size, alignment)                        \
    static NOINLINE void linked_##name##_as_said parameters                                        \
    {                                                                                              \
        struct free_form_frame frame = {CALLER_FRAME(), size, alignment};                            \
        FREEING(guard, &frame.caller, block, track_free_sized(guard, &frame, block, how),           \
                next.name arguments);                                                              \
    }                                                                                              \
    static void linked_##name parameters                                                           \
    {                                                                                              \
        if (!PASSES_BY(block, next.name arguments))                                                \
            linked_##name##_as_said arguments;                                                     \
    }

LINKED_FREE(free, (void *block), (block), FREED_BY_FREE)
LINKED_FREE(cfree, (void *block), (block), FREED_BY_FREE)
LINKED_FREE_SAID(free_sized, (void *block, size_t of), (block, of), FREED_BY_FREE_SIZED, of, 0)
LINKED_FREE_SAID(free_aligned_sized, (void *block, size_t to, size_t of), (block, to, of),
                 FREED_BY_FREE_ALIGNED_SIZED, of, to)
LINKED_FREE(_ZdlPv, (void *block), (block), FREED_BY_DELETE)
LINKED_FREE(_ZdaPv, (void *block), (block), FREED_BY_DELETE_ARRAY)
LINKED_FREE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag), FREED_BY_DELETE)
LINKED_FREE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag), FREED_BY_DELETE_ARRAY)
LINKED_FREE_SAID(_ZdlPvm, (void *block, size_t of), (block, of), FREED_BY_DELETE_SIZED, of, 0)
LINKED_FREE_SAID(_ZdaPvm, (void *block, size_t of), (block, of), FREED_BY_DELETE_ARRAY_SIZED, of, 0)
LINKED_FREE_SAID(_ZdlPvSt11align_val_t, (void *block, size_t to), (block, to), FREED_BY_ALIGNED_DELETE, 0,
                 to)
LINKED_FREE_SAID(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to),
                 FREED_BY_ALIGNED_DELETE_ARRAY, 0, to)
LINKED_FREE_SAID(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
                 (block, to, tag), FREED_BY_ALIGNED_DELETE, 0, to)
LINKED_FREE_SAID(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),
                 (block, to, tag), FREED_BY_ALIGNED_DELETE_ARRAY, 0, to)
LINKED_FREE_SAID(_ZdlPvmSt11align_val_t, (void *block, size_t of, size_t to), (block, of, to),
                 FREED_BY_ALIGNED_DELETE_SIZED, of, to)
LINKED_FREE_SAID(_ZdaPvmSt11align_val_t, (void *block, size_t of, size_t to), (block, of, to),
                 FREED_BY_ALIGNED_DELETE_ARRAY_SIZED, of, to)

/* ---- Operators new -------------------------------------------------------------------------- */

/* Allocators have their own, which need not call malloc. One that throws leaves the token behind,
 * and the next call finds it abandoned (reentry_guard.h). */
LINKED(_Znwm, (size_t size), (size), size, LEAK_KIND_NEW)
LINKED(_Znam, (size_t size), (size), size, LEAK_KIND_NEW_ARRAY)
LINKED(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), size, LEAK_KIND_NEW)
LINKED(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), size, LEAK_KIND_NEW_ARRAY)

#define LINKED_ALIGNED(name, parameters, arguments, kind)                                          \
    static NOINLINE void *linked_##name##_in_full parameters                                       \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct guard *guard = process_enter(&caller);                                              \
        if (!guard)                                                                                \
            return FORWARD(next.name arguments);                                                   \
        modules_notice();                                                                          \
        void *block = REAL(guard, next.name arguments);                                            \
        guard->kind_flags =                                                                        \
            (guard->kind_flags & BLOCKS_IGNORED) | blocks_alignment_bits(alignment);               \
        if (block)                                                                                 \
            track_alloc(guard, &caller, block, size, kind);                                        \
        else                                                                                       \
            sample_redraw();                                                                        \
        guard->kind_flags &= BLOCKS_IGNORED;                                                       \
        guard_leave(guard);                                                                        \
        return block;                                                                              \
    }                                                                                              \
    static void *linked_##name parameters                                                          \
    {                                                                                              \
        return sample_passes(size) ? next.name arguments : linked_##name##_in_full arguments;      \
    }

LINKED_ALIGNED(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
               LEAK_KIND_ALIGNED_NEW)
LINKED_ALIGNED(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
               LEAK_KIND_ALIGNED_NEW_ARRAY)
LINKED_ALIGNED(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
               (size, alignment, tag), LEAK_KIND_ALIGNED_NEW)
LINKED_ALIGNED(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
               (size, alignment, tag), LEAK_KIND_ALIGNED_NEW_ARRAY)

/* ---- Start ---------------------------------------------------------------------------------- */

static const struct linked_hook hooks[] = {
#define FORM(name, result, parameters) {#name, (uintptr_t)linked_##name, (uintptr_t *)&next.name},
    FAMILY(FORM)
#undef FORM
};

/* Something stands against it that is not the allocator's. */
static const char *other_reason(void)
{
    return late_is()            ? "the process ran before libleak"
           : !*lock_single_threaded       ? "there is more than one thread already"
           : quarantine_is_on() ? "quarantine= is for the C library's alone"
                                : NULL;
}

/* Everybody has it then who asks for malloc by its name. */
static void lead_operators(void)
{
    real_new.malloc = next.malloc;
    real_new.free = next.free;
    if (next.aligned_alloc)
        real_new.aligned_alloc = next.aligned_alloc;
}

static void say(const struct linked *linked, bool led)
{
    if (led && options_current.verbosity)
        log_line("the program's own malloc is tracked, by its symbols", NULL);
    if (led)
        return;
    if (linked->which)
        log_line("the program's own malloc is not tracked: ", linked->which, ": ", linked->why,
                 NULL);
    else
        log_line("the program's own malloc is not tracked: ", linked->why, NULL);
}

void hook_linked_start(void)
{
    struct linked linked;
    if (!*process_state.recording || options_current.linked_malloc == LINKED_MALLOC_OFF ||
        !linked_find(hooks, ARRAY_LENGTH(hooks), &linked))
        return;
    if (other_reason())
        linked = (struct linked){.exported = linked.exported, .why = other_reason()};
    bool led = linked_lead(&linked);
    /* What is exported was counted at the start. */
    if (led == linked.exported)
        store_count_untracked(LEAK_UNTRACKED_OWN_ALLOCATOR, led ? -1 : 1);
    say(&linked, led);
    if (led && linked.exported)
        lead_operators();
}
