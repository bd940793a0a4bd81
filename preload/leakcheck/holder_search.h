/* holder_search.h - finds the word that keeps a block reachable, for follow_blocks=; runs in the
 * process copy in which a leak check has marked the heap. */
#ifndef PRELOAD_LEAKCHECK_HOLDER_SEARCH_H
#define PRELOAD_LEAKCHECK_HOLDER_SEARCH_H

#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

struct holder_found {
    struct leak_holder holder;
    /* The word is in a block to which pointers lead from the block at the address: in a node of its
     * own list, say. */
    bool below;
    /* Address of the outermost word on a stack that leads to the word, if no other memory than
     * stacks and the block does; 0: other memory does. */
    uintptr_t stack_word;
    /* The block is lost, and so is another one that points to it, to which no pointers lead from the
     * block at the address. */
    bool in_lost;
};

/* Finds the word through which the program most likely uses the block at the address. A word of a
 * variable or of a reachable block is better than one on a stack, a pointer to the start of the
 * block better than an interior pointer. Of words on a stack, or with a stack_word, the outermost
 * one is best, because it will last longest. A word in a block that is reachable through the block
 * at the address only does not count. If there is no word, out->holder.word.address is 0. False: no
 * block begins at the address, or there is no memory. */
bool holder_search(struct guard *guard, const struct reach *reach, const struct roots *roots,
                   uintptr_t address, struct holder_found *out);

#endif
