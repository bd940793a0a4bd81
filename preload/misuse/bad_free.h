/* bad_free.h - a call that does not fit the table of blocks: whose stack is it, and what does
 * misuse.h say?
 */
#ifndef PRELOAD_MISUSE_BAD_FREE_H
#define PRELOAD_MISUSE_BAD_FREE_H

#include "preload/misuse/misuse.h"

/* The call does not agree with the block, or it says more than its form: is it wrong at all? */
COLD void wrongs_of_block(struct guard *guard, const struct frame *caller,
                          const struct block *block, uint32_t how);
/* A block of the program's own allocators, released by somebody else: another pool, or none. */
COLD void wrongs_of_carved(struct guard *guard, const struct frame *caller,
                           const struct carved *block, uint32_t how, uint32_t pool);
/* Such an allocator releases what it has not, at least not there; pool: it, 0: of none. */
COLD void wrongs_of_carving(struct guard *guard, const struct frame *caller, uintptr_t address,
                            uint32_t how, uint32_t pool);
/* A pool was destroyed, and this one of its blocks lived. */
COLD void wrongs_of_member(struct guard *guard, const struct frame *caller,
                           const struct carved *block);
/* No block begins there: an error, or counted. */
COLD void wrongs_of_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                            uint32_t how);
/* True: its free was put off, so this one is the second. realloc takes it out of the queue: libc is
 * to have it again. */
bool wrongs_of_waiting(struct guard *guard, const struct frame *caller, uintptr_t address,
                       uint32_t how);
/* Its free is put off, and what leaves the queue for that goes to libc. False: at once, as without
 * a queue. */
bool wrongs_put_off(struct guard *guard, const struct frame *caller, void *pointer,
                    const struct block *block, uint32_t how);

#endif
