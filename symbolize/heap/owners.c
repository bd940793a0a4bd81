/* owners.c - finds the roots that keep most memory alive; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* A site belongs to one owner alone if this owner keeps at least this share (0 to 1) of the site's
 * blocks. */
#define OWN_SHARE 0.9
/* The growth of an owner is known if sites that belong to it alone and have a series hold at least
 * this share (0 to 1) of the bytes that it keeps. */
#define KNOWN_SHARE 0.9

struct owner_sum {
    struct owner owner;
    uint64_t of;         /* bytes of the record at the end of owner.path */
    uint64_t known;      /* bytes that the owner keeps of the sites that belong to it alone */
    uint32_t first_site; /* the first site that belongs to this owner alone, as index + 1; 0 =
                          * none */
};

struct owner_table {
    struct root_paths *paths;
    struct growth_series *growth_series;
    const struct store_leak_check *look;
    struct owner_sum *all;
    size_t count;
    uint32_t *owner_of; /* root of the leak check -> index of its owner + 1; 0 = none */
    /* links the sites that belong to one owner alone: site -> index + 1 of the next; a site is on
     * at most one list */
    uint32_t *next;
};

/* ---- Finding the owners ---------------------------------------------------------------------- */

/* Adds a root to its owner. Roots of one name are one owner: words of a table, frames of a
 * recursion. */
static void merge_root(struct owner_sum *merging, const struct leak_held *held,
                       const struct longest_path *longest)
{
    merging->owner.bytes = add_saturating(merging->owner.bytes, held->bytes);
    merging->owner.blocks = add_saturating(merging->owner.blocks, held->blocks);
    if (longest->path && (!merging->owner.path || longest->bytes > merging->of)) {
        merging->owner.path = longest->path;
        merging->of = longest->bytes;
    }
}

static void merge_roots(struct owner_table *owning)
{
    const struct store_leak_check *look = owning->look;
    struct hashmap by_name = {0};

    for (size_t i = 0; i < look->root_count; i++) {
        const struct root *root;
        uint64_t *slot;

        if (!look->roots[i].blocks)
            continue;
        root = roots_describe(&owning->paths->roots, (uint32_t)i);
        slot = hashmap_put(&by_name, hash_text(8, root->words, strlen(root->words)), NULL);
        if (!*slot) {
            owning->all[owning->count].owner.root = root;
            *slot = ++owning->count;
        }
        owning->owner_of[i] = (uint32_t)*slot;
        merge_root(&owning->all[*slot - 1], &look->roots[i], &owning->paths->longest[i]);
    }
    hashmap_end(&by_name);
}

/* ---- How the owners grew --------------------------------------------------------------------- */

struct owner_site {
    uint32_t owner, site; /* owner: index + 1 in owner_table.all; site: index in the store */
    uint64_t bytes;
};

static int compare_owner_sites(const void *left, const void *right)
{
    const struct owner_site *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* Sums up the blocks that owners keep alive, by owner and site; returns the number of elements of
 * owned[]. */
static size_t collect_parts(const struct owner_table *owning, struct owner_site *owned)
{
    const struct store_leak_check *look = owning->look;
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < look->part_count; i++) {
        const struct store_part *part = &look->parts[i];

        if (owning->owner_of[part->root])
            owned[count++] =
                (struct owner_site){owning->owner_of[part->root], part->site, part->bytes};
    }
    if (count)
        qsort(owned, count, sizeof(*owned), compare_owner_sites);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_owner_sites(&owned[kept - 1], &owned[i]) == 0)
            owned[kept - 1].bytes = add_saturating(owned[kept - 1].bytes, owned[i].bytes);
        else
            owned[kept++] = owned[i];
    }
    return kept;
}

static bool has_share(uint64_t part, double share, uint64_t whole)
{
    return (double)part >= share * (double)whole;
}

/* Lists the sites that belong to one owner alone: it keeps at least OWN_SHARE of all blocks of the
 * site, lost blocks included. */
static void find_own_sites(struct owner_table *owning)
{
    const struct store_leak_check *look = owning->look;
    struct arena *mem = owning->paths->store->mem;
    uint64_t *whole = arena_alloc_array(mem, owning->paths->store->site_count, sizeof(*whole));
    struct owner_site *owned = arena_alloc_array(mem, look->part_count, sizeof(*owned));
    size_t count = collect_parts(owning, owned);

    for (size_t i = 0; i < look->found_count; i++)
        if (look->found[i].blocks)
            whole[look->found[i].site] =
                add_saturating(whole[look->found[i].site], look->found[i].bytes);
    for (size_t i = 0; i < count; i++) {
        struct owner_sum *merging = &owning->all[owned[i].owner - 1];
        uint32_t site = owned[i].site;

        if (!growth_series_has_site(owning->growth_series, site) ||
            !has_share(owned[i].bytes, OWN_SHARE, whole[site]))
            continue;
        merging->known = add_saturating(merging->known, owned[i].bytes);
        owning->next[site] = merging->first_site;
        merging->first_site = site + 1;
    }
}

static void fill_owner_growth(struct owner_table *owning)
{
    find_own_sites(owning);
    for (size_t i = 0; i < owning->count; i++) {
        struct owner_sum *merging = &owning->all[i];

        if (merging->first_site && has_share(merging->known, KNOWN_SHARE, merging->owner.bytes))
            merging->owner.growth = growth_series_judge(
                owning->growth_series, (struct site_list){merging->first_site, owning->next});
    }
}

/* ---- Filling in the owners of the process ---------------------------------------------------- */

static int compare_owner_sums(const void *left, const void *right)
{
    const struct owner_sum *a = left, *b = right;

    if (a->owner.bytes != b->owner.bytes)
        return a->owner.bytes > b->owner.bytes ? -1 : 1;
    return strcmp(a->owner.root->words, b->owner.root->words);
}

void owners_fill(struct root_paths *paths, struct growth_series *growth_series,
                 struct process *process)
{
    struct owner_table owning = {
        .paths = paths, .growth_series = growth_series, .look = paths->store->look};
    size_t roots = owning.look ? owning.look->root_count : 0;
    struct arena *mem = paths->store->mem;

    if (!roots)
        return;
    owning.all = arena_alloc_array(mem, roots, sizeof(*owning.all));
    owning.owner_of = arena_alloc_array(mem, roots, sizeof(*owning.owner_of));
    owning.next = arena_alloc_array(mem, paths->store->site_count, sizeof(*owning.next));
    merge_roots(&owning);
    fill_owner_growth(&owning);
    qsort(owning.all, owning.count, sizeof(*owning.all), compare_owner_sums);
    process->owners = arena_alloc_array(paths->mem, owning.count, sizeof(*process->owners));
    process->owner_count = owning.count;
    for (size_t i = 0; i < owning.count; i++)
        process->owners[i] = owning.all[i].owner;
}
