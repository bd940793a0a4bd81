/* stack_table.h - which number has a stack that was met before? By 64 bits of hash, one cache line
 * a look.
 *
 * The key is the hash of all frames of a stack, of where it ends and of what it was captured for;
 * the number is what the context tree gave it: a site, or a node for a free. Stacks with equal keys
 * are taken for equal: of a million stacks two have one key in one of 4e7 programs.
 *
 * 32 stripes of open addressing; a bucket is a cache line with five entries, which fill up in
 * order. Readers take no lock. A writer stores the number before the key, so a key that is there
 * has its number. A table that is 3/4 full is copied into one twice as large; the old one stays
 * mapped, since a reader may still be in it, but reads as empty. So "not found" is certain only
 * under the lock.
 */
#ifndef PRELOAD_CONTEXTS_STACK_TABLE_H
#define PRELOAD_CONTEXTS_STACK_TABLE_H

#include "preload/base/lock.h"

/* Allocates the table. False: no memory. */
bool stack_table_start(void);
/* The number of a key (not 0); 0: not found. */
uint32_t stack_table_find(uint64_t key);
void stack_table_prefetch(uint64_t key);

/* To add a key: lock it, look again, reserve room, add. */
struct locked stack_table_lock(uint64_t key);
/* Makes room for a key. False: no memory. */
bool stack_table_reserve(uint64_t key);
void stack_table_add(uint64_t key, uint32_t number);

/* Every key is found, and stripes count what they have. */
bool stack_table_check(void);

void stack_table_fork_lock(void);
void stack_table_fork_unlock(void);
/* The child's table begins empty. */
void stack_table_fork_child(void);

#endif
