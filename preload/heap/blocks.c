#include "preload/heap/blocks.h"
#include "preload/base/arena.h"
#include "preload/heap/blocks_table.h"

_Static_assert(sizeof(struct blocks_entry) == TRAYS_ENTRY, "trays.h says how large an entry is");

struct blocks_stripe blocks_stripes[STRIPES];

/* ---- Trays --------------------------------------------------------------------------------- */

/* Sixteen keys a step, from the newest back: what goes soonest came last. Reads past the keys that
 * are used, never past the tray (tray_alloc.h). */
int blocks_find_key(const struct blocks_region *region, uint8_t key)
{
    int last = (int)used_of(region) - 1;
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
static bool resize(struct blocks_region *region, unsigned size_class)
{
    struct blocks_region old = *region;
    uint8_t *tray = trays_take(size_class);
    if (!tray)
        return false;
    region->tray = tray;
    region->word = blocks_region_number(&old) << 16 | size_class << 10 | used_of(&old);
    if (!old.tray)
        return true;
    memcpy(tray, old.tray, used_of(&old));
    memcpy(entries_of(region), entries_of(&old), used_of(&old) * sizeof(struct blocks_entry));
    trays_give(old.tray, size_class_of(&old));
    return true;
}

/* To the smallest that holds twice as much: far from growing again at once. */
static void shrink(struct blocks_region *region)
{
    unsigned size_class = size_class_of(region);
    while (size_class && trays_capacity[size_class - 1] >= 2 * used_of(region))
        size_class--;
    resize(region, size_class);
}

/* ---- Places -------------------------------------------------------------------------------- */

struct blocks_region *blocks_probe(const struct blocks_stripe *stripe, uint64_t hash,
                                   uint64_t number)
{
    uint32_t at = home_of(hash, number, stripe->capacity);
    while (stripe->regions[at].word && blocks_region_number(&stripe->regions[at]) != number)
        at = at + LANES < stripe->capacity ? at + LANES : at % LANES;
    return &stripe->regions[at];
}

/* Into a table of that capacity, without the regions that have become empty. */
static bool rebuild(struct blocks_stripe *stripe, uint32_t capacity)
{
    struct blocks_stripe old = *stripe;
    struct blocks_region *regions = arena_map(capacity * sizeof *regions);
    if (!regions)
        return false;
    stripe->regions = regions;
    stripe->capacity = capacity;
    for (uint32_t i = 0; i < old.capacity; i++) {
        struct blocks_region *region = &old.regions[i];
        if (used_of(region)) {
            uint64_t number = blocks_region_number(region);
            *blocks_probe(stripe, spread(number), number) = *region;
        } else if (region->word) {
            trays_give(region->tray, size_class_of(region));
            stripe->used[i % LANES]--;
        }
    }
    arena_unmap(old.regions, old.capacity * sizeof *regions);
    return true;
}

static bool has_room(const struct blocks_stripe *stripe, unsigned lane, unsigned more)
{
    return stripe->used[lane] + more <= stripe->capacity / LANES * 3 / 4;
}

/* Room for one more region in that lane; the stripe's lock is held. */
static bool make_room(struct blocks_stripe *stripe, unsigned lane)
{
    uint32_t capacity = stripe->capacity, empty = 0;
    if (likely(has_room(stripe, lane, 1)))
        return true;
    for (uint32_t i = lane; i < capacity; i += LANES)
        empty += stripe->regions[i].word && !used_of(&stripe->regions[i]);
    if (empty <= stripe->used[lane] / 8) {
        size_t bytes = capacity * sizeof(struct blocks_region);
        capacity = round_up(bytes + bytes / 4, LEAK_PAGE) / sizeof(struct blocks_region);
    }
    return rebuild(stripe, capacity);
}

static NOINLINE struct blocks_region *add_region(struct blocks_stripe *stripe, uint64_t hash,
                                                 uint64_t number)
{
    struct blocks_region made = {.word = number << 16};
    unsigned lane = lane_of(hash, number);
    if (!make_room(stripe, lane) || !resize(&made, 0))
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

/* Puts a block that is not there behind the others; the stripe's lock is held. */
static bool append(struct blocks_region *region, const struct block *block)
{
    unsigned at = used_of(region), size_class = size_class_of(region);
    if (unlikely(at == trays_capacity[size_class]) && !resize(region, size_class + 1))
        return false;
    region->tray[at] = key_of(block->address);
    entries_of(region)[at] = blocks_pack(block);
    region->word++;
    return true;
}

/* Both of these: the stripe's lock is held, or there is one thread and it has put signals off. */
static enum blocks_insert stripe_insert(struct blocks_stripe *stripe, uint64_t hash,
                                        const struct block *block, struct block *old)
{
    uint64_t number = block->address >> REGION_BITS;
    enum blocks_insert result = BLOCKS_NO_MEMORY;
    struct blocks_region *region = blocks_probe(stripe, hash, number);
    if (unlikely(!region->word))
        region = add_region(stripe, hash, number);
    int at = region ? blocks_find_key(region, key_of(block->address)) : -1;
    if (unlikely(at >= 0)) {
        struct blocks_entry *entry = &entries_of(region)[at];
        *old = blocks_unpack(entry, block->address);
        *entry = blocks_pack(block);
        result = BLOCKS_REPLACED;
    } else if (likely(region && append(region, block))) {
        result = BLOCKS_NEW;
    }
    return result;
}

/* The last entry takes the place of the one that goes. */
static void take_out(struct blocks_region *region, unsigned at)
{
    unsigned last = used_of(region) - 1;
    if (at != last) {
        struct blocks_entry *entries = entries_of(region);
        region->tray[at] = region->tray[last];
        entries[at] = entries[last];
    }
    region->word--;
    if (unlikely(last * 4 < trays_capacity[size_class_of(region)] && last >= 2))
        shrink(region);
}

static bool stripe_remove(struct blocks_stripe *stripe, uint64_t hash, uintptr_t address,
                          struct blocks_entry *out)
{
    struct blocks_region *region = blocks_probe(stripe, hash, address >> REGION_BITS);
    if (likely(region->word))
        fetch_tray(region);
    int at = region->word ? blocks_find_key(region, key_of(address)) : -1;
    if (unlikely(at < 0))
        return false;
    *out = entries_of(region)[at];
    take_out(region, at);
    return true;
}

static enum blocks_insert table_insert(const struct block *block, struct block *old)
{
    uint64_t hash = spread(block->address >> REGION_BITS);
    struct blocks_stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    enum blocks_insert result = stripe_insert(stripe, hash, block, old);
    lock_give(&locked);
    return result;
}

static bool table_remove(uintptr_t address, struct blocks_entry *out)
{
    uint64_t hash = spread(address >> REGION_BITS);
    struct blocks_stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = stripe_remove(stripe, hash, address, out);
    lock_give(&locked);
    return found;
}

/* ---- The young ------------------------------------------------------------------------------- */

struct blocks_young blocks_young;

/* Where the block would be put is on its way from here on. */
static void prefetch_tray(uintptr_t address)
{
    uint64_t hash = spread(address >> REGION_BITS);
    const struct blocks_region *region =
        blocks_probe(stripe_of(hash), hash, address >> REGION_BITS);
    if (!region->word)
        return;
    __builtin_prefetch(region->tray, 1);
    __builtin_prefetch(entries_of(region) + used_of(region), 1);
}

enum blocks_insert blocks_age(struct block *place, struct block *old)
{
    uint64_t hash = spread(place->address >> REGION_BITS);
    enum blocks_insert result = stripe_insert(stripe_of(hash), hash, place, old);
    uintptr_t next = blocks_young_turn()->address;
    if (next)
        prefetch_tray(next);
    return result;
}

enum blocks_insert blocks_insert_elsewhere(const struct block *block, struct block *old)
{
    struct block *place = blocks_find_young(0);
    uint64_t hash = spread(block->address >> REGION_BITS);
    if (!place)
        return stripe_insert(stripe_of(hash), hash, block, old);
    *place = *block;
    return BLOCKS_NEW;
}

bool blocks_remove_old(uintptr_t address, struct blocks_entry *out)
{
    uint64_t hash = spread(address >> REGION_BITS);
    return stripe_remove(stripe_of(hash), hash, address, out);
}

NOINLINE void blocks_settle_young(void)
{
    struct block old;
    uint32_t some_wait = 0; /* those there is no memory for stay, and are found here */
    struct locked locked = lock_take(&blocks_young.lock);
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++) {
        struct block *place = &blocks_young.place[i];
        if (place->address && table_insert(place, &old) != BLOCKS_NO_MEMORY)
            place->address = 0;
        some_wait |= place->address != 0;
    }
    store_release(&blocks_young.some_wait, some_wait); /* pairs with blocks_all_settled */
    lock_give(&locked);
}

enum blocks_insert blocks_insert_shared(const struct block *block, struct block *old)
{
    blocks_all_settled();
    return table_insert(block, old);
}

static COLD bool remove_waiting(uintptr_t address, struct blocks_entry *out)
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
    blocks_all_settled();
    if (likely(table_remove(address, out)))
        return true;
    return load_acquire(&blocks_young.some_wait) && remove_waiting(address, out);
}

void blocks_prefetch(uintptr_t address)
{
    uint64_t hash = spread(address >> REGION_BITS);
    const struct blocks_stripe *stripe = stripe_of(hash);
    __builtin_prefetch(&stripe->regions[home_of(hash, address >> REGION_BITS, stripe->capacity)],
                       1);
}

/* Every key once, no more than fit. */
static bool region_check(const struct blocks_region *region)
{
    if (size_class_of(region) >= TRAYS_CLASSES ||
        used_of(region) > trays_capacity[size_class_of(region)])
        return false;
    for (unsigned at = 0; at < used_of(region); at++)
        if (blocks_find_key(region, region->tray[at]) != (int)at)
            return false;
    return true;
}

static bool stripe_check(const struct blocks_stripe *stripe)
{
    uint32_t regions[LANES] = {0};
    for (uint32_t at = 0; at < stripe->capacity; at++) {
        const struct blocks_region *region = &stripe->regions[at];
        uint64_t hash = spread(blocks_region_number(region));
        if (!region->word)
            continue;
        regions[at % LANES]++;
        if (stripe_of(hash) != stripe ||
            blocks_probe(stripe, hash, blocks_region_number(region)) != region ||
            !region_check(region))
            return false;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (regions[lane] != stripe->used[lane] || !has_room(stripe, lane, 0))
            return false;
    return true;
}

bool blocks_check(void)
{
    blocks_all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        if (!stripe_check(&blocks_stripes[i]))
            return false;
    return true;
}

void blocks_fork_lock(void)
{
    lock_take_raw(&blocks_young.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&blocks_stripes[i].lock);
    trays_fork_lock();
}

void blocks_fork_unlock(void)
{
    trays_fork_unlock();
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&blocks_stripes[i].lock);
    lock_give_raw(&blocks_young.lock);
}

void blocks_fork_child(void)
{
    blocks_young.lock.word = 0;
    trays_fork_child();
    for (unsigned i = 0; i < STRIPES; i++)
        blocks_stripes[i].lock.word = 0;
}
