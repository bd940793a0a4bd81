/* record_sums.h - what each site holds, added up to records: which there will be, and how much each
 * is.
 *
 * Sites of one signature and kind are kin: whether their blocks are the runtime's own is asked of
 * all of them together. What each site holds then goes to drafts by verdict; indirect blocks last,
 * since theirs are told apart by the record they hang under. group_records.h makes records of them.
 */
#ifndef SYMBOLIZE_RECORDS_RECORD_SUMS_H
#define SYMBOLIZE_RECORDS_RECORD_SUMS_H

#include "symbolize/records/sampling_error.h"
#include "symbolize/heap/block_samples.h"
#include "common/sites/reconcile.h"
#include "common/sites/signature.h"
#include "common/sites/tags.h"
#include "common/sites/growth_series.h"

#define DRAFT_THREADS 16

struct kin {
    uint64_t signature;
    uint32_t kind;
    uint32_t first;   /* index of a site + 1; the others follow in next_site */
    uint32_t largest; /* index of the site that holds most */
    uint64_t bytes, blocks;
    bool runtime;
};

/* A record while it is being added up. */
struct draft {
    struct record record;
    size_t number; /* from 1 */
    struct variance variance;
    uint32_t threads[DRAFT_THREADS];
    uint32_t kin;
    uint32_t last_site;   /* that was added, + 1 */
    struct share largest; /* its stack is the one shown */
    struct share reached; /* the largest that has a path; no blocks = none */
    struct samples samples;
    struct tag_sums tags;
};

struct drafts {
    const struct store *store;
    struct signatures *signatures;
    struct trends *trends;
    size_t samples_told; /* of each draft, at most */
    bool inherited;      /* what a fork child was handed down counts, too */
    struct settling settling;
    struct map kin_by_key; /* hash of signature and kind -> index + 1 */
    struct kin *kins;
    size_t kin_count, kin_capacity;
    uint32_t *next_site; /* of the same kin, + 1; by site */
    struct map by_key;   /* hash of kin, verdict, flags and owner -> index + 1 */
    struct map stacks;   /* with tags: hash of draft and node, for those that were counted */
    struct draft *draft;
    size_t count, capacity;
    uint32_t *draft_of; /* by what a look found, + 1: for what hangs under it */
};

/* Those of the store; wants the stacks that will be asked for. */
struct drafts drafts_begin(struct mem *mem, const struct store *store,
                           struct signatures *signatures, struct trends *trends, bool inherited);
/* The stacks have names by now. */
void drafts_make(struct drafts *drafts);
void drafts_end(struct drafts *drafts);

/* What is known of a site, whatever the verdict. */
void drafts_add_site(struct drafts *drafts, struct draft *draft, uint32_t index);

#endif
