/* quarantine.c - a ring of freed blocks, and hash chains that find a block by its address. */
#include "preload/heap/quarantine.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"

#define PLACES_LEAST 1024
#define PLACES_MOST (1u << 20)
/* The ring has one place for each 64 bytes of the limit, because the average block of most programs
 * is larger. */
#define BYTES_A_PLACE 64

static struct lock lock;
/* The ring of queued blocks: freed blocks whose real free is delayed. They have the numbers first
 * to first + count - 1; a number modulo "places" is an index. */
static struct quarantined *queue;
static uint64_t first, count, places;
static uint64_t bytes, most; /* sum of the sizes of the queued blocks, and its limit */

/* Hash chains by address, with the youngest block first. A link is an index in the ring + 1; 0 ends
 * a chain. */
static uint32_t *chains, *next;
static unsigned chain_bits;

static struct quarantined *queue_at(uint64_t index)
{
    return &queue[index % places];
}

static uint32_t *chain_of(uintptr_t address)
{
    return &chains[address * 0x9e3779b97f4a7c15ull >> (64 - chain_bits)];
}

static void link_into_chain(uint64_t index)
{
    uint32_t *chain = chain_of(queue_at(index)->block.address);
    next[index % places] = *chain;
    *chain = index % places + 1;
}

static void unlink_from_chain(uint64_t index)
{
    uint32_t place = index % places, *link = chain_of(queue_at(index)->block.address);
    while (*link != place + 1)
        link = &next[*link - 1];
    *link = next[place];
}

/* Finds the queued block at an address; NULL: there is none. */
static struct quarantined *find_quarantined(uintptr_t address)
{
    for (uint32_t link = *chain_of(address); link; link = next[link - 1])
        if (queue[link - 1].block.address == address)
            return &queue[link - 1];
    return NULL;
}

/* Returns how many bytes of the limit a block takes up. A word is added, because an empty block
 * takes up memory, too. */
static uint64_t bytes_taken(const struct quarantined *entry)
{
    return entry->block.size + sizeof(uintptr_t);
}

bool quarantine_start(uint64_t limit)
{
    if (!limit)
        return true;
    places = limit / BYTES_A_PLACE;
    places = places < PLACES_LEAST ? PLACES_LEAST : places > PLACES_MOST ? PLACES_MOST : places;
    chain_bits = 64 - __builtin_clzll(places);
    queue = arena_map(places * sizeof *queue);
    next = arena_map(places * sizeof *next);
    chains = arena_map(sizeof *chains << chain_bits);
    if (!queue || !next || !chains)
        return false;
    most = limit;
    return true;
}

bool quarantine_is_on(void)
{
    return most != 0;
}

bool quarantine_add(struct guard *guard UNUSED, const struct quarantined *entry)
{
    if (entry->block.size > QUARANTINE_LARGEST || bytes_taken(entry) > most)
        return false;
    struct locked locked = lock_take(&lock);
    bool put = count < places;
    if (put) {
        *queue_at(first + count) = *entry;
        link_into_chain(first + count++);
        bytes += bytes_taken(entry);
    }
    lock_give(&locked);
    return put;
}

/* Removes the oldest entry of the ring. The caller holds the lock. */
static void drop_oldest(void)
{
    if (queue_at(first)->pointer) {
        bytes -= bytes_taken(queue_at(first));
        unlink_from_chain(first);
    }
    first++;
    count--;
}

void *quarantine_pop_surplus(struct guard *guard UNUSED)
{
    void *pointer = NULL;
    struct locked locked = lock_take(&lock);
    while (count && !pointer && (bytes > most || count == places || !queue_at(first)->pointer)) {
        pointer = queue_at(first)->pointer;
        drop_oldest();
    }
    lock_give(&locked);
    return pointer;
}

bool quarantine_find(struct guard *guard UNUSED, uintptr_t address, bool take,
                     struct quarantined *out)
{
    struct locked locked = lock_take(&lock);
    struct quarantined *entry = most ? find_quarantined(address) : NULL;
    if (entry)
        *out = *entry;
    if (entry && take) {
        bytes -= bytes_taken(entry);
        unlink_from_chain(entry - queue);
        /* The entry is empty from now on. It leaves the ring when it has become the oldest one. */
        entry->pointer = NULL;
    }
    lock_give(&locked);
    return entry != NULL;
}

bool quarantine_check(void)
{
    uint64_t sum = 0, linked = 0, queued = 0;
    for (uint64_t i = first; i < first + count; i++) {
        if (!queue_at(i)->pointer)
            continue;
        sum += bytes_taken(queue_at(i));
        queued++;
        if (find_quarantined(queue_at(i)->block.address) != queue_at(i))
            return false;
    }
    for (uint64_t i = 0; i < 1ull << chain_bits; i++)
        for (uint32_t link = chains[i]; link; link = next[link - 1])
            linked++;
    return sum == bytes && count <= places && linked == queued;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(quarantine, &lock)

void quarantine_fork_child(void)
{
    lock.word = 0;
}
