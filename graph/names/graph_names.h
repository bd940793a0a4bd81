/* graph_names.h - names for what a graph has as numbers: allocation sites and root words. Stacks and
 * modules are in the graph file; functions, lines and variables come from the binaries, by the
 * functions that leakreport uses. */
#ifndef GRAPH_GRAPH_NAMES_H
#define GRAPH_GRAPH_NAMES_H

#include "common/sites/signature.h"
#include "graph/heap/heap_graph.h"
#include "graph/names/graph_types.h"
#include "symbolize/heap/heap.h"

struct graph_names {
    const struct heap_graph *graph;
    struct arena *mem;
    struct resolver *resolver;
    struct signatures signatures;
    struct roots roots;
    struct graph_types types; /* of nothing, if none were asked for */
    const char **site;        /* by site: "make_node (list.c:12)"; NULL: not made yet */
};

/* Resolves the stacks of all sites. Sites with one name, signature and type, which only
 * return addresses tell apart, become one: blocks get the first one's number. Completes graph->store.
 * types: with those of the blocks, as far as debug information tells them. */
void graph_names_begin(struct graph_names *names, struct heap_graph *graph, bool types);
void graph_names_end(struct graph_names *names);

/* "make_node (list.c:12)". site 0: "an unknown place". */
const char *graph_names_site(struct graph_names *names, uint32_t site);
/* The run-stable signature of a site's stack; 0: unknown. */
uint64_t graph_names_signature(const struct graph_names *names, uint32_t site);
/* Whether the name of a function of the site's stack contains the text. */
bool graph_names_stack_contains(struct graph_names *names, uint32_t site, const char *text);
/* "g_cache +0x10 (cache.c:5)" */
const char *graph_names_root(struct graph_names *names, uint32_t root);

#endif
