/* hook_linked.c - the hooks of an allocator that is linked into the program (linked.h).
 *
 * They are not those that the loader finds: a malloc in the program may be made of the one that it asks
 * the loader for, which is ours. Each set goes on to its own allocator; what is called while the token
 * is out is part of the outer call. Operators new and delete go where malloc goes by its name.
 */
#include "preload/hook_linked.h"
#include "preload/hook_alloc.h"
#include "preload/late.h"
#include "preload/linked.h"
#include "preload/lock.h"
#include "preload/log.h"
#include "preload/options.h"
#include "preload/quarantine.h"
#include "preload/store.h"

#include <errno.h>

/* The functions as they were. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*cfree)(void *);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
} next;

ALLOCATING(static, linked_malloc, next.malloc, (size_t size), (size), size, LEAK_KIND_MALLOC)
ALLOCATING(static, linked_calloc, next.calloc, (size_t count, size_t size), (count, size),
           (count * size), LEAK_KIND_MALLOC)
ALLOCATING(static, linked_aligned_alloc, next.aligned_alloc, (size_t alignment, size_t size),
           (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(static, linked_memalign, next.memalign, (size_t alignment, size_t size),
           (alignment, size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(static, linked_valloc, next.valloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING(static, linked_pvalloc, next.pvalloc, (size_t size), (size), size, LEAK_KIND_MEMALIGN)
ALLOCATING_BY_ARGUMENT(static, linked_posix_memalign, next.posix_memalign)

static void *linked_realloc(void *old, size_t size)
{
    struct frame caller = CALLER_FRAME();
    if (unlikely(boot_owns(old)))
        return hook_leave_boot_pool(old, linked_malloc(size), size);
    return hook_resize(old, size, &caller, next.realloc);
}

/* The size is the product, or there is no block: the program's own says so. */
static void *resize_array(void *old, size_t size)
{
    return next.reallocarray(old, 1, size);
}

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

static NOINLINE void free_in_full(void *block, uint32_t how, void (*release)(void *))
{
    struct frame caller = CALLER_FRAME();
    FREEING(guard, &caller, block, track_free(guard, &caller, block, how), release);
}

static NOINLINE void free_as_said(void *block, uint32_t how, size_t size, size_t alignment)
{
    struct release_frame frame = {CALLER_FRAME(), size, alignment};
    FREEING(guard, &frame.caller, block, track_free_said(guard, &frame, block, how), next.free);
}

static void linked_free(void *block)
{
    if (!PASSES_BY(block, next.free))
        free_in_full(block, BY_FREE, next.free);
}

static void linked_cfree(void *block)
{
    if (!PASSES_BY(block, next.cfree))
        free_in_full(block, BY_FREE, next.cfree);
}

static void linked_free_sized(void *block, size_t size)
{
    if (!PASSES_BY(block, next.free))
        free_as_said(block, BY_FREE_SIZED, size, 0);
}

static void linked_free_aligned_sized(void *block, size_t alignment, size_t size)
{
    if (!PASSES_BY(block, next.free))
        free_as_said(block, BY_FREE_ALIGNED_SIZED, size, alignment);
}

#define WAY(name, is_needed)                                                                       \
    {                                                                                              \
        #name, (uintptr_t)linked_##name, (uintptr_t *)&next.name, is_needed                        \
    }
static const struct linked_hook hooks[] = {
    WAY(malloc, true),          WAY(free, true),
    WAY(calloc, false),         WAY(realloc, false),
    WAY(posix_memalign, false), WAY(aligned_alloc, false),
    WAY(memalign, false),       WAY(valloc, false),
    WAY(pvalloc, false),        WAY(reallocarray, false),
    WAY(cfree, false),          WAY(free_sized, false),
    WAY(free_aligned_sized, false),
};

/* Something stands against it that is not the allocator's. */
static const char *other_reason(void)
{
    return late_is()             ? "the process ran before libleak"
           : !*lock_alone        ? "there is more than one thread already"
           : quarantine_is_on()  ? "quarantine= is for the C library's"
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

void hook_linked_start(void)
{
    struct linked linked;
    if (!*process_alive || track_options.linked_malloc == LINKED_MALLOC_OFF ||
        !linked_find(hooks, ARRAY_LENGTH(hooks), &linked))
        return;
    const char *why = other_reason();
    if (!why)
        why = linked_lead(&linked);
    /* What is exported was counted at the start. */
    if (why ? !linked.exported : linked.exported)
        store_untracked(LEAK_UNTRACKED_OWN_ALLOCATOR, why ? 1 : -1);
    if (why)
        log_line("the program's own malloc is not tracked: ", why, NULL);
    else if (track_options.verbosity)
        log_line("the program's own malloc is tracked, by its symbols", NULL);
    if (!why && linked.exported)
        lead_operators();
}
