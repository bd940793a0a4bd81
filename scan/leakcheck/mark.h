/* mark.h - marks the blocks that roots reach, with the verdicts of docs/SNAPSHOTS.md.
 *
 * A word counts as a pointer to a block if it points into the block or just behind its end. Each
 * pass works on the blocks that the previous pass left unmarked:
 *
 *     reachable   pointers to the start of a block, or to where a container is held (containers.h)
 *     possible    pointers to the inside, and blocks that such blocks lead to
 *     hidden      the start in another form: tagged, shifted, complemented, mangled as setjmp does
 *     lost        the rest; lost_graph.h divides it
 *
 * A process that runs while its heap is read may move a pointer from memory that is still to be
 * read to memory that has been read. So the process is examined twice, and a block is lost only if
 * both examinations find it lost. */
#ifndef SCAN_MARK_H
#define SCAN_MARK_H

#include "common/model/model.h"
#include "scan/heap/glibc_heap.h"
#include "scan/leakcheck/roots.h"

/* A block that the first examination of the process found not reachable. Sorted by address. */
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
    uint8_t *verdict; /* enum verdict of each chunk; VERDICT_MAX: not marked, so it is lost, or
                       * no block */
    uint8_t *inside;  /* for each chunk: a pointer to the inside of its block was found */
    uint32_t *queue;
    size_t queued, queue_capacity;
    uint64_t guard; /* number with which glibc mangles pointers in setjmp; 0: unknown */
};

/* Marks blocks from all roots. earlier: verdicts of the first examination of the process; NULL =
 * this is the only one. False: no memory. */
bool mark_run(struct marking *marking, struct objects *objects, struct glibc_heap *heap,
              const struct roots *roots, const struct earlier_verdicts *earlier);
/* Makes lost blocks possibly lost, because memory that may contain pointers is missing. */
void mark_doubt_lost(struct marking *marking);
void mark_end(struct marking *marking);

/* Says whether a chunk is a block in use by the program. */
static inline bool mark_is_block(const struct marking *marking, uint32_t number)
{
    return chunk_state(&marking->heap->chunks.chunk[number]) == CHUNK_USED;
}

/* Stores the verdicts of all blocks that are not reachable. */
void mark_remember(const struct marking *marking, struct earlier_verdicts *earlier);
void mark_forget(struct earlier_verdicts *earlier);

#endif
