/* group_records.c - one record per signature, kind and verdict; see group_records.h.
 *
 * Which there are, and how much each is, record_sums.h says. Here each gets its stack and what is
 * told of it: where others are freed is asked of all kin together, and once.
 */
#include "symbolize/records/group_records.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/records/missing_debuginfo.h"
#include "symbolize/records/record_sums.h"
#include "symbolize/records/leak_groups.h"
#include "symbolize/records/sampling_error.h"
#include "common/sites/free_sites.h"
#include "symbolize/records/alloc_lines.h"
#include "common/model/model.h"
#include "symbolize/heap/dropped_pointers.h"
#include "symbolize/heap/owners.h"
#include "symbolize/heap/root_paths.h"
#include "symbolize/heap/block_samples.h"

/* Of kin. */
struct told {
    bool asked;
    struct freed freed, beside;
};

struct grouping {
    struct mem *mem;
    const struct store *store;
    const struct group_options *options;
    struct process *process;
    struct signatures signatures;
    struct trends trends;
    struct drafts drafts;
    struct told *told; /* by kin */
    struct frees frees;
    struct orphans orphans;
    struct paths paths;
};

/* ---- Records -------------------------------------------------------------------------------- */

static void finish_threads(struct grouping *grouping, struct draft *draft)
{
    struct record *record = &draft->record;

    record->threads = arena_alloc_array(grouping->mem, record->thread_count, sizeof(*record->threads));
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct store_thread *thread = store_find_thread(grouping->store, draft->threads[i]);

        record->threads[i].serial = draft->threads[i];
        if (thread)
            record->threads[i].name = arena_copy(grouping->mem, thread->name, strlen(thread->name));
    }
}

/* Functions through which everything goes are nobody's leak, unless there is nobody else. */
static size_t user_of(const struct grouping *grouping, const struct record *record)
{
    size_t user = frame_first_user(record->frames, record->frame_count);

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
    struct told *told = &grouping->told[draft->kin];
    struct site_list sites = {grouping->drafts.kins[draft->kin].first, grouping->drafts.next_site};
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;

    record->frame_count = signatures_trace(
        &grouping->signatures, store->sites[draft->largest.site].node, found, &record->ending);
    frames = arena_alloc_array(grouping->mem, record->frame_count, sizeof(*frames));
    if (record->frame_count)
        memcpy(frames, found, record->frame_count * sizeof(*frames));
    record->frames = frames;
    record->user = user_of(grouping, record);
    record->error = estimate_error(&draft->variance);
    if (!told->asked) {
        frees_tell(&grouping->frees, sites, record);
        *told = (struct told){true, record->freed, record->beside};
    }
    record->freed = told->freed;
    record->beside = told->beside;
    if (record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT)
        orphans_tell(&grouping->orphans, &grouping->frees, sites, record);
    lines_tell(grouping->mem, &grouping->signatures, &grouping->drafts.settling, sites, record);
    finish_threads(grouping, draft);
    samples_tell(&draft->samples, grouping->mem, store, record);
    tags_tell(&draft->tags, grouping->mem, record);
    if (draft->reached.blocks && record->verdict == VERDICT_REACHABLE)
        record->path = paths_tell(&grouping->paths, draft->reached.found, draft->reached.bytes);
}

/* ---- Order ---------------------------------------------------------------------------------- */

static int in_order(const void *left, const void *right, void *grouping)
{
    return record_compare(&(*(struct draft *const *)left)->record,
                         &(*(struct draft *const *)right)->record,
                         ((const struct grouping *)grouping)->options->order);
}

/* The records in order; what names another one names its new place. */
static void sort_records(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct draft **order = array_grow(NULL, &(size_t){0}, grouping->drafts.count, sizeof(*order));
    size_t *place = array_grow(NULL, &(size_t){0}, grouping->drafts.count, sizeof(*place));

    for (size_t i = 0; i < grouping->drafts.count; i++)
        order[i] = &grouping->drafts.draft[i];
    if (grouping->drafts.count)
        qsort_r(order, grouping->drafts.count, sizeof(*order), in_order, grouping);
    for (size_t i = 0; i < grouping->drafts.count; i++)
        place[order[i] - grouping->drafts.draft] = i + 1;
    process->record_count = grouping->drafts.count;
    process->records = arena_alloc_array(grouping->mem, grouping->drafts.count, sizeof(struct record));
    for (size_t i = 0; i < grouping->drafts.count; i++) {
        process->records[i] = order[i]->record;
        if (process->records[i].owner)
            process->records[i].owner = place[process->records[i].owner - 1];
    }
    process_link_owned(process);
    free(order);
    free(place);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* It grew, and nothing is left: a record of its own, in no sum. */
static void add_grown(struct grouping *grouping, uint32_t kin, const struct growth *growth)
{
    struct process *process = grouping->process;
    struct site_list sites = {grouping->drafts.kins[kin].first, grouping->drafts.next_site};
    struct draft draft = {.kin = kin,
                          .largest.site = trends_largest(&grouping->trends, sites),
                          .record = {.signature = grouping->drafts.kins[kin].signature,
                                     .kind = grouping->drafts.kins[kin].kind,
                                     .verdict = VERDICT_UNFREED,
                                     .growth = growth}};
    const struct store_site *site = &grouping->store->sites[draft.largest.site];

    for (uint32_t i = sites.first; i; i = sites.next[i - 1])
        drafts_add_site(&grouping->drafts, &draft, i - 1);
    draft.record.first_ns = store_time_of_tick(grouping->store, site->first);
    draft.record.last_ns = store_time_of_tick(grouping->store, site->last);
    finish_record(grouping, &draft);
    if (!suppress_record(grouping->options->suppressions, &draft.record, NULL))
        process->grown[process->grown_count++] = draft.record;
}

/* The growth of a kin goes to its largest record. */
static void tell_growth(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct draft **largest =
        arena_alloc_array(grouping->store->mem, grouping->drafts.kin_count, sizeof(*largest));

    for (size_t i = 0; i < grouping->drafts.count; i++) {
        struct draft *draft = &grouping->drafts.draft[i], **place = &largest[draft->kin];

        if (!*place || draft->record.bytes > (*place)->record.bytes)
            *place = draft;
    }
    process->grown =
        arena_alloc_array(grouping->mem, grouping->drafts.kin_count, sizeof(*process->grown));
    for (uint32_t k = 0; k < grouping->drafts.kin_count; k++) {
        const struct kin *kin = &grouping->drafts.kins[k];
        const struct growth *growth =
            kin->runtime ? NULL
                         : trends_of(&grouping->trends,
                                     (struct site_list){kin->first, grouping->drafts.next_site});

        if (growth && largest[k])
            largest[k]->record.growth = growth;
        else if (growth && growth_is_growing(growth->verdict))
            add_grown(grouping, k, growth);
        process->totals.growing +=
            largest[k] && record_is_growing(&largest[k]->record) && !largest[k]->record.suppressed_by;
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

    for (size_t i = 0; i < grouping->drafts.count; i++) {
        struct draft *draft = &grouping->drafts.draft[i];
        struct verdict_total *total = &process->totals.of[draft->record.verdict];
        size_t owner = draft->record.owner; /* is finished: indirect blocks come last */

        finish_record(grouping, draft);
        if (suppress_record(grouping->options->suppressions, &draft->record,
                            owner ? &grouping->drafts.draft[owner - 1].record : NULL))
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
    owners_fill(&grouping->paths, &grouping->trends, process);
    blind_fill(grouping->mem, &grouping->signatures.modules, process);
}

static void end(struct grouping *grouping)
{
    drafts_end(&grouping->drafts);
    paths_end(&grouping->paths);
    frees_end(&grouping->frees);
    orphans_end(&grouping->orphans);
    free(grouping->told);
    signatures_end(&grouping->signatures);
}

void group_records(struct mem *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process)
{
    struct grouping grouping = {.mem = mem, .store = store, .options = options, .process = process};

    grouping.signatures = signatures_begin(resolver, store);
    grouping.trends = trends_begin(mem, store, process->until_ns);
    grouping.drafts =
        drafts_begin(mem, store, &grouping.signatures, &grouping.trends, options->inherited);
    grouping.drafts.samples_told = options->blocks ? SAMPLES_MOST : SAMPLES_TOLD;
    paths_want(&grouping.signatures);
    signatures_resolve(&grouping.signatures);
    grouping.frees = frees_begin(mem, &grouping.signatures);
    grouping.orphans = orphans_begin(store);
    grouping.paths = paths_begin(mem, &grouping.signatures);
    drafts_make(&grouping.drafts);
    grouping.told = array_grow(NULL, &(size_t){0}, grouping.drafts.kin_count, sizeof(*grouping.told));
    if (grouping.told)
        memset(grouping.told, 0, grouping.drafts.kin_count * sizeof(*grouping.told));
    finish(&grouping);
    end(&grouping);
}
