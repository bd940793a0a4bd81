/* older_blocks.h - blocks that glibc's malloc had given out before libleak was loaded.
 *
 * Nothing has recorded them, but the heap lists them: chunks are contiguous, each with its size in
 * front. A leak check adds those that are in use, and not in the block table, as nodes of their own,
 * so they get verdicts and stop being roots. Their sites have no stack but a size: one site for each
 * class of sizes (leak_store.h, LEAK_OLDER_PC).
 *
 * A part of the heap whose chunks do not lead from its first one to the top chunk stays unknown, and is
 * a root as a whole (heap_ranges.h).
 */
#ifndef PRELOAD_ROOTS_OLDER_BLOCKS_H
#define PRELOAD_ROOTS_OLDER_BLOCKS_H

#include "preload/base/reentry_guard.h"
#include "preload/blocks/block.h"
#include "preload/roots/elf_images.h"

/* Makes the sites; call once, when libleak was loaded late. */
void older_blocks_start(struct guard *guard);
/* Says whether there are sites of older blocks, and the table knows each block that was allocated
 * since. */
bool older_blocks_wanted(void);

struct older_blocks {
    struct older_part {
        uintptr_t start, end; /* first chunk, top chunk or fence */
    } * part;
    uint32_t parts;
    struct {
        uintptr_t address;
    } * fast; /* chunks in fast bins, ascending: free, but marked as in use */
    uint32_t fast_count;
    uintptr_t *mapped; /* chunks with a mapping of their own */
    uint32_t mapped_count;
    struct {
        uintptr_t word;
    } loader[1024]; /* words of the loader's data that point into the heap, ascending */
    uint32_t loader_count;
    uint64_t count; /* of blocks, those in the table included */
};

/* Finds the older blocks, in the process of a leak check. A thread that was not stopped may be
 * inside of malloc: then two checks must agree, as for all blocks. */
void older_blocks_find(const struct procmaps *maps, const struct elf_images *images,
                       struct older_blocks *out);
/* Visits all blocks in use, those in the table included, ascending in each part. */
void older_blocks_each(const struct older_blocks *blocks,
                       void (*visit)(const struct block *block, void *context), void *context);

#endif
