/* mark.h - which blocks the roots reach: the marking of a leak check, with the verdicts of
 * docs/SNAPSHOTS.md.
 *
 * A word is a pointer to the block that it points into, or just behind the end of. Each pass works
 * on what the one before has left:
 *
 *     reachable   pointers to the start of a block, or to where a container is held (containers.h)
 *     possible    pointers to the inside, and what hangs on such blocks
 *     hidden      the start in another form: tagged, shifted, complemented, mangled as setjmp does
 *     lost        the rest; lost_graph.h divides it
 *
 * A process that runs while its heap is read may move a pointer from where the reader will come to
 * where it has been. So it is looked at twice, and a block is lost only if both looks say so.
 */
#ifndef SCAN_MARK_H
#define SCAN_MARK_H

#include "common/model/model.h"
#include "scan/heap/glibc_heap.h"
#include "scan/leakcheck/roots.h"

/* A block that an earlier look found not reachable. Sorted by address. */
struct earlier_verdict {
    uint64_t address, size;
    enum verdict verdict;
};

struct earlier_verdicts {
    struct earlier_verdict *block;
    size_t count, capacity;
};

struct marking {
    struct objects *objects;
    struct glibc_heap *heap;
    uint8_t *verdict; /* enum verdict of each chunk, VERDICT_MAX: not marked (lost), or no block */
    uint8_t *inside;  /* a pointer to the inside of it was found */
    uint32_t *queue;
    size_t queued, queue_capacity;
    uint64_t guard; /* of setjmp; 0: unknown */
};

/* Marks from all roots. earlier: NULL = this is the only look. False: no memory. */
bool mark_run(struct marking *marking, struct objects *objects, struct glibc_heap *heap,
              const struct roots *roots, const struct earlier_verdicts *earlier);
/* Memory is missing that may have pointers: what seems lost is possibly lost. */
void mark_doubt_lost(struct marking *marking);
void mark_end(struct marking *marking);

/* Whether a chunk is a block of the program. */
static inline bool mark_is_block(const struct marking *marking, uint32_t number)
{
    return chunk_state(&marking->heap->chunks.chunk[number]) == CHUNK_USED;
}

/* Adds all blocks that are not reachable. */
void mark_remember(const struct marking *marking, struct earlier_verdicts *earlier);
void mark_forget(struct earlier_verdicts *earlier);

#endif
