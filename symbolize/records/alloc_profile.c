/* alloc_profile.c - makes the profile of all allocations, and the history of the heap; described in
 * records.h.
 */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "common/sites/signature.h"
#include "common/base/hashmap.h"

void alloc_profile_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                        struct process *process)
{
    struct signatures signatures = signatures_begin(resolver, store);

    process->allocated = arena_alloc_array(mem, store->site_count, sizeof(*process->allocated));
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        if (!site->inherited && site->counts.allocs)
            process->allocated[process->allocated_count++] =
                (struct allocated){.kind = site->kind,
                                   .blocks = site->counts.allocs,
                                   .bytes = site->counts.bytes,
                                   .stack = stack_from_node(mem, &signatures, site->node)};
    }
    signatures_end(&signatures);
}

/* ---- The heap over time ---------------------------------------------------------------------- */

static void add_moment(struct process *process, uint64_t time_ns, uint64_t bytes, uint64_t blocks)
{
    size_t count = process->history_count;

    if (!count || time_ns > process->history[count - 1].time_ns)
        process->history[process->history_count++] = (struct moment){time_ns, bytes, blocks};
}

/* Copies the recorded sizes of the heap, and adds the present size twice: at the last tick, and at
 * the end, because the heap did not change in between. */
static void fill_history(struct arena *mem, const struct store *store, struct process *process)
{
    const struct store_history *history = &store->history;

    process->history = arena_alloc_array(mem, history->moment_count + 2, sizeof(*process->history));
    for (size_t i = 0; i < history->moment_count; i++)
        add_moment(process, store_time_of_tick(store, history->moments[i].tick),
                   history->moments[i].bytes, history->moments[i].blocks);
    if (!history->moment_count)
        return;
    add_moment(process, store_time_of_tick(store, store->header.epoch), process->live_bytes,
               process->live_blocks);
    add_moment(process, process->until_ns, process->live_bytes, process->live_blocks);
}

/* ---- The peak of the heap -------------------------------------------------------------------- */

static int compare_peak_sites(const void *left, const void *right)
{
    const struct store_peak_site *a = left, *b = right;

    return a->bytes > b->bytes ? -1 : a->bytes < b->bytes ? 1 : a->site < b->site ? -1 : 1;
}

/* Lists the sites with live blocks, largest first, for the case that the heap is largest now. The
 * caller frees the list. */
static struct store_peak_site *live_sites(const struct store *store, size_t *count)
{
    struct store_peak_site *sites =
        array_grow(NULL, &(size_t){0}, store->site_count + 1, sizeof(*sites));

    *count = 0;
    for (uint32_t i = 0; i < store->site_count; i++)
        if (store->sites[i].live_bytes)
            sites[(*count)++] = (struct store_peak_site){i, store->sites[i].live_bytes,
                                                         store->sites[i].live_blocks};
    qsort(sites, *count, sizeof(*sites), compare_peak_sites);
    if (*count > LEAK_PEAK_SITES)
        *count = LEAK_PEAK_SITES;
    return sites;
}

static void add_peak_part(struct arena *mem, struct signatures *signatures, struct hashmap *parts,
                          const struct store_peak_site *from, struct process *process)
{
    const struct store_site *site = &signatures->store->sites[from->site];
    uint64_t signature = signatures_of_node(signatures, site->node);
    uint64_t *slot = hashmap_put(parts, hash_mix(signature, site->kind), NULL);
    struct peak_part *part;

    if (!*slot) {
        process->peak_parts[process->peak_part_count++] =
            (struct peak_part){.signature = signature,
                               .kind = site->kind,
                               .stack = stack_from_node(mem, signatures, site->node)};
        *slot = process->peak_part_count;
    }
    part = &process->peak_parts[*slot - 1];
    part->bytes = add_saturating(part->bytes, from->bytes);
    part->blocks = add_saturating(part->blocks, from->blocks);
}

static int compare_parts(const void *left, const void *right)
{
    const struct peak_part *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->signature < b->signature ? -1 : a->signature > b->signature;
}

static void fill_peak_parts(struct arena *mem, struct resolver *resolver, const struct store *store,
                            const struct store_peak_site *sites, size_t count,
                            struct process *process)
{
    struct signatures signatures = signatures_begin(resolver, store);
    struct hashmap parts = {0};

    for (size_t i = 0; i < count; i++)
        signatures_request(&signatures, store->sites[sites[i].site].node);
    signatures_resolve(&signatures);
    process->peak_parts = arena_alloc_array(mem, count, sizeof(*process->peak_parts));
    for (size_t i = 0; i < count; i++)
        add_peak_part(mem, &signatures, &parts, &sites[i], process);
    if (count)
        qsort(process->peak_parts, process->peak_part_count, sizeof(*process->peak_parts),
              compare_parts);
    hashmap_end(&parts);
    signatures_end(&signatures);
}

void peak_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
               struct process *process)
{
    const struct store_history *history = &store->history;
    struct store_peak_site *live;
    size_t count;

    fill_history(mem, store, process);
    if (!history->moment_count)
        /* the process ended before the first tick, or the recording file is from a version of
         * libleak that recorded no history */
        return;
    if (history->peak.bytes > process->live_bytes) {
        process->peak = (struct moment){store_time_of_tick(store, history->peak.tick),
                                        history->peak.bytes, history->peak.blocks};
        fill_peak_parts(mem, resolver, store, history->peak_sites, history->peak_site_count,
                        process);
        return;
    }
    live = live_sites(store, &count);
    process->peak = (struct moment){process->until_ns, process->live_bytes, process->live_blocks};
    fill_peak_parts(mem, resolver, store, live, count, process);
    free(live);
}
