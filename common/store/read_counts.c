/* read_counts.c - what each site holds: the equation of leak_store.h.
 *
 *     live(site) = folded(site) + sum over threads of slots(site)
 *
 * and, when blocks were sampled, the variance of what lives.
 */
#include <string.h>

#include "common/store/reader_internal.h"

static void add_thread(struct store_site *site, uint32_t thread)
{
    for (int i = 0; i < LEAK_SITE_THREADS; i++) {
        if (!site->threads[i])
            site->threads[i] = thread;
        if (site->threads[i] == thread)
            return;
    }
    site->more_threads = true;
}

/* The published site of that id, or NULL. */
static struct store_site *find_site(struct reading *reading, uint32_t id)
{
    size_t index = runs_find(&reading->sites, id);

    if (index != SIZE_MAX && reading->store->sites[index].id)
        return &reading->store->sites[index];
    reading->damaged++;
    return NULL;
}

static void add_slot(struct reading *reading, uint32_t thread, const struct leak_slot *slot,
                     bool folded)
{
    struct store_site *site = find_site(reading, slot->site);

    if (!site)
        return;
    if (slot->last > site->last)
        site->last = slot->last;
    if (slot->counts.allocs)
        add_thread(site, thread);
    if (folded)
        return; /* died before it was cleared: these counts are in already */
    site->counts.allocs += slot->counts.allocs;
    site->counts.bytes += slot->counts.bytes;
    site->counts.frees += slot->counts.frees;
    site->counts.freed_bytes += slot->counts.freed_bytes;
}

static bool slots_header(const struct reading *reading, const struct chunk *chunk,
                         struct leak_slots *slots)
{
    if (chunk->end - chunk->payload < sizeof(*slots))
        return false;
    memcpy(slots, reading->image->data + chunk->payload, sizeof(*slots));
    return slots->thread != 0;
}

/* Died inside a fold: the sum beside the slots stands for the site. Before any slot is added. */
static void read_fold(struct reading *reading, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct store_site *site;

    if (slots_header(reading, chunk, &slots) && slots.fold_site &&
        (site = find_site(reading, slots.fold_site)))
        site->counts = slots.fold;
}

static void read_slots(struct reading *reading, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct runs runs = {0};

    if (!slots_header(reading, chunk, &slots))
        return;
    runs_add(&runs, reading->image, chunk, sizeof(slots), sizeof(struct leak_slot), slots.count);
    for (size_t i = 0, index = 0; i < runs.count; i++)
        for (size_t k = 0; k < runs.run[i].count; k++, index++) {
            struct leak_slot slot;
            bool folded;

            memcpy(&slot, runs.run[i].at + k * sizeof(slot), sizeof(slot));
            folded = slot.site == slots.fold_site && index == slots.fold_slot;
            if (slot.site)
                add_slot(reading, slots.thread, &slot, folded);
        }
    runs_end(&runs);
}

/* Words that are sums of differences: one that is "negative" was caught between two. */
static uint64_t at_rest(uint64_t sum)
{
    return sum >> 63 ? 0 : sum;
}

static void read_variances(struct reading *reading)
{
    size_t total;

    if (!reading->store->header.sample)
        return; /* then nothing is an estimate, whatever stands there */
    reading->damaged += runs_index(&reading->variances, 0, &total);
    for (size_t i = 0; i < reading->variances.count; i++) {
        const struct run *run = &reading->variances.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_variance variance;
            size_t index;

            memcpy(&variance, run->at + k * sizeof(variance), sizeof(variance));
            index = variance.samples ? runs_find(&reading->sites, run->first + k) : SIZE_MAX;
            if (index == SIZE_MAX)
                continue;
            reading->store->sites[index].variance =
                (struct leak_variance){.samples = at_rest(variance.samples),
                                       .blocks = at_rest(variance.blocks),
                                       .bytes = at_rest(variance.bytes)};
        }
    }
}

/* Leave out what was never published, and say what lives. A free may be seen before its
 * allocation when the process runs: then nothing lives. */
static void settle_sites(struct store *store)
{
    size_t kept = 0;

    for (size_t i = 0; i < store->site_count; i++) {
        struct store_site *site = &store->sites[i];
        const struct leak_counts *counts = &site->counts;

        if (!site->id)
            continue;
        if (counts->allocs > counts->frees)
            site->live_blocks = counts->allocs - counts->frees;
        if (site->live_blocks && counts->bytes > counts->freed_bytes)
            site->live_bytes = counts->bytes - counts->freed_bytes;
        if (!site->live_blocks)
            site->variance = (struct leak_variance){0};
        store->sites[kept++] = *site;
    }
    store->site_count = kept;
}

void read_counts(struct reading *reading, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_fold(reading, &chunks->chunk[i]);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_slots(reading, &chunks->chunk[i]);
    read_variances(reading);
    settle_sites(reading->store);
}
