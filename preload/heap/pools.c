/* pools.c - the pools of the program's own allocators, as suballoc.h describes. */
#include "preload/heap/suballoc.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

#define FIRST_SLOTS 64 /* number of slots of the first hash table of pools, a power of two */
#define REMOVED UINTPTR_MAX

struct pool {
    /* The address that names the pool; 0: the slot is empty; REMOVED: the slot had a pool that was
     * removed. */
    uintptr_t address;
    uint32_t number;
    char name[LEAK_POOL_NAME];
};

static struct lock lock; /* guards the variables below */
static struct pool *slots;
/* Number of slots of the hash table; of slots that are not empty; of slots that have a pool. */
static uint32_t capacity, used, pool_count;
/* Numbers that removed pools had and later pools get; an array of "capacity" elements. */
static uint32_t *spare;
static uint32_t spares, last_number;

/* Array of the names of pools in the recording file; NULL: no name is there yet. */
static struct leak_pool *stored;
static uint32_t stored_count;

static void copy_name(char *to, const char *name)
{
    size_t length = 0;
    while (length < LEAK_POOL_NAME - 1 && name[length])
        length++;
    memcpy(to, name, length);
    memset(to + length, 0, LEAK_POOL_NAME - length);
}

/* ---- The table of pools ---------------------------------------------------------------------- */

/* Returns the slot of a pool, or the first slot where it can be inserted. */
static struct pool *probe_pool(uintptr_t address)
{
    struct pool *room = NULL;
    for (uint32_t at = hash_u64(address >> 3);; at++) {
        struct pool *place = &slots[at & (capacity - 1)];
        if (place->address == address)
            return place;
        if (place->address == REMOVED && !room)
            room = place;
        if (!place->address)
            return room ? room : place;
    }
}

static bool rebuild_pool_table(uint32_t more)
{
    struct pool *old = slots, *made = arena_map(more * sizeof *made);
    uint32_t *numbers = arena_map(more * sizeof *numbers), old_capacity = capacity;
    if (!made || !numbers) {
        arena_unmap(made, made ? more * sizeof *made : 0);
        arena_unmap(numbers, numbers ? more * sizeof *numbers : 0);
        return false;
    }
    if (spares)
        memcpy(numbers, spare, spares * sizeof *numbers);
    slots = made;
    capacity = more;
    used = pool_count;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].address && old[i].address != REMOVED)
            *probe_pool(old[i].address) = old[i];
    if (old) {
        arena_unmap(old, old_capacity * sizeof *old);
        arena_unmap(spare, old_capacity * sizeof *spare);
    }
    spare = numbers;
    return true;
}

static bool reserve_pool_slot(void)
{
    if (!capacity)
        return rebuild_pool_table(FIRST_SLOTS);
    if (used + 1 <= capacity / 4 * 3)
        return true;
    /* Each number belongs to a pool in a slot or is in "spare", so "capacity" elements suffice for
     * "spare". */
    return rebuild_pool_table(pool_count > capacity / 8 * 3 ? capacity * 2 : capacity);
}

static struct pool *find_pool(uintptr_t address)
{
    struct pool *place = capacity && address && address != REMOVED ? probe_pool(address) : NULL;
    return place && place->address == address ? place : NULL;
}

static struct pool *add_pool(uintptr_t address)
{
    if (!address || address == REMOVED || !reserve_pool_slot())
        return NULL;
    struct pool *place = probe_pool(address);
    used += !place->address;
    pool_count++;
    *place = (struct pool){.address = address, .number = spares ? spare[--spares] : ++last_number};
    return place;
}

static void remove_pool_at(struct pool *place)
{
    place->address = REMOVED;
    pool_count--;
}

uint32_t pools_create(struct guard *guard UNUSED, uintptr_t address, const char *name)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find_pool(address);
    if (!pool)
        pool = add_pool(address);
    if (pool && name)
        copy_name(pool->name, name);
    uint32_t number = pool ? pool->number : 0;
    lock_give(&locked);
    return number;
}

uint32_t pools_find(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find_pool(address);
    uint32_t number = pool ? pool->number : 0;
    lock_give(&locked);
    return number;
}

bool pools_move(struct guard *guard UNUSED, uintptr_t from, uintptr_t to)
{
    struct locked locked = lock_take(&lock);
    bool room = reserve_pool_slot();
    struct pool *pool = find_pool(from);
    bool moves = room && pool && to && to != REMOVED && !find_pool(to);
    if (moves) {
        struct pool moved = *pool;
        moved.address = to;
        remove_pool_at(pool);
        struct pool *place = probe_pool(to);
        used += !place->address;
        pool_count++;
        *place = moved;
    }
    lock_give(&locked);
    return moves;
}

void pools_remove(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    struct pool *pool = find_pool(address);
    if (pool) {
        spare[spares++] = pool->number;
        remove_pool_at(pool);
    }
    lock_give(&locked);
}

/* ---- Names of pools in the recording file ---------------------------------------------------- */

static uint32_t store_pool_name(const char *name)
{
    if (!stored && !(stored = store_new_chunk(LEAK_CHUNK_POOLS, LEAK_POOLS * sizeof *stored, 0)))
        return 0;
    if (!stored_count)
        store_publish(stored, LEAK_POOLS * sizeof *stored);
    for (uint32_t i = 0; i < stored_count; i++)
        if (strncmp(stored[i].name, name, LEAK_POOL_NAME) == 0)
            return i + 1;
    if (stored_count == LEAK_POOLS)
        return 0;
    struct leak_pool *made = &stored[stored_count++];
    copy_name(made->name, name);
    /* Makes the name visible to readers of the recording file. */
    store_release(&made->number, stored_count);
    return stored_count;
}

uint32_t pools_store_name(struct guard *guard UNUSED, uint32_t number)
{
    struct locked locked = lock_take(&lock);
    uint32_t answer = 0;
    for (uint32_t i = 0; number && i < capacity; i++)
        if (slots[i].address && slots[i].address != REMOVED && slots[i].number == number) {
            answer = slots[i].name[0] ? store_pool_name(slots[i].name) : 0;
            break;
        }
    lock_give(&locked);
    return answer;
}

const char *pools_stored_name(uint32_t number)
{
    return number && number <= stored_count ? stored[number - 1].name : NULL;
}

bool pools_check(void)
{
    uint32_t count = 0, taken = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        const struct pool *pool = &slots[i];
        taken += pool->address != 0;
        if (!pool->address || pool->address == REMOVED)
            continue;
        count++;
        if (find_pool(pool->address) != pool || !pool->number || pool->number > last_number)
            return false;
    }
    return count == pool_count && taken == used && used <= capacity &&
           pool_count + spares == last_number;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(pools, &lock)

void pools_fork_child(void)
{
    lock.word = 0;
    stored = NULL;
    stored_count = 0;
}
