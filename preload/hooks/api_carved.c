/* api_carved.c - what a program may tell of its own allocators: libleak.h.
 *
 * As api.c: entered from the program's own code, and nothing in a process without an account.
 */
#define LIBLEAK_IMPLEMENTATION
#include "libleak.h"
#include "preload/track/annotate.h"
#include "preload/process/process.h"

EXPORT void libleak_block_new(const void *p, size_t size)
{
    WITH_GUARD(annotate_block_new(guard, &caller, p, size));
}

EXPORT void libleak_block_resize(const void *p, size_t size)
{
    WITH_GUARD(annotate_block_resize(guard, &caller, p, size));
}

EXPORT void libleak_block_gone(const void *p)
{
    WITH_GUARD(annotate_block_free(guard, &caller, p));
}

EXPORT void libleak_pool_create(const void *pool, const char *name)
{
    WITH_GUARD(annotate_pool_create(guard, pool, name));
}

EXPORT int libleak_pool_exists(const void *pool)
{
    int answer = -1;
    WITH_GUARD(answer = annotate_pool_exists(guard, pool));
    return answer;
}

EXPORT void libleak_pool_move(const void *pool, const void *to)
{
    WITH_GUARD(annotate_pool_move(guard, pool, to));
}

EXPORT void libleak_pool_alloc(const void *pool, const void *p, size_t size)
{
    WITH_GUARD(annotate_pool_alloc(guard, &caller, pool, p, size));
}

EXPORT void libleak_pool_free(const void *pool, const void *p)
{
    WITH_GUARD(annotate_pool_free(guard, &caller, pool, p));
}

EXPORT void libleak_pool_change(const void *pool, const void *p, const void *now, size_t size)
{
    WITH_GUARD(annotate_pool_resize(guard, &caller, pool, p, now, size));
}

EXPORT void libleak_pool_trim(const void *pool, const void *start, size_t size)
{
    WITH_GUARD(annotate_pool_trim(guard, &caller, pool, start, size));
}

EXPORT void libleak_pool_destroy(const void *pool)
{
    WITH_GUARD(annotate_pool_destroy(guard, &caller, pool));
}
