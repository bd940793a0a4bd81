/* groups.h - groups blocks whose call stacks are unknown by verdict, size, and class or kind of
 * content.
 *
 * A group is a record of the report. The first word of a C++ object with virtual functions
 * points into the virtual table of its class; text is recognized by its first bytes. */
#ifndef SCAN_GROUPS_H
#define SCAN_GROUPS_H

#include "scan/leakcheck/lost_graph.h"

#define GROUP_SAMPLES 3
#define GROUP_CONTENT 48 /* most characters of content that are shown */

enum content_kind { CONTENT_OBJECT, CONTENT_TEXT, CONTENT_ZEROS, CONTENT_DATA };
extern const char *const content_word[];

struct group {
    enum verdict verdict;
    uint64_t block_size; /* size of each block, as malloc_usable_size returns it */
    enum content_kind kind;
    uint64_t vtable;        /* CONTENT_OBJECT: address of the virtual table */
    const char *class_name; /* CONTENT_OBJECT: name of the class; NULL: the symbol of its virtual
                             * table is unknown */
    const char *place;      /* CONTENT_OBJECT: place of the virtual table as OBJECT+OFFSET; else
                             * NULL */
    uint64_t blocks, bytes;
    uint64_t indirect_blocks, indirect_bytes; /* indirectly lost blocks that would be released
                                               * together with the group */
    uint64_t cycles;
    uint64_t samples[GROUP_SAMPLES]; /* addresses of the group's first blocks, ascending */
    unsigned sample_count;
    char content[GROUP_CONTENT + 1]; /* first bytes of the first sample, as a line of text */
};

struct groups {
    struct group *group; /* sorted by verdict, then descending by the bytes that fixing the
                          * leak releases */
    size_t count, capacity;
    struct verdict_total totals[VERDICT_MAX];
};

/* Makes the groups. reachable: also groups of reachable blocks, which are counted in the totals
 * in any case. */
void groups_make(struct groups *groups, const struct marking *marking,
                 const struct lost_graph *graph, bool reachable);
void groups_end(struct groups *groups);

#endif
