/* table.c - inserts, removes, finds and visits blocks in the open table. */
#include "preload/memory/arena.h"
#include "preload/blocks/table.h"

static struct blocks_stripe stripes[STRIPES];
/* The slots of each stripe until it has its first region. They stay empty. */
static struct blocks_region no_regions[LANES];

static inline struct blocks_stripe *region_stripe_of(uint64_t hash)
{
    return &stripes[hash >> (64 - STRIPE_BITS)];
}

/* ---- Trays ----------------------------------------------------------------------------------- */

/* Finds the index of a key in a region's tray; -1: it is not there. It compares sixteen keys at a
 * time, from the newest back, because young blocks are freed first. It may read bytes behind the
 * keys in use, but never beyond the tray. */
static int find_key(const struct blocks_region *region, uint8_t key)
{
    int last = (int)region_used(region) - 1;
    if (last >= 0 && region->tray[last] == key)
        return last;
    for (int at = last & ~15; at >= 0; at -= 16) {
        uint32_t same = arch_find_byte(region->tray + at, key);
        if (!same)
            continue;
        int found = at + __builtin_ctz(same);
        if (found <= last)
            return found;
    }
    return -1;
}

/* Moves the blocks of a region to a tray of another size class. False: no memory. */
static bool resize_tray(struct blocks_region *region, unsigned size_class)
{
    struct blocks_region old = *region;
    uint8_t *tray = tray_alloc(size_class);
    if (!tray)
        return false;
    region->tray = tray;
    region->word = blocks_region_number(&old) << 16 | size_class << 10 | region_used(&old);
    if (!old.tray)
        return true;
    memcpy(tray, old.tray, region_used(&old));
    memcpy(region_entries(region), region_entries(&old),
           region_used(&old) * sizeof(struct blocks_entry));
    tray_free(old.tray, region_size_class(&old));
    return true;
}

/* Moves the blocks of a region to a smaller tray. It has room for twice as many blocks, so that it
 * does not have to grow again soon. */
static void shrink_tray(struct blocks_region *region)
{
    unsigned size_class = region_size_class(region);
    while (size_class && tray_capacity[size_class - 1] >= 2 * region_used(region))
        size_class--;
    resize_tray(region, size_class);
}

/* ---- Slots of a stripe ----------------------------------------------------------------------- */

/* Returns the slot of the region with that number, or the empty slot where it belongs. */
static struct blocks_region *slot_of(const struct blocks_stripe *stripe, uint64_t hash,
                                     uint64_t number)
{
    uint32_t at = region_home(hash, number, stripe->capacity);
    while (stripe->regions[at].word && blocks_region_number(&stripe->regions[at]) != number)
        at = at + LANES < stripe->capacity ? at + LANES : at % LANES;
    return &stripe->regions[at];
}

/* Moves the regions of a stripe to a new array of slots, without the regions that have become
 * empty. False: no memory. */
static bool rebuild_stripe(struct blocks_stripe *stripe, uint32_t capacity)
{
    struct blocks_stripe old = *stripe;
    struct blocks_region *regions = arena_map(capacity * sizeof *regions);
    if (!regions)
        return false;
    stripe->regions = regions;
    stripe->capacity = capacity;
    for (uint32_t i = 0; i < old.capacity; i++) {
        struct blocks_region *region = &old.regions[i];
        if (region_used(region)) {
            uint64_t number = blocks_region_number(region);
            *slot_of(stripe, hash_region(number), number) = *region;
        } else if (region->word) {
            tray_free(region->tray, region_size_class(region));
            stripe->used[i % LANES]--;
        }
    }
    if (old.regions != no_regions)
        arena_unmap(old.regions, old.capacity * sizeof *regions);
    return true;
}

static bool lane_has_room(const struct blocks_stripe *stripe, unsigned lane, unsigned more)
{
    return stripe->used[lane] + more <= stripe->capacity / LANES * 3 / 4;
}

/* Ensures that a lane of the stripe (the slots at one position in its cache lines) has a slot for
 * one more region. False: no memory. The caller holds the lock of the stripe. */
static bool reserve_region_slot(struct blocks_stripe *stripe, unsigned lane)
{
    uint32_t capacity = stripe->capacity, empty = 0;
    if (likely(lane_has_room(stripe, lane, 1)))
        return true;
    for (uint32_t i = lane; i < capacity; i += LANES)
        empty += stripe->regions[i].word && !region_used(&stripe->regions[i]);
    if (empty <= stripe->used[lane] / 8) {
        size_t bytes = capacity * sizeof(struct blocks_region);
        capacity = round_up(bytes + bytes / 4, LEAK_PAGE) / sizeof(struct blocks_region);
    }
    return rebuild_stripe(stripe, capacity);
}

static NOINLINE struct blocks_region *add_region(struct blocks_stripe *stripe, uint64_t hash,
                                                 uint64_t number)
{
    struct blocks_region made = {.word = number << 16};
    unsigned lane = region_lane(hash, number);
    if (!reserve_region_slot(stripe, lane) || !resize_tray(&made, 0))
        return NULL;
    struct blocks_region *region = slot_of(stripe, hash, number);
    *region = made;
    stripe->used[lane]++;
    return region;
}

/* ---- The table ------------------------------------------------------------------------------- */

bool table_is_started(void)
{
    return stripes[0].regions;
}

void table_start(void)
{
    for (unsigned i = 0; i < STRIPES; i++) {
        stripes[i].regions = no_regions;
        stripes[i].capacity = LANES;
    }
}

/* Appends a block to a region that does not have it yet. The caller holds the lock of the
 * stripe. */
static bool append_block(struct blocks_region *region, const struct block *block)
{
    unsigned at = region_used(region), size_class = region_size_class(region);
    if (unlikely(at == tray_capacity[size_class]) && !resize_tray(region, size_class + 1))
        return false;
    region->tray[at] = block_key(block->address);
    region_entries(region)[at] = blocks_pack(block);
    region->word++;
    return true;
}

/* Removes an entry of a region's tray by moving the last entry to its place. */
static void remove_entry(struct blocks_region *region, unsigned at)
{
    unsigned last = region_used(region) - 1;
    if (at != last) {
        struct blocks_entry *entries = region_entries(region);
        region->tray[at] = region->tray[last];
        entries[at] = entries[last];
    }
    region->word--;
    if (unlikely(last * 4 < tray_capacity[region_size_class(region)] && last >= 2))
        shrink_tray(region);
}

bool table_insert(const struct block *block)
{
    uint64_t number = block->address >> REGION_BITS, hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    struct blocks_region *region = slot_of(stripe, hash, number);
    if (!region->word)
        region = add_region(stripe, hash, number);
    bool done = region && append_block(region, block);
    lock_give(&locked);
    return done;
}

bool table_remove(uintptr_t address, struct block *out)
{
    uint64_t number = address >> REGION_BITS, hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    struct blocks_region *region = slot_of(stripe, hash, number);
    if (likely(region->word))
        prefetch_region_tray(region);
    int at = region->word ? find_key(region, block_key(address)) : -1;
    if (at >= 0) {
        *out = blocks_unpack(&region_entries(region)[at], address);
        remove_entry(region, at);
    }
    lock_give(&locked);
    return at >= 0;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

bool table_find(uintptr_t address, struct block *out)
{
    uint64_t number = address >> REGION_BITS, hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    const struct blocks_region *region = slot_of(stripe, hash, number);
    int at = region->word ? find_key(region, block_key(address)) : -1;
    if (at >= 0)
        *out = blocks_unpack(&region_entries(region)[at], address);
    lock_give(&locked);
    return at >= 0;
}

static bool find_highest_below(const struct blocks_region *region, uintptr_t address,
                               struct block *out)
{
    uintptr_t highest = 0;
    for (unsigned at = 0; region->word && at < region_used(region); at++) {
        uintptr_t start = entry_address(region, at);
        if (start > address || start < highest)
            continue;
        highest = start;
        *out = blocks_unpack(&region_entries(region)[at], start);
    }
    return highest != 0;
}

bool table_find_below(uint64_t number, uintptr_t address, struct block *out)
{
    uint64_t hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = find_highest_below(slot_of(stripe, hash, number), address, out);
    lock_give(&locked);
    return found;
}

/* Tries to take the stripe's lock without counting it for this thread (lock_thread): the handler of
 * a fatal signal calls this function, and its thread may hold this lock already. */
bool table_try_find_below(uint64_t number, uintptr_t address, struct block *out, bool *busy)
{
    uint64_t hash = hash_region(number);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    uint32_t seen = 0;
    if (!cas_acquire(&stripe->lock.word, &seen, 1)) {
        *busy = true;
        return false;
    }
    bool found = find_highest_below(slot_of(stripe, hash, number), address, out);
    lock_give_raw(&stripe->lock);
    return found;
}

/* ---- Visiting all blocks --------------------------------------------------------------------- */

/* How many slots ahead a tray is prefetched, because trays may be scattered in memory. */
#define EACH_AHEAD 8

uint64_t table_count(void)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t at = 0; at < stripes[i].capacity; at++)
            count += region_used(&stripes[i].regions[at]);
    return count;
}

uint64_t table_copy_regions(struct blocks_region *out)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t slot = 0; slot < stripes[i].capacity; slot++) {
            const struct blocks_region *region = &stripes[i].regions[slot];
            if (region_used(region) && out)
                out[count] = *region;
            count += region_used(region) != 0;
        }
    return count;
}

void table_each_in_regions(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
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

void table_each(blocks_visit *visit, void *context)
{
    for (unsigned i = 0; i < STRIPES; i++)
        table_each_in_regions(stripes[i].regions, stripes[i].capacity, visit, context);
}

/* ---- Checking invariants; locking around fork ------------------------------------------------ */

/* Says whether each key occurs once in a region, and the number of blocks fits the tray. */
static bool check_region(const struct blocks_region *region)
{
    if (region_size_class(region) >= TRAY_CLASSES ||
        region_used(region) > tray_capacity[region_size_class(region)])
        return false;
    for (unsigned at = 0; at < region_used(region); at++)
        if (find_key(region, region->tray[at]) != (int)at)
            return false;
    return true;
}

static bool check_stripe(const struct blocks_stripe *stripe)
{
    uint32_t regions[LANES] = {0};
    for (uint32_t at = 0; at < stripe->capacity; at++) {
        const struct blocks_region *region = &stripe->regions[at];
        uint64_t hash = hash_region(blocks_region_number(region));
        if (!region->word)
            continue;
        regions[at % LANES]++;
        if (region_stripe_of(hash) != stripe ||
            slot_of(stripe, hash, blocks_region_number(region)) != region || !check_region(region))
            return false;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (regions[lane] != stripe->used[lane] || !lane_has_room(stripe, lane, 0))
            return false;
    return true;
}

bool table_check(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        if (!check_stripe(&stripes[i]))
            return false;
    return true;
}

void table_fork_lock(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    tray_fork_lock();
}

void table_fork_unlock(void)
{
    tray_fork_unlock();
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

void table_fork_child(void)
{
    tray_fork_child();
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
}
