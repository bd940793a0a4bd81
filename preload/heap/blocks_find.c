/* blocks_find.c - lookups in the table of live blocks: at an address, around an address, all. */
#include "preload/heap/blocks_table.h"

#define AROUND_MOST (1u << 14) /* regions */

/* ---- At an address -------------------------------------------------------------------------- */

static bool find_young_block(uintptr_t address, struct block *out)
{
    struct locked locked = lock_take(&blocks_young.lock);
    const struct block *place = blocks_find_young(address);
    if (place)
        *out = *place;
    lock_give(&locked);
    return place != NULL;
}

static bool find_in_table(uintptr_t address, struct block *out)
{
    uint64_t number = address >> REGION_BITS, hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    const struct blocks_region *region = blocks_probe(stripe, hash, number);
    int at = region->word ? blocks_find_key(region, block_key(address)) : -1;
    if (at >= 0)
        *out = blocks_unpack(&region_entries(region)[at], address);
    lock_give(&locked);
    return at >= 0;
}

bool blocks_find(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    return blocks_has_key(address) &&
           (find_in_table(address, out) ||
            (load_acquire(&blocks_young.occupied) && find_young_block(address, out)));
}

/* ---- Around an address ----------------------------------------------------------------------- */

static bool block_covers(const struct block *block, uintptr_t address)
{
    return address - block->address < (block->size ? block->size : 1);
}

/* The highest block of a region at or below an address, if it is above the one in *out. */
static bool find_highest_below(const struct blocks_region *region, uintptr_t address,
                               struct block *out)
{
    bool found = false;
    for (unsigned at = 0; region->word && at < region_used(region); at++) {
        uintptr_t start = entry_address(region, at);
        if (start > address || start < out->address)
            continue;
        *out = blocks_unpack(&region_entries(region)[at], start);
        found = true;
    }
    return found;
}

static bool find_below_in_region(uint64_t number, uintptr_t address, struct block *out)
{
    uint64_t hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = find_highest_below(blocks_probe(stripe, hash, number), address, out);
    lock_give(&locked);
    return found;
}

bool blocks_find_containing(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    blocks_flush_waiting();
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++) {
        *out = blocks_young.place[i];
        if (out->address && block_covers(out, address))
            return true;
    }
    uint64_t number = address >> REGION_BITS;
    *out = (struct block){0};
    for (unsigned steps = 0; steps < AROUND_MOST && number; steps++, number--)
        if (find_below_in_region(number, address, out))
            return block_covers(out, address);
    return false;
}

/* Leaves lock_thread alone: this thread may hold the very lock. */
static bool try_lock_raw(struct lock *lock)
{
    uint32_t seen = 0;
    return cas_acquire(&lock->word, &seen, 1);
}

static bool try_below_in_region(uint64_t number, uintptr_t address, struct block *out, bool *busy)
{
    uint64_t hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    if (!try_lock_raw(&stripe->lock)) {
        *busy = true;
        return false;
    }
    bool found = find_highest_below(blocks_probe(stripe, hash, number), address, out);
    lock_give_raw(&stripe->lock);
    return found;
}

bool blocks_find_nearest(uintptr_t address, unsigned regions, struct block *out, bool *busy)
{
    uint64_t number = address >> REGION_BITS;
    *out = (struct block){0};
    if (!blocks_stripes[0].regions)
        return false;
    /* With one thread the young blocks have no lock: the thread may have crashed while changing
     * them. */
    if (!(*lock_single_threaded && lock_thread.held) && try_lock_raw(&blocks_young.lock)) {
        for (unsigned i = 0; i < BLOCKS_YOUNG; i++) {
            const struct block *young = &blocks_young.place[i];
            if (young->address && young->address <= address && young->address > out->address)
                *out = *young;
        }
        lock_give_raw(&blocks_young.lock);
    } else {
        *busy = true;
    }
    for (unsigned i = 0; i < regions && number; i++, number--)
        if (try_below_in_region(number, address, out, busy) ||
            out->address >> REGION_BITS >= number)
            break;
    return out->address != 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

bool blocks_flush(void)
{
    blocks_flush_waiting();
    return !load_acquire(&blocks_young.occupied);
}

uint64_t blocks_count(void)
{
    uint64_t count = 0;
    blocks_flush_waiting();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t at = 0; at < blocks_stripes[i].capacity; at++)
            count += region_used(&blocks_stripes[i].regions[at]);
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++)
        count += blocks_young.place[i].address != 0;
    return count;
}

#define EACH_AHEAD 8 /* slots to prefetch: trays may be scattered in memory */

static void visit_young(blocks_visit *visit, void *context)
{
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++)
        if (blocks_young.place[i].address)
            visit(&blocks_young.place[i], context);
}

static void visit_regions(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                          void *context)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct blocks_region *region = &regions[i];
        if (i + EACH_AHEAD < count && region_used(region + EACH_AHEAD))
            prefetch_region_tray(region + EACH_AHEAD);
        for (unsigned at = 0; at < region_used(region); at++) {
            struct block block =
                blocks_unpack(&region_entries(region)[at], entry_address(region, at));
            visit(&block, context);
        }
    }
}

void blocks_each(blocks_visit *visit, void *context)
{
    blocks_flush_waiting();
    for (unsigned i = 0; i < STRIPES; i++)
        visit_regions(blocks_stripes[i].regions, blocks_stripes[i].capacity, visit, context);
    visit_young(visit, context);
}

uint64_t blocks_regions(struct blocks_region *out)
{
    uint64_t count = 0;
    blocks_flush_waiting();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t slot = 0; slot < blocks_stripes[i].capacity; slot++) {
            const struct blocks_region *region = &blocks_stripes[i].regions[slot];
            if (region_used(region) && out)
                out[count] = *region;
            count += region_used(region) != 0;
        }
    return count;
}

void blocks_each_in_regions(const struct blocks_region *regions, uint64_t count,
                            blocks_visit *visit, void *context)
{
    visit_regions(regions, count, visit, context);
    visit_young(visit, context);
}
