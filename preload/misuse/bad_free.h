/* bad_free.h - is a release wrong: mismatched, with a wrong size or alignment, a double free, or of
 * an address that is no block?
 *
 * A correct release never reaches this module: the form of the release (free_form.h) agrees with
 * the kind of the block. A wrong one is recorded first (errors.h) and then continues as it would
 * without libleak, so libc may abort the program as before. When no block begins at the pointer,
 * only what is certain is an error:
 *
 *     freed recently, and libleak saw each allocation since      double free
 *     inside a live block                                        interior free
 *     on a stack, in an object, or not mapped                    invalid free
 *     otherwise                                                  foreign: counted, no error
 *
 * A foreign pointer may belong to an allocator that libleak does not see. Blocks of the program's
 * own allocators (suballoc.h) are known exactly: releasing one through another allocator, or
 * releasing an address at which it has no block, is an error.
 *
 * The module never reads the memory at the pointer, except through the kernel. A program that
 * replaces operator new and delete may implement them through each other, so these forms are not
 * compared then. */
#ifndef PRELOAD_MISUSE_BAD_FREE_H
#define PRELOAD_MISUSE_BAD_FREE_H

#include "preload/blocks/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/free_history.h"
#include "preload/heap/quarantine.h"
#include "preload/heap/free_form.h"
#include "preload/heap/threads.h"

/* Reads the options on_error and live_errors. */
void bad_free_start(const char *on_error, bool live);

/* Says whether the call agrees with the block. with_size: the form states a size, and caller is the
 * first member of a struct free_form_frame. False: the call disagrees, or it states an alignment,
 * which bad_free_check_block compares. */
static ALWAYS_INLINE bool bad_free_agrees(const struct frame *caller, const struct block *block,
                                          uint32_t how, bool with_size)
{
    unsigned kind = block->kind & BLOCKS_KIND;
    /* The common case: the block has the first kind that the form may release, and no flag. */
    if (__builtin_constant_p(how) && !with_size &&
        likely(block->kind == (unsigned)__builtin_ctz(how)))
        return true;
    if (!with_size)
        return how & 1u << kind;
    return how & 1u << FREE_FORM_SIZED_SHIFT << kind &&
           ((const struct free_form_frame *)caller)->size == block->size;
}

/* In the functions below, `how` is the form of the release (free_form.h). caller is the first
 * member of a struct free_form_frame if the form states a size or an alignment. */

/* Compares kind, size and alignment of the block with the call, after bad_free_agrees returned
 * false, and handles an error. */
COLD void bad_free_check_block(struct guard *guard, const struct frame *caller,
                               const struct block *block, uint32_t how);
/* Handles a release of a block of the program's own allocators by another allocator. pool: the pool
 * to which it is released; 0: none. */
COLD void bad_free_of_suballoc(struct guard *guard, const struct frame *caller,
                               const struct suballoc_block *block, uint32_t how, uint32_t pool);
/* Handles a release by an allocator of the program at an address where this allocator has no block.
 * pool: the pool to which it is released; 0: none. */
COLD void bad_free_by_suballocator(struct guard *guard, const struct frame *caller,
                                   uintptr_t address, uint32_t how, uint32_t pool);
/* Handles the destruction of a pool in which this block is live. */
COLD void bad_free_of_pool_member(struct guard *guard, const struct frame *caller,
                                  const struct suballoc_block *block);
/* Handles a release of an address at which no block begins: as an error, or as a foreign pointer,
 * which is only counted. */
COLD void bad_free_of_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                              uint32_t how);
/* Handles a release of a block that is in the quarantine, so this is a double free. False: the
 * block is not there. realloc removes the block from the quarantine, because libc is about to
 * handle it again. */
bool bad_free_of_quarantined(struct guard *guard, const struct frame *caller, uintptr_t address,
                             uint32_t how);
/* Puts the freed block into the quarantine, and passes blocks that leave the quarantine to libc.
 * False: the block did not enter the quarantine, and the caller must pass it to libc now. */
bool bad_free_quarantine(struct guard *guard, const struct frame *caller, void *pointer,
                         const struct block *block, uint32_t how);

#endif
