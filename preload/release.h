/* release.h - how a block is released: what each form of free and delete promises about it.
 *
 * One word says it all, so that a hook hands it down in a register and the right call costs one
 * test of a bit:
 *
 *     kinds that may be released so (bits 0-7)   SIZED, ALIGNED: more is promised   form (16-23)
 *
 * memalign's blocks go by free as malloc's do. free_sized is for malloc's alone, free_aligned_sized
 * for aligned_alloc's: so says C23.
 */
#ifndef PRELOAD_RELEASE_H
#define PRELOAD_RELEASE_H

#include "preload/base.h"
#include "leak_store.h"

#define RELEASE_SIZED (1u << 8)
#define RELEASE_ALIGNED (1u << 9)
#define RELEASE_ARRAY (1u << 10)

#define RELEASE(form, kinds, more) ((uint32_t)LEAK_FORM_##form << 16 | (kinds) | (more))
#define RELEASE_OF(kind) (1u << LEAK_KIND_##kind)
#define RELEASE_BY_FREE (RELEASE_OF(MALLOC) | RELEASE_OF(MEMALIGN))

#define BY_FREE RELEASE(FREE, RELEASE_BY_FREE, 0)
#define BY_FREE_SIZED RELEASE(FREE_SIZED, RELEASE_OF(MALLOC), RELEASE_SIZED)
#define BY_FREE_ALIGNED_SIZED                                                                      \
    RELEASE(FREE_ALIGNED_SIZED, RELEASE_OF(MEMALIGN), RELEASE_SIZED | RELEASE_ALIGNED)
#define BY_REALLOC RELEASE(REALLOC, RELEASE_BY_FREE, 0)
#define BY_DELETE RELEASE(DELETE, RELEASE_OF(NEW), 0)
#define BY_DELETE_SIZED RELEASE(DELETE_SIZED, RELEASE_OF(NEW), RELEASE_SIZED)
#define BY_DELETE_ARRAY RELEASE(DELETE_ARRAY, RELEASE_OF(NEW_ARRAY), RELEASE_ARRAY)
#define BY_DELETE_ARRAY_SIZED                                                                      \
    RELEASE(DELETE_ARRAY_SIZED, RELEASE_OF(NEW_ARRAY), RELEASE_ARRAY | RELEASE_SIZED)
#define BY_ALIGNED_DELETE RELEASE(ALIGNED_DELETE, RELEASE_OF(ALIGNED_NEW), RELEASE_ALIGNED)
#define BY_ALIGNED_DELETE_SIZED                                                                    \
    RELEASE(ALIGNED_DELETE_SIZED, RELEASE_OF(ALIGNED_NEW), RELEASE_ALIGNED | RELEASE_SIZED)
#define BY_ALIGNED_DELETE_ARRAY                                                                    \
    RELEASE(ALIGNED_DELETE_ARRAY, RELEASE_OF(ALIGNED_NEW_ARRAY), RELEASE_ARRAY | RELEASE_ALIGNED)
#define BY_ALIGNED_DELETE_ARRAY_SIZED                                                              \
    RELEASE(ALIGNED_DELETE_ARRAY_SIZED, RELEASE_OF(ALIGNED_NEW_ARRAY),                             \
            RELEASE_ARRAY | RELEASE_ALIGNED | RELEASE_SIZED)

static inline enum leak_form release_form(uint32_t how)
{
    return how >> 16;
}

/* kind: of the block, without the bits beside it. */
static inline bool release_fits(uint32_t how, unsigned kind)
{
    return how >> kind & 1;
}

#endif
