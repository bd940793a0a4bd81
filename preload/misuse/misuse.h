/* misuse.h - releases that are wrong: by another family, with a wrong size, twice, of no block.
 *
 * A right release comes here never: the hook's word (free_form.h) and the block's kind agree. A
 * wrong one is recorded before it goes on (events.h), and goes on as if we were not there: what
 * libc does about it stays as loud as it was. Of a pointer that is no block's only what is certain
 * is called wrong:
 *
 *     freed lately, and no memory came to anybody unseen since   double free
 *     inside of a live block                                     interior free
 *     on a stack, in an object, or nowhere at all                wild
 *     else                                                       foreign: counted, no error
 *
 * Blocks of the program's own allocators (suballoc.h) are known exactly: who releases one that is
 * another's, or none at all, is wrong.
 *
 * Nothing at the pointer is read. Where the program has operators new and delete of its own, theirs
 * are not compared: they may be made of each other.
 */
#ifndef PRELOAD_MISUSE_MISUSE_H
#define PRELOAD_MISUSE_MISUSE_H

#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/free_history.h"
#include "preload/heap/quarantine.h"
#include "preload/heap/free_form.h"
#include "preload/heap/threads.h"

/* The options on_error and live_errors. */
void misuse_start(const char *on_error, bool live);

/* A wrong call; the caller's stack is known by now. */
struct misuse {
    const struct frame *caller;
    uintptr_t address;
    uint32_t how;                /* free_form.h: the caller may be part of a release_frame */
    uint32_t node;               /* 0 = none */
    const struct thread *thread; /* or NULL */
};

/* Does everything agree that the call says of the block? said: it says more than its form. True: it
 * does. False: it does not, or it says an alignment, too. */
static ALWAYS_INLINE bool misuse_agrees(const struct frame *caller, const struct block *block,
                                        uint32_t how, bool said)
{
    unsigned kind = block->kind & BLOCKS_KIND;
    /* Mostly it is of the first kind that goes so, with nothing beside it. */
    if (__builtin_constant_p(how) && !said && likely(block->kind == __builtin_ctz(how)))
        return true;
    if (!said)
        return how & 1u << kind;
    return how & 1u << RELEASE_BESIDE_SIZE << kind &&
           ((const struct release_frame *)caller)->size == block->size;
}

/* The whole answer, of any form. */
bool misuse_is_right(const struct misuse *call, const struct block *block);
/* It is not right. True: the call goes on in a child that has an account by now (on_error.h), and
 * whose share of the block nobody has counted. */
COLD bool misuse_of_block(struct guard *guard, const struct misuse *call,
                          const struct block *block);
/* The same of a carved block; pool: to which it was given back, 0: to none. */
COLD bool misuse_of_carved(struct guard *guard, const struct misuse *call,
                           const struct carved *block, uint32_t pool);
/* A pool was destroyed, and this one of its blocks lived: the same. */
COLD bool misuse_of_member(struct guard *guard, const struct misuse *call,
                           const struct carved *block);
/* No carved block of that allocator begins there. */
COLD void misuse_of_carving(struct guard *guard, const struct misuse *call, uint32_t pool);
/* No block begins there. False: nothing is certain. */
COLD bool misuse_of_pointer(struct guard *guard, const struct misuse *call);
/* This one begins there; it was freed before and its memory not given back, so all is certain. */
COLD void misuse_of_waiting(struct guard *guard, const struct misuse *call,
                            const struct waiting *waiting);

#endif
