/* growth_series.h - the stacks of one record over time, and what growth.h makes of them, in words.
 *
 * The series of all sites of a signature are added up, row by row; what they hold in the end is the
 * last point. Before a site's first row it held nothing if it was not there yet, else as much as in
 * that row.
 */
#ifndef COMMON_SITES_GROWTH_SERIES_H
#define COMMON_SITES_GROWTH_SERIES_H

#include "common/sites/free_sites.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/store/store.h"

struct trends {
    struct mem *mem;
    const struct store *store;
    uint64_t until_ns;
    uint64_t live_bytes; /* of the whole heap, in the end */
    uint32_t *series_of; /* by site: index + 1, 0 = none */
    struct growth_point *points;
};

/* Its memory is the store's. until_ns: the end of the process, or now when it runs. */
struct trends trends_begin(struct mem *mem, const struct store *store, uint64_t until_ns);

/* Is there a series of that site that is worth a word? */
bool trends_has(const struct trends *trends, uint32_t site);
/* The site that held most at one time. */
uint32_t trends_largest(const struct trends *trends, struct site_list sites);
/* NULL: nothing is known of these sites over time, or not for long enough. */
const struct growth *trends_of(struct trends *trends, struct site_list sites);

#endif
