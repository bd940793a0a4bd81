/* record_sums.h - sums up sites to records: finds out which records there are, and their sizes.
 *
 * Sites of one signature and kind are called kin. Either all blocks of a kin are kept by the C and
 * C++ runtime, or none. The blocks of each site are added to sums by verdict; indirectly lost
 * blocks last, because they need one sum for each record that owns them. group_records.c completes
 * the records.
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
    uint32_t first;   /* index of the first site + 1; record_sums.next_site links the other sites */
    uint32_t largest; /* index of the site with most bytes */
    uint64_t bytes, blocks;
    bool runtime;
};

/* A record, and what is collected for it while sites are added. */
struct record_sum {
    struct record record;
    size_t number; /* number of this sum, from 1 */
    struct variance variance;
    uint32_t threads[RECORD_SUM_THREADS];
    uint32_t kin;
    uint32_t last_site;   /* index + 1 of the last site that was added */
    struct share largest; /* the share with most bytes; the record shows the stack of its site */
    struct share *shares; /* all shares that were added; allocated with malloc */
    size_t share_count, share_capacity;
    struct share reached; /* the largest share with a path from a root; no blocks = there is none */
    struct block_samples samples;
    struct tag_sums tags;
};

struct record_sums {
    const struct store *store;
    struct signatures *signatures;
    struct growth_series *growth_series;
    size_t samples_max; /* number of sample blocks to keep for each record */
    bool inherited;     /* include blocks that a fork child inherited from its parent */
    struct reconciliation reconciliation;
    struct hashmap kin_by_key; /* hash of signature and kind -> index in `kins` + 1 */
    struct kin *kins;
    size_t kin_count, kin_capacity;
    uint32_t *next_site;   /* index of a site -> index + 1 of the next site of its kin */
    struct hashmap by_key; /* hash of kin, verdict, flags and owner -> index in `draft` + 1 */
    /* hashes of pairs of a record sum and a stack (its node) that were counted in record.stacks;
     * used only if the program set tags */
    struct hashmap stacks;
    struct record_sum *draft;
    size_t count, capacity;
    /* result of the leak check -> index of its record sum + 1; finds the owner of indirectly lost
     * blocks */
    uint32_t *sum_of_found;
};

/* Begins to sum up the sites of a recording, and requests the stacks that the records need. */
struct record_sums record_sums_begin(struct arena *mem, const struct store *store,
                                     struct signatures *signatures,
                                     struct growth_series *growth_series, bool inherited);
/* Sums up the sites to records; the signatures must be resolved before. */
void record_sums_make(struct record_sums *drafts);
void record_sums_end(struct record_sums *drafts);

/* Adds what a site has whatever the verdicts of its blocks: threads, stack and variance. */
void record_sums_add_site(struct record_sums *drafts, struct record_sum *draft, uint32_t index);

/* ---- possible_owners.c ------------------------------------------------------------------------
 *
 * A block that only an interior pointer holds is possibly lost, and so are all blocks that only
 * this block leads to. One pointer decides about all of them. So the other blocks belong to the
 * record of the first block, as indirectly lost blocks belong to a lost record. */

/* Fills in record.owner of possibly lost records. Call it when `path` and `interiors` of all
 * records are set. */
void possible_owners_fill(struct record_sums *drafts);

#endif
