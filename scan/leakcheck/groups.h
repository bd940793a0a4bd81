/* groups.h - blocks without a stack, grouped by what they show themselves: verdict, size, and class
 * or kind of content.
 *
 * A group is a record of the report. The first word of a C++ object with virtual functions points
 * into the virtual table of its class; text is told from other content by its first bytes.
 */
#ifndef SCAN_GROUPS_H
#define SCAN_GROUPS_H

#include "scan/leakcheck/lost_graph.h"

#define GROUP_SAMPLES 3
#define GROUP_CONTENT 48 /* characters of the content that are shown */

enum content_kind { CONTENT_OBJECT, CONTENT_TEXT, CONTENT_ZEROS, CONTENT_DATA };
extern const char *const content_word[];

struct group {
    enum verdict verdict;
    uint64_t block_size; /* of each block: what malloc_usable_size tells */
    enum content_kind kind;
    uint64_t vtable;        /* of an object */
    const char *class_name; /* of an object; NULL: its symbol is unknown */
    const char *place;      /* of the virtual table: OBJECT+OFFSET; NULL: no object */
    uint64_t blocks, bytes;
    uint64_t indirect_blocks, indirect_bytes; /* that would be released with them */
    uint64_t cycles;
    uint64_t samples[GROUP_SAMPLES]; /* addresses; the lowest ones */
    unsigned sample_count;
    char content[GROUP_CONTENT + 1]; /* of the first sample */
};

struct groups {
    struct group *group; /* by verdict, then by the bytes that are released with them */
    size_t count, capacity;
    struct verdict_total totals[VERDICT_MAX];
};

/* Makes the groups. reachable: also groups of the reachable blocks; these are counted in any
 * case. */
void groups_make(struct groups *groups, const struct marking *marking,
                 const struct lost_graph *graph, bool reachable);
void groups_end(struct groups *groups);

#endif
