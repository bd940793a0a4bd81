/* leak_graph.h - which lost blocks are leaks themselves and which are indirect, and how much memory
 * each block retains.
 *
 * The graph has two halves. The lost half, over the blocks that marking did not reach, consists of
 * strongly connected components. A component that no other lost block points to is a direct leak (a
 * record); everything reachable from it is indirectly lost. A reference cycle is reported as its
 * leader: the block of the cycle that was allocated first, which is the same in every run. A block
 * that several records lead to is shared: its owner is the record found first, but its bytes count
 * for no record.
 *
 * The held half, over all other blocks, consists of dominators: they tell what each block alone
 * keeps alive. Every pointer counts here, including interior pointers and, for hidden blocks,
 * encoded ones.
 */
#ifndef PRELOAD_GRAPH_LEAK_GRAPH_H
#define PRELOAD_GRAPH_LEAK_GRAPH_H

#include "preload/mark/reachability.h"

struct leak_graph;

/* Builds the lost half and the held half of the graph; call once. It frees the index that finds
 * blocks by address, so no pointer can be followed afterwards. NULL: not even the lost half fits
 * into the memory limit. reach_end frees the graph. */
struct leak_graph *leak_graph_build(struct reach *reach);

/* Returns LOST or INDIRECT for a block that marking did not reach, and the verdict of reach_verdict
 * for all others. */
enum leak_verdict leak_graph_verdict(const struct leak_graph *graph, uint32_t node);
/* True for the leader of a reference cycle of two or more blocks. False if other blocks point only
 * into the leader, not to its start, as the nodes of a container do that it owns; unless pointers
 * into the blocks to which it points lead behind a header of the same size. */
bool leak_graph_is_cycle(const struct leak_graph *graph, uint32_t node);
/* Returns the record (directly lost block) that owns an INDIRECT node; if several records lead to
 * the node, the one with the lowest address. *shared: records of other allocation sites lead to the
 * node as well. REACH_NONE for nodes that are not INDIRECT. */
uint32_t leak_graph_owner(const struct leak_graph *graph, uint32_t node, bool *shared);
/* The blocks and bytes that a node keeps. For a record: itself, and the blocks that no record of
 * another allocation site leads to; a block below several records of one site counts for the one with
 * the lowest address. For a held node: itself, and the blocks that every path from the roots reaches
 * through it. For an indirect node: nothing. */
struct leak_graph_sum {
    uint64_t blocks, bytes;
};
struct leak_graph_sum leak_graph_retained(const struct leak_graph *graph, uint32_t node);
/* Says whether leak_graph_retained knows the sums of held nodes. False: the dominators of the held
 * half did not fit into the memory limit. */
bool leak_graph_retained_known(const struct leak_graph *graph);
/* Frees the memory that leak_graph_retained reads: call it when leak_graph_retained is not needed
 * any more. */
void leak_graph_drop_retained(struct leak_graph *graph);
/* Writes INDIRECT into the nodes, so that reach_verdict knows all verdicts, and frees everything
 * but the blocks: afterwards neither the parents nor the owners of blocks are known. */
void leak_graph_settle(struct leak_graph *graph);

#endif
