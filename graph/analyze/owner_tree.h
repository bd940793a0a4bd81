/* owner_tree.h - blocks that the same blocks dominate, grouped by allocation site, or by what else the caller
 * says, lost ones apart: "one cache_new
 * block holds 1.2 M entry_new blocks".
 *
 * A group also has the blocks of its site that its blocks dominate directly, and so on: the nodes of a
 * list, each of which holds the next, are one group, and so are those of a tree.
 *
 *     bytes = sum of what its outermost blocks hold     own = sum of the sizes of all its blocks */
#ifndef GRAPH_OWNER_TREE_H
#define GRAPH_OWNER_TREE_H

#include "graph/analyze/dominators.h"

struct owner_group {
    uint32_t site;
    bool lost;
    uint32_t first, blocks; /* a range of owner_groups.member */
    uint64_t own, bytes;
    uint64_t held;    /* blocks that go with it, its own included */
    uint32_t largest; /* the one that holds most */
};

/* What is grouped. */
struct owner_question {
    const struct heap_graph *graph;
    const struct dominators *dominators;
    const uint32_t *as; /* by site: the site whose group its blocks are in; NULL: its own */
};

struct owner_groups {
    struct owner_group *group; /* by falling bytes, then by site */
    uint32_t *member;
    uint32_t count;
};

/* The blocks that no other one dominates. */
struct owner_groups owner_groups_top(const struct owner_question *question);
/* The blocks that those of a group dominate directly. */
struct owner_groups owner_groups_below(const struct owner_question *question,
                                       const struct owner_groups *groups,
                                       const struct owner_group *group);
void owner_groups_end(struct owner_groups *groups);

#endif
