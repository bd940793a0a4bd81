/* free_form.h - the forms of free and delete, and which kinds of blocks each form may free.
 *
 * A form (such as sized delete[]) is one word, so that a hook passes it in a register and a correct
 * call costs one test of a bit. Three of its bytes are sets of kinds that the form may free, of
 * which a form uses one: the first if the call passes the block alone, the second if it also passes
 * the size, the third if it passes an alignment. The upper bit of each of these bytes is a flag.
 * The fourth byte is the form's number.
 *
 * free takes blocks of malloc and memalign. By C23 free_sized takes only blocks of malloc, and
 * free_aligned_sized only blocks of aligned_alloc.
 */
#ifndef PRELOAD_HEAP_FREE_FORM_H
#define PRELOAD_HEAP_FREE_FORM_H

#include "preload/base/base.h"
#include "leak_store.h"

#define FREE_FORM_SIZED (1u << 7)
#define FREE_FORM_ALIGNED (1u << 15)
#define FREE_FORM_ARRAY (1u << 23)
#define FREE_FORM_SIZED_SHIFT 8
#define FREE_FORM_ALIGNED_SHIFT 16
_Static_assert(LEAK_KIND_CUSTOM <= 7, "every kind of malloc has a bit, and a flag fits above");

#define FREE_FORM_SHIFT(more)                                                                      \
    ((more)&FREE_FORM_ALIGNED ? FREE_FORM_ALIGNED_SHIFT                                            \
     : (more)&FREE_FORM_SIZED ? FREE_FORM_SIZED_SHIFT                                              \
                              : 0)
#define RELEASE(form, kinds, more)                                                                 \
    ((uint32_t)LEAK_FORM_##form << 24 | (kinds) << FREE_FORM_SHIFT(more) | (more))
#define FREE_FORM_KIND(kind) (1u << LEAK_KIND_##kind)
#define FREE_FORM_MALLOC_KINDS (FREE_FORM_KIND(MALLOC) | FREE_FORM_KIND(MEMALIGN))

#define FREED_BY_FREE RELEASE(FREE, FREE_FORM_MALLOC_KINDS, 0)
#define FREED_BY_FREE_SIZED RELEASE(FREE_SIZED, FREE_FORM_KIND(MALLOC), FREE_FORM_SIZED)
#define FREED_BY_FREE_ALIGNED_SIZED                                                                \
    RELEASE(FREE_ALIGNED_SIZED, FREE_FORM_KIND(MEMALIGN), FREE_FORM_SIZED | FREE_FORM_ALIGNED)
#define FREED_BY_REALLOC RELEASE(REALLOC, FREE_FORM_MALLOC_KINDS, 0)
#define FREED_BY_DELETE RELEASE(DELETE, FREE_FORM_KIND(NEW), 0)
#define FREED_BY_DELETE_SIZED RELEASE(DELETE_SIZED, FREE_FORM_KIND(NEW), FREE_FORM_SIZED)
#define FREED_BY_DELETE_ARRAY RELEASE(DELETE_ARRAY, FREE_FORM_KIND(NEW_ARRAY), FREE_FORM_ARRAY)
#define FREED_BY_DELETE_ARRAY_SIZED                                                                \
    RELEASE(DELETE_ARRAY_SIZED, FREE_FORM_KIND(NEW_ARRAY), FREE_FORM_ARRAY | FREE_FORM_SIZED)
#define FREED_BY_ALIGNED_DELETE                                                                    \
    RELEASE(ALIGNED_DELETE, FREE_FORM_KIND(ALIGNED_NEW), FREE_FORM_ALIGNED)
#define FREED_BY_ALIGNED_DELETE_SIZED                                                              \
    RELEASE(ALIGNED_DELETE_SIZED, FREE_FORM_KIND(ALIGNED_NEW), FREE_FORM_ALIGNED | FREE_FORM_SIZED)
#define FREED_BY_ALIGNED_DELETE_ARRAY                                                              \
    RELEASE(ALIGNED_DELETE_ARRAY, FREE_FORM_KIND(ALIGNED_NEW_ARRAY),                               \
            FREE_FORM_ARRAY | FREE_FORM_ALIGNED)
#define FREED_BY_ALIGNED_DELETE_ARRAY_SIZED                                                        \
    RELEASE(ALIGNED_DELETE_ARRAY_SIZED, FREE_FORM_KIND(ALIGNED_NEW_ARRAY),                         \
            FREE_FORM_ARRAY | FREE_FORM_ALIGNED | FREE_FORM_SIZED)

/* The forms for the program's own allocators. No kind of block from malloc or new fits them. */
#define FREED_BY_BLOCK_GONE RELEASE(BLOCK_GONE, 0, 0)
#define FREED_BY_BLOCK_RESIZE RELEASE(BLOCK_RESIZE, 0, 0)
#define FREED_BY_POOL_FREE RELEASE(POOL_FREE, 0, 0)
#define FREED_BY_POOL_DESTROY RELEASE(POOL_DESTROY, 0, 0)

/* The frame of a call that passes a size or an alignment. The first member is "caller", so hooks
 * can pass a pointer to "caller" as a struct frame, and the form tells that it leads to this
 * structure. */
struct free_form_frame {
    struct frame caller;
    size_t size, alignment;
};

static inline enum leak_form free_form_of(uint32_t how)
{
    return how >> 24;
}

/* Says whether the form of a free fits the kind of the block. kind: without flags (masked with
 * BLOCKS_KIND). */
static inline bool free_form_fits(uint32_t how, unsigned kind)
{
    return (how | how >> FREE_FORM_SIZED_SHIFT | how >> FREE_FORM_ALIGNED_SHIFT) >> kind & 1;
}

#endif
