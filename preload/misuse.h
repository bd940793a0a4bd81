/* misuse.h - releases that are wrong: by another family, with a wrong size, twice, of no block.
 *
 * A right release comes here never: the hook's word (release.h) and the block's kind agree. A wrong
 * one is recorded before it goes on (events.h), and goes on as if we were not there: what libc does
 * about it stays as loud as it was. Of a pointer that is no block's only what is certain is called
 * wrong:
 *
 *     freed lately, and no memory came to anybody unseen since   double free
 *     inside of a live block                                     interior free
 *     on a stack, in an object, or nowhere at all                wild
 *     else                                                       foreign: counted, no error
 *
 * Nothing at the pointer is read. Where the program has operators new and delete of its own, theirs
 * are not compared: they may be made of each other.
 */
#ifndef PRELOAD_MISUSE_H
#define PRELOAD_MISUSE_H

#include "preload/blocks.h"
#include "preload/freed.h"
#include "preload/quarantine.h"
#include "preload/release.h"
#include "preload/threads.h"

/* The options on_error and live_errors. */
void misuse_start(const char *on_error, bool live);

/* A wrong call; the caller's stack is known by now. */
struct misuse {
    const struct frame *caller;
    uintptr_t address;
    uint32_t how;                /* release.h; size and alignment are where the guard has them */
    uint32_t node;               /* 0 = none */
    const struct thread *thread; /* or NULL */
};

/* Does the block have the size and alignment that the call says? */
static inline bool misuse_agrees_said(const struct guard *guard, const struct block *block,
                                      uint32_t how)
{
    uint64_t said = guard->said_alignment, right = blocks_alignment(block->kind);
    if (how & RELEASE_SIZED && guard->said_size != block->size)
        return false;
    if (!(how & RELEASE_ALIGNED))
        return true;
    return right ? said == right
                 : __builtin_popcountll(said) == 1 && !(block->address & (said - 1));
}

/* Does everything agree that the call says of the block? */
static ALWAYS_INLINE bool misuse_agrees(const struct guard *guard, const struct block *block,
                                        uint32_t how)
{
    if (unlikely(how & (RELEASE_SIZED | RELEASE_ALIGNED)) && !misuse_agrees_said(guard, block, how))
        return false;
    return likely(release_fits(how, block->kind & BLOCKS_KIND));
}

/* It does not. */
COLD void misuse_of_block(struct guard *guard, const struct misuse *call,
                          const struct block *block);
/* No block begins there. False: nothing is certain. */
COLD bool misuse_of_pointer(struct guard *guard, const struct misuse *call);
/* This one begins there; it was freed before and its memory not given back, so all is certain. */
COLD void misuse_of_waiting(struct guard *guard, const struct misuse *call,
                            const struct waiting *waiting);

#endif
