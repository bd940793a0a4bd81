#include "preload/heap/quarantine.h"
#include "preload/base/arena.h"
#include "preload/base/lock.h"

#define PLACES_LEAST 1024
#define PLACES_MOST (1u << 20)
#define BYTES_A_PLACE                                                                              \
    64 /* of the limit: blocks are smaller than that on average in few programs                    \
        */

static struct lock lock;
static struct waiting *queue; /* a ring: [first, first + count) */
static uint64_t first, count, places;
static uint64_t bytes, most; /* waiting, and how many may */

/* Which of them has an address: a row of chains, the youngest first, of places + 1. */
static uint32_t *chains, *next;
static unsigned chain_bits;

static struct waiting *at(uint64_t index)
{
    return &queue[index % places];
}

static uint32_t *chain_of(uintptr_t address)
{
    return &chains[address * 0x9e3779b97f4a7c15ull >> (64 - chain_bits)];
}

static void link_in(uint64_t index)
{
    uint32_t *chain = chain_of(at(index)->block.address);
    next[index % places] = *chain;
    *chain = index % places + 1;
}

static void link_out(uint64_t index)
{
    uint32_t place = index % places, *link = chain_of(at(index)->block.address);
    while (*link != place + 1)
        link = &next[*link - 1];
    *link = next[place];
}

/* NULL: none waits there. */
static struct waiting *find(uintptr_t address)
{
    for (uint32_t link = *chain_of(address); link; link = next[link - 1])
        if (queue[link - 1].block.address == address)
            return &queue[link - 1];
    return NULL;
}

/* A block without bytes takes room as well. */
static uint64_t room_of(const struct waiting *waiting)
{
    return waiting->block.size + sizeof(uintptr_t);
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

bool quarantine_put(struct guard *guard UNUSED, const struct waiting *waiting)
{
    if (waiting->block.size > QUARANTINE_LARGEST || room_of(waiting) > most)
        return false;
    struct locked locked = lock_take(&lock);
    bool put = count < places;
    if (put) {
        *at(first + count) = *waiting;
        link_in(first + count++);
        bytes += room_of(waiting);
    }
    lock_give(&locked);
    return put;
}

/* The one at the front goes; the lock is held. */
static void drop_first(void)
{
    if (at(first)->pointer) {
        bytes -= room_of(at(first));
        link_out(first);
    }
    first++;
    count--;
}

void *quarantine_surplus(struct guard *guard UNUSED)
{
    void *pointer = NULL;
    struct locked locked = lock_take(&lock);
    while (count && !pointer && (bytes > most || count == places || !at(first)->pointer)) {
        pointer = at(first)->pointer;
        drop_first();
    }
    lock_give(&locked);
    return pointer;
}

bool quarantine_find(struct guard *guard UNUSED, uintptr_t address, bool take, struct waiting *out)
{
    struct locked locked = lock_take(&lock);
    struct waiting *waiting = most ? find(address) : NULL;
    if (waiting)
        *out = *waiting;
    if (waiting && take) {
        bytes -= room_of(waiting);
        link_out(waiting - queue);
        waiting->pointer = NULL; /* its place goes when its turn comes */
    }
    lock_give(&locked);
    return waiting != NULL;
}

bool quarantine_check(void)
{
    uint64_t sum = 0, linked = 0, waiting = 0;
    for (uint64_t i = first; i < first + count; i++) {
        if (!at(i)->pointer)
            continue;
        sum += room_of(at(i));
        waiting++;
        if (find(at(i)->block.address) != at(i))
            return false;
    }
    for (uint64_t i = 0; i < 1ull << chain_bits; i++)
        for (uint32_t link = chains[i]; link; link = next[link - 1])
            linked++;
    return sum == bytes && count <= places && linked == waiting;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(quarantine, &lock)

void quarantine_fork_child(void)
{
    lock.word = 0;
}
