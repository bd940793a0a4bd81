/* dropped_pointers.h - which free dropped a pointer to a live block?
 *
 * The allocation site of a leaked block says little about who should have freed it. Mostly it is
 * the code that freed the block's owner. So the first and last words of a freed block are scanned, and when
 * one points to the start of a live block, the two sites and the stack of the free are recorded as
 * a pair, with the last few blocks this happened to. Most of these blocks are freed later, since a
 * parent may be freed before its children: a leak check reports only those that it finds lost.
 *
 * The first frees of a site are scanned, the first at each place (free_history.h), and a part of the
 * frees whose stack is captured anyway. Where sites are many nearly every free is one of the first of
 * its site, so there is a budget for these, of each thread:
 *     scans of first frees <= FREE_HISTORY_SCANS + frees whose stack is captured anyway
 * The first free of a site is one of the latter, while sites are fewer than LEAK_FREED_SITES.
 * The table has a fixed size; a pair whose last block was freed may be replaced:
 *     each pair is in one of the WAYS slots from its home on, and only once.
 */
#ifndef PRELOAD_HEAP_DROPPED_POINTERS_H
#define PRELOAD_HEAP_DROPPED_POINTERS_H

#include "preload/blocks/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/heap/threads.h"

#define DROPPED_POINTERS_FIRST                                                                     \
    16 /* frees of a site by a thread that are scanned, within the budget */
#define DROPPED_POINTERS_KEPT 4

struct dropped_block {
    uintptr_t address;
    uint32_t count; /* with the thread: its serial */
    uint16_t thread;
};

struct dropped_pair {
    uint32_t site;   /* of the blocks; 0 = an empty slot */
    uint32_t holder; /* site of the freed block that pointed to them, … */
    uint32_t node;   /* … and the stack that freed it */
    uint32_t blocks; /* number of blocks so far */
    uint32_t when;   /* number of the newest one, of all that were recorded */
    struct dropped_block last[DROPPED_POINTERS_KEPT];
};

/* Is this free to be scanned? before: blocks of the site that this thread has freed before; weight:
 * the number of frees that its captured stack stands for, 0 = no stack was captured. */
static inline bool dropped_pointers_is_due(struct thread *thread, uint64_t before, unsigned weight,
                                           bool all)
{
    if (unlikely(weight))
        thread->freed.scans_left++;
    if (unlikely(before < DROPPED_POINTERS_FIRST) && thread->freed.scans_left) {
        thread->freed.scans_left--;
        return true;
    }
    return unlikely(weight) && (all || !(thread->freed.dice >> 40 & 7));
}

/* Scans a block that was removed from the table but not yet passed to libc. content: the pointer
 * that the program frees; with memory tagging (MTE) no other pointer may read the block. *node: the
 * free's stack, 0 = not captured yet; it is captured when there is something to record. */
void dropped_pointers_scan(struct guard *guard, struct thread *thread, const struct frame *caller,
                           const struct block *holder, const void *content, uint32_t *node);

/* Orders the table by age. For a leak check, whose copy of the table does not change otherwise. A
 * block may have had several holders; the newest pair names the last one. */
void dropped_pointers_sort(void);

/* Iterates: the next pair at or after *at, which advances; NULL: the end. For a leak check, too. */
const struct dropped_pair *dropped_pointers_next(uint32_t *at);

bool dropped_pointers_check(void);

void dropped_pointers_fork_child(void);

#endif
