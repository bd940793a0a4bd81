/* free_sites.h - where the other blocks of a record were freed.
 *
 * A leak is often a way out that forgets what another way out does: of 12,041 blocks 95 % are freed
 * at tree.c:88, and these were not. The frees of a record's own stacks are summed up by the place
 * (free_wrappers.h) of the stack that freed them. Where its own stacks freed nothing, others that
 * allocate in the same place are asked: blocks of the same kind that came by another path. Where
 * nobody knows, what the same function allocates in other lines is most often freed where these
 * should be. What is freed only when the program ends is told: it has been let grow until then.
 *
 * Two ways to go say nothing and are left out. What realloc moved is not gone: a node that
 * allocates and frees is a call of realloc. And a line that frees what it allocated replaces or
 * grows something: it is where blocks live, not where they end.
 */
#ifndef COMMON_SITES_FREE_SITES_H
#define COMMON_SITES_FREE_SITES_H

#include "common/sites/free_wrappers.h"

/* Indices of sites, each + 1, linked: from first through next[index], 0 at the end. */
struct site_list {
    uint32_t first;
    const uint32_t *next;
};

/* Sites that have something in common; made when first asked for. */
struct families {
    struct family *all;
    size_t count, capacity;
    struct map of;  /* what they have in common -> index + 1 */
    uint32_t *next; /* by site; NULL = not made yet */
};

struct frees {
    struct mem *mem;
    struct signatures *signatures;
    const struct store *store;
    bool all;     /* every free was looked at */
    bool sampled; /* with sample=: those of some blocks */
    struct funnels funnels;
    uint8_t *allocates;        /* by node: a site stands there */
    uint8_t *late;             /* by node: is it below exit? 0 = not asked yet */
    struct families places;    /* sites of one place and kind */
    struct families functions; /* … of one function */
};

/* For the records of one store; its signatures are resolved. */
struct frees frees_begin(struct mem *mem, struct signatures *signatures);
void frees_end(struct frees *frees);

/* Of what is left open: where those who opened it have their blocks freed. */
void frees_tell_opened(struct frees *frees, struct process *process);

/* Fills in record->freed and record->beside; its kind is there already. */
void frees_tell(struct frees *frees, struct site_list sites, struct record *record);

#endif
