#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "leak_store.h"

/* The largest number of ranges that are recorded, enough for 4 GiB in ranges of 64 KiB; if more are
 * mapped, owned_lost is set. */
#define OWNED_MOST (1u << 16)

static uint64_t limit, used, charged;

/* The ranges of the runtime's own memory, unordered. The lock guards all variables below. */
static struct lock lock;
static struct owned {
    uintptr_t start;
    size_t size; /* 0: the slot is free */
    /* True: the arena mapped the range and counts it in "used"; false: mapped by other means. */
    bool counted;
} * owned;
/* The number of slots of the table up to the last one in use, and of the free slots among them. */
static uint32_t owned_used, owned_free;
static bool owned_lost; /* true: a range could not be recorded, because the table was full */

static void record_range(const void *memory, size_t size, bool counted)
{
    struct locked locked = lock_take(&lock);
    uint32_t at = owned_used;
    if (!owned)
        owned = sys_map_lazily(OWNED_MOST * sizeof *owned);
    if (owned_free) {
        /* The newest ranges are unmapped soonest: search for a free slot from the end. */
        while (owned[--at].size)
            continue;
        owned_free--;
    } else if (owned && owned_used < OWNED_MOST) {
        owned_used++;
    } else {
        owned_lost = true;
    }
    if (!owned_lost)
        owned[at] = (struct owned){(uintptr_t)memory, size, counted};
    lock_give(&locked);
}

void arena_register(const void *memory, size_t size)
{
    record_range(memory, size, false);
}

void arena_unregister(const void *memory)
{
    struct locked locked = lock_take(&lock);
    for (uint32_t at = owned_used; at--;)
        if (owned[at].start == (uintptr_t)memory && owned[at].size) {
            owned[at].size = 0;
            owned_free++;
            break;
        }
    while (owned_used && !owned[owned_used - 1].size) {
        owned_used--;
        owned_free--;
    }
    lock_give(&locked);
}

bool arena_each_range(void (*visit)(uintptr_t start, size_t size, void *context), void *context)
{
    if (owned)
        visit((uintptr_t)owned, OWNED_MOST * sizeof *owned, context);
    for (uint32_t at = 0; at < owned_used; at++)
        if (owned[at].size)
            visit(owned[at].start, owned[at].size, context);
    return !owned_lost;
}

static void note_if_first(struct arena_range *first, uintptr_t above, uintptr_t start, size_t size)
{
    if (start + size > above && (!first->size || start < first->start))
        *first = (struct arena_range){start, size};
}

struct arena_range arena_next_range(uintptr_t above)
{
    struct arena_range first = {0, 0};
    struct locked locked = lock_take(&lock);
    if (owned)
        note_if_first(&first, above, (uintptr_t)owned, OWNED_MOST * sizeof *owned);
    for (uint32_t at = 0; at < owned_used; at++)
        if (owned[at].size)
            note_if_first(&first, above, owned[at].start, owned[at].size);
    lock_give(&locked);
    return first;
}

LOCK_FOR_FORK(arena, &lock)

void arena_fork_child(void)
{
    lock.word = 0;
}

void arena_set_limit(uint64_t bytes)
{
    limit = bytes;
}

static bool count_used(uint64_t bytes)
{
    uint64_t before = add_relaxed(&used, bytes);
    if (likely(!limit || before + bytes <= limit))
        return true;
    sub_relaxed(&used, bytes);
    return false;
}

bool arena_charge(uint64_t bytes)
{
    if (!count_used(bytes))
        return false;
    add_relaxed(&charged, bytes);
    return true;
}

void arena_discharge(uint64_t bytes)
{
    sub_relaxed(&charged, bytes);
    sub_relaxed(&used, bytes);
}

void *arena_map(size_t size)
{
    size = round_up(size, LEAK_PAGE);
    if (!count_used(size))
        return NULL;
    void *memory = sys_map(size);
    if (memory)
        record_range(memory, size, true);
    else
        sub_relaxed(&used, size);
    return memory;
}

void arena_unmap(void *memory, size_t size)
{
    if (!memory)
        return;
    size = round_up(size, LEAK_PAGE);
    /* Before sys_unmap: afterwards another thread could map the same range. */
    arena_unregister(memory);
    sys_unmap(memory, size);
    sub_relaxed(&used, size);
}

uint64_t arena_used(void)
{
    return load_relaxed(&used);
}

bool arena_balance(struct leak_own *sums)
{
    struct locked locked = lock_take(&lock);
    *sums = (struct leak_own){.used = load_relaxed(&used), .charged = load_relaxed(&charged)};
    for (uint32_t at = 0; at < owned_used; at++)
        sums->mapped += owned[at].counted ? owned[at].size : 0;
    lock_give(&locked);
    return !owned_lost;
}
