/* record_sums.h - sites summed up to records: which records there are, and their sizes.
 *
 * Sites of one signature and kind are kin, and classify as the runtime's together. The shares of
 * each site go to sums by verdict; indirect blocks last, because the record they belong to
 * distinguishes them. group_records.c completes the records.
 */
#ifndef SYMBOLIZE_RECORDS_RECORD_SUMS_H
#define SYMBOLIZE_RECORDS_RECORD_SUMS_H

#include "symbolize/records/sampling_error.h"
#include "symbolize/heap/heap.h"
#include "common/sites/sites.h"
#include "common/sites/signature.h"

#define RECORD_SUM_THREADS 16

struct kin {
    uint64_t signature;
    uint32_t kind;
    uint32_t first;   /* first site + 1; the others follow in next_site */
    uint32_t largest; /* index of the largest site */
    uint64_t bytes, blocks;
    bool runtime;
};

/* A record while it is summed up. */
struct record_sum {
    struct record record;
    size_t number; /* from 1 */
    struct variance variance;
    uint32_t threads[RECORD_SUM_THREADS];
    uint32_t kin;
    uint32_t last_site;   /* last site added, + 1 */
    struct share largest; /* the record shows its stack */
    struct share *shares; /* all of it; malloc'd */
    size_t share_count, share_capacity;
    struct share reached; /* the largest share with a path; no blocks = none */
    struct block_samples samples;
    struct tag_sums tags;
};

struct record_sums {
    const struct store *store;
    struct signatures *signatures;
    struct growth_series *growth_series;
    size_t samples_max; /* samples of each record */
    bool inherited;     /* include inherited blocks */
    struct reconciliation reconciliation;
    struct hashmap kin_by_key; /* hash of signature and kind -> index + 1 */
    struct kin *kins;
    size_t kin_count, kin_capacity;
    uint32_t *next_site;   /* by site: next site of the same kin, + 1 */
    struct hashmap by_key; /* hash of kin, verdict, flags and owner -> index + 1 */
    struct hashmap stacks; /* with tags: hashes of sum and node already counted */
    struct record_sum *draft;
    size_t count, capacity;
    uint32_t *sum_of_found; /* by result of the leak check: sum + 1, for its indirect blocks */
};

/* Requests the stacks that the records need. */
struct record_sums record_sums_begin(struct arena *mem, const struct store *store,
                                     struct signatures *signatures,
                                     struct growth_series *growth_series, bool inherited);
/* Sums up; the signatures must be resolved. */
void record_sums_make(struct record_sums *drafts);
void record_sums_end(struct record_sums *drafts);

/* Adds a site's threads, stack and variance, which do not depend on the verdict. */
void record_sums_add_site(struct record_sums *drafts, struct record_sum *draft, uint32_t index);

/* ---- possible_owners.c ------------------------------------------------------------------------
 *
 * A block that is held inside makes all that it leads to possibly lost. The pointer is the only doubt
 * about all of these, so they belong to the record that it points into, as indirect ones to a lost
 * record. */

/* Fills in record.owner of possible records, once all have their paths. */
void possible_owners_fill(struct record_sums *drafts);

#endif
