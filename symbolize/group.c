/* group.c - one record per signature, kind and verdict; see group.h.
 *
 * Sites of one signature and kind are kin: whether their blocks are the runtime's own, and where
 * others are freed, is asked of all of them together. What each site holds then goes to records by
 * verdict; indirect blocks last, since theirs are told apart by the record they hang under.
 */
#include "symbolize/group.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/blind.h"
#include "symbolize/classify.h"
#include "symbolize/entries.h"
#include "symbolize/estimate.h"
#include "symbolize/frees.h"
#include "symbolize/lines.h"
#include "symbolize/order.h"
#include "symbolize/orphans.h"
#include "symbolize/paths.h"
#include "symbolize/samples.h"
#include "symbolize/settle.h"
#include "symbolize/trends.h"

#define THREADS_SHOWN 16
/* Records with and without these are different ones. */
#define TELLING (LEAK_FOUND_CYCLE | LEAK_FOUND_DROPPED | LEAK_FOUND_IGNORED)

struct grouping {
    struct mem *mem;
    const struct store *store;
    const struct group_options *options;
    struct process *process;
    struct signatures signatures;
    struct settling settling;
    struct map kin_by_key; /* hash of signature and kind -> index + 1 */
    struct kin *kins;
    size_t kin_count, kin_capacity;
    uint32_t *next_site; /* of the same kin, + 1; by site */
    struct map by_key;   /* hash of kin, verdict, flags and owner -> index + 1 */
    struct draft *drafts;
    size_t count, capacity;
    uint32_t *draft_of; /* by what a look found, + 1: for what hangs under it */
    struct frees frees;
    struct orphans orphans;
    struct paths paths;
    struct trends trends;
};

struct kin {
    uint64_t signature;
    uint32_t kind;
    uint32_t first;   /* index of a site + 1; the others follow in next_site */
    uint32_t largest; /* index of the site that holds most */
    uint64_t bytes, blocks;
    bool runtime;
    bool asked; /* about its frees */
    struct freed freed, beside;
};

/* A record while it is being added up. */
struct draft {
    struct record record;
    struct variance variance;
    uint32_t threads[THREADS_SHOWN];
    uint32_t kin;
    uint32_t last_site;   /* that was added, + 1 */
    struct share largest; /* its stack is the one shown */
    struct share reached; /* the largest that has a path; no blocks = none */
    struct samples samples;
};

static bool counts(const struct grouping *grouping, const struct store_site *site)
{
    return site->live_blocks && (!site->inherited || grouping->options->inherited);
}

/* Nothing is left of it, but there is something to tell. */
static bool has_grown(const struct grouping *grouping, uint32_t index)
{
    return trends_has(&grouping->trends, index) && !grouping->store->sites[index].inherited;
}

/* ---- Kin ------------------------------------------------------------------------------------ */

static void add_to_kin(struct grouping *grouping, uint32_t index)
{
    const struct store_site *site = &grouping->store->sites[index];
    uint64_t signature = signatures_of(&grouping->signatures, site->node);
    uint64_t *slot = map_put(&grouping->kin_by_key, hash_mix(signature, site->kind), NULL);
    struct kin *kin;

    if (!*slot) {
        grouping->kins = mem_more(grouping->kins, &grouping->kin_capacity, grouping->kin_count + 1,
                                  sizeof(*grouping->kins));
        grouping->kins[grouping->kin_count++] =
            (struct kin){.signature = signature, .kind = site->kind, .largest = index};
        *slot = grouping->kin_count;
    }
    kin = &grouping->kins[*slot - 1];
    kin->bytes = add_saturating(kin->bytes, site->live_bytes);
    kin->blocks = add_saturating(kin->blocks, site->live_blocks);
    if (site->live_bytes > grouping->store->sites[kin->largest].live_bytes)
        kin->largest = index;
    grouping->next_site[index] = kin->first;
    kin->first = index + 1;
}

static void classify(struct grouping *grouping, struct kin *kin)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_trace(&grouping->signatures,
                                    grouping->store->sites[kin->largest].node, found, &ending);

    kin->runtime =
        kin->blocks &&
        classify_runtime_block(found, count, frame_user(found, count), kin->bytes / kin->blocks);
}

/* ---- Drafts --------------------------------------------------------------------------------- */

static void add_thread(struct draft *draft, uint32_t serial)
{
    struct record *record = &draft->record;

    for (size_t i = 0; i < record->thread_count; i++)
        if (draft->threads[i] == serial)
            return;
    if (record->thread_count == THREADS_SHOWN)
        record->more_threads = true;
    else
        draft->threads[record->thread_count++] = serial;
}

/* owner: index + 1 of a draft. */
static struct draft *find_draft(struct grouping *grouping, uint32_t kin, enum verdict verdict,
                                unsigned flags, uint32_t owner)
{
    uint64_t key = hash_mix(hash_mix(kin, (uint64_t)verdict << 8 | flags), owner);
    uint64_t *slot = map_put(&grouping->by_key, key, NULL);
    struct draft *draft;

    if (*slot)
        return &grouping->drafts[*slot - 1];
    grouping->drafts = mem_more(grouping->drafts, &grouping->capacity, grouping->count + 1,
                                sizeof(*grouping->drafts));
    draft = &grouping->drafts[grouping->count++];
    *slot = grouping->count;
    *draft = (struct draft){.kin = kin,
                            .record = {.signature = grouping->kins[kin].signature,
                                       .kind = grouping->kins[kin].kind,
                                       .verdict = verdict,
                                       .cycle = (flags & LEAK_FOUND_CYCLE) != 0,
                                       .dropped = (flags & LEAK_FOUND_DROPPED) != 0,
                                       .ignored = (flags & LEAK_FOUND_IGNORED) != 0,
                                       .owner = owner,
                                       .first_ns = UINT64_MAX}};
    return draft;
}

/* What is known of the site, whatever the verdict. */
static void add_site(struct grouping *grouping, struct draft *draft, uint32_t index)
{
    const struct store_site *site = &grouping->store->sites[index];

    if (draft->last_site == index + 1)
        return;
    draft->last_site = index + 1;
    draft->record.stacks++;
    estimate_add(&draft->variance, grouping->store, site);
    for (int i = 0; i < LEAK_SITE_THREADS; i++)
        if (site->threads[i])
            add_thread(draft, site->threads[i]);
    draft->record.more_threads |= site->more_threads;
}

/* When its blocks were made: of all the site's, of those that were found, or since then. */
static void add_times(struct grouping *grouping, struct record *record, const struct share *share)
{
    const struct store *store = grouping->store;
    const struct store_site *site = &store->sites[share->site];
    uint32_t first = site->first, last = site->last;
    uint64_t first_ns, last_ns;

    if (share->found != STORE_NONE) {
        first = store->look->found[share->found].first;
        last = store->look->found[share->found].last;
    } else if (store->look && store->look->head.rung != LEAK_RUNG_NONE &&
               first < store->look->head.tick) {
        first = store->look->head.tick < last ? store->look->head.tick : last;
    }
    first_ns = store_time(store, first);
    last_ns = store_time(store, last);
    if (first_ns < record->first_ns)
        record->first_ns = first_ns;
    if (last_ns > record->last_ns)
        record->last_ns = last_ns;
}

static void add_found(struct grouping *grouping, struct draft *draft, const struct share *share)
{
    const struct store_look *look = grouping->store->look;
    const struct store_found *found = &look->found[share->found];

    draft->record.shared |= (found->flags & LEAK_FOUND_SHARED) != 0;
    draft->record.tagged |= (found->flags & LEAK_FOUND_TAGGED) != 0;
    samples_add(&draft->samples, look, found);
    if (found->root != STORE_NONE &&
        (!draft->reached.blocks || share->bytes > draft->reached.bytes))
        draft->reached = *share;
    grouping->draft_of[share->found] = (uint32_t)(draft - grouping->drafts) + 1;
}

static void add_share(struct grouping *grouping, const struct share *share, uint32_t kin)
{
    const struct store_look *look = grouping->store->look;
    enum verdict verdict = grouping->kins[kin].runtime ? VERDICT_RUNTIME : share->verdict;
    unsigned flags = 0;
    uint32_t owner = 0;
    struct draft *draft;
    struct record *record;

    if (share->found != STORE_NONE && verdict != VERDICT_RUNTIME)
        flags = look->found[share->found].flags & TELLING;
    if (verdict == VERDICT_INDIRECT && look->found[share->found].owner != STORE_NONE)
        owner = grouping->draft_of[look->found[share->found].owner];
    draft = find_draft(grouping, kin, verdict, flags, owner);
    record = &draft->record;
    record->bytes = add_saturating(record->bytes, share->bytes);
    record->blocks = add_saturating(record->blocks, share->blocks);
    record->retained.bytes = add_saturating(record->retained.bytes, share->retained_bytes);
    record->retained.blocks = add_saturating(record->retained.blocks, share->retained_blocks);
    if (!draft->largest.blocks || share->bytes > draft->largest.bytes)
        draft->largest = *share;
    add_site(grouping, draft, share->site);
    add_times(grouping, record, share);
    if (share->found != STORE_NONE)
        add_found(grouping, draft, share);
}

static void add_shares(struct grouping *grouping, uint32_t index, bool indirect)
{
    const struct store_site *site = &grouping->store->sites[index];
    uint64_t signature = signatures_of(&grouping->signatures, site->node);
    uint32_t kin = (uint32_t)map_get(&grouping->kin_by_key, hash_mix(signature, site->kind)) - 1;
    const struct share *shares;
    size_t count = settle_site(&grouping->settling, index, &shares);

    for (size_t i = 0; i < count; i++)
        if ((shares[i].verdict == VERDICT_INDIRECT) == indirect)
            add_share(grouping, &shares[i], kin);
}

/* ---- Records -------------------------------------------------------------------------------- */

static void finish_threads(struct grouping *grouping, struct draft *draft)
{
    struct record *record = &draft->record;

    record->threads = mem_take_array(grouping->mem, record->thread_count, sizeof(*record->threads));
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct store_thread *thread = store_thread_of(grouping->store, draft->threads[i]);

        record->threads[i].serial = draft->threads[i];
        if (thread)
            record->threads[i].name = mem_copy(grouping->mem, thread->name, strlen(thread->name));
    }
}

/* Functions through which everything goes are nobody's leak, unless there is nobody else. */
static size_t user_of(const struct grouping *grouping, const struct record *record)
{
    size_t user = frame_user(record->frames, record->frame_count);

    for (size_t i = user; i < record->frame_count; i++)
        if (record->frames[i]->role == FRAME_USER &&
            !funnels_is(&grouping->frees.funnels, record->frames[i]))
            return i;
    return user;
}

static void finish_record(struct grouping *grouping, struct draft *draft)
{
    const struct store *store = grouping->store;
    struct record *record = &draft->record;
    struct kin *kin = &grouping->kins[draft->kin];
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;

    record->frame_count = signatures_trace(
        &grouping->signatures, store->sites[draft->largest.site].node, found, &record->ending);
    frames = mem_take_array(grouping->mem, record->frame_count, sizeof(*frames));
    if (record->frame_count)
        memcpy(frames, found, record->frame_count * sizeof(*frames));
    record->frames = frames;
    record->user = user_of(grouping, record);
    record->error = estimate_error(&draft->variance);
    if (!kin->asked) {
        frees_tell(&grouping->frees, (struct site_list){kin->first, grouping->next_site}, record);
        kin->freed = record->freed;
        kin->beside = record->beside;
        kin->asked = true;
    }
    record->freed = kin->freed;
    record->beside = kin->beside;
    if (record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT)
        orphans_tell(&grouping->orphans, &grouping->frees,
                     (struct site_list){kin->first, grouping->next_site}, record);
    lines_tell(grouping->mem, &grouping->signatures, &grouping->settling,
               (struct site_list){kin->first, grouping->next_site}, record);
    finish_threads(grouping, draft);
    samples_tell(&draft->samples, grouping->mem, store, record);
    if (draft->reached.blocks && record->verdict == VERDICT_REACHABLE)
        record->path = paths_tell(&grouping->paths, draft->reached.found, draft->reached.bytes);
}

/* ---- Order ---------------------------------------------------------------------------------- */

static int in_order(const void *left, const void *right, void *grouping)
{
    return order_records(&(*(struct draft *const *)left)->record,
                         &(*(struct draft *const *)right)->record,
                         ((const struct grouping *)grouping)->options->order);
}

/* The records in order; what names another one names its new place. */
static void sort_records(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct draft **order = mem_more(NULL, &(size_t){0}, grouping->count, sizeof(*order));
    size_t *place = mem_more(NULL, &(size_t){0}, grouping->count, sizeof(*place));

    for (size_t i = 0; i < grouping->count; i++)
        order[i] = &grouping->drafts[i];
    if (grouping->count)
        qsort_r(order, grouping->count, sizeof(*order), in_order, grouping);
    for (size_t i = 0; i < grouping->count; i++)
        place[order[i] - grouping->drafts] = i + 1;
    process->record_count = grouping->count;
    process->records = mem_take_array(grouping->mem, grouping->count, sizeof(struct record));
    for (size_t i = 0; i < grouping->count; i++) {
        process->records[i] = order[i]->record;
        if (process->records[i].owner)
            process->records[i].owner = place[process->records[i].owner - 1];
    }
    link_owned(process);
    free(order);
    free(place);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* It grew, and nothing is left: a record of its own, in no sum. */
static void add_grown(struct grouping *grouping, uint32_t kin, const struct growth *growth)
{
    struct process *process = grouping->process;
    struct site_list sites = {grouping->kins[kin].first, grouping->next_site};
    struct draft draft = {.kin = kin,
                          .largest.site = trends_largest(&grouping->trends, sites),
                          .record = {.signature = grouping->kins[kin].signature,
                                     .kind = grouping->kins[kin].kind,
                                     .verdict = VERDICT_UNFREED,
                                     .growth = growth}};
    const struct store_site *site = &grouping->store->sites[draft.largest.site];

    for (uint32_t i = sites.first; i; i = sites.next[i - 1])
        add_site(grouping, &draft, i - 1);
    draft.record.first_ns = store_time(grouping->store, site->first);
    draft.record.last_ns = store_time(grouping->store, site->last);
    finish_record(grouping, &draft);
    if (!suppress_record(grouping->options->suppressions, &draft.record, NULL))
        process->grown[process->grown_count++] = draft.record;
}

/* The growth of a kin goes to its largest record. */
static void tell_growth(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct draft **largest =
        mem_take_array(grouping->store->mem, grouping->kin_count, sizeof(*largest));

    for (size_t i = 0; i < grouping->count; i++) {
        struct draft *draft = &grouping->drafts[i], **place = &largest[draft->kin];

        if (!*place || draft->record.bytes > (*place)->record.bytes)
            *place = draft;
    }
    process->grown = mem_take_array(grouping->mem, grouping->kin_count, sizeof(*process->grown));
    for (uint32_t k = 0; k < grouping->kin_count; k++) {
        const struct kin *kin = &grouping->kins[k];
        const struct growth *growth =
            kin->runtime ? NULL
                         : trends_of(&grouping->trends,
                                     (struct site_list){kin->first, grouping->next_site});

        if (growth && largest[k])
            largest[k]->record.growth = growth;
        else if (growth && growth_grows(growth->verdict))
            add_grown(grouping, k, growth);
        process->totals.growing +=
            largest[k] && record_grows(&largest[k]->record) && !largest[k]->record.suppressed_by;
    }
    process->totals.growing += process->grown_count;
}

/* ---- All of it --------------------------------------------------------------------------- */

static void add_variance(struct variance *sum, const struct variance *one)
{
    sum->bytes += one->bytes;
    sum->blocks += one->blocks;
    sum->samples = add_saturating(sum->samples, one->samples);
}

static void finish(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct variance sums[VERDICT_MAX] = {{0}};

    for (size_t i = 0; i < grouping->count; i++) {
        struct draft *draft = &grouping->drafts[i];
        struct verdict_total *total = &process->totals.of[draft->record.verdict];
        size_t owner = draft->record.owner; /* is finished: indirect blocks come last */

        finish_record(grouping, draft);
        if (suppress_record(grouping->options->suppressions, &draft->record,
                            owner ? &grouping->drafts[owner - 1].record : NULL))
            continue;
        total->bytes = add_saturating(total->bytes, draft->record.bytes);
        total->blocks = add_saturating(total->blocks, draft->record.blocks);
        total->records++;
        add_variance(&sums[draft->record.verdict], &draft->variance);
    }
    for (int v = 0; v < VERDICT_MAX; v++)
        process->errors[v] = estimate_error(&sums[v]);
    frees_tell_opened(&grouping->frees, process);
    tell_growth(grouping);
    suppress_tell(grouping->options->suppressions, process);
    sort_records(grouping);
    entries_fill(grouping->mem, grouping->options->order, process);
    paths_owners(&grouping->paths, process);
    blind_fill(grouping->mem, &grouping->signatures.modules, process);
}

static void make_drafts(struct grouping *grouping)
{
    const struct store *store = grouping->store;

    for (uint32_t i = 0; i < store->site_count; i++)
        if (counts(grouping, &store->sites[i]) || has_grown(grouping, i))
            add_to_kin(grouping, i);
    for (size_t i = 0; i < grouping->kin_count; i++)
        classify(grouping, &grouping->kins[i]);
    for (int indirect = 0; indirect < 2; indirect++)
        for (uint32_t i = 0; i < store->site_count; i++)
            if (counts(grouping, &store->sites[i]))
                add_shares(grouping, i, indirect);
}

static void end(struct grouping *grouping)
{
    paths_end(&grouping->paths);
    frees_end(&grouping->frees);
    orphans_end(&grouping->orphans);
    settle_end(&grouping->settling);
    free(grouping->next_site);
    free(grouping->kins);
    free(grouping->drafts);
    map_end(&grouping->kin_by_key);
    map_end(&grouping->by_key);
    signatures_end(&grouping->signatures);
}

void group_records(struct mem *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process)
{
    struct grouping grouping = {.mem = mem, .store = store, .options = options, .process = process};

    grouping.signatures = signatures_begin(resolver, store);
    grouping.trends = trends_begin(mem, store, process->until_ns);
    for (uint32_t i = 0; i < store->site_count; i++)
        if (counts(&grouping, &store->sites[i]) || has_grown(&grouping, i))
            signatures_want(&grouping.signatures, store->sites[i].node);
    paths_want(&grouping.signatures);
    signatures_resolve(&grouping.signatures);
    grouping.settling = settle_begin(store);
    grouping.next_site =
        mem_more(NULL, &(size_t){0}, store->site_count, sizeof(*grouping.next_site));
    grouping.draft_of =
        mem_take_array(mem, store->look ? store->look->found_count : 0, sizeof(*grouping.draft_of));
    grouping.frees = frees_begin(mem, &grouping.signatures);
    grouping.orphans = orphans_begin(store);
    grouping.paths = paths_begin(mem, &grouping.signatures);
    make_drafts(&grouping);
    finish(&grouping);
    end(&grouping);
}
