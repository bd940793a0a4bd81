/* owner_tree.h - groups the blocks that a group of blocks dominates, by allocation site or by a key
 * of the caller; lost blocks are separate groups. A group says for example "one cache_new block
 * holds 1.2 M entry_new blocks".
 *
 * A group also has the blocks of its site that its blocks dominate directly, and the blocks of the
 * site that these dominate directly, and so on. So all nodes of a list, each of which holds the
 * next one, are one group, and so are the nodes of a tree.
 *
 *     bytes = sum of what its outermost blocks hold     own = sum of the sizes of all its blocks
 */
#ifndef GRAPH_OWNER_TREE_H
#define GRAPH_OWNER_TREE_H

#include "graph/analyze/dominators.h"

struct owner_group {
    uint32_t site;
    bool lost;
    /* index of the group's first block in owner_groups.member, and number of its blocks */
    uint32_t first, blocks;
    uint64_t own, bytes;
    /* number of blocks that are freed when the blocks of the group are freed, its own included */
    uint64_t held;
    uint32_t largest; /* the block of the group that holds most bytes */
};

/* The blocks to group, and how to group them. */
struct owner_question {
    const struct heap_graph *graph;
    const struct dominators *dominators;
    /* number of a site -> the site whose group its blocks are in; NULL: each site has a group of
     * its own */
    const uint32_t *as;
};

struct owner_groups {
    struct owner_group *group; /* sorted by bytes, the largest first, then by site */
    uint32_t *member;
    uint32_t count;
};

/* Groups the blocks that no other block dominates. */
struct owner_groups owner_groups_top(const struct owner_question *question);
/* Groups the blocks that the blocks of `group` dominate directly. */
struct owner_groups owner_groups_below(const struct owner_question *question,
                                       const struct owner_groups *groups,
                                       const struct owner_group *group);
void owner_groups_end(struct owner_groups *groups);

#endif
