/* verbs.h - declares the commands of leakgraph, and functions that several commands use. */
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
    size_t top;   /* most rows of a table; 0: no limit */
    size_t depth; /* most levels of the command dominators */
    int by;       /* enum group_by, for the commands dominators, suspects, duplicates and diff */
    bool json, no_types, anonymize, help, version;
};

struct verb_run {
    const struct options *options;
    struct heap_graph *graph;
    struct graph_names *names;
    struct listing *listing;
};

/* A command. Its function returns the exit status; if that is not STATUS_GOOD, a message has the
 * reason. */
struct verb {
    const char *word;
    const char *operand; /* the argument of the command, for the help; NULL: it takes none */
    const char *help;
    int (*run)(struct verb_run *run);
};

/* Commands about the whole heap, in verbs_heap.c. */
int verb_summary(struct verb_run *run);
int verb_retained(struct verb_run *run);
int verb_dominators(struct verb_run *run);
int verb_suspects(struct verb_run *run);
int verb_waste(struct verb_run *run);
/* Lists reference cycles; in verbs_cycles.c. */
int verb_cycles(struct verb_run *run);
/* Lists blocks with equal contents; in verbs_duplicates.c. */
int verb_duplicates(struct verb_run *run);
/* Writes the graph as an HTML page, or its data as JSON; in verbs_html.c. */
int verb_html(struct verb_run *run);
/* Lists the types of the blocks; in verbs_types.c. */
int verb_types(struct verb_run *run);
/* Commands about single blocks, in verbs_blocks.c. */
int verb_path(struct verb_run *run);
int verb_refs(struct verb_run *run);
int verb_out(struct verb_run *run);
int verb_find(struct verb_run *run);
/* Compares two graphs; in compare_graphs.c. */
int verb_diff(struct verb_run *run);

/* ---- verbs.c: functions that several commands use -------------------------------------------- */

/* Returns the number of rows to show if a table has `all` rows. */
uint64_t verb_rows(const struct verb_run *run, uint64_t all);
double verb_share(uint64_t part, uint64_t all);
/* Returns the word for the verdict of a block: "lost", "reachable" … */
const char *verb_verdict(const struct graph_block *block);
/* Returns the word for a verdict (enum leak_verdict). */
const char *verb_verdict_word(unsigned verdict);
/* Returns the offset of an edge's pointer in its block; LISTING_NO_OFFSET if the word is
 * unknown. */
uint64_t verb_edge_at(const struct graph_edge *edge);

/* Orders the indices 0 … count - 1 by descending key; for equal keys, by ascending index. Only the
 * first `top` are sorted. The caller frees the result. */
uint32_t *verb_order(const uint64_t *key, uint32_t count, uint64_t top);

/* Return the type of a block, and of the blocks of a site; NULL = unknown. The texts live in the
 * arena of the names. */
const char *verb_type(const struct verb_run *run, uint32_t block);
const char *verb_site_type(const struct verb_run *run, uint32_t site);
/* Returns the name of the pointer at an offset of a block; NULL = unknown. */
const char *verb_field(const struct verb_run *run, uint32_t block, uint64_t offset);
/* Describes a number of blocks of a site: "1,000 × struct entry", "One struct cache", "3 blocks".
 * The caller frees the text. */
char *verb_blocks(const struct verb_run *run, uint64_t blocks, uint32_t site);

/* Maps each site to the first site whose blocks have the same type; the caller frees the map. NULL
 * without --by=type. */
uint32_t *verb_sites_as(const struct verb_run *run);
/* Returns the name of a group's site. NULL: with --by=type, since a type may have many sites. */
const char *verb_group_site(const struct verb_run *run, uint32_t site);

/* Writes one line on stderr, and returns `status`. */
int verb_complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
