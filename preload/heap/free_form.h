/* free_form.h - how a block is released: what each form of free and delete promises about it.
 *
 * One word says it, so that a hook hands it down in a register and the right call costs one test of
 * a bit. Three bytes of it are sets of kinds that may be released so, of which a form has one: the
 * first when it says nothing more of the block, the second when it says the size, the third when it
 * says an alignment. Kinds leave the upper bit of each byte to a flag. The fourth is the form.
 *
 * memalign's blocks go by free as malloc's do. free_sized is for malloc's alone, free_aligned_sized
 * for aligned_alloc's: so says C23.
 */
#ifndef PRELOAD_HEAP_FREE_FORM_H
#define PRELOAD_HEAP_FREE_FORM_H

#include "preload/base/base.h"
#include "leak_store.h"

#define RELEASE_SIZED (1u << 7)
#define RELEASE_ALIGNED (1u << 15)
#define RELEASE_ARRAY (1u << 23)
#define RELEASE_BESIDE_SIZE 8
#define RELEASE_BESIDE_ALIGNMENT 16
_Static_assert(LEAK_KIND_CUSTOM <= 7, "every kind of malloc's has a bit, and there is one more");

#define RELEASE_SHIFT(more)                                                                        \
    ((more)&RELEASE_ALIGNED ? RELEASE_BESIDE_ALIGNMENT                                             \
     : (more)&RELEASE_SIZED ? RELEASE_BESIDE_SIZE                                                  \
                            : 0)
#define RELEASE(form, kinds, more)                                                                 \
    ((uint32_t)LEAK_FORM_##form << 24 | (kinds) << RELEASE_SHIFT(more) | (more))
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

/* By the program's own allocators: no kind of malloc's is theirs. */
#define BY_BLOCK_GONE RELEASE(BLOCK_GONE, 0, 0)
#define BY_BLOCK_RESIZE RELEASE(BLOCK_RESIZE, 0, 0)
#define BY_POOL_FREE RELEASE(POOL_FREE, 0, 0)
#define BY_POOL_DESTROY RELEASE(POOL_DESTROY, 0, 0)

/* Where a size or an alignment is said the caller's frame is the first part of this. */
struct release_frame {
    struct frame caller;
    size_t size, alignment;
};

static inline enum leak_form release_form(uint32_t how)
{
    return how >> 24;
}

/* kind: of the block, without the bits beside it. */
static inline bool release_fits(uint32_t how, unsigned kind)
{
    return (how | how >> RELEASE_BESIDE_SIZE | how >> RELEASE_BESIDE_ALIGNMENT) >> kind & 1;
}

#endif
