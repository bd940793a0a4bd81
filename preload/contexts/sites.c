/* sites.c - creates sites, and adds the counts in slots of threads to them. */
#include "preload/contexts/sites.h"
#include "preload/base/base.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"

static struct segmented_array sites = {.type = LEAK_CHUNK_SITES,
                                       .record_size = sizeof(struct leak_site),
                                       .first_id = 1,
                                       .first_bits = 7,
                                       .split_bits = 14};
/* Copy of header.sites. The parent may change header.sites after a fork, but not this variable of
 * the child, so it says exactly how many sites the child has inherited. */
static uint32_t last_site;

void sites_start(void)
{
    store_header->sites = last_site;
}

uint32_t sites_last(void)
{
    return load_relaxed(&last_site);
}

uint32_t sites_node(uint32_t id)
{
    return ((const struct leak_site *)segmented_array_at(&sites, id))->node;
}

enum leak_kind sites_kind(uint32_t id)
{
    return ((const struct leak_site *)segmented_array_at(&sites, id))->kind;
}

unsigned sites_tag(uint32_t id)
{
    return ((const struct leak_site *)segmented_array_at(&sites, id))->tag;
}

uint32_t sites_make(struct guard *guard UNUSED, uint32_t node, unsigned sort)
{
    uint32_t id;
    struct leak_site *site = segmented_array_append(&sites, &last_site, &id);
    if (!site)
        return 0;
    store_relaxed(&store_header->sites, load_relaxed(&last_site));
    /* A sort is kind + (tag << LEAK_TAG_SHIFT). Kinds begin at 1, so that a sort is never 0. */
    site->kind = ((sort - 1) & ((1u << LEAK_TAG_SHIFT) - 1)) + 1;
    site->tag = (sort - 1) >> LEAK_TAG_SHIFT;
    site->first = load_relaxed(&store_header->epoch);
    store_release(&site->node, node); /* from here on readers of the recording file see the site */
    return id;
}

static void record_site_thread(struct leak_site *site, uint32_t serial)
{
    for (int i = 0; i < LEAK_SITE_THREADS; i++) {
        if (site->threads[i] == serial)
            return;
        if (!site->threads[i]) {
            site->threads[i] = serial;
            return;
        }
    }
    site->more_threads = 1;
}

struct leak_counts sites_sum(const struct leak_counts *a, const struct leak_counts *b)
{
    return (struct leak_counts){a->allocs + b->allocs, a->bytes + b->bytes, a->frees + b->frees,
                                a->freed_bytes + b->freed_bytes};
}

void sites_fold(struct guard *guard UNUSED, struct leak_slots *slots, struct leak_slot *slot)
{
    uint32_t id = slot->site;
    struct leak_site *site = segmented_array_at(&sites, id);
    struct locked locked = lock_take((struct lock *)&site->lock);
    add_relaxed(&store_header->folds, 1);
    /* A reader of a live process that sees one of the following stores also sees the new number of
     * folds. */
    fence_release();
    slots->fold = sites_sum(&site->counts, &slot->counts);
    slots->fold_slot = slot - slots->slot;
    /* From here on the sum in slots->fold is valid: a reader that sees this word reads the sum
     * instead of site and slot. */
    store_release(&slots->fold_site, id);
    /* Keeps the compiler from writing the counts before fold_site. */
    __asm__ volatile("" ::: "memory");
    site->counts = slots->fold;
    if (slot->counts.allocs)
        record_site_thread(site, slots->thread);
    if (slot->last > site->last)
        site->last = slot->last;
    store_release(&slot->site, 0);
    memset(&slot->counts, 0, sizeof slot->counts);
    /* Pairs with load_acquire of fold_site in readers: a reader that sees 0 sees the new counts of
     * the site and the cleared slot. */
    store_release(&slots->fold_site, 0);
    /* A reader that sees this second increment of "folds" sees the whole fold. */
    add_release(&store_header->folds, 1);
    lock_give(&locked);
}

void sites_count_free(struct guard *guard UNUSED, uint32_t id, uint64_t blocks, uint64_t bytes)
{
    struct leak_site *site = segmented_array_at(&sites, id);
    struct locked locked = lock_take((struct lock *)&site->lock);
    bump(&site->counts.frees, blocks);
    bump(&site->counts.freed_bytes, bytes);
    lock_give(&locked);
}

struct leak_counts sites_counts(uint32_t id)
{
    return ((const struct leak_site *)segmented_array_at(&sites, id))->counts;
}

uint64_t sites_folded_frees(uint32_t id)
{
    return load_relaxed(&((const struct leak_site *)segmented_array_at(&sites, id))->counts.frees);
}

LOCK_FOR_FORK(sites, &sites.lock)

bool sites_fork_child(void)
{
    if (!segmented_array_fork_child(&sites, last_site))
        return false;
    for (uint32_t id = 1; id <= last_site; id++) {
        struct leak_site *site = segmented_array_at(&sites, id);
        site->lock = 0;
        site->first = site->last = 0; /* ticks of a fork child begin with its recording file */
        memset(site->threads, 0, sizeof site->threads);
        site->more_threads = 0;
        memset(&site->counts, 0, sizeof site->counts);
    }
    store_header->sites = last_site;
    store_header->inherited_sites = last_site;
    return true;
}

void sites_add_inherited(uint32_t id, uint64_t blocks, uint64_t bytes)
{
    struct leak_site *site = segmented_array_at(&sites, id);
    site->counts.allocs += blocks;
    site->counts.bytes += bytes;
}
