/* dropped_pointers.h - by whom the holder of lost blocks was freed, which is where they should have
 * been freed, too, more often than not.
 *
 * What the look tells of is of single blocks, so of several pairs of one record the one with most
 * blocks is taken.
 */
#ifndef SYMBOLIZE_HEAP_DROPPED_POINTERS_H
#define SYMBOLIZE_HEAP_DROPPED_POINTERS_H

#include "common/sites/free_sites.h"

struct orphans {
    const struct store *store;
    uint32_t *first; /* by site: index + 1 of its first pair; NULL = there are none */
    uint32_t *next;  /* by pair */
};

struct orphans orphans_begin(const struct store *store);
void orphans_end(struct orphans *orphans);

/* Fills in record->orphaned. */
void orphans_tell(const struct orphans *orphans, struct frees *frees, struct site_list sites,
                  struct record *record);

#endif
