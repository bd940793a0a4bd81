/* pointer_search.h - which words of the running process point to one block? For a thread that
 * executes step by step (slot_watch.h), in the handler of SIGTRAP; takes locks of the block table.
 *
 * The address of the block is complemented, so that memory of libleak and registers hold no copy
 * of it that a leak check could find.
 */
#ifndef PRELOAD_FOLLOW_POINTER_SEARCH_H
#define PRELOAD_FOLLOW_POINTER_SEARCH_H

#include "preload/base/base.h"

#include <ucontext.h>

struct pointer_target {
    uint64_t hidden; /* the complement of the block's address */
    uint64_t size;   /* of the block, at least 1 */
};

/* Does this word point to the block, or into it? */
static inline bool pointer_leads_to(uintptr_t word, struct pointer_target target)
{
    return arch_address((const void *)word) + target.hidden + 1 < target.size;
}

static inline bool pointer_is_start(uintptr_t word, struct pointer_target target)
{
    return arch_address((const void *)word) + target.hidden + 1 == 0;
}

/* Does the word at this address, which may not be mapped? */
bool pointer_search_word(uintptr_t address, struct pointer_target target);

/* A register. kept: those that calls leave unchanged; else the others, most of which are dead. */
bool pointer_search_registers(const ucontext_t *context, bool kept, struct pointer_target target);

/* The address of the first such word in the range; 0: none. */
uintptr_t pointer_search_range(uintptr_t start, uintptr_t end, struct pointer_target target);

/* The same for the writable memory of the process, but for the stack that ends at `stack_end` and
 * the calling one, the block itself, and memory of glibc's heap that is in no block. */
uintptr_t pointer_search_memory(uintptr_t stack_end, struct pointer_target target);

#endif
