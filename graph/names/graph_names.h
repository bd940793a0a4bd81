/* graph_names.h - finds names for the allocation sites and root words of a graph. Stacks and
 * modules are in the graph file; functions, lines and variables come from the debug information of
 * the binaries, by the functions that leakreport uses.
 */
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
    struct graph_types types; /* all zero if the caller wants no types */
    /* number of a site -> its name, "make_node (list.c:12)"; NULL: not made yet */
    const char **site;
};

/* Resolves the stacks of all sites, and completes graph->store. Sites with equal name, signature
 * and type, which differ only in return addresses, become one: their blocks get the number of the
 * first site. types: also find the types of the blocks. */
void graph_names_begin(struct graph_names *names, struct heap_graph *graph, bool types);
void graph_names_end(struct graph_names *names);

/* Returns the name of a site: "make_node (list.c:12)"; of site 0 "an unknown place". */
const char *graph_names_site(struct graph_names *names, uint32_t site);
/* Returns the signature of the site's stack, which is equal in each run; 0: unknown. */
uint64_t graph_names_signature(const struct graph_names *names, uint32_t site);
/* Says whether a function in the site's stack has a name that contains the text. */
bool graph_names_stack_contains(struct graph_names *names, uint32_t site, const char *text);
/* Returns the name of a root word: "g_cache +0x10 (cache.c:5)". */
const char *graph_names_root(struct graph_names *names, uint32_t root);

#endif
