/* owners.c - see owners.h. */
#include "symbolize/heap/owners.h"

#include <stdlib.h>
#include <string.h>

#define OWN_SHARE 0.9   /* of a site's blocks, for it to be an owner's own */
#define KNOWN_SHARE 0.9 /* of what an owner keeps, from sites of its own that have a series */

struct merging {
    struct owner owner;
    uint64_t of;         /* bytes of the record its path leads to */
    uint64_t known;      /* bytes it keeps that are of … */
    uint32_t first_site; /* … these: index + 1, 0 = none */
};

struct owning {
    struct paths *paths;
    struct trends *trends;
    const struct store_leak_check *look;
    struct merging *all;
    size_t count;
    uint32_t *owner_of; /* by root: index + 1, 0 = none */
    uint32_t *next;     /* by site: one is on one owner's list at most */
};

/* ---- Which there are ------------------------------------------------------------------------ */

/* Roots of one name are one owner: the words of a table, the frames of a recursion. */
static void merge(struct merging *merging, const struct leak_held *held,
                  const struct longest *longest)
{
    merging->owner.bytes = add_saturating(merging->owner.bytes, held->bytes);
    merging->owner.blocks = add_saturating(merging->owner.blocks, held->blocks);
    if (longest->path && (!merging->owner.path || longest->bytes > merging->of)) {
        merging->owner.path = longest->path;
        merging->of = longest->bytes;
    }
}

static void merge_roots(struct owning *owning)
{
    const struct store_leak_check *look = owning->look;
    struct map by_name = {0};

    for (size_t i = 0; i < look->root_count; i++) {
        const struct root *root;
        uint64_t *slot;

        if (!look->roots[i].blocks)
            continue;
        root = roots_name(&owning->paths->roots, (uint32_t)i);
        slot = hashmap_put(&by_name, hash_text(8, root->words, strlen(root->words)), NULL);
        if (!*slot) {
            owning->all[owning->count].owner.root = root;
            *slot = ++owning->count;
        }
        owning->owner_of[i] = (uint32_t)*slot;
        merge(&owning->all[*slot - 1], &look->roots[i], &owning->paths->longest[i]);
    }
    hashmap_end(&by_name);
}

/* ---- How they grew -------------------------------------------------------------------------- */

struct owned {
    uint32_t owner, site; /* owner: index + 1 */
    uint64_t bytes;
};

static int by_owner(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* By owner and site, each pair once; how many there are. */
static size_t add_parts(const struct owning *owning, struct owned *owned)
{
    const struct store_leak_check *look = owning->look;
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < look->part_count; i++) {
        const struct store_part *part = &look->parts[i];

        if (owning->owner_of[part->root])
            owned[count++] = (struct owned){owning->owner_of[part->root], part->site, part->bytes};
    }
    if (count)
        qsort(owned, count, sizeof(*owned), by_owner);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_owner(&owned[kept - 1], &owned[i]) == 0)
            owned[kept - 1].bytes = add_saturating(owned[kept - 1].bytes, owned[i].bytes);
        else
            owned[kept++] = owned[i];
    }
    return kept;
}

static bool is_share(uint64_t part, double share, uint64_t whole)
{
    return (double)part >= share * (double)whole;
}

/* Lists the sites that are an owner's own, lost blocks and other owners' considered. */
static void find_own_sites(struct owning *owning)
{
    const struct store_leak_check *look = owning->look;
    struct mem *mem = owning->paths->store->mem;
    uint64_t *whole = arena_alloc_array(mem, owning->paths->store->site_count, sizeof(*whole));
    struct owned *owned = arena_alloc_array(mem, look->part_count, sizeof(*owned));
    size_t count = add_parts(owning, owned);

    for (size_t i = 0; i < look->found_count; i++)
        if (look->found[i].blocks)
            whole[look->found[i].site] =
                add_saturating(whole[look->found[i].site], look->found[i].bytes);
    for (size_t i = 0; i < count; i++) {
        struct merging *merging = &owning->all[owned[i].owner - 1];
        uint32_t site = owned[i].site;

        if (!trends_has(owning->trends, site) || !is_share(owned[i].bytes, OWN_SHARE, whole[site]))
            continue;
        merging->known = add_saturating(merging->known, owned[i].bytes);
        owning->next[site] = merging->first_site;
        merging->first_site = site + 1;
    }
}

static void tell_growth(struct owning *owning)
{
    find_own_sites(owning);
    for (size_t i = 0; i < owning->count; i++) {
        struct merging *merging = &owning->all[i];

        if (merging->first_site && is_share(merging->known, KNOWN_SHARE, merging->owner.bytes))
            merging->owner.growth =
                trends_of(owning->trends, (struct site_list){merging->first_site, owning->next});
    }
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int by_bytes(const void *left, const void *right)
{
    const struct merging *a = left, *b = right;

    if (a->owner.bytes != b->owner.bytes)
        return a->owner.bytes > b->owner.bytes ? -1 : 1;
    return strcmp(a->owner.root->words, b->owner.root->words);
}

void owners_fill(struct paths *paths, struct trends *trends, struct process *process)
{
    struct owning owning = {.paths = paths, .trends = trends, .look = paths->store->look};
    size_t roots = owning.look ? owning.look->root_count : 0;
    struct mem *mem = paths->store->mem;

    if (!roots)
        return;
    owning.all = arena_alloc_array(mem, roots, sizeof(*owning.all));
    owning.owner_of = arena_alloc_array(mem, roots, sizeof(*owning.owner_of));
    owning.next = arena_alloc_array(mem, paths->store->site_count, sizeof(*owning.next));
    merge_roots(&owning);
    tell_growth(&owning);
    qsort(owning.all, owning.count, sizeof(*owning.all), by_bytes);
    process->owners = arena_alloc_array(paths->mem, owning.count, sizeof(*process->owners));
    process->owner_count = owning.count;
    for (size_t i = 0; i < owning.count; i++)
        process->owners[i] = owning.all[i].owner;
}
