/* pointer_search.h - finds the words of the running process that point to one block. Used in the
 * handler of SIGTRAP, by a thread that executes step by step (slot_watch.h). Takes locks of the
 * block table.
 *
 * The address of the block is stored as its complement, so that a leak check finds no pointer to
 * the block in libleak's own memory and registers.
 */
#ifndef PRELOAD_FOLLOW_POINTER_SEARCH_H
#define PRELOAD_FOLLOW_POINTER_SEARCH_H

#include "preload/base/base.h"

#include <ucontext.h>

struct pointer_target {
    uint64_t hidden; /* the complement of the block's address */
    uint64_t size;   /* size of the block, at least 1 */
};

/* Says whether a word points to the block, at its start or inside it. */
static inline bool pointer_leads_to(uintptr_t word, struct pointer_target target)
{
    return arch_address((const void *)word) + target.hidden + 1 < target.size;
}

static inline bool pointer_is_start(uintptr_t word, struct pointer_target target)
{
    return arch_address((const void *)word) + target.hidden + 1 == 0;
}

/* Says whether the word at an address points to the block. False also if the address is not
 * mapped. */
bool pointer_search_word(uintptr_t address, struct pointer_target target);

/* Says whether a register points to the block. kept: true: of the registers that a called function
 * must preserve; false: of all others, whose values the program in most cases no longer needs. */
bool pointer_search_registers(const ucontext_t *context, bool kept, struct pointer_target target);

/* Returns the address of the first word in a range that points to the block. 0: there is none. */
uintptr_t pointer_search_range(uintptr_t start, uintptr_t end, struct pointer_target target);

/* Returns the address of a word in writable memory of the process that points to the block. 0:
 * there is none. Leaves out the stack that ends at stack_end, the calling thread's current stack,
 * the block itself, blocks below it, and memory of glibc's heap that belongs to no block. *is_below:
 * a word in a block below it points to the block, that is, in a block to which pointers lead from
 * the block: whether the program reaches that one in another way, only a leak check tells. */
uintptr_t pointer_search_memory(uintptr_t stack_end, struct pointer_target target, bool *is_below);

#endif
