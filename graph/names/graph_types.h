/* graph_types.h - the types of the blocks of a graph, by the functions that leakreport uses
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
    const struct site_type **site; /* by site; NULL as a whole: types are not known */
    struct hashmap fields;         /* hash of a type -> its fields, of those asked so far */
};

/* The leak check of the graph has results; the signatures are resolved; sites are not yet merged. */
struct graph_types graph_types_find(struct heap_graph *graph, struct signatures *signatures,
                                    struct roots *roots);
void graph_types_end(struct graph_types *types);

/* What `types` that knows nothing, all zero, answers: NULL, 0, "". */

/* The type of the blocks of a site; NULL: unknown. */
const struct block_type *graph_types_site(const struct graph_types *types, uint32_t site);
/* Equal for sites whose blocks have one type, as far as their sizes agree; 0: unknown. */
uint64_t graph_types_key(const struct graph_types *types, uint32_t site);
/* Says whether different evidence tells different types for the site's blocks. */
bool graph_types_conflict(const struct graph_types *types, uint32_t site);

/* "struct entry", "int[1,024]", "struct name + 13 B"; empty: unknown. */
const char *graph_types_block(const struct graph_types *types, uint32_t block,
                              char text[GRAPH_TYPE_SIZE]);
/* The same of all blocks of a site, "int[]". */
const char *graph_types_all(const struct graph_types *types, uint32_t site,
                            char text[GRAPH_TYPE_SIZE]);
/* Likewise; block_size 0: they differ. */
const char *graph_type_words(const struct block_type *type, uint64_t block_size,
                             char text[GRAPH_TYPE_SIZE]);
/* The pointer at an offset of a block: "next", "[12].key"; empty: unknown. */
const char *graph_types_field(struct graph_types *types, uint32_t block, uint64_t offset,
                              char text[GRAPH_TYPE_SIZE]);

/* Does the edge hold nothing in its target: is it a pointer back inside a container, or a weak one? */
bool graph_types_edge_is_weak(struct graph_types *types, uint32_t from, uint32_t edge);
/* May edges out of the site's blocks be such? */
bool graph_types_has_weak(struct graph_types *types, uint32_t site);

/* The pointers along the blocks, from a root word on, in words of the source: "cache.buckets[12]->next".
 * words, and the word of each block: NULL = unknown. */
struct graph_path {
    const char *words; /* with the variable's place */
    size_t named;      /* words lead to the first so many blocks */
    const char **word; /* by block */
    size_t count;
};
struct graph_path graph_types_path(struct graph_types *types, struct heap_graph *graph,
                                   uint32_t root, const uint32_t *block, uint32_t count);

#endif
