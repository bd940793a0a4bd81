#include "preload/unwind/thread_counters.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"

/* Pages of a cache, by size class: 99, 406, 1 635 and 6 550 slots. */
static const uint8_t class_pages_log2[] = {0, 2, 4, 6};
#define CLASSES ARRAY_LENGTH(class_pages_log2)

/* Only that many threads may have the largest: the others stay within 128 KiB each. */
#define LARGEST_MOST 8
static uint32_t largest_made;

/* Free caches: linked through reserved[0]. */
static struct leak_slots *free_list[CLASSES];
static struct lock free_lock;

static uint64_t payload_of(unsigned size_class)
{
    return (LEAK_PAGE << class_pages_log2[size_class]) - sizeof(struct leak_chunk);
}

static struct leak_slots *obtain(unsigned size_class)
{
    struct locked locked = lock_take(&free_lock);
    struct leak_slots *memory = free_list[size_class];
    bool allowed = size_class + 1 < CLASSES || largest_made < LARGEST_MOST;
    if (memory)
        free_list[size_class] = (struct leak_slots *)memory->reserved[0];
    else
        largest_made += allowed && size_class + 1 == CLASSES;
    lock_give(&locked);
    if (memory || !allowed)
        return memory;
    memory = store_new_chunk(LEAK_CHUNK_SLOTS, payload_of(size_class), 0);
    if (memory)
        store_release(&memory->count, (uint32_t)((payload_of(size_class) - sizeof *memory) /
                                                 sizeof memory->slot[0]));
    return memory;
}

static void adopt(struct slots *slots, struct leak_slots *memory)
{
    store_release(&memory->thread, slots->serial);
    slots->memory = memory;
    slots->pairs = memory->count / 2;
    slots->newest = &memory->slot[0];
}

bool slots_open(struct guard *guard UNUSED, struct slots *slots, uint32_t serial)
{
    slots->serial = serial;
    slots->evictions = 0;
    slots->size_class = 0;
    slots->folded = (struct leak_counts){0};
    struct leak_slots *memory = obtain(0);
    slots->memory = NULL;
    if (!memory)
        return false;
    adopt(slots, memory);
    return true;
}

static void fold(struct guard *guard, struct slots *slots, struct leak_slots *memory,
                 struct leak_slot *slot)
{
    struct leak_counts counts = slot->counts;
    sites_fold(guard, memory, slot);
    slots->folded = sites_sum(&slots->folded, &counts);
}

/* Folds everything and leaves the cache to others. */
static void give_up(struct guard *guard, struct slots *slots, struct leak_slots *memory,
                    unsigned size_class)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->slot[i].site)
            fold(guard, slots, memory, &memory->slot[i]);
    store_release(&memory->thread, 0);
    struct locked locked = lock_take(&free_lock);
    memory->reserved[0] = (uintptr_t)free_list[size_class];
    free_list[size_class] = memory;
    lock_give(&locked);
}

void slots_close(struct guard *guard, struct slots *slots)
{
    struct leak_slots *memory = slots->memory;
    if (!memory)
        return;
    slots->memory = NULL;
    give_up(guard, slots, memory, slots->size_class);
}

static void grow(struct guard *guard, struct slots *slots)
{
    struct leak_slots *old = slots->memory, *larger = obtain(slots->size_class + 1);
    slots->evictions = 0;
    if (!larger)
        return;
    /* First the new one: a handler may longjmp away as soon as a lock is given. */
    adopt(slots, larger);
    give_up(guard, slots, old, slots->size_class++);
}

struct leak_slot *slots_take_over(struct guard *guard, struct slots *slots, uint32_t site)
{
    struct leak_slot *pair = slots_pair(slots, site);
    struct leak_slot *slot = !pair[0].site ? &pair[0] : !pair[1].site ? &pair[1] : NULL;
    if (!slot) {
        /* Four times round the cache and still no peace: it is too small for this thread. */
        if (++slots->evictions > 4 * slots->memory->count && slots->size_class + 1u < CLASSES) {
            grow(guard, slots);
            return slots_find(guard, slots, site);
        }
        slot = &pair[slots->evictions & 1];
        fold(guard, slots, slots->memory, slot);
    }
    slot->last = 0;
    store_release(&slot->site, site); /* counts are zero: readers may come */
    return slot;
}

LOCK_FOR_FORK(slots, &free_lock)

void slots_fork_child(void)
{
    free_lock.word = 0;
    largest_made = 0;
    memset(free_list, 0, sizeof free_list);
}
