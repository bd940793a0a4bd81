/* blocks_find.c - who asks the table of live blocks: for one, for the one around, for all. See
 * blocks.h. */
#include "preload/heap/blocks.h"
#include "preload/heap/blocks_table.h"

#define AROUND_MOST (1u << 14) /* regions */

/* ---- One ------------------------------------------------------------------------------------ */

static bool find_waiting(uintptr_t address, struct block *out)
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
    uint64_t number = address >> REGION_BITS, hash = spread(number);
    struct blocks_stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    const struct blocks_region *region = blocks_probe(stripe, hash, number);
    int at = region->word ? blocks_find_key(region, key_of(address)) : -1;
    if (at >= 0)
        *out = blocks_unpack(&entries_of(region)[at], address);
    lock_give(&locked);
    return at >= 0;
}

bool blocks_find(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    return blocks_has_key(address) &&
           (find_in_table(address, out) ||
            (load_acquire(&blocks_young.some_wait) && find_waiting(address, out)));
}

/* ---- The one around -------------------------------------------------------------------------- */

static bool covers(const struct block *block, uintptr_t address)
{
    return address - block->address < (block->size ? block->size : 1);
}

/* The highest block of a region at or below an address, if that is above the one in *out. */
static bool highest_below(const struct blocks_region *region, uintptr_t address, struct block *out)
{
    bool found = false;
    for (unsigned at = 0; region->word && at < used_of(region); at++) {
        uintptr_t start = address_of(region, at);
        if (start > address || start < out->address)
            continue;
        *out = blocks_unpack(&entries_of(region)[at], start);
        found = true;
    }
    return found;
}

static bool below_in_region(uint64_t number, uintptr_t address, struct block *out)
{
    uint64_t hash = spread(number);
    struct blocks_stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = highest_below(blocks_probe(stripe, hash, number), address, out);
    lock_give(&locked);
    return found;
}

bool blocks_find_around(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    blocks_all_settled();
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++) {
        *out = blocks_young.place[i];
        if (out->address && covers(out, address))
            return true;
    }
    uint64_t number = address >> REGION_BITS;
    *out = (struct block){0};
    for (unsigned steps = 0; steps < AROUND_MOST && number; steps++, number--)
        if (below_in_region(number, address, out))
            return covers(out, address);
    return false;
}

/* Without a word to this thread's lock_thread: it may hold the very lock. */
static bool try_raw(struct lock *lock)
{
    uint32_t seen = 0;
    return cas_acquire(&lock->word, &seen, 1);
}

static bool near_in_region(uint64_t number, uintptr_t address, struct block *out, bool *busy)
{
    uint64_t hash = spread(number);
    struct blocks_stripe *stripe = stripe_of(hash);
    if (!try_raw(&stripe->lock)) {
        *busy = true;
        return false;
    }
    bool found = highest_below(blocks_probe(stripe, hash, number), address, out);
    lock_give_raw(&stripe->lock);
    return found;
}

bool blocks_find_near(uintptr_t address, unsigned regions, struct block *out, bool *busy)
{
    uint64_t number = address >> REGION_BITS;
    *out = (struct block){0};
    if (!blocks_stripes[0].regions)
        return false;
    /* With one thread the young have no lock: it may have been at them as it crashed. */
    if (!(*lock_single_threaded && lock_thread.held) && try_raw(&blocks_young.lock)) {
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
        if (near_in_region(number, address, out, busy) || out->address >> REGION_BITS >= number)
            break;
    return out->address != 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

bool blocks_settle(void)
{
    blocks_all_settled();
    return !load_acquire(&blocks_young.some_wait);
}

uint64_t blocks_count(void)
{
    uint64_t count = 0;
    blocks_all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t at = 0; at < blocks_stripes[i].capacity; at++)
            count += used_of(&blocks_stripes[i].regions[at]);
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++)
        count += blocks_young.place[i].address != 0;
    return count;
}

#define EACH_AHEAD 8 /* slots: trays may lie in no order */

static void each_of_young(blocks_visit *visit, void *context)
{
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++)
        if (blocks_young.place[i].address)
            visit(&blocks_young.place[i], context);
}

static void each_in(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                    void *context)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct blocks_region *region = &regions[i];
        if (i + EACH_AHEAD < count && used_of(region + EACH_AHEAD))
            fetch_tray(region + EACH_AHEAD);
        for (unsigned at = 0; at < used_of(region); at++) {
            struct block block = blocks_unpack(&entries_of(region)[at], address_of(region, at));
            visit(&block, context);
        }
    }
}

void blocks_each(blocks_visit *visit, void *context)
{
    blocks_all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        each_in(blocks_stripes[i].regions, blocks_stripes[i].capacity, visit, context);
    each_of_young(visit, context);
}

uint64_t blocks_regions(struct blocks_region *out)
{
    uint64_t count = 0;
    blocks_all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t slot = 0; slot < blocks_stripes[i].capacity; slot++) {
            const struct blocks_region *region = &blocks_stripes[i].regions[slot];
            if (used_of(region) && out)
                out[count] = *region;
            count += used_of(region) != 0;
        }
    return count;
}

void blocks_each_of(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                    void *context)
{
    each_in(regions, count, visit, context);
    each_of_young(visit, context);
}
