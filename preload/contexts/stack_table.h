/* stack_table.h - finds the number of a stack that was recorded before, by 64 bits of hash; a
 * lookup reads one cache line.
 *
 * The key is a hash of all frames of a stack, of the reason why it ends, and of its sort; the
 * number is that of a site, or for a free that of a node in the context tree. Stacks with equal
 * keys are taken for equal: with a million stacks, two have the same key in one of 4e7 programs.
 *
 * 32 stripes of open addressing; a bucket is a cache line with five entries, which fill up in
 * order. Readers take no lock. A writer stores the number before the key, so a reader that sees a
 * key also sees its number. A table that is 3/4 full is copied into one twice as large; the old
 * table stays mapped, because another thread may still read it, but reads as empty. So only a
 * lookup under the lock is certain that a key is not in the table. */
#ifndef PRELOAD_CONTEXTS_STACK_TABLE_H
#define PRELOAD_CONTEXTS_STACK_TABLE_H

#include "preload/base/lock.h"

/* Allocates the table. False: there is no memory. */
bool stack_table_start(void);
/* Finds the number of a key; 0: the key is not in the table. */
uint32_t stack_table_find(uint64_t key);
void stack_table_prefetch(uint64_t key);

/* Locks the stripe of a key. To add a key, a thread locks its stripe, looks the key up again
 * (another thread may have added it), reserves room and adds it. */
struct locked stack_table_lock(uint64_t key);
/* Makes room for a key; the caller has locked it. False: there is no memory. */
bool stack_table_reserve(uint64_t key);
void stack_table_add(uint64_t key, uint32_t number);

/* Says whether the invariant holds: every key is found, and the stored counts of entries are
 * right. */
bool stack_table_check(void);

void stack_table_fork_lock(void);
void stack_table_fork_unlock(void);
/* Empties the table in a fork child, where new blocks get new sites. */
void stack_table_fork_child(void);

#endif
