#include "preload/blocks.h"
#include "preload/arena.h"
#include "preload/lock.h"
#include "preload/trays.h"
#include "leak_store.h"
#include "arch.h"

#define STRIPE_BITS 6
#define STRIPES (1u << STRIPE_BITS)
#define REGION_BITS 11
#define AROUND_MOST (1u << 14) /* regions */
#define FETCHED_MOST 384       /* bytes of a tray */
#define GRANULE_BITS 3         /* 256 of them in a region: a key is one byte */

_Static_assert(sizeof(struct blocks_entry) == TRAYS_ENTRY, "trays.h says how large an entry is");

#define LANES                                                                                      \
    (64 / sizeof(struct blocks_region)) /* slots of a line; capacities are multiples of it */

static struct stripe {
    struct lock lock;
    uint32_t capacity;    /* slots */
    uint32_t used[LANES]; /* empty regions included */
    struct blocks_region *regions;
} __attribute__((aligned(64))) stripes[STRIPES];

static unsigned size_class_of(const struct blocks_region *region)
{
    return region->word >> 10 & 63;
}

static unsigned used_of(const struct blocks_region *region)
{
    return region->word & 1023;
}

/* ---- Trays --------------------------------------------------------------------------------- */

static uint8_t key_of(uintptr_t address)
{
    return address >> GRANULE_BITS;
}

static struct blocks_entry *entries_of(const struct blocks_region *region)
{
    return (struct blocks_entry *)trays_entries(region->tray, size_class_of(region));
}

/* Which entry has that key; -1: none. Sixteen keys a step, from the newest back: what goes soonest
 * came last. Reads past the keys that are used, never past the tray (trays.h). */
static int find_key(const struct blocks_region *region, uint8_t key)
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

/* Neighbours have one hash: programs go from one to the next. */
static uint64_t spread(uint64_t number)
{
    uint64_t hash = number / LANES * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static struct stripe *stripe_of(uint64_t hash)
{
    return &stripes[hash >> (64 - STRIPE_BITS)];
}

/* A program may use every fourth region only: each four begin in a lane of their own. */
static unsigned lane_of(uint64_t hash, uint64_t number)
{
    return (number + hash) % LANES;
}

/* Multiply-shift on the bits that did not choose the stripe: any number of lines will do. */
static uint32_t home_of(uint64_t hash, uint64_t number, uint32_t capacity)
{
    uint64_t line = (hash >> (32 - STRIPE_BITS) & UINT32_MAX) * (capacity / LANES) >> 32;
    return line * LANES + lane_of(hash, number);
}

/* The region of that number, or the gap where it would go. */
static struct blocks_region *probe(const struct stripe *stripe, uint64_t hash, uint64_t number)
{
    uint32_t at = home_of(hash, number, stripe->capacity);
    while (stripe->regions[at].word && blocks_region_number(&stripe->regions[at]) != number)
        at = at + LANES < stripe->capacity ? at + LANES : at % LANES;
    return &stripe->regions[at];
}

/* Into a table of that capacity, without the regions that have become empty. */
static bool rebuild(struct stripe *stripe, uint32_t capacity)
{
    struct stripe old = *stripe;
    struct blocks_region *regions = arena_map(capacity * sizeof *regions);
    if (!regions)
        return false;
    stripe->regions = regions;
    stripe->capacity = capacity;
    for (uint32_t i = 0; i < old.capacity; i++) {
        struct blocks_region *region = &old.regions[i];
        if (used_of(region)) {
            *probe(stripe, spread(blocks_region_number(region)), blocks_region_number(region)) =
                *region;
        } else if (region->word) {
            trays_give(region->tray, size_class_of(region));
            stripe->used[i % LANES]--;
        }
    }
    arena_unmap(old.regions, old.capacity * sizeof *regions);
    return true;
}

static bool has_room(const struct stripe *stripe, unsigned lane, unsigned more)
{
    return stripe->used[lane] + more <= stripe->capacity / LANES * 3 / 4;
}

/* Room for one more region in that lane; the stripe's lock is held. */
static bool make_room(struct stripe *stripe, unsigned lane)
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

static NOINLINE struct blocks_region *add_region(struct stripe *stripe, uint64_t hash,
                                                 uint64_t number)
{
    struct blocks_region made = {.word = number << 16};
    unsigned lane = lane_of(hash, number);
    if (!make_room(stripe, lane) || !resize(&made, 0))
        return NULL;
    struct blocks_region *region = probe(stripe, hash, number);
    *region = made;
    stripe->used[lane]++;
    return region;
}

/* ---- The table ----------------------------------------------------------------------------- */

bool blocks_start(void)
{
    for (unsigned i = 0; i < STRIPES; i++) {
        stripes[i].regions = arena_map(LEAK_PAGE);
        stripes[i].capacity = LEAK_PAGE / sizeof(struct blocks_region);
        if (!stripes[i].regions)
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

/* Both of these: the stripe's lock is held, or there is one thread and it holds the young's. */
static enum blocks_insert stripe_insert(struct stripe *stripe, uint64_t hash,
                                        const struct block *block, struct block *old)
{
    uint64_t number = block->address >> REGION_BITS;
    enum blocks_insert result = BLOCKS_NO_MEMORY;
    struct blocks_region *region = probe(stripe, hash, number);
    if (unlikely(!region->word))
        region = add_region(stripe, hash, number);
    int at = region ? find_key(region, key_of(block->address)) : -1;
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

/* The lines of a tray, which are needed one after the other: keys, entry, last entry. A block that
 * was not used for long costs 100 ns less so (a million live blocks, a random one goes). Inline: a
 * function that only fetches has no effect for the compiler, which leaves calls of it out. */
static ALWAYS_INLINE void fetch_tray(const struct blocks_region *region)
{
    const uint8_t *line = region->tray;
    const uint8_t *end = (const uint8_t *)(entries_of(region) + used_of(region));
    end = end < line + FETCHED_MOST ? end : line + FETCHED_MOST;
    for (; line < end; line += 64)
        __builtin_prefetch(line, 1);
}

static bool stripe_remove(struct stripe *stripe, uint64_t hash, uintptr_t address,
                          struct blocks_entry *out)
{
    struct blocks_region *region = probe(stripe, hash, address >> REGION_BITS);
    if (likely(region->word))
        fetch_tray(region);
    int at = region->word ? find_key(region, key_of(address)) : -1;
    if (unlikely(at < 0))
        return false;
    *out = entries_of(region)[at];
    take_out(region, at);
    return true;
}

static enum blocks_insert table_insert(const struct block *block, struct block *old)
{
    uint64_t hash = spread(block->address >> REGION_BITS);
    struct stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    enum blocks_insert result = stripe_insert(stripe, hash, block, old);
    lock_give(&locked);
    return result;
}

static bool table_remove(uintptr_t address, struct blocks_entry *out)
{
    uint64_t hash = spread(address >> REGION_BITS);
    struct stripe *stripe = stripe_of(hash);
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
    const struct blocks_region *region = probe(stripe_of(hash), hash, address >> REGION_BITS);
    if (!region->word)
        return;
    __builtin_prefetch(region->tray, 1);
    __builtin_prefetch(entries_of(region) + used_of(region), 1);
}

enum blocks_insert blocks_age(struct block *place, struct block *old)
{
    uint64_t hash = spread(place->address >> REGION_BITS);
    enum blocks_insert result = stripe_insert(stripe_of(hash), hash, place, old);
    uintptr_t next = blocks_young.place[blocks_young.next % BLOCKS_YOUNG].address;
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

static NOINLINE void settle_young(void)
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
    store_release(&blocks_young.some_wait, some_wait); /* pairs with all_settled */
    lock_give(&locked);
}

static inline void all_settled(void)
{
    if (unlikely(load_acquire(&blocks_young.some_wait)))
        settle_young();
}

enum blocks_insert blocks_insert_shared(const struct block *block, struct block *old)
{
    all_settled();
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
    all_settled();
    if (likely(table_remove(address, out)))
        return true;
    return load_acquire(&blocks_young.some_wait) && remove_waiting(address, out);
}

static uintptr_t address_of(const struct blocks_region *region, unsigned at)
{
    return blocks_region_number(region) << REGION_BITS | (uintptr_t)region->tray[at]
                                                             << GRANULE_BITS;
}

bool blocks_settle(void)
{
    all_settled();
    return !load_acquire(&blocks_young.some_wait);
}

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
    struct stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    bool found = highest_below(probe(stripe, hash, number), address, out);
    lock_give(&locked);
    return found;
}

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
    struct stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    const struct blocks_region *region = probe(stripe, hash, number);
    int at = region->word ? find_key(region, key_of(address)) : -1;
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

bool blocks_find_around(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    all_settled();
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
    struct stripe *stripe = stripe_of(hash);
    if (!try_raw(&stripe->lock)) {
        *busy = true;
        return false;
    }
    bool found = highest_below(probe(stripe, hash, number), address, out);
    lock_give_raw(&stripe->lock);
    return found;
}

bool blocks_find_near(uintptr_t address, unsigned regions, struct block *out, bool *busy)
{
    uint64_t number = address >> REGION_BITS;
    *out = (struct block){0};
    if (!stripes[0].regions)
        return false;
    if (try_raw(&blocks_young.lock)) {
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

void blocks_prefetch(uintptr_t address)
{
    uint64_t hash = spread(address >> REGION_BITS);
    const struct stripe *stripe = stripe_of(hash);
    __builtin_prefetch(&stripe->regions[home_of(hash, address >> REGION_BITS, stripe->capacity)],
                       1);
}

uint64_t blocks_count(void)
{
    uint64_t count = 0;
    all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t at = 0; at < stripes[i].capacity; at++)
            count += used_of(&stripes[i].regions[at]);
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
    all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        each_in(stripes[i].regions, stripes[i].capacity, visit, context);
    each_of_young(visit, context);
}

uint64_t blocks_regions(struct blocks_region *out)
{
    uint64_t count = 0;
    all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t slot = 0; slot < stripes[i].capacity; slot++) {
            const struct blocks_region *region = &stripes[i].regions[slot];
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

/* Every key once, no more than fit. */
static bool region_check(const struct blocks_region *region)
{
    if (size_class_of(region) >= TRAYS_CLASSES ||
        used_of(region) > trays_capacity[size_class_of(region)])
        return false;
    for (unsigned at = 0; at < used_of(region); at++)
        if (find_key(region, region->tray[at]) != (int)at)
            return false;
    return true;
}

static bool stripe_check(const struct stripe *stripe)
{
    uint32_t regions[LANES] = {0};
    for (uint32_t at = 0; at < stripe->capacity; at++) {
        const struct blocks_region *region = &stripe->regions[at];
        uint64_t hash = spread(blocks_region_number(region));
        if (!region->word)
            continue;
        regions[at % LANES]++;
        if (stripe_of(hash) != stripe ||
            probe(stripe, hash, blocks_region_number(region)) != region || !region_check(region))
            return false;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        if (regions[lane] != stripe->used[lane] || !has_room(stripe, lane, 0))
            return false;
    return true;
}

bool blocks_check(void)
{
    all_settled();
    for (unsigned i = 0; i < STRIPES; i++)
        if (!stripe_check(&stripes[i]))
            return false;
    return true;
}

void blocks_fork_lock(void)
{
    lock_take_raw(&blocks_young.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    trays_fork_lock();
}

void blocks_fork_unlock(void)
{
    trays_fork_unlock();
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
    lock_give_raw(&blocks_young.lock);
}

void blocks_fork_child(void)
{
    blocks_young.lock.word = 0;
    trays_fork_child();
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
}
