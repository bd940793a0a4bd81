/* older_blocks.h - finds blocks that glibc's malloc had allocated before libleak was loaded.
 *
 * libleak did not record them, but the heap shows them: chunks are contiguous, each with its size
 * in front. A leak check adds chunks that are in use and not in the block table as nodes, so their
 * blocks get verdicts and are no roots any more. Their sites have no stack but a size: one site for
 * each class of sizes (leak_store.h, LEAK_OLDER_PC).
 *
 * If the sizes do not lead from the first chunk of a part of the heap to its top chunk, that part
 * stays a root as a whole (heap_ranges.h). */
#ifndef PRELOAD_ROOTS_OLDER_BLOCKS_H
#define PRELOAD_ROOTS_OLDER_BLOCKS_H

#include "preload/base/reentry_guard.h"
#include "preload/blocks/block.h"
#include "preload/roots/elf_images.h"

/* Makes the sites of older blocks; called once, if libleak was loaded into a running process. */
void older_blocks_start(struct guard *guard);
/* Says whether older blocks can be found: they have sites, and the block table has every block that
 * was allocated since libleak was loaded. */
bool older_blocks_wanted(void);

struct older_blocks {
    struct older_part {
        /* Address of the first chunk, and of the top chunk or fence behind the last one. */
        uintptr_t start, end;
    } * part;
    uint32_t parts;
    struct {
        uintptr_t address;
    } * fast; /* chunks in fast bins, ascending: they are free, but marked as in use */
    uint32_t fast_count;
    uintptr_t *mapped; /* chunks that are a mapping of their own */
    uint32_t mapped_count;
    struct {
        uintptr_t word;
    } loader[1024]; /* words in the loader's data that point into the heap, ascending */
    uint32_t loader_count;
    uint64_t count; /* number of chunks in use, including those in the block table */
};

/* Finds the older blocks in the process copy of a leak check. A thread that was not stopped may
 * have been in malloc; as for all blocks, a leak is only reported in that case if two leak checks
 * agree. */
void older_blocks_find(const struct procmaps *maps, const struct elf_images *images,
                       struct older_blocks *out);
/* Visits all chunks in use as blocks, including those in the block table, ascending in each
 * part. */
void older_blocks_each(const struct older_blocks *blocks,
                       void (*visit)(const struct block *block, void *context), void *context);

#endif
