#include "preload/slots.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/sites.h"
#include "preload/store.h"

/* Pages of a cache, by size class: 82, 338, 1 362 and 5 458 slots. */
static const uint8_t class_pages_log2[] = {0, 2, 4, 6};
#define CLASSES ARRAY_LENGTH(class_pages_log2)

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
    if (memory)
        free_list[size_class] = (struct leak_slots *)memory->reserved[0];
    lock_give(&locked);
    if (memory)
        return memory;
    memory = store_chunk(LEAK_CHUNK_SLOTS, payload_of(size_class), 0);
    if (memory)
        store_release(&memory->count, (uint32_t)((payload_of(size_class) - sizeof *memory) /
                                                 sizeof memory->slot[0]));
    return memory;
}

bool slots_open(struct guard *guard UNUSED, struct slots *slots, uint32_t serial)
{
    slots->serial = serial;
    slots->evictions = 0;
    slots->size_class = 0;
    slots->memory = obtain(0);
    if (!slots->memory)
        return false;
    store_release(&slots->memory->thread, serial);
    return true;
}

/* Folds everything and leaves the cache to others. */
static void give_up(struct guard *guard, struct leak_slots *memory, unsigned size_class,
                    uint32_t serial)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->slot[i].site)
            sites_fold(guard, &memory->slot[i], serial);
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
    give_up(guard, memory, slots->size_class, slots->serial);
}

static void grow(struct guard *guard, struct slots *slots)
{
    struct leak_slots *old = slots->memory, *larger = obtain(slots->size_class + 1);
    slots->evictions = 0;
    if (!larger)
        return;
    /* First the new one: a handler may longjmp away as soon as a lock is given. */
    store_release(&larger->thread, slots->serial);
    slots->memory = larger;
    give_up(guard, old, slots->size_class++, slots->serial);
}

static NOINLINE struct leak_slot *take_over(struct guard *guard, struct slots *slots,
                                            struct leak_slot *pair, uint32_t site)
{
    struct leak_slot *slot = !pair[0].site ? &pair[0] : !pair[1].site ? &pair[1] : NULL;
    if (!slot) {
        /* Four times round the cache and still no peace: it is too small for this thread. */
        if (++slots->evictions > 4 * slots->memory->count && slots->size_class + 1u < CLASSES) {
            grow(guard, slots);
            return slots_find(guard, slots, site);
        }
        slot = &pair[slots->sequence & 1];
        sites_fold(guard, slot, slots->serial);
    }
    slot->seq = ++slots->sequence & 0x7fffffff;
    slot->last = 0;
    store_release(&slot->site, site); /* counts are zero: readers may come */
    return slot;
}

struct leak_slot *slots_find(struct guard *guard, struct slots *slots, uint32_t site)
{
    struct leak_slots *memory = slots->memory;
    uint64_t hash = hash_u64(site) & UINT32_MAX;
    struct leak_slot *pair = &memory->slot[hash * (memory->count / 2) >> 32 << 1];
    if (likely(pair[0].site == site))
        return &pair[0];
    if (likely(pair[1].site == site))
        return &pair[1];
    return take_over(guard, slots, pair, site);
}

void slots_fork_lock(void)
{
    lock_take_raw(&free_lock);
}

void slots_fork_unlock(void)
{
    lock_give_raw(&free_lock);
}

void slots_fork_child(void)
{
    free_lock.word = 0;
    memset(free_list, 0, sizeof free_list);
}
