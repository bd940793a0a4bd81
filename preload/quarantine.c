#include "preload/quarantine.h"
#include "preload/arena.h"
#include "preload/lock.h"

#define PLACES_LEAST 1024
#define PLACES_MOST (1u << 20)
#define BYTES_A_PLACE 64 /* of the limit: blocks are smaller than that on average in few programs  \
                          */

static struct lock lock;
static struct waiting *queue; /* a ring: [first, first + count) */
static uint64_t first, count, places;
static uint64_t bytes, most; /* waiting, and how many may */

static struct waiting *at(uint64_t index)
{
    return &queue[index % places];
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
    queue = arena_map(places * sizeof *queue);
    if (queue)
        most = limit;
    return queue != NULL;
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
        *at(first + count++) = *waiting;
        bytes += room_of(waiting);
    }
    lock_give(&locked);
    return put;
}

/* The one at the front goes; the lock is held. */
static void drop_first(void)
{
    if (at(first)->pointer)
        bytes -= room_of(at(first));
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
    bool found = false;
    struct locked locked = lock_take(&lock);
    for (uint64_t i = first; i < first + count && !found; i++) {
        struct waiting *waiting = at(i);
        if (!waiting->pointer || waiting->block.address != address)
            continue;
        found = true;
        *out = *waiting;
        if (take) {
            bytes -= room_of(waiting);
            waiting->pointer = NULL; /* its place goes when its turn comes */
        }
    }
    lock_give(&locked);
    return found;
}

bool quarantine_check(void)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += at(i)->pointer ? room_of(at(i)) : 0;
    return sum == bytes && count <= places;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

void quarantine_fork_lock(void)
{
    lock_take_raw(&lock);
}

void quarantine_fork_unlock(void)
{
    lock_give_raw(&lock);
}

void quarantine_fork_child(void)
{
    lock.word = 0;
}
