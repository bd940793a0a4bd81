/* dropped_pointers.h - records which frees dropped a pointer to a live block.
 *
 * The allocation site of a leaked block says little about which code should have freed it. In most
 * cases that is the code that freed the block's owner. So the first and last words of a freed block
 * are scanned, and when one of these words points to the start of a live block, the sites of both
 * blocks and the stack of the free are recorded as a pair, together with the last few such live
 * blocks. Most of these are freed later, since a program may free a parent before its children: a
 * leak check reports only those that it finds lost.
 *
 * Three groups of frees are scanned: the first frees of a site; the first free at each place
 * (free_history.h); and a part of the frees whose stack is captured anyway. In a program with very
 * many sites nearly every free is one of the first of its site, so each thread has a budget: it
 * scans at most as many first frees as FREE_HISTORY_SCANS plus its frees whose stack is captured
 * anyway. While there are fewer sites than LEAK_FREED_SITES, the stack of the first free of each
 * site is captured. The table of pairs has a fixed size. A pair is in one of the WAYS slots that
 * begin at the slot of its hash, and only once; a new pair may replace one whose last block was
 * freed.
 */
#ifndef PRELOAD_HEAP_DROPPED_POINTERS_H
#define PRELOAD_HEAP_DROPPED_POINTERS_H

#include "preload/blocks/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/heap/threads.h"

#define DROPPED_POINTERS_FIRST                                                                     \
    16 /* number of a thread's first frees of a site that are scanned, within the budget */
#define DROPPED_POINTERS_KEPT 4

struct dropped_block {
    uintptr_t address;
    uint32_t count; /* number of the block's allocation in its thread */
    uint16_t thread;
};

struct dropped_pair {
    uint32_t site;   /* site of the live blocks; 0: the slot is empty */
    uint32_t holder; /* site of the freed block that pointed to the live blocks */
    uint32_t node;   /* context tree node of the stack of the free */
    uint32_t blocks; /* number of live blocks that were recorded for this pair */
    /* Tells when the last live block of this pair was recorded: the number of blocks that had been
     * recorded by then, in all pairs. */
    uint32_t when;
    struct dropped_block last[DROPPED_POINTERS_KEPT];
};

/* Says whether a freed block is to be scanned. before: how many blocks of its site this thread has
 * freed before. weight: the number of frees that its captured stack stands for, 0: no stack was
 * captured. all: each free with a captured stack is scanned, not one in eight. */
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

/* Scans a freed block that was removed from the block table but not yet passed to libc's free.
 * content: the pointer that the program passed to free; with memory tagging (MTE) no other pointer
 * may read the block. *node: context tree node of the free's stack; 0: the stack is not captured
 * yet, and is captured when a pointer is recorded. */
void dropped_pointers_scan(struct guard *guard, struct thread *thread, const struct frame *caller,
                           const struct block *holder, const void *content, uint32_t *node);

/* Makes dropped_pointers_next return the struct dropped_pair by the time when the last live block of
 * each was recorded, oldest first. Called only in the forked child that makes a leak check, whose copy of the table no
 * hook changes. If a live block is in several pairs, the newest pair names the block that pointed
 * to it last. */
void dropped_pointers_sort(void);

/* Returns the first struct dropped_pair at or after position *at, and sets *at to the position
 * behind it; NULL: there is none. Called in the forked child that makes a leak check. */
const struct dropped_pair *dropped_pointers_next(uint32_t *at);

bool dropped_pointers_check(void);

void dropped_pointers_fork_child(void);

#endif
