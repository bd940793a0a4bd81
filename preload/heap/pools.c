#include "preload/heap/pools.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

#define FIRST_PLACES 64 /* a power of two */
#define GONE UINTPTR_MAX

struct pool {
    uintptr_t address; /* 0: empty, GONE: somebody was here */
    uint32_t number;
    char name[LEAK_POOL_NAME];
};

static struct lock lock; /* guards what follows */
static struct pool *places;
static uint32_t capacity, used, here; /* used: with those that are gone */
static uint32_t *spare;               /* numbers that are free; room for one each place */
static uint32_t spares, last_number;

static struct leak_pool *told; /* in the store; NULL: none was told yet */
static uint32_t told_count;

static void copy_name(char *to, const char *name)
{
    size_t length = 0;
    while (length < LEAK_POOL_NAME - 1 && name[length])
        length++;
    memcpy(to, name, length);
    memset(to + length, 0, LEAK_POOL_NAME - length);
}

/* ---- The table ------------------------------------------------------------------------------ */

/* Where it is; else where it would go: the first place that is free for it. */
static struct pool *probe(uintptr_t address)
{
    struct pool *room = NULL;
    for (uint32_t at = hash_u64(address >> 3);; at++) {
        struct pool *place = &places[at & (capacity - 1)];
        if (place->address == address)
            return place;
        if (place->address == GONE && !room)
            room = place;
        if (!place->address)
            return room ? room : place;
    }
}

static bool rebuild(uint32_t more)
{
    struct pool *old = places, *made = arena_map(more * sizeof *made);
    uint32_t *numbers = arena_map(more * sizeof *numbers), old_capacity = capacity;
    if (!made || !numbers) {
        arena_unmap(made, made ? more * sizeof *made : 0);
        arena_unmap(numbers, numbers ? more * sizeof *numbers : 0);
        return false;
    }
    if (spares)
        memcpy(numbers, spare, spares * sizeof *numbers);
    places = made;
    capacity = more;
    used = here;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].address && old[i].address != GONE)
            *probe(old[i].address) = old[i];
    if (old) {
        arena_unmap(old, old_capacity * sizeof *old);
        arena_unmap(spare, old_capacity * sizeof *spare);
    }
    spare = numbers;
    return true;
}

static bool has_room(void)
{
    if (!capacity)
        return rebuild(FIRST_PLACES);
    if (used + 1 <= capacity / 4 * 3)
        return true;
    /* Numbers are given to those that are there or are spare: never more than places. */
    return rebuild(here > capacity / 8 * 3 ? capacity * 2 : capacity);
}

static struct pool *find(uintptr_t address)
{
    struct pool *place = capacity && address && address != GONE ? probe(address) : NULL;
    return place && place->address == address ? place : NULL;
}

static struct pool *add(uintptr_t address)
{
    if (!address || address == GONE || !has_room())
        return NULL;
    struct pool *place = probe(address);
    used += !place->address;
    here++;
    *place = (struct pool){.address = address, .number = spares ? spare[--spares] : ++last_number};
    return place;
}

static void remove_at(struct pool *place)
{
    place->address = GONE;
    here--;
}

uint32_t pools_create(struct guard *guard UNUSED, uintptr_t address, const char *name)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find(address);
    if (!pool)
        pool = add(address);
    if (pool && name)
        copy_name(pool->name, name);
    uint32_t number = pool ? pool->number : 0;
    lock_give(&locked);
    return number;
}

uint32_t pools_find(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find(address);
    uint32_t number = pool ? pool->number : 0;
    lock_give(&locked);
    return number;
}

bool pools_move(struct guard *guard UNUSED, uintptr_t from, uintptr_t to)
{
    struct locked locked = lock_take(&lock);
    bool room = has_room();
    struct pool *pool = find(from);
    bool moves = room && pool && to && to != GONE && !find(to);
    if (moves) {
        struct pool moved = *pool;
        moved.address = to;
        remove_at(pool);
        struct pool *place = probe(to);
        used += !place->address;
        here++;
        *place = moved;
    }
    lock_give(&locked);
    return moves;
}

void pools_remove(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find(address);
    if (pool) {
        spare[spares++] = pool->number;
        remove_at(pool);
    }
    lock_give(&locked);
}

/* ---- Names in the store --------------------------------------------------------------------- */

static uint32_t tell(const char *name)
{
    if (!told && !(told = store_new_chunk(LEAK_CHUNK_POOLS, LEAK_POOLS * sizeof *told, 0)))
        return 0;
    if (!told_count)
        store_publish(told, LEAK_POOLS * sizeof *told);
    for (uint32_t i = 0; i < told_count; i++)
        if (strncmp(told[i].name, name, LEAK_POOL_NAME) == 0)
            return i + 1;
    if (told_count == LEAK_POOLS)
        return 0;
    struct leak_pool *made = &told[told_count++];
    copy_name(made->name, name);
    store_release(&made->number, told_count); /* readers of the store take it from here */
    return told_count;
}

uint32_t pools_tell(struct guard *guard UNUSED, uint32_t number)
{
    struct locked locked = lock_take(&lock);
    uint32_t answer = 0;
    for (uint32_t i = 0; number && i < capacity; i++)
        if (places[i].address && places[i].address != GONE && places[i].number == number) {
            answer = places[i].name[0] ? tell(places[i].name) : 0;
            break;
        }
    lock_give(&locked);
    return answer;
}

const char *pools_told(uint32_t number)
{
    return number && number <= told_count ? told[number - 1].name : NULL;
}

bool pools_check(void)
{
    uint32_t count = 0, taken = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        const struct pool *pool = &places[i];
        taken += pool->address != 0;
        if (!pool->address || pool->address == GONE)
            continue;
        count++;
        if (find(pool->address) != pool || !pool->number || pool->number > last_number)
            return false;
    }
    return count == here && taken == used && used <= capacity && here + spares == last_number;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(pools, &lock)

void pools_fork_child(void)
{
    lock.word = 0;
    told = NULL;
    told_count = 0;
}
