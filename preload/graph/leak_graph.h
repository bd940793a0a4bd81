/* leak_graph.h - which lost blocks are leaks themselves and which are indirect, and how much memory
 * each block retains.
 *
 * Lost half, over the blocks that reachability.h left LOST: strongly connected components. A
 * component that no other lost block points to is a direct leak (a record); everything reachable
 * from it is indirectly lost. The leader of a reference cycle is its block that was allocated
 * first, which is the same in every run. A block that several records lead to is shared: its owner
 * is the record found first, but no record retains it.
 *
 * Held half, over all other blocks: dominators give what each block alone keeps alive. Every
 * pointer counts here, including interior pointers and, for hidden blocks, encoded ones.
 */
#ifndef PRELOAD_GRAPH_LEAK_GRAPH_H
#define PRELOAD_GRAPH_LEAK_GRAPH_H

#include "preload/mark/reachability.h"

struct leak_graph;

/* Builds both halves; call once. Frees the rank index on the way: no pointer can be followed
 * afterwards. NULL: not even the lost half fits into the memory limit. reach_end frees the graph. */
struct leak_graph *leak_graph_build(struct reach *reach);

/* LOST, INDIRECT, or the verdict of reach_verdict. */
enum leak_verdict leak_graph_verdict(const struct leak_graph *graph, uint32_t node);
/* True for the leader of a reference cycle of two or more blocks. */
bool leak_graph_is_cycle(const struct leak_graph *graph, uint32_t node);
/* The record that owns an INDIRECT node, of several the one with the lowest address; *shared:
 * records of other allocation sites lead to it as well. REACH_NONE for all other nodes. */
uint32_t leak_graph_owner(const struct leak_graph *graph, uint32_t node, bool *shared);
/* The sum of what a node keeps. For a record: the blocks that only it, or it and other records of
 * its site, lead to, itself included; a block below several records of one site counts for the
 * record found first. For a held node: the blocks that every path reaches through it, itself
 * included. For an indirect node: nothing. */
struct leak_graph_sum {
    uint64_t blocks, bytes;
};
struct leak_graph_sum leak_graph_retained(const struct leak_graph *graph, uint32_t node);
/* Says whether leak_graph_retained knows the sums of held nodes. False: the dominators of the held
 * half did not fit into the memory limit. */
bool leak_graph_retained_known(const struct leak_graph *graph);
/* Frees what leak_graph_retained reads: call when it is not needed any more. */
void leak_graph_drop_retained(struct leak_graph *graph);
/* Leaves all verdicts to reach_verdict, which now says INDIRECT as well, and frees everything else
 * but the blocks: neither parents nor owners are known afterwards. */
void leak_graph_settle(struct leak_graph *graph);

#endif
