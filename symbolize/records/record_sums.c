/* record_sums.c - sums up sites to records; described in record_sums.h. */
#include "symbolize/records/record_sums.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

/* Flags of a leak check's result; results with different flags are different records. */
#define DISTINGUISHING_FLAGS (LEAK_FOUND_CYCLE | LEAK_FOUND_DROPPED | LEAK_FOUND_IGNORED)

static bool is_counted(const struct record_sums *drafts, const struct store_site *site)
{
    return site->live_blocks && (!site->inherited || drafts->inherited);
}

/* Says whether the site grew. Such a site is reported even if all its blocks are freed by now. A
 * site that a fork child inherited never counts: its blocks were allocated by the parent, and the
 * parent's recording tells how they grew. */
static bool has_grown(const struct record_sums *drafts, uint32_t index)
{
    return growth_series_has_site(drafts->growth_series, index) &&
           !drafts->store->sites[index].inherited;
}

/* ---- Kin: the sites of one signature and kind ------------------------------------------------ */

static void add_to_kin(struct record_sums *drafts, uint32_t index)
{
    const struct store_site *site = &drafts->store->sites[index];
    uint64_t signature = signatures_of_node(drafts->signatures, site->node);
    uint64_t *slot = hashmap_put(&drafts->kin_by_key, hash_mix(signature, site->kind), NULL);
    struct kin *kin;

    if (!*slot) {
        drafts->kins = array_grow(drafts->kins, &drafts->kin_capacity, drafts->kin_count + 1,
                                  sizeof(*drafts->kins));
        drafts->kins[drafts->kin_count++] =
            (struct kin){.signature = signature, .kind = site->kind, .largest = index};
        *slot = drafts->kin_count;
    }
    kin = &drafts->kins[*slot - 1];
    kin->bytes = add_saturating(kin->bytes, site->live_bytes);
    kin->blocks = add_saturating(kin->blocks, site->live_blocks);
    if (site->live_bytes > drafts->store->sites[kin->largest].live_bytes)
        kin->largest = index;
    drafts->next_site[index] = kin->first;
    kin->first = index + 1;
}

static void classify_kin(struct record_sums *drafts, struct kin *kin)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_node_frames(drafts->signatures,
                                          drafts->store->sites[kin->largest].node, found, &ending);

    kin->runtime =
        kin->blocks && classify_is_runtime_block(found, count, frame_first_user(found, count),
                                                 kin->bytes / kin->blocks);
}

/* Adds to each kin (sites of one signature and kind) the sites without live blocks that have its
 * stacks, with other tags: their frees show where blocks of the kin should be freed. */
static void add_other_tags(struct record_sums *drafts)
{
    const struct store *store = drafts->store;
    struct hashmap kin_of = {0}; /* hash of a stack's node and kind -> index of the kin + 1 */

    for (uint32_t k = 0; k < drafts->kin_count; k++)
        for (uint32_t i = drafts->kins[k].first; i; i = drafts->next_site[i - 1])
            *hashmap_put(&kin_of, hash_mix(store->sites[i - 1].node, store->sites[i - 1].kind),
                         NULL) = k + 1;
    for (uint32_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];
        uint64_t kin = hashmap_get(&kin_of, hash_mix(site->node, site->kind));

        if (!kin || site->inherited || is_counted(drafts, site) || has_grown(drafts, i))
            continue;
        drafts->next_site[i] = drafts->kins[kin - 1].first;
        drafts->kins[kin - 1].first = i + 1;
    }
    hashmap_end(&kin_of);
}

/* ---- Adding sites to the sums ---------------------------------------------------------------- */

static void add_thread(struct record_sum *draft, uint32_t serial)
{
    struct record *record = &draft->record;

    for (size_t i = 0; i < record->thread_count; i++)
        if (draft->threads[i] == serial)
            return;
    if (record->thread_count == RECORD_SUM_THREADS)
        record->more_threads = true;
    else
        draft->threads[record->thread_count++] = serial;
}

/* Finds the record sum of this kin (the sites of one signature and kind), verdict, flags and owner,
 * or adds it. owner: index + 1 of the sum that owns its blocks; 0 = none. */
static struct record_sum *find_sum(struct record_sums *drafts, uint32_t kin, enum verdict verdict,
                                   unsigned flags, uint32_t owner)
{
    uint64_t key = hash_mix(hash_mix(kin, (uint64_t)verdict << 8 | flags), owner);
    uint64_t *slot = hashmap_put(&drafts->by_key, key, NULL);
    struct record_sum *draft;

    if (*slot)
        return &drafts->draft[*slot - 1];
    drafts->draft =
        array_grow(drafts->draft, &drafts->capacity, drafts->count + 1, sizeof(*drafts->draft));
    draft = &drafts->draft[drafts->count++];
    *slot = drafts->count;
    *draft = (struct record_sum){.kin = kin,
                                 .number = drafts->count,
                                 .record = {.signature = drafts->kins[kin].signature,
                                            .kind = drafts->kins[kin].kind,
                                            .verdict = verdict,
                                            .cycle = (flags & LEAK_FOUND_CYCLE) != 0,
                                            .dropped = (flags & LEAK_FOUND_DROPPED) != 0,
                                            .ignored = (flags & LEAK_FOUND_IGNORED) != 0,
                                            .owner = owner,
                                            .first_ns = UINT64_MAX}};
    return draft;
}

/* Says whether the sum had no site with this stack before. If the program sets tags, several sites
 * may have one stack. */
static bool is_new_stack(struct record_sums *drafts, const struct record_sum *draft, uint32_t node)
{
    bool fresh = true;

    if (drafts->store->tags)
        hashmap_put(&drafts->stacks, hash_mix(hash_mix(draft->number, draft->kin), node), &fresh);
    return fresh;
}

void record_sums_add_site(struct record_sums *drafts, struct record_sum *draft, uint32_t index)
{
    const struct store_site *site = &drafts->store->sites[index];

    if (draft->last_site == index + 1)
        return;
    draft->last_site = index + 1;
    draft->record.stacks += is_new_stack(drafts, draft, site->node);
    variance_add_site(&draft->variance, drafts->store, site);
    for (int i = 0; i < LEAK_SITE_THREADS; i++)
        if (site->threads[i])
            add_thread(draft, site->threads[i]);
    draft->record.more_threads |= site->more_threads;
}

/* Adds the allocation times of a share to a record: of the blocks that the leak check found, or of
 * the blocks that were allocated after it. */
static void add_times(struct record_sums *drafts, struct record *record, const struct share *share)
{
    const struct store *store = drafts->store;
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
    first_ns = store_time_of_tick(store, first);
    last_ns = store_time_of_tick(store, last);
    if (first_ns < record->first_ns)
        record->first_ns = first_ns;
    if (last_ns > record->last_ns)
        record->last_ns = last_ns;
}

static void add_found(struct record_sums *drafts, struct record_sum *draft,
                      const struct share *share)
{
    const struct store_leak_check *look = drafts->store->look;
    const struct store_found *found = &look->found[share->found];

    draft->record.shared |= (found->flags & LEAK_FOUND_SHARED) != 0;
    draft->record.header |=
        draft->record.verdict == VERDICT_REACHABLE && (found->flags & LEAK_FOUND_HEADER);
    draft->record.tagged |= (found->flags & LEAK_FOUND_TAGGED) != 0;
    block_samples_add(&draft->samples, drafts->samples_max, look, found);
    if (found->root != STORE_NONE &&
        (!draft->reached.blocks || share->bytes > draft->reached.bytes))
        draft->reached = *share;
    drafts->sum_of_found[share->found] = (uint32_t)(draft - drafts->draft) + 1;
}

static void add_share(struct record_sums *drafts, const struct share *share, uint32_t kin)
{
    const struct store_leak_check *look = drafts->store->look;
    enum verdict verdict = drafts->kins[kin].runtime ? VERDICT_RUNTIME : share->verdict;
    unsigned flags = 0;
    uint32_t owner = 0;
    struct record_sum *draft;
    struct record *record;

    if (share->found != STORE_NONE && verdict != VERDICT_RUNTIME)
        flags = look->found[share->found].flags & DISTINGUISHING_FLAGS;
    if (verdict == VERDICT_INDIRECT && look->found[share->found].owner != STORE_NONE)
        owner = drafts->sum_of_found[look->found[share->found].owner];
    draft = find_sum(drafts, kin, verdict, flags, owner);
    record = &draft->record;
    record->bytes = add_saturating(record->bytes, share->bytes);
    record->blocks = add_saturating(record->blocks, share->blocks);
    record->retained.bytes = add_saturating(record->retained.bytes, share->retained_bytes);
    record->retained.blocks = add_saturating(record->retained.blocks, share->retained_blocks);
    if (!draft->largest.blocks || share->bytes > draft->largest.bytes)
        draft->largest = *share;
    draft->shares = array_grow(draft->shares, &draft->share_capacity, draft->share_count + 1,
                               sizeof(*draft->shares));
    draft->shares[draft->share_count++] = *share;
    record_sums_add_site(drafts, draft, share->site);
    if (drafts->store->sites[share->site].tag)
        tag_sums_add(&draft->tags, drafts->store->tags[drafts->store->sites[share->site].tag],
                     share->bytes, share->blocks);
    add_times(drafts, record, share);
    if (share->found != STORE_NONE)
        add_found(drafts, draft, share);
}

static void add_shares(struct record_sums *drafts, uint32_t index, bool indirect)
{
    const struct store_site *site = &drafts->store->sites[index];
    uint64_t signature = signatures_of_node(drafts->signatures, site->node);
    uint32_t kin = (uint32_t)hashmap_get(&drafts->kin_by_key, hash_mix(signature, site->kind)) - 1;
    const struct share *shares;
    size_t count = reconcile_site(&drafts->reconciliation, index, &shares);

    for (size_t i = 0; i < count; i++)
        if ((shares[i].verdict == VERDICT_INDIRECT) == indirect)
            add_share(drafts, &shares[i], kin);
}

/* ---- Summing up all sites of a process ------------------------------------------------------- */

struct record_sums record_sums_begin(struct arena *mem, const struct store *store,
                                     struct signatures *signatures,
                                     struct growth_series *growth_series, bool inherited)
{
    struct record_sums drafts = {.store = store,
                                 .signatures = signatures,
                                 .growth_series = growth_series,
                                 .inherited = inherited};

    for (uint32_t i = 0; i < store->site_count; i++)
        if (is_counted(&drafts, &store->sites[i]) || has_grown(&drafts, i))
            signatures_request(signatures, store->sites[i].node);
    drafts.reconciliation = reconcile_begin(store);
    drafts.next_site = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*drafts.next_site));
    drafts.sum_of_found = arena_alloc_array(mem, store->look ? store->look->found_count : 0,
                                            sizeof(*drafts.sum_of_found));
    return drafts;
}

void record_sums_make(struct record_sums *drafts)
{
    const struct store *store = drafts->store;

    for (uint32_t i = 0; i < store->site_count; i++)
        if (is_counted(drafts, &store->sites[i]) || has_grown(drafts, i))
            add_to_kin(drafts, i);
    if (store->tags)
        add_other_tags(drafts);
    for (size_t i = 0; i < drafts->kin_count; i++)
        classify_kin(drafts, &drafts->kins[i]);
    for (int indirect = 0; indirect < 2; indirect++)
        for (uint32_t i = 0; i < store->site_count; i++)
            if (is_counted(drafts, &store->sites[i]))
                add_shares(drafts, i, indirect);
}

void record_sums_end(struct record_sums *drafts)
{
    for (size_t i = 0; i < drafts->count; i++) {
        tag_sums_end(&drafts->draft[i].tags);
        free(drafts->draft[i].shares);
    }
    reconcile_end(&drafts->reconciliation);
    free(drafts->next_site);
    free(drafts->kins);
    free(drafts->draft);
    hashmap_end(&drafts->kin_by_key);
    hashmap_end(&drafts->by_key);
    hashmap_end(&drafts->stacks);
}
