/* leak_graph.h - what hangs on what: the lost blocks' owners, and what goes when one goes.
 *
 * Over the blocks that reachability.h left as LOST: strongly connected components; one that nothing
 * else lost points to is lost by itself, all that hangs below is indirect. Of a ring of several
 * blocks the one that was allocated first is the leader, the same in every run. Below several
 * records a block is shared: it has an owner (the record met first), but none retains it.
 *
 * Over the blocks that are not lost: dominators, from which follows what each one alone keeps
 * alive. Every pointer keeps alive here, also one to a block's inside or, of hidden ones, in
 * another form.
 */
#ifndef PRELOAD_MARK_LEAK_GRAPH_H
#define PRELOAD_MARK_LEAK_GRAPH_H

#include "preload/mark/reachability.h"

struct graph;

/* Both halves, once: what pointers are followed by is given back on the way. NULL when there is no
 * memory even for the first. */
struct graph *graph_begin(struct reach *reach);
void graph_end(struct graph *graph);

/* LOST, INDIRECT, or as reach_verdict says. */
enum leak_verdict graph_verdict(const struct graph *graph, uint32_t node);
/* A leader of a ring of two or more. */
bool graph_is_cycle(const struct graph *graph, uint32_t node);
/* INDIRECT: the lost node it hangs under, of several the one with the lowest address; *shared:
 * there are others, of other sites. Of all else: REACH_NOBODY. */
uint32_t graph_owner(const struct graph *graph, uint32_t node, bool *shared);
/* A lost node: the blocks that only it, or it and other lost ones of its site, lead to, itself
 * included; blocks that hang under several of one site count for the one met first. A reachable
 * one: the blocks that can be reached only through it, itself included. An indirect one: nothing.
 */
struct graph_sum {
    uint64_t blocks, bytes;
};
struct graph_sum graph_retained(const struct graph *graph, uint32_t node);
/* What graph_retained will be asked of soon. */
void graph_look_ahead(const struct graph *graph, uint32_t node);
/* False: dominators of the reachable ones did not fit into the memory allowed. */
bool graph_retained_known(const struct graph *graph);

#endif
