/* reconcile.h - what a look found is settled with what lives now.
 *
 * A look is a moment, and the store goes on: a site may hold more blocks than were found, or fewer.
 * What is more came after the look and nothing is known of it ("unfreed"); what is less was freed
 * since, and is taken from the verdicts that matter least: reachable ones first, lost ones last.
 *
 *     sum of a site's shares = its live blocks
 *
 * Of a store that is seen through a window (time_window.h) only what is in it is left of each
 * share.
 */
#ifndef COMMON_SITES_RECONCILE_H
#define COMMON_SITES_RECONCILE_H

#include "common/model/model.h"
#include "common/store/store.h"

/* Blocks of one site with one verdict. */
struct share {
    uint32_t site;  /* index */
    uint32_t found; /* index in the look, STORE_NONE = unfreed */
    enum verdict verdict;
    uint64_t blocks, bytes;
    uint64_t retained_blocks, retained_bytes;
};

struct settling {
    const struct store *store;
    uint32_t *first;     /* by site: what was found of it, + 1 */
    uint32_t *next;      /* by found, + 1 */
    struct share *share; /* room for the shares of one site */
    size_t capacity;
};

/* What a look calls it. */
enum verdict settle_verdict(enum leak_verdict verdict);

struct settling settle_begin(const struct store *store);
void settle_end(struct settling *settling);

/* The shares of one site, none of them empty, valid until the next call. */
size_t settle_site(struct settling *settling, uint32_t site, const struct share **shares);

#endif
