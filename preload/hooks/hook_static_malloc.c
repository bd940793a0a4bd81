/* hook_static_malloc.c - hooks of an allocator that is linked into the program (static_malloc.h).
 *
 * They are other functions than the hooks of hook_malloc.c, which the loader binds to the names: a
 * malloc in the program may call the malloc that the program imports, which is such a hook. Each
 * set of hooks calls its own allocator; a hook called while its thread has the token records
 * nothing. libleak's operators new and delete use the allocator whose malloc the loader finds under
 * that name.
 */
#include "preload/hooks/hooks.h"
#include "preload/interpose/static_malloc.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/heap/quarantine.h"
#include "preload/store/store.h"

#include <errno.h>

/* The functions of malloc's family and operators new and delete, with malloc and free first.
 *   ALLOC(name, parameters, arguments, bytes, kind): returns a block.
 *   ZEROED: returns a block that is filled with zeros.
 *   ALIGNED(name, parameters, arguments, kind): returns a block; operator new with an alignment.
 *   FREE(name, parameters, arguments, how): frees a block; how: the form (free_form.h).
 *   SIZED(name, parameters, arguments, how, size, alignment): frees a block and states its
 *   size and alignment; 0: not stated.
 *   OTHER(name, result, parameters): its hook is written out below. */
#define FAMILY(ALLOC, ZEROED, ALIGNED, FREE, SIZED, OTHER)                                         \
    ALLOC(malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)                                   \
    FREE(free, (void *block), (block), FREED_BY_FREE)                                              \
    ZEROED(calloc, (size_t count, size_t size), (count, size), (count * size), LEAK_KIND_MALLOC)   \
    OTHER(realloc, void *, (void *old, size_t size))                                               \
    OTHER(posix_memalign, int, (void **out, size_t alignment, size_t size))                        \
    ALLOC(aligned_alloc, (size_t to, size_t size), (to, size), size, LEAK_KIND_MEMALIGN)           \
    ALLOC(memalign, (size_t to, size_t size), (to, size), size, LEAK_KIND_MEMALIGN)                \
    ALLOC(valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)                                 \
    ALLOC(pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)                                \
    OTHER(reallocarray, void *, (void *old, size_t count, size_t size))                            \
    FREE(cfree, (void *block), (block), FREED_BY_FREE)                                             \
    SIZED(free_sized, (void *block, size_t of), (block, of), FREED_BY_FREE_SIZED, of, 0)           \
    SIZED(free_aligned_sized, (void *block, size_t to, size_t of), (block, to, of),                \
          FREED_BY_FREE_ALIGNED_SIZED, of, to)                                                     \
    ALLOC(_Znwm, (size_t size), (size), size, LEAK_KIND_NEW)                                       \
    ALLOC(_Znam, (size_t size), (size), size, LEAK_KIND_NEW_ARRAY)                                 \
    ALLOC(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), size, LEAK_KIND_NEW)   \
    ALLOC(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), size,                  \
          LEAK_KIND_NEW_ARRAY)                                                                     \
    ALIGNED(_ZnwmSt11align_val_t, (size_t size, size_t to), (size, to), LEAK_KIND_ALIGNED_NEW)     \
    ALIGNED(_ZnamSt11align_val_t, (size_t size, size_t to), (size, to),                            \
            LEAK_KIND_ALIGNED_NEW_ARRAY)                                                           \
    ALIGNED(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag),         \
            (size, to, tag), LEAK_KIND_ALIGNED_NEW)                                                \
    ALIGNED(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag),         \
            (size, to, tag), LEAK_KIND_ALIGNED_NEW_ARRAY)                                          \
    FREE(_ZdlPv, (void *block), (block), FREED_BY_DELETE)                                          \
    FREE(_ZdaPv, (void *block), (block), FREED_BY_DELETE_ARRAY)                                    \
    FREE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag), FREED_BY_DELETE)      \
    FREE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag),                       \
         FREED_BY_DELETE_ARRAY)                                                                    \
    SIZED(_ZdlPvm, (void *block, size_t of), (block, of), FREED_BY_DELETE_SIZED, of, 0)            \
    SIZED(_ZdaPvm, (void *block, size_t of), (block, of), FREED_BY_DELETE_ARRAY_SIZED, of, 0)      \
    SIZED(_ZdlPvSt11align_val_t, (void *block, size_t to), (block, to), FREED_BY_ALIGNED_DELETE,   \
          0, to)                                                                                   \
    SIZED(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to),                            \
          FREED_BY_ALIGNED_DELETE_ARRAY, 0, to)                                                    \
    SIZED(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),          \
          (block, to, tag), FREED_BY_ALIGNED_DELETE, 0, to)                                        \
    SIZED(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag),          \
          (block, to, tag), FREED_BY_ALIGNED_DELETE_ARRAY, 0, to)                                  \
    SIZED(_ZdlPvmSt11align_val_t, (void *block, size_t of, size_t to), (block, of, to),            \
          FREED_BY_ALIGNED_DELETE_SIZED, of, to)                                                   \
    SIZED(_ZdaPvmSt11align_val_t, (void *block, size_t of, size_t to), (block, of, to),            \
          FREED_BY_ALIGNED_DELETE_ARRAY_SIZED, of, to)

/* The original functions of the program's allocator (their displaced copies), which the hooks
 * call. */
static struct {
#define RETURNS_BLOCK(name, parameters, ...) void *(*name)parameters;
#define RETURNS_NOTHING(name, parameters, ...) void(*name) parameters;
#define RETURNS_OTHER(name, result, parameters) result(*name) parameters;
    FAMILY(RETURNS_BLOCK, RETURNS_BLOCK, RETURNS_BLOCK, RETURNS_NOTHING, RETURNS_NOTHING,
           RETURNS_OTHER)
} next;

/* ---- The hooks ------------------------------------------------------------------------------- */

#define ALLOC(name, parameters, arguments, bytes, kind)                                            \
    ALLOCATING(static, linked_##name, fill_new, next.name, parameters, arguments, bytes, kind)
#define ZEROED(name, parameters, arguments, bytes, kind)                                           \
    ALLOCATING(static, linked_##name, fill_zeroed, next.name, parameters, arguments, bytes, kind)

/* Tracks a block of aligned operator new. If the operator throws, the token stays taken; the next
 * hook in this thread notices that and takes it over (reentry_guard.h). */
#define TRACK_ALIGNED(guard, caller, block, size, kind)                                            \
    ({                                                                                             \
        (guard)->kind_flags = ((guard)->kind_flags & BLOCKS_IGNORED) | blocks_alignment_bits(to);  \
        track_alloc(guard, caller, block, size, kind);                                             \
        (guard)->kind_flags &= BLOCKS_IGNORED;                                                     \
    })
#define ALIGNED(name, parameters, arguments, kind)                                                 \
    ALLOCATES(linked_##name##_slow, TRACK_ALIGNED, fill_new, next.name, parameters, arguments,     \
              size, kind)                                                                          \
    static void *linked_##name parameters                                                          \
    {                                                                                              \
        return sample_passes(size) ? next.name arguments : linked_##name##_slow arguments;         \
    }

#define FREE(name, parameters, arguments, how)                                                     \
    static NOINLINE void linked_##name##_slow parameters                                           \
    {                                                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        FREEING(guard, &caller, block, track_free(guard, &caller, block, how),                     \
                next.name arguments);                                                              \
    }                                                                                              \
    static void linked_##name parameters                                                           \
    {                                                                                              \
        if (!FREED_UNTRACKED(block, next.name arguments))                                          \
            linked_##name##_slow arguments;                                                        \
    }

#define SIZED(name, parameters, arguments, how, size, alignment)                                   \
    static NOINLINE void linked_##name##_checked parameters                                        \
    {                                                                                              \
        struct free_form_frame frame = {CALLER_FRAME(), size, alignment};                          \
        FREEING(guard, &frame.caller, block, track_free_sized(guard, &frame, block, how),          \
                next.name arguments);                                                              \
    }                                                                                              \
    static void linked_##name parameters                                                           \
    {                                                                                              \
        if (!FREED_UNTRACKED(block, next.name arguments))                                          \
            linked_##name##_checked arguments;                                                     \
    }

#define OTHER(name, result, parameters) static result linked_##name parameters;

FAMILY(ALLOC, ZEROED, ALIGNED, FREE, SIZED, OTHER)

ALLOCATING_BY_ARGUMENT(static, linked_posix_memalign, next.posix_memalign)

static void *linked_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(bootstrap_owns(old)))
        return hook_leave_bootstrap_pool(old, linked_malloc(size), size);
    return hook_realloc(old, size, &caller, next.realloc);
}

static void *resize_array(void *old, size_t size)
{
    return next.reallocarray(old, 1, size);
}

/* Hook of reallocarray. If the product overflows, the program's own function reports the error. */
static void *linked_reallocarray(void *old, size_t count, size_t size)
{
    struct frame caller = CALLER_FRAME();
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return next.reallocarray(old, count, size);
    if (unlikely(bootstrap_owns(old)))
        return hook_leave_bootstrap_pool(old, linked_malloc(bytes), bytes);
    return hook_realloc(old, bytes, &caller, resize_array);
}

/* ---- Starting -------------------------------------------------------------------------------- */

static const struct static_malloc_hook hooks[] = {
#define ROW(name, ...) {OPERATOR_NAME(name), (uintptr_t)linked_##name, (uintptr_t *)&next.name},
    FAMILY(ROW, ROW, ROW, ROW, ROW, ROW)};

/* Returns, in words, why no allocator in this program can be redirected; NULL: nothing prevents
 * it. */
static const char *find_obstacle(void)
{
    return real_functions_loaded_late() ? "the process ran before libleak"
           : !*lock_single_threaded     ? "there is more than one thread already"
           : quarantine_is_on()         ? "quarantine= works with the C library's malloc only"
                                        : NULL;
}

/* Makes operators new and delete use the program's allocator, if libraries that import malloc use
 * this allocator, too. */
static void redirect_operators(void)
{
    real.cxx.malloc = next.malloc;
    real.cxx.free = next.free;
    if (next.aligned_alloc)
        real.cxx.aligned_alloc = next.aligned_alloc;
}

static void log_result(const struct static_malloc *found, bool redirected)
{
    static const char failed[] = "the program's own malloc is not tracked: ";
    if (redirected && options_current.verbosity)
        log_line("the program's own malloc is tracked, by its symbols", NULL);
    else if (!redirected && found->which)
        log_line(failed, found->which, ": ", found->reason, NULL);
    else if (!redirected)
        log_line(failed, found->reason, NULL);
}

void hook_static_malloc_start(void)
{
    struct static_malloc found;
    if (!*process_state.recording || options_current.linked_malloc == LINKED_MALLOC_OFF ||
        !static_malloc_find(hooks, ARRAY_LENGTH(hooks), &found))
        return;
    if (find_obstacle())
        found = (struct static_malloc){.exported = found.exported, .reason = find_obstacle()};
    bool redirected = static_malloc_redirect(&found);
    /* process_start has counted the program's allocator as untracked if the program exports it, and
     * has not counted it otherwise. Now it is known whether it was redirected, and the count is
     * corrected. */
    if (redirected == found.exported)
        store_count_untracked(LEAK_UNTRACKED_OWN_ALLOCATOR, redirected ? -1 : 1);
    if (redirected) {
        fill_note_linked_malloc();
        blocks_set_spacing(false);
    }
    log_result(&found, redirected);
    if (redirected && found.exported)
        redirect_operators();
}
