/* free_wrappers.h - functions through which all kinds of blocks go: xmalloc, g_free, a pool's own
 * malloc.
 *
 * "Freed in my_free" says nothing where everything is freed in my_free. Such a function is known by
 * what it does, more than by its name: it is called by many functions and its blocks are of many
 * sizes; by some, and of some, if its name ends in "free". What is called by funnels alone, and
 * handles as many sizes, is a part of one.
 *
 * So the place of a stack is its first frame of the user's own code that is no funnel.
 */
#ifndef COMMON_SITES_FREE_WRAPPERS_H
#define COMMON_SITES_FREE_WRAPPERS_H

#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/sites/signature.h"

struct funnels {
    struct signatures *signatures;
    struct funnel *functions;
    size_t count, capacity;
    struct map by_name;         /* frame.name_hash -> index + 1 */
    const struct frame **place; /* by node: the place of the stack, NULL = not asked yet */
};

/* Looks at all stacks of a store that allocated or freed. */
struct funnels funnels_find(struct signatures *signatures);
void funnels_end(struct funnels *funnels);

bool funnels_is(const struct funnels *funnels, const struct frame *frame);

/* The place of a stack, NULL when there is no frame of the user's in it. */
const struct frame *funnels_place(struct funnels *funnels, uint32_t node);

#endif
