/* verbs.h - what leakgraph can be asked. */
#ifndef GRAPH_VERBS_H
#define GRAPH_VERBS_H

#include "graph/analyze/dominators.h"
#include "graph/names/graph_names.h"
#include "graph/verbs/listing.h"

enum { STATUS_GOOD = 0, STATUS_NOTHING = 1, STATUS_UNUSABLE = 2 };

#define TOP_USUAL 20
#define DEPTH_USUAL 4

enum group_by { BY_SITE, BY_TYPE, BY_OWNER };

struct options {
    const char *file, *verb, *operand;
    size_t top;   /* rows of a table; 0: all */
    size_t depth; /* of dominators */
    int by;       /* enum group_by: of dominators, suspects, duplicates and diff */
    bool json, no_types, anonymize, help, version;
};

struct verb_run {
    const struct options *options;
    struct heap_graph *graph;
    struct graph_names *names;
    struct listing *listing;
};

/* Returns the exit status. A message says why it is not STATUS_GOOD. */
struct verb {
    const char *word;
    const char *operand; /* NULL: it takes none */
    const char *help;
    int (*run)(struct verb_run *run);
};

/* verbs_heap.c: the whole heap */
int verb_summary(struct verb_run *run);
int verb_retained(struct verb_run *run);
int verb_dominators(struct verb_run *run);
int verb_suspects(struct verb_run *run);
int verb_waste(struct verb_run *run);
/* verbs_cycles.c */
int verb_cycles(struct verb_run *run);
/* verbs_duplicates.c */
int verb_duplicates(struct verb_run *run);
/* verbs_html.c */
int verb_html(struct verb_run *run);
/* verbs_types.c */
int verb_types(struct verb_run *run);
/* verbs_blocks.c: single blocks */
int verb_path(struct verb_run *run);
int verb_refs(struct verb_run *run);
int verb_out(struct verb_run *run);
int verb_find(struct verb_run *run);
/* compare_graphs.c */
int verb_diff(struct verb_run *run);

/* ---- verbs.c: what several verbs need -------------------------------------------------------- */

/* How many rows of so many are shown. */
uint64_t verb_rows(const struct verb_run *run, uint64_t all);
double verb_share(uint64_t part, uint64_t all);
/* "lost", "reachable" … */
const char *verb_verdict(const struct graph_block *block);
/* The word for a verdict, by its number. */
const char *verb_verdict_word(unsigned verdict);
/* The offset of an edge's word, and LISTING_NO_OFFSET for what has none. */
uint64_t verb_edge_at(const struct graph_edge *edge);

/* The indices 0 … count - 1 by falling key; of equal ones the lower first. The `top` first are
 * sorted. The caller frees it. */
uint32_t *verb_order(const uint64_t *key, uint32_t count, uint64_t top);

/* The type of a block, and of the blocks of a site; NULL = unknown. Of the arena of the names. */
const char *verb_type(const struct verb_run *run, uint32_t block);
const char *verb_site_type(const struct verb_run *run, uint32_t site);
/* The name of the word of an edge out of a block; NULL = unknown. */
const char *verb_field(const struct verb_run *run, uint32_t block, uint64_t offset);
/* "1,000 × struct entry", "One struct cache", "3 blocks": from a site. The caller frees it. */
char *verb_blocks(const struct verb_run *run, uint64_t blocks, uint32_t site);

/* Maps each site to the first one whose blocks have the same type, with --by=type; the caller frees
 * the map. NULL without --by=type. */
uint32_t *verb_sites_as(const struct verb_run *run);
/* The site of such a group; NULL: it has a type, so there may be many sites. */
const char *verb_group_site(const struct verb_run *run, uint32_t site);

/* Writes one line on standard error, and returns the status. */
int verb_complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
