/* group.c - one record per signature, kind and verdict; see group.h. */
#include "symbolize/group.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/classify.h"
#include "symbolize/estimate.h"
#include "symbolize/frees.h"
#include "symbolize/signature.h"

#define THREADS_SHOWN 16

struct grouping {
    struct mem *mem;
    const struct store *store;
    const struct group_options *options;
    struct process *process;
    struct signatures signatures;
    struct map by_key; /* hash of signature and kind -> index + 1 */
    struct draft *drafts;
    size_t count, capacity;
    uint32_t *next_site; /* of the same record, + 1; by site */
    struct frees frees;
};

/* A record while it is being added up. */
struct draft {
    struct record record;
    struct variance variance;
    uint32_t threads[THREADS_SHOWN];
    uint32_t largest; /* index of the site that holds most: its stack is the one shown */
    uint32_t first;   /* index of a site + 1; the others follow in next_site */
};

static bool counts(const struct grouping *grouping, const struct store_site *site)
{
    return site->live_blocks && (!site->inherited || grouping->options->inherited);
}

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

static struct draft *find_draft(struct grouping *grouping, const struct store_site *site,
                                uint32_t index)
{
    uint64_t signature = signatures_of(&grouping->signatures, site->node);
    uint64_t *slot = map_put(&grouping->by_key, hash_mix(signature, site->kind), NULL);
    struct draft *draft;

    if (*slot)
        return &grouping->drafts[*slot - 1];
    grouping->drafts = mem_more(grouping->drafts, &grouping->capacity, grouping->count + 1,
                                sizeof(*grouping->drafts));
    draft = &grouping->drafts[grouping->count++];
    *slot = grouping->count;
    *draft = (struct draft){.largest = index,
                            .record = {.signature = signature,
                                       .kind = site->kind,
                                       .first_ns = store_time(grouping->store, site->first),
                                       .last_ns = store_time(grouping->store, site->last)}};
    return draft;
}

static void add_site(struct grouping *grouping, uint32_t index)
{
    const struct store_site *site = &grouping->store->sites[index];
    struct draft *draft = find_draft(grouping, site, index);
    struct record *record = &draft->record;
    uint64_t first = store_time(grouping->store, site->first);
    uint64_t last = store_time(grouping->store, site->last);

    record->bytes = add_saturating(record->bytes, site->live_bytes);
    record->blocks = add_saturating(record->blocks, site->live_blocks);
    estimate_add(&draft->variance, grouping->store, site);
    record->stacks++;
    grouping->next_site[index] = draft->first;
    draft->first = index + 1;
    if (first < record->first_ns)
        record->first_ns = first;
    if (last > record->last_ns)
        record->last_ns = last;
    if (site->live_bytes > grouping->store->sites[draft->largest].live_bytes)
        draft->largest = index;
    for (int i = 0; i < LEAK_SITE_THREADS; i++)
        if (site->threads[i])
            add_thread(draft, site->threads[i]);
    record->more_threads |= site->more_threads;
}

static void finish_record(struct grouping *grouping, struct draft *draft)
{
    const struct store *store = grouping->store;
    struct record *record = &draft->record;
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;

    record->frame_count = signatures_trace(&grouping->signatures, store->sites[draft->largest].node,
                                           found, &record->ending);
    frames = mem_take_array(grouping->mem, record->frame_count, sizeof(*frames));
    if (record->frame_count)
        memcpy(frames, found, record->frame_count * sizeof(*frames));
    record->frames = frames;
    record->user = frame_user(frames, record->frame_count);
    record->error = estimate_error(&draft->variance);
    record->verdict = classify_runtime_block(frames, record->frame_count, record->user,
                                             record->bytes / record->blocks)
                          ? VERDICT_RUNTIME
                          : VERDICT_UNFREED;
    frees_tell(&grouping->frees, (struct site_list){draft->first, grouping->next_site}, record);
    record->threads = mem_take_array(grouping->mem, record->thread_count, sizeof(*record->threads));
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct store_thread *thread = store_thread_of(store, draft->threads[i]);

        record->threads[i].serial = draft->threads[i];
        if (thread)
            record->threads[i].name = mem_copy(grouping->mem, thread->name, strlen(thread->name));
    }
}

/* ---- Order ------------------------------------------------------------------------------- */

static int descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int by_bytes(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    int order = descending(a->bytes, b->bytes);

    if (!order)
        order = descending(a->blocks, b->blocks);
    return order ? order : descending(a->signature ^ a->kind, b->signature ^ b->kind);
}

static int by_count(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    int order = descending(a->blocks, b->blocks);

    return order ? order : by_bytes(left, right);
}

/* ---- What could not be named in full ------------------------------------------------------- */

static const char *why_blind(enum binary_state state)
{
    if (state == BINARY_GONE)
        return "the file is gone";
    if (state == BINARY_REPLACED)
        return "another file stands at its path now";
    if (state == BINARY_FOREIGN)
        return "it is no ELF file that can be read";
    return "it has no debug information";
}

static const char *remedy(enum binary_state state, const struct resolved_module *module)
{
    if (state == BINARY_FOREIGN)
        return NULL;
    if (!module->build_id)
        return state == BINARY_NO_LINES ? "build it with -g" : "rebuild and run again";
    if (state == BINARY_NO_LINES)
        return "build it with -g, install its -dbgsym package (dpkg -S), or set DEBUGINFOD_URLS";
    return "give its old debug file with --debug-dir, or set DEBUGINFOD_URLS";
}

static void list_blind(struct grouping *grouping)
{
    struct process *process = grouping->process;
    const struct map *modules = &grouping->signatures.modules;
    const struct resolved_module *module;

    process->blind = mem_take_array(grouping->mem, modules->used, sizeof(*process->blind));
    for (size_t at = 0; (module = (void *)(uintptr_t)map_next(modules, &at));) {
        enum binary_state state = binary_state(module->binary);

        if (state == BINARY_GOOD)
            continue;
        process->blind[process->blind_count++] =
            (struct blind_module){.path = module->path,
                                  .build_id = module->build_id,
                                  .why = why_blind(state),
                                  .remedy = remedy(state, module),
                                  .runtime = classify_runtime_module(module->path)};
    }
}

static int blind_by_path(const void *left, const void *right)
{
    const struct blind_module *a = left, *b = right;
    int order = strcmp(a->path, b->path);

    return order ? order : strcmp(a->build_id ? a->build_id : "", b->build_id ? b->build_id : "");
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

    process->record_count = grouping->count;
    process->records = mem_take_array(grouping->mem, grouping->count, sizeof(struct record));
    for (size_t i = 0; i < grouping->count; i++) {
        struct verdict_total *total;

        finish_record(grouping, &grouping->drafts[i]);
        process->records[i] = grouping->drafts[i].record;
        total = &process->totals.of[process->records[i].verdict];
        total->bytes = add_saturating(total->bytes, process->records[i].bytes);
        total->blocks = add_saturating(total->blocks, process->records[i].blocks);
        total->records++;
        add_variance(&sums[process->records[i].verdict], &grouping->drafts[i].variance);
    }
    for (int v = 0; v < VERDICT_MAX; v++)
        process->errors[v] = estimate_error(&sums[v]);
    if (grouping->count)
        qsort(process->records, grouping->count, sizeof(struct record),
              grouping->options->order == SORT_COUNT ? by_count : by_bytes);
    list_blind(grouping);
    if (process->blind_count)
        qsort(process->blind, process->blind_count, sizeof(*process->blind), blind_by_path);
}

void group_records(struct mem *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process)
{
    struct grouping grouping = {.mem = mem, .store = store, .options = options, .process = process};

    grouping.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->site_count; i++)
        if (counts(&grouping, &store->sites[i]))
            signatures_want(&grouping.signatures, store->sites[i].node);
    signatures_resolve(&grouping.signatures);
    grouping.next_site =
        mem_more(NULL, &(size_t){0}, store->site_count, sizeof(*grouping.next_site));
    grouping.frees = frees_begin(mem, &grouping.signatures);
    for (size_t i = 0; i < store->site_count; i++)
        if (counts(&grouping, &store->sites[i]))
            add_site(&grouping, (uint32_t)i);
    finish(&grouping);
    frees_end(&grouping.frees);
    free(grouping.next_site);
    free(grouping.drafts);
    map_end(&grouping.by_key);
    signatures_end(&grouping.signatures);
}
