/* temporary_blocks.c - finds the call stacks whose blocks are freed soon after they were allocated;
 * described in records.h.
 */
#include "symbolize/records/records.h"

#include <stdlib.h>

#include "common/base/hashmap.h"
#include "common/sites/signature.h"

#define SITES_MOST 100 /* most sites whose stacks the report shows */

struct brief_site {
    const struct store_site *site;
    uint64_t blocks, bytes, grown;
};

/* Estimates how many of all frees have a property that `part` of the recorded frees have. The
 * recording file has a sample of the frees, and the exact number of all frees. */
static uint64_t scale_to_all(uint64_t part, uint64_t recorded, uint64_t all)
{
    double scaled = recorded ? (double)part / (double)recorded * (double)all : 0;

    return scaled < (double)all ? (uint64_t)(scaled + 0.5) : all;
}

static struct brief_site brief_site_of(const struct store *store, const struct store_site *site)
{
    struct brief_site brief = {.site = site};
    uint64_t recorded = 0, grown = 0;

    for (size_t i = 0; i < site->freed_count; i++) {
        const struct store_freed *freed = &store->freed[site->freed + i];

        recorded = add_saturating(recorded, freed->blocks);
        if (freed->node == site->node && freed->node >= LEAK_NODE_FIRST)
            grown = add_saturating(grown, freed->blocks);
    }
    brief.blocks = scale_to_all(site->temporary.blocks, recorded, site->counts.frees);
    brief.grown = scale_to_all(grown, recorded, site->counts.frees);
    brief.bytes = (uint64_t)((double)site->temporary.bytes / (double)site->temporary.blocks *
                             (double)brief.blocks);
    return brief;
}

static int compare_brief_sites(const void *left, const void *right)
{
    const struct brief_site *a = left, *b = right;
    int by = COMPARE(b->blocks, a->blocks);

    by = by ? by : COMPARE(b->bytes, a->bytes);
    return by ? by : COMPARE(a->site->id, b->site->id);
}

static void add_temporary_part(struct arena *mem, struct signatures *signatures,
                               struct hashmap *parts, const struct brief_site *from,
                               struct process *process)
{
    uint64_t signature = signatures_of_node(signatures, from->site->node);
    uint64_t *slot = hashmap_put(parts, hash_mix(signature, from->site->kind), NULL);
    struct temporary_part *part;

    if (!*slot) {
        process->temporary[process->temporary_count++] =
            (struct temporary_part){.signature = signature,
                                    .kind = from->site->kind,
                                    .stack = stack_from_node(mem, signatures, from->site->node)};
        *slot = process->temporary_count;
    }
    part = &process->temporary[*slot - 1];
    part->blocks = add_saturating(part->blocks, from->blocks);
    part->bytes = add_saturating(part->bytes, from->bytes);
    part->of = add_saturating(part->of, from->site->counts.frees);
    part->grown = add_saturating(part->grown, from->grown);
}

static int compare_temporary_parts(const void *left, const void *right)
{
    const struct temporary_part *a = left, *b = right;
    int by = COMPARE(b->blocks, a->blocks);

    return by ? by : COMPARE(a->signature, b->signature);
}

static void name_largest(struct arena *mem, struct resolver *resolver, const struct store *store,
                         const struct brief_site *sites, size_t count, struct process *process)
{
    struct signatures signatures = signatures_begin(resolver, store);
    struct hashmap parts = {0};

    for (size_t i = 0; i < count; i++)
        signatures_request(&signatures, sites[i].site->node);
    signatures_resolve(&signatures);
    process->temporary = arena_alloc_array(mem, count, sizeof(*process->temporary));
    for (size_t i = 0; i < count; i++)
        add_temporary_part(mem, &signatures, &parts, &sites[i], process);
    qsort(process->temporary, process->temporary_count, sizeof(*process->temporary),
          compare_temporary_parts);
    hashmap_end(&parts);
    signatures_end(&signatures);
}

void temporary_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process)
{
    struct brief_site *sites = NULL;
    size_t count = 0, capacity = 0;

    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        if (site->inherited || !site->temporary.blocks || !site->counts.frees)
            continue;
        sites = array_grow(sites, &capacity, count + 1, sizeof(*sites));
        sites[count] = brief_site_of(store, site);
        process->temporary_blocks = add_saturating(process->temporary_blocks, sites[count].blocks);
        process->temporary_bytes = add_saturating(process->temporary_bytes, sites[count].bytes);
        count++;
    }
    if (count) {
        qsort(sites, count, sizeof(*sites), compare_brief_sites);
        name_largest(mem, resolver, store, sites, count < SITES_MOST ? count : SITES_MOST, process);
    }
    free(sites);
}
