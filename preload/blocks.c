#include "preload/blocks.h"
#include "preload/arena.h"
#include "preload/lock.h"
#include "leak_store.h"

#define STRIPE_BITS 8
#define STRIPES (1u << STRIPE_BITS)
#define SIZE_BITS 36
#define SIZE_ESCAPE ((1ull << SIZE_BITS) - 1)
#define TICK_MAX ((1u << 24) - 1)
#define GIANTS 256

struct entry {
    uint64_t word[3]; /* word[0] 0 = empty */
};

static struct stripe {
    struct lock lock;
    uint32_t capacity, used;
    struct entry *entries;
} __attribute__((aligned(64))) stripes[STRIPES];

/* Sizes of 64 GiB and more. */
static struct {
    struct lock lock;
    struct {
        uintptr_t address;
        uint64_t size;
    } row[GIANTS];
} giants;

/* ---- Entries ------------------------------------------------------------------------------- */

static uintptr_t address_of(const struct entry *entry)
{
    return entry->word[0] & 0xffffffffffff;
}

/* The row of an address, or a free one (address 0), or NULL. */
static uint64_t *giant(uintptr_t address, bool make)
{
    for (int pass = 0; pass <= make; pass++)
        for (int i = 0; i < GIANTS; i++)
            if (giants.row[i].address == (pass ? 0 : address)) {
                giants.row[i].address = address;
                return &giants.row[i].size;
            }
    return NULL;
}

static struct entry pack(const struct block *block)
{
    uint64_t size = block->size;
    if (unlikely(size >= SIZE_ESCAPE)) {
        struct locked locked = lock_take(&giants.lock);
        uint64_t *row = giant(block->address, true);
        if (row)
            *row = size;
        lock_give(&locked);
        size = SIZE_ESCAPE;
    }
    uint64_t tick = block->tick < TICK_MAX ? block->tick : TICK_MAX;
    return (struct entry){{block->address | (uint64_t)block->thread << 48,
                           size | (uint64_t)block->kind << SIZE_BITS | tick << 40,
                           block->site | (uint64_t)block->count << 32}};
}

static struct block unpack(const struct entry *entry)
{
    struct block block = {.address = address_of(entry),
                          .thread = entry->word[0] >> 48,
                          .size = entry->word[1] & SIZE_ESCAPE,
                          .kind = entry->word[1] >> SIZE_BITS & 15,
                          .tick = entry->word[1] >> 40,
                          .site = (uint32_t)entry->word[2],
                          .count = entry->word[2] >> 32};
    if (unlikely(block.size == SIZE_ESCAPE)) {
        struct locked locked = lock_take(&giants.lock);
        const uint64_t *row = giant(block.address, false);
        if (row)
            block.size = *row;
        lock_give(&locked);
    }
    return block;
}

static void forget_giant(const struct block *block)
{
    if (likely(block->size < SIZE_ESCAPE))
        return;
    struct locked locked = lock_take(&giants.lock);
    uint64_t *row = giant(block->address, false);
    if (row)
        ((uintptr_t *)row)[-1] = 0;
    lock_give(&locked);
}

/* ---- Places -------------------------------------------------------------------------------- */

static uint64_t spread(uintptr_t address)
{
    uint64_t hash = (address >> 3) * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static struct stripe *stripe_of(uint64_t hash)
{
    return &stripes[hash >> (64 - STRIPE_BITS)];
}

/* Multiply-shift on the bits that did not choose the stripe: any capacity will do. */
static uint32_t home_of(uint64_t hash, uint32_t capacity)
{
    return (hash >> (32 - STRIPE_BITS) & UINT32_MAX) * capacity >> 32;
}

static uint32_t next(const struct stripe *stripe, uint32_t at)
{
    return at + 1 == stripe->capacity ? 0 : at + 1;
}

/* The entry with that address, or the gap where it would go. */
static uint32_t probe(const struct stripe *stripe, uint64_t hash, uintptr_t address)
{
    uint32_t at = home_of(hash, stripe->capacity);
    while (stripe->entries[at].word[0] && address_of(&stripe->entries[at]) != address)
        at = next(stripe, at);
    return at;
}

/* A quarter more, in whole pages. The stripe's lock is held. */
static bool grow(struct stripe *stripe)
{
    struct stripe old = *stripe;
    size_t old_bytes = old.capacity * sizeof(struct entry);
    size_t bytes = round_up(old_bytes + old_bytes / 4, LEAK_PAGE);
    struct entry *entries = arena_map(bytes);
    if (!entries)
        return false;
    stripe->entries = entries;
    stripe->capacity = bytes / sizeof(struct entry);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (!old.entries[i].word[0])
            continue;
        uintptr_t address = address_of(&old.entries[i]);
        entries[probe(stripe, spread(address), address)] = old.entries[i];
    }
    arena_unmap(old.entries, old_bytes);
    return true;
}

bool blocks_start(void)
{
    /* A page each, touched when used: a small program pays for the stripes it meets. */
    for (unsigned i = 0; i < STRIPES; i++) {
        stripes[i].entries = arena_map(LEAK_PAGE);
        stripes[i].capacity = LEAK_PAGE / sizeof(struct entry);
        if (!stripes[i].entries)
            return false;
    }
    return true;
}

enum blocks_insert blocks_insert(struct guard *guard UNUSED, const struct block *block,
                                 struct block *old)
{
    uint64_t hash = spread(block->address);
    struct stripe *stripe = stripe_of(hash);
    enum blocks_insert result = BLOCKS_NEW;
    struct locked locked = lock_take(&stripe->lock);
    if (unlikely(stripe->used + 1 > (uint64_t)stripe->capacity * 7 / 8) && !grow(stripe)) {
        result = BLOCKS_NO_MEMORY;
    } else {
        struct entry *place = &stripe->entries[probe(stripe, hash, block->address)];
        if (unlikely(place->word[0])) {
            *old = unpack(place);
            forget_giant(old); /* before pack: the row has the same address */
            result = BLOCKS_REPLACED;
        } else {
            stripe->used++;
        }
        *place = pack(block);
    }
    lock_give(&locked);
    return result;
}

/* Closes the gap: an entry moves back when the gap lies between its home and itself. */
static void close_gap(struct stripe *stripe, uint32_t gap)
{
    struct entry *entries = stripe->entries;
    for (uint32_t at = next(stripe, gap); entries[at].word[0]; at = next(stripe, at)) {
        uint32_t home = home_of(spread(address_of(&entries[at])), stripe->capacity);
        uint32_t from_home = at >= home ? at - home : at + stripe->capacity - home;
        uint32_t from_gap = at >= gap ? at - gap : at + stripe->capacity - gap;
        if (from_home >= from_gap) {
            entries[gap] = entries[at];
            gap = at;
        }
    }
    entries[gap].word[0] = 0;
    stripe->used--;
}

bool blocks_remove(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    uint64_t hash = spread(address);
    struct stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t at = probe(stripe, hash, address);
    bool found = stripe->entries[at].word[0] != 0;
    if (likely(found)) {
        *out = unpack(&stripe->entries[at]);
        close_gap(stripe, at);
    }
    lock_give(&locked);
    if (found)
        forget_giant(out);
    return found;
}

void blocks_prefetch(uintptr_t address)
{
    uint64_t hash = spread(address);
    const struct stripe *stripe = stripe_of(hash);
    __builtin_prefetch(&stripe->entries[home_of(hash, stripe->capacity)], 1);
}

uint64_t blocks_count(void)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < STRIPES; i++)
        count += stripes[i].used;
    return count;
}

void blocks_each(void (*visit)(const struct block *block, void *context), void *context)
{
    for (unsigned i = 0; i < STRIPES; i++)
        for (uint32_t at = 0; at < stripes[i].capacity && stripes[i].used; at++)
            if (stripes[i].entries[at].word[0]) {
                struct block block = unpack(&stripes[i].entries[at]);
                visit(&block, context);
            }
}

bool blocks_check(void)
{
    for (unsigned i = 0; i < STRIPES; i++) {
        const struct stripe *stripe = &stripes[i];
        uint32_t found = 0;
        for (uint32_t at = 0; at < stripe->capacity; at++) {
            if (!stripe->entries[at].word[0])
                continue;
            uintptr_t address = address_of(&stripe->entries[at]);
            uint64_t hash = spread(address);
            found++;
            if (stripe_of(hash) != stripe || probe(stripe, hash, address) != at)
                return false;
        }
        if (found != stripe->used || found > (uint64_t)stripe->capacity * 7 / 8)
            return false;
    }
    return true;
}

void blocks_fork_lock(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&giants.lock);
}

void blocks_fork_unlock(void)
{
    lock_give_raw(&giants.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

void blocks_fork_child(void)
{
    giants.lock.word = 0;
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
}
