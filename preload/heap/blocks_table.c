/* blocks_table.c - insertion into and removal from the table of live blocks. */
#include "preload/base/arena.h"
#include "preload/heap/blocks_table.h"

struct blocks_stripe blocks_stripes[STRIPES];

/* ---- Trays --------------------------------------------------------------------------------- */

/* Compares sixteen keys a step, from the newest back: young blocks are freed first. Reads past the
 * keys that are used, never past the tray. */
int blocks_find_key(const struct blocks_region *region, uint8_t key)
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

/* Moves the entries to a tray of another class. */
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

/* Moves to the smallest tray that holds twice as many entries, so that it does not grow again soon.
 */
static void shrink_tray(struct blocks_region *region)
{
    unsigned size_class = region_size_class(region);
    while (size_class && tray_capacity[size_class - 1] >= 2 * region_used(region))
        size_class--;
    resize_tray(region, size_class);
}

/* ---- Slots --------------------------------------------------------------------------------- */

struct blocks_region *blocks_probe(const struct blocks_stripe *stripe, uint64_t hash,
                                   uint64_t number)
{
    uint32_t at = region_home(hash, number, stripe->capacity);
    while (stripe->regions[at].word && blocks_region_number(&stripe->regions[at]) != number)
        at = at + LANES < stripe->capacity ? at + LANES : at % LANES;
    return &stripe->regions[at];
}

/* Copies the stripe to a table of that capacity, without the regions that have become empty. */
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
            *blocks_probe(stripe, hash_region(number), number) = *region;
        } else if (region->word) {
            tray_free(region->tray, region_size_class(region));
            stripe->used[i % LANES]--;
        }
    }
    arena_unmap(old.regions, old.capacity * sizeof *regions);
    return true;
}

static bool lane_has_room(const struct blocks_stripe *stripe, unsigned lane, unsigned more)
{
    return stripe->used[lane] + more <= stripe->capacity / LANES * 3 / 4;
}

/* Makes sure that the lane has room for one more region; the stripe's lock is held. */
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
    struct blocks_region *region = blocks_probe(stripe, hash, number);
    *region = made;
    stripe->used[lane]++;
    return region;
}

/* ---- The table ----------------------------------------------------------------------------- */

bool blocks_start(void)
{
    for (unsigned i = 0; i < STRIPES; i++) {
        blocks_stripes[i].regions = arena_map(LEAK_PAGE);
        blocks_stripes[i].capacity = LEAK_PAGE / sizeof(struct blocks_region);
        if (!blocks_stripes[i].regions)
            return false;
    }
    return true;
}

/* Appends a block that the region does not have yet; the stripe's lock is held. */
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

/* For stripe_insert and stripe_remove: the stripe's lock is held, or there is one thread and it has
 * deferred signals. */
static enum blocks_insert stripe_insert(struct blocks_stripe *stripe, uint64_t hash,
                                        const struct block *block, struct block *old)
{
    uint64_t number = block->address >> REGION_BITS;
    enum blocks_insert result = BLOCKS_NO_MEMORY;
    struct blocks_region *region = blocks_probe(stripe, hash, number);
    if (unlikely(!region->word))
        region = add_region(stripe, hash, number);
    int at = region ? blocks_find_key(region, block_key(block->address)) : -1;
    if (unlikely(at >= 0)) {
        struct blocks_entry *entry = &region_entries(region)[at];
        *old = blocks_unpack(entry, block->address);
        *entry = blocks_pack(block);
        result = BLOCKS_REPLACED;
    } else if (likely(region && append_block(region, block))) {
        result = BLOCKS_NEW;
    }
    return result;
}

/* Moves the last entry to the place of the removed one. */
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

static bool stripe_remove(struct blocks_stripe *stripe, uint64_t hash, uintptr_t address,
                          struct blocks_entry *out)
{
    struct blocks_region *region = blocks_probe(stripe, hash, address >> REGION_BITS);
    if (likely(region->word))
        prefetch_region_tray(region);
    int at = region->word ? blocks_find_key(region, block_key(address)) : -1;
    if (unlikely(at < 0))
        return false;
    *out = region_entries(region)[at];
    remove_entry(region, at);
    return true;
}

static enum blocks_insert table_insert(const struct block *block, struct block *old)
{
    uint64_t hash = hash_region(block->address >> REGION_BITS);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    enum blocks_insert result = stripe_insert(stripe, hash, block, old);
    lock_give(&locked);
    return result;
}

static bool table_remove(uintptr_t address, struct blocks_entry *out)
{
    uint64_t hash = hash_region(address >> REGION_BITS);
    struct blocks_stripe *stripe = region_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = stripe_remove(stripe, hash, address, out);
    lock_give(&locked);
    return found;
}

/* ---- Young blocks ---------------------------------------------------------------------------- */

struct blocks_young blocks_young;

/* Prefetches where the block will be inserted. */
static void prefetch_tray(uintptr_t address)
{
    uint64_t hash = hash_region(address >> REGION_BITS);
    const struct blocks_region *region =
        blocks_probe(region_stripe_of(hash), hash, address >> REGION_BITS);
    if (!region->word)
        return;
    __builtin_prefetch(region->tray, 1);
    __builtin_prefetch(region_entries(region) + region_used(region), 1);
}

enum blocks_insert blocks_evict_young(struct block *place, struct block *old)
{
    uint64_t hash = hash_region(place->address >> REGION_BITS);
    enum blocks_insert result = stripe_insert(region_stripe_of(hash), hash, place, old);
    uintptr_t next = blocks_young_victim()->address;
    if (next)
        prefetch_tray(next);
    return result;
}

enum blocks_insert blocks_insert_elsewhere(const struct block *block, struct block *old)
{
    struct block *place = blocks_find_young(0);
    uint64_t hash = hash_region(block->address >> REGION_BITS);
    if (!place)
        return stripe_insert(region_stripe_of(hash), hash, block, old);
    *place = *block;
    return BLOCKS_NEW;
}

bool blocks_remove_alone(uintptr_t address, struct blocks_entry *out)
{
    uint64_t hash = hash_region(address >> REGION_BITS);
    return stripe_remove(region_stripe_of(hash), hash, address, out);
}

NOINLINE void blocks_flush_young(void)
{
    struct block old;
    uint32_t occupied =
        0; /* blocks that there is no memory for stay here, where lookups find them */
    struct locked locked = lock_take(&blocks_young.lock);
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++) {
        struct block *place = &blocks_young.place[i];
        if (place->address && table_insert(place, &old) != BLOCKS_NO_MEMORY)
            place->address = 0;
        occupied |= place->address != 0;
    }
    store_release(&blocks_young.occupied, occupied); /* pairs with blocks_flush_waiting */
    lock_give(&locked);
}

enum blocks_insert blocks_insert_shared(const struct block *block, struct block *old)
{
    blocks_flush_waiting();
    return table_insert(block, old);
}

static COLD bool remove_young(uintptr_t address, struct blocks_entry *out)
{
    struct locked locked = lock_take(&blocks_young.lock);
    struct block *place = blocks_find_young(address);
    if (place) {
        *out = blocks_pack(place);
        place->address = 0;
    }
    lock_give(&locked);
    return place != NULL;
}

bool blocks_remove_shared(uintptr_t address, struct blocks_entry *out)
{
    blocks_flush_waiting();
    if (likely(table_remove(address, out)))
        return true;
    return load_acquire(&blocks_young.occupied) && remove_young(address, out);
}

void blocks_prefetch(uintptr_t address)
{
    uint64_t hash = hash_region(address >> REGION_BITS);
    const struct blocks_stripe *stripe = region_stripe_of(hash);
    __builtin_prefetch(
        &stripe->regions[region_home(hash, address >> REGION_BITS, stripe->capacity)], 1);
}

/* Every key occurs once, and the number of blocks fits the tray. */
static bool check_region(const struct blocks_region *region)
{
    if (region_size_class(region) >= TRAY_CLASSES ||
        region_used(region) > tray_capacity[region_size_class(region)])
        return false;
    for (unsigned at = 0; at < region_used(region); at++)
        if (blocks_find_key(region, region->tray[at]) != (int)at)
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
            blocks_probe(stripe, hash, blocks_region_number(region)) != region ||
            !check_region(region))
            return false;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (regions[lane] != stripe->used[lane] || !lane_has_room(stripe, lane, 0))
            return false;
    return true;
}

bool blocks_check(void)
{
    blocks_flush_waiting();
    for (unsigned i = 0; i < STRIPES; i++)
        if (!check_stripe(&blocks_stripes[i]))
            return false;
    return true;
}

void blocks_fork_lock(void)
{
    lock_take_raw(&blocks_young.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&blocks_stripes[i].lock);
    tray_fork_lock();
}

void blocks_fork_unlock(void)
{
    tray_fork_unlock();
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&blocks_stripes[i].lock);
    lock_give_raw(&blocks_young.lock);
}

void blocks_fork_child(void)
{
    blocks_young.lock.word = 0;
    tray_fork_child();
    for (unsigned i = 0; i < STRIPES; i++)
        blocks_stripes[i].lock.word = 0;
}
