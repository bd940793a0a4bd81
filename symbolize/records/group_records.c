/* group_records.c - makes the records of a process; described in records.h.
 *
 * record_sums.h finds the records and their sizes. Here each record gets its stack and details; the
 * places where other blocks are freed are found once for all sites of one signature and kind (a
 * kin).
 */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/records/record_sums.h"
#include "symbolize/records/leak_groups.h"
#include "symbolize/records/sampling_error.h"
#include "common/sites/sites.h"
#include "common/model/model.h"
#include "symbolize/heap/heap.h"
#include "symbolize/types/types.h"

/* The places where blocks of a kin (all sites of one signature and kind) are freed, kept because
 * several records may come from one kin. */
struct kin_frees {
    bool asked;
    struct freed freed, beside;
};

struct grouping {
    struct arena *mem;
    const struct store *store;
    const struct group_options *options;
    struct process *process;
    struct signatures signatures;
    struct growth_series growth_series;
    struct record_sums drafts;
    struct kin_frees *told; /* index of a kin -> the places where its blocks are freed */
    struct free_sites frees;
    struct dropped_pointers orphans;
    struct interiors interiors;
    struct loss_times losses;
    struct root_paths paths;
    struct types types;
};

/* ---- Completing the records ------------------------------------------------------------------ */

static void finish_threads(struct grouping *grouping, struct record_sum *draft)
{
    struct record *record = &draft->record;

    record->threads =
        arena_alloc_array(grouping->mem, record->thread_count, sizeof(*record->threads));
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct store_thread *thread = store_find_thread(grouping->store, draft->threads[i]);

        record->threads[i].serial = draft->threads[i];
        if (thread)
            record->threads[i].name = arena_copy(grouping->mem, thread->name, strlen(thread->name));
    }
}

/* Returns the index of the user frame. It skips wrappers like xmalloc(), unless there is no other
 * user frame. */
static size_t find_user_frame(const struct grouping *grouping, const struct record *record)
{
    size_t user = frame_first_user(record->frames, record->frame_count);

    for (size_t i = user; i < record->frame_count; i++)
        if (record->frames[i]->role == FRAME_USER &&
            !free_wrappers_contain(&grouping->frees.wrappers, record->frames[i]))
            return i;
    return user;
}

static void finish_record(struct grouping *grouping, struct record_sum *draft)
{
    const struct store *store = grouping->store;
    struct record *record = &draft->record;
    struct kin_frees *told = &grouping->told[draft->kin];
    struct site_list sites = {grouping->drafts.kins[draft->kin].first, grouping->drafts.next_site};
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;

    record->frame_count = signatures_node_frames(
        &grouping->signatures, store->sites[draft->largest.site].node, found, &record->ending);
    frames = arena_alloc_array(grouping->mem, record->frame_count, sizeof(*frames));
    if (record->frame_count)
        memcpy(frames, found, record->frame_count * sizeof(*frames));
    record->frames = frames;
    record->user = find_user_frame(grouping, record);
    if (store->sites[draft->largest.site].older) {
        record->kind = KIND_OLDER;
        record->first_ns = record->last_ns = 0;
    }
    record->error = variance_half_width(&draft->variance);
    if (!told->asked) {
        free_sites_fill(&grouping->frees, sites, record);
        *told = (struct kin_frees){true, record->freed, record->beside};
    }
    record->freed = told->freed;
    record->beside = told->beside;
    if (record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT) {
        dropped_pointers_fill(&grouping->orphans, &grouping->frees, sites, record);
        loss_times_fill(&grouping->losses, sites, record);
    }
    alloc_lines_fill(grouping->mem, &grouping->signatures, &grouping->drafts.reconciliation, sites,
                     record);
    finish_threads(grouping, draft);
    block_samples_fill(&draft->samples, grouping->mem, store, record);
    tag_sums_fill(&draft->tags, grouping->mem, record);
    if (record->verdict == VERDICT_POSSIBLE || record->header)
        interiors_fill(&grouping->interiors, &grouping->paths, (uint32_t)draft->number, record);
    if (draft->reached.blocks &&
        (record->verdict == VERDICT_REACHABLE || record->verdict == VERDICT_POSSIBLE))
        record->path =
            root_paths_make(&grouping->paths, draft->reached.found, draft->reached.bytes);
}

/* ---- Sorting the records --------------------------------------------------------------------- */

static int compare_sums(const void *left, const void *right, void *grouping)
{
    return record_compare(&(*(struct record_sum *const *)left)->record,
                          &(*(struct record_sum *const *)right)->record,
                          ((const struct grouping *)grouping)->options->order);
}

/* Finds the types of the first records of the list, as many as the options ask for. */
static void fill_types(struct grouping *grouping, struct record_sum *const *order)
{
    struct types *types = &grouping->types;
    size_t left = grouping->options->types;

    for (size_t i = 0; i < grouping->process->record_count && left; i++) {
        struct record *record = &grouping->process->records[i];

        if (record->suppressed_by || !grouping->options->types_of[record->verdict])
            continue;
        types_fill_record(types, order[i]->shares, order[i]->share_count, record);
        if (grouping->options->fields)
            types_fill_fields(types, order[i]->shares, order[i]->share_count, record);
        if (record->path)
            types_name_path(types, (struct path *)record->path);
        left--;
    }
}

#define COUNTERPARTS_OF 20 /* records for which counterparts are searched, the first of the list */

static void fill_counterparts(struct grouping *grouping, struct record_sum *const *order)
{
    struct process *process = grouping->process;
    size_t left = COUNTERPARTS_OF;

    for (size_t i = 0; i < process->record_count && left; i++) {
        struct record *record = &process->records[i];
        uint32_t node = grouping->store->sites[order[i]->largest.site].node;

        if (record->suppressed_by || record->verdict != VERDICT_LOST)
            continue;
        handovers_check_mark(&grouping->signatures, node, record);
        counterparts_fill(grouping->mem, &grouping->signatures, node, record);
        handovers_fill(grouping->mem, &grouping->signatures, node, record);
        left--;
    }
}

/* Names the paths of the largest owners. Paths to records with types have names already, but the
 * path of an owner may lead to another record. */
static void name_owners(struct grouping *grouping)
{
    const struct process *process = grouping->process;

    for (size_t i = 0; i < process->owner_count && i < grouping->options->owners; i++)
        if (process->owners[i].path && !process->owners[i].path->words)
            types_name_path(&grouping->types, (struct path *)process->owners[i].path);
}

/* Sorts the records, and updates the indices by which records refer to one another. */
static void sort_records(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct record_sum **order =
        array_grow(NULL, &(size_t){0}, grouping->drafts.count, sizeof(*order));
    size_t *place = array_grow(NULL, &(size_t){0}, grouping->drafts.count, sizeof(*place));

    for (size_t i = 0; i < grouping->drafts.count; i++)
        order[i] = &grouping->drafts.draft[i];
    if (grouping->drafts.count)
        qsort_r(order, grouping->drafts.count, sizeof(*order), compare_sums, grouping);
    for (size_t i = 0; i < grouping->drafts.count; i++)
        place[order[i] - grouping->drafts.draft] = i + 1;
    process->record_count = grouping->drafts.count;
    process->records =
        arena_alloc_array(grouping->mem, grouping->drafts.count, sizeof(struct record));
    for (size_t i = 0; i < grouping->drafts.count; i++) {
        process->records[i] = order[i]->record;
        if (process->records[i].owner)
            process->records[i].owner = place[process->records[i].owner - 1];
    }
    process_link_owned(process);
    fill_types(grouping, order);
    fill_counterparts(grouping, order);
    free(order);
    free(place);
}

/* ---- Sites that grew ------------------------------------------------------------------------- */

/* Adds a record for a kin (all sites of one signature and kind) that grew, and whose blocks are all
 * freed by now. It counts in no total. */
static void add_grown(struct grouping *grouping, uint32_t kin, const struct growth *growth)
{
    struct process *process = grouping->process;
    struct site_list sites = {grouping->drafts.kins[kin].first, grouping->drafts.next_site};
    struct record_sum draft = {.kin = kin,
                               .largest.site =
                                   growth_series_largest_site(&grouping->growth_series, sites),
                               .record = {.signature = grouping->drafts.kins[kin].signature,
                                          .kind = grouping->drafts.kins[kin].kind,
                                          .verdict = VERDICT_UNFREED,
                                          .growth = growth}};
    const struct store_site *site = &grouping->store->sites[draft.largest.site];

    for (uint32_t i = sites.first; i; i = sites.next[i - 1])
        record_sums_add_site(&grouping->drafts, &draft, i - 1);
    draft.record.first_ns = store_time_of_tick(grouping->store, site->first);
    draft.record.last_ns = store_time_of_tick(grouping->store, site->last);
    finish_record(grouping, &draft);
    if (!suppress_record(grouping->options->suppressions, &draft.record, NULL))
        process->grown[process->grown_count++] = draft.record;
}

/* Assigns the growth of each kin (all sites of one signature and kind) to its largest record. */
static void assign_growth(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct record_sum **largest =
        arena_alloc_array(grouping->store->mem, grouping->drafts.kin_count, sizeof(*largest));

    for (size_t i = 0; i < grouping->drafts.count; i++) {
        struct record_sum *draft = &grouping->drafts.draft[i], **place = &largest[draft->kin];

        if (!*place || draft->record.bytes > (*place)->record.bytes)
            *place = draft;
    }
    process->grown =
        arena_alloc_array(grouping->mem, grouping->drafts.kin_count, sizeof(*process->grown));
    for (uint32_t k = 0; k < grouping->drafts.kin_count; k++) {
        const struct kin *kin = &grouping->drafts.kins[k];
        const struct growth *growth =
            kin->runtime
                ? NULL
                : growth_series_judge(&grouping->growth_series,
                                      (struct site_list){kin->first, grouping->drafts.next_site});

        if (growth && largest[k])
            largest[k]->record.growth = growth;
        else if (growth && growth_is_growing(growth->verdict))
            add_grown(grouping, k, growth);
        process->totals.growing += largest[k] && record_is_growing(&largest[k]->record) &&
                                   !largest[k]->record.suppressed_by;
    }
    process->totals.growing += process->grown_count;
}

/* ---- Adding up totals, and making all records of a process ----------------------------------- */

static void add_variance(struct variance *sum, const struct variance *one)
{
    sum->bytes += one->bytes;
    sum->blocks += one->blocks;
    sum->samples = add_saturating(sum->samples, one->samples);
}

/* Adds the records that have an owner (owned), or those that have none, to the totals. */
static void add_totals(struct grouping *grouping, bool owned, struct variance *sums)
{
    for (size_t i = 0; i < grouping->drafts.count; i++) {
        struct record_sum *draft = &grouping->drafts.draft[i];
        struct verdict_total *total = &grouping->process->totals.of[draft->record.verdict];
        size_t owner = draft->record.owner;

        if (owned != (owner != 0) ||
            suppress_record(grouping->options->suppressions, &draft->record,
                            owner ? &grouping->drafts.draft[owner - 1].record : NULL))
            continue;
        total->bytes = add_saturating(total->bytes, draft->record.bytes);
        total->blocks = add_saturating(total->blocks, draft->record.blocks);
        total->records++;
        add_variance(&sums[draft->record.verdict], &draft->variance);
    }
}

static void finish_grouping(struct grouping *grouping)
{
    struct process *process = grouping->process;
    struct variance sums[VERDICT_MAX] = {{0}};

    for (size_t i = 0; i < grouping->drafts.count; i++)
        finish_record(grouping, &grouping->drafts.draft[i]);
    possible_owners_fill(&grouping->drafts);
    /* records without an owner first: blocks that a suppressed record owns are suppressed as
     * well */
    add_totals(grouping, false, sums);
    add_totals(grouping, true, sums);
    for (int v = 0; v < VERDICT_MAX; v++)
        process->errors[v] = variance_half_width(&sums[v]);
    free_sites_fill_resources(&grouping->frees, process);
    assign_growth(grouping);
    suppress_fill_totals(grouping->options->suppressions, process);
    sort_records(grouping);
    leak_groups_fill(grouping->mem, grouping->options->order, process);
    distinct_callers_fill(grouping->mem, process);
    owners_fill(&grouping->paths, &grouping->growth_series, process);
    name_owners(grouping);
    held_at_once_fill(grouping->mem, &grouping->frees, grouping->store, process);
    missing_debuginfo_fill(grouping->mem, &grouping->signatures.modules, process);
}

static void end_grouping(struct grouping *grouping)
{
    record_sums_end(&grouping->drafts);
    types_end(&grouping->types);
    root_paths_end(&grouping->paths);
    free_sites_end(&grouping->frees);
    dropped_pointers_end(&grouping->orphans);
    interiors_end(&grouping->interiors);
    loss_times_end(&grouping->losses);
    free(grouping->told);
    signatures_end(&grouping->signatures);
}

void group_records(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process)
{
    struct grouping grouping = {.mem = mem, .store = store, .options = options, .process = process};

    grouping.signatures = signatures_begin(resolver, store);
    grouping.growth_series = growth_series_begin(mem, store, process->until_ns);
    grouping.drafts = record_sums_begin(mem, store, &grouping.signatures, &grouping.growth_series,
                                        options->inherited);
    grouping.drafts.samples_max = options->blocks ? BLOCK_SAMPLES_MAX : BLOCK_SAMPLES_DEFAULT;
    root_paths_request(&grouping.signatures);
    interiors_request(&grouping.signatures);
    signatures_resolve(&grouping.signatures);
    grouping.frees = free_sites_begin(mem, &grouping.signatures);
    grouping.orphans = dropped_pointers_begin(store);
    grouping.losses = loss_times_begin(store);
    grouping.paths = root_paths_begin(mem, &grouping.signatures);
    grouping.types = types_begin(mem, &grouping.signatures, &grouping.paths.roots);
    record_sums_make(&grouping.drafts);
    grouping.interiors =
        interiors_begin(store, grouping.drafts.sum_of_found, grouping.drafts.count);
    grouping.told =
        array_grow(NULL, &(size_t){0}, grouping.drafts.kin_count, sizeof(*grouping.told));
    if (grouping.told)
        memset(grouping.told, 0, grouping.drafts.kin_count * sizeof(*grouping.told));
    finish_grouping(&grouping);
    end_grouping(&grouping);
}
