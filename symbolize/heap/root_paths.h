/* root_paths.h - how reachable blocks are reached, in names.
 *
 * A path begins with a root, whose name roots.h finds, and goes on from block to block, each named
 * by where it was allocated. Of a long one the middle is left out.
 */
#ifndef SYMBOLIZE_HEAP_ROOT_PATHS_H
#define SYMBOLIZE_HEAP_ROOT_PATHS_H

#include "symbolize/heap/roots.h"
#include "common/sites/signature.h"

struct longest {
    const struct path *path; /* NULL = none was told */
    uint64_t bytes;
};

struct paths {
    struct mem *mem;
    struct signatures *signatures;
    const struct store *store;
    struct roots roots;
    const struct frame **titles; /* by site; NULL = not asked yet */
    struct longest *longest;     /* by root of the look: the path to the most bytes */
};

struct paths paths_begin(struct mem *mem, struct signatures *signatures);
void paths_end(struct paths *paths);

/* The stacks paths pass must be resolved with all others. */
void paths_want(struct signatures *signatures);

/* The path of what was found there, NULL when none is told; bytes: of the record it is for. */
const struct path *paths_tell(struct paths *paths, uint32_t found, uint64_t bytes);

/* Where the blocks of a site come from, found once; NULL: nobody knows. */
const struct frame *paths_title(struct paths *paths, uint32_t site);

#endif
