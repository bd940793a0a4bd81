/* dropped_pointers.h - blocks that were pointed at by a block when that one was freed.
 *
 * Where a block was allocated says little of who should have freed it. Most likely that is the code
 * that freed its holder: so the first words of a block that is freed are looked at, and when one
 * points to the start of a live block the two sites and the stack of the free are kept together
 * with the last few blocks it happened to. Much of that is no mistake, since a parent may go before
 * its children: a look tells only of those that it finds lost.
 *
 * The first frees of a site are looked at, and a part of those whose stack is taken anyway. The
 * table is of one size; a pair whose last block is gone makes room for a new one:
 *     each pair stands in one of the WAYS places from its home on, and once.
 */
#ifndef PRELOAD_HEAP_DROPPED_POINTERS_H
#define PRELOAD_HEAP_DROPPED_POINTERS_H

#include "preload/heap/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/heap/threads.h"

#define ORPHANS_FIRST 16 /* frees of a site by a thread that are all looked at */
#define ORPHANS_KEPT 4

struct orphan_block {
    uintptr_t address;
    uint32_t count; /* with the thread: its serial */
    uint16_t thread;
};

struct orphan {
    uint32_t site;   /* of the blocks; 0 = an empty place */
    uint32_t holder; /* site of what pointed to them, … */
    uint32_t node;   /* … and by whom that was freed */
    uint32_t blocks; /* so many were seen */
    struct orphan_block last[ORPHANS_KEPT];
};

/* Is this free one to look at? before: how many of that site this thread had freed; weight: for how
 * many its stack was taken, 0 = for none. */
static inline bool orphans_due(const struct thread *thread, uint64_t before, unsigned weight,
                               bool all)
{
    return unlikely(before < ORPHANS_FIRST) ||
           (unlikely(weight) && (all || !(thread->freed.dice >> 40 & 7)));
}

/* The block is out of the table, and its memory still the program's. content: the pointer to it
 * that was freed; where memory has tags (MTE), none but that may read it. *node: of the free's
 * stack, 0 = not taken yet; it is when there is something to keep. */
void orphans_look(struct guard *guard, struct thread *thread, const struct frame *caller,
                  const struct block *holder, const void *content, uint32_t *node);

/* The pair at or behind place *at, which moves on; NULL: there are no more. For a look, whose copy
 * of the table nobody writes. */
const struct orphan *orphans_next(uint32_t *at);

bool orphans_check(void);

void orphans_fork_lock(void);
void orphans_fork_unlock(void);
void orphans_fork_child(void);

#endif
