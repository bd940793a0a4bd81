/* graph_types.h - finds the types of the blocks of a graph, by the functions that leakreport uses
 * (symbolize/types): one type for each allocation site, or none.
 */
#ifndef GRAPH_GRAPH_TYPES_H
#define GRAPH_GRAPH_TYPES_H

#include "graph/heap/heap_graph.h"
#include "symbolize/types/types.h"

#define GRAPH_TYPE_SIZE 256

struct graph_types {
    const struct heap_graph *graph;
    struct types engine;
    /* number of a site -> its type; the array is NULL if types are not wanted */
    const struct site_type **site;
    struct hashmap fields; /* hash of a type -> its fields, if they were needed before */
};

/* Finds the types of all sites. leak_check_add() must have added results, the signatures must be
 * resolved, and sites must not be merged yet. */
struct graph_types graph_types_find(struct heap_graph *graph, struct signatures *signatures,
                                    struct roots *roots);
void graph_types_end(struct graph_types *types);

/* The functions below may be called with a struct graph_types that is all zero: they return NULL, 0
 * or "". */

/* Returns the type of the blocks of a site; NULL: unknown. */
const struct block_type *graph_types_site(const struct graph_types *types, uint32_t site);
/* Returns a key that is equal for sites whose blocks have one type, and one size if that is known;
 * 0: unknown. */
uint64_t graph_types_key(const struct graph_types *types, uint32_t site);
/* Says whether the site's blocks have no type because the evidence for it is contradictory. */
bool graph_types_conflict(const struct graph_types *types, uint32_t site);

/* Writes the type of a block: "struct entry", "int[1,024]", "struct name + 13 B"; empty:
 * unknown. */
const char *graph_types_block(const struct graph_types *types, uint32_t block,
                              char text[GRAPH_TYPE_SIZE]);
/* Writes the type of all blocks of a site: "int[]"; empty: unknown. */
const char *graph_types_all(const struct graph_types *types, uint32_t site,
                            char text[GRAPH_TYPE_SIZE]);
/* Writes a type with the layout of a block of this size; block_size 0: the blocks differ in
 * size. */
const char *graph_type_words(const struct block_type *type, uint64_t block_size,
                             char text[GRAPH_TYPE_SIZE]);
/* Writes the name of the pointer at an offset of a block: "next", "[12].key"; empty: unknown. */
const char *graph_types_field(struct graph_types *types, uint32_t block, uint64_t offset,
                              char text[GRAPH_TYPE_SIZE]);

/* Says whether the edge does not keep its target alive: it is a pointer back inside of a container,
 * or a weak pointer. */
bool graph_types_edge_is_weak(struct graph_types *types, uint32_t from, uint32_t edge);
/* Says whether edges out of the site's blocks may be weak, as graph_types_edge_is_weak() defines
 * it. */
bool graph_types_has_weak(struct graph_types *types, uint32_t site);

/* A path of pointers from a root word along blocks, in words of the source:
 * "cache.buckets[12]->next". */
struct graph_path {
    const char *words; /* the expression, and the file and line of the variable; NULL = unknown */
    /* number of blocks, from the start of the path, that `words` leads through */
    size_t named;
    /* index of a block in the path -> name of the pointer to it; NULL = unknown */
    const char **word;
    size_t count;
};
struct graph_path graph_types_path(struct graph_types *types, struct heap_graph *graph,
                                   uint32_t root, const uint32_t *block, uint32_t count);

#endif
