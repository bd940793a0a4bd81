/* quarantine.h - frees that are put off: quarantine=BYTES.
 *
 * A queue of blocks that the program has freed and libc has not. While one waits its memory is
 * nobody else's: so a second free of it is a double free for certain, by whom it was freed first is
 * known with its stack, and it is not passed on. The oldest leave when the queue holds more than so
 * many bytes, or no more places.
 *
 *     the account:  a block that waits is freed         libc's:  it is not
 *     fork:         the child has the same queue and the same heap
 *     realloc:      of one that waits goes on, with the block taken out; what realloc moves is not
 *                   put off
 *     exit:         those that wait are left
 *
 * Large blocks are not put off: they would empty the queue, and a freed mapping is no root.
 */
#ifndef PRELOAD_HEAP_QUARANTINE_H
#define PRELOAD_HEAP_QUARANTINE_H

#include "preload/heap/blocks.h"
#include "leak_store.h"

#define QUARANTINE_LARGEST (64u << 10)

/* One that waits, and by whom it was freed. */
struct waiting {
    void *pointer; /* as it was given */
    struct block block;
    uintptr_t pc;
    uint32_t node, thread, tick, form;
};

/* False: there is no memory for the queue. 0: off. */
bool quarantine_start(uint64_t bytes);
bool quarantine_is_on(void);
/* False: this one is not put off. */
bool quarantine_put(struct guard *guard, const struct waiting *waiting);
/* The next one that is to leave, for the real free; NULL: enough. */
void *quarantine_surplus(struct guard *guard);
/* Does a block wait that begins there? take: it waits no longer. */
bool quarantine_find(struct guard *guard, uintptr_t address, bool take, struct waiting *out);

/* The sum of what waits is the sum that is kept, and fits; each is found, and nothing else is. */
bool quarantine_check(void);

void quarantine_fork_lock(void);
void quarantine_fork_unlock(void);
void quarantine_fork_child(void);

#endif
