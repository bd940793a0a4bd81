/* thread_counters.c - allocates the slots of threads in the recording file, and folds slots into
 * their sites. */
#include "preload/contexts/thread_counters.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"

/* The binary logarithm of the number of pages of a thread's cache of slots, by size class. The
 * classes have 99, 406, 1,635 and 6,550 slots. */
static const uint8_t class_pages_log2[] = {0, 2, 4, 6};
#define CLASSES ARRAY_LENGTH(class_pages_log2)

/* The number of threads that may have a cache of the largest size, 256 KiB; the caches of all
 * others have at most 64 KiB. */
#define LARGEST_MOST 8
static uint32_t largest_made;

/* Lists of free caches by size class, linked through reserved[0]. */
static struct leak_slots *free_list[CLASSES];
static struct lock free_lock;

static uint64_t counters_payload(unsigned size_class)
{
    return (LEAK_PAGE << class_pages_log2[size_class]) - sizeof(struct leak_chunk);
}

static struct leak_slots *take_counters_memory(unsigned size_class)
{
    struct locked locked = lock_take(&free_lock);
    struct leak_slots *memory = free_list[size_class];
    bool allowed = size_class + 1 < CLASSES || largest_made < LARGEST_MOST;
    if (memory)
        free_list[size_class] = (struct leak_slots *)(uintptr_t)memory->reserved[0];
    else
        largest_made += allowed && size_class + 1 == CLASSES;
    lock_give(&locked);
    if (memory || !allowed)
        return memory;
    memory = store_new_chunk(LEAK_CHUNK_SLOTS, counters_payload(size_class), 0);
    if (memory)
        store_release(&memory->count, (uint32_t)((counters_payload(size_class) - sizeof *memory) /
                                                 sizeof memory->slot[0]));
    return memory;
}

static void use_counters_memory(struct thread_counters *slots, struct leak_slots *memory)
{
    store_release(&memory->thread, slots->serial);
    slots->memory = memory;
    slots->pairs = memory->count / 2;
    slots->newest = &memory->slot[0];
}

bool thread_counters_open(struct guard *guard UNUSED, struct thread_counters *slots,
                          uint32_t serial)
{
    slots->serial = serial;
    slots->evictions = 0;
    slots->size_class = 0;
    slots->folded = (struct leak_counts){0};
    struct leak_slots *memory = take_counters_memory(0);
    slots->memory = NULL;
    if (!memory)
        return false;
    use_counters_memory(slots, memory);
    return true;
}

static void fold_slot(struct guard *guard, struct thread_counters *slots, struct leak_slots *memory,
                      struct leak_slot *slot)
{
    struct leak_counts counts = slot->counts;
    sites_fold(guard, memory, slot);
    slots->folded = sites_sum(&slots->folded, &counts);
}

/* Folds all slots of a cache and puts its memory on the free list. */
static void fold_and_free_counters(struct guard *guard, struct thread_counters *slots,
                                   struct leak_slots *memory, unsigned size_class)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->slot[i].site)
            fold_slot(guard, slots, memory, &memory->slot[i]);
    store_release(&memory->thread, 0);
    struct locked locked = lock_take(&free_lock);
    memory->reserved[0] = (uintptr_t)free_list[size_class];
    free_list[size_class] = memory;
    lock_give(&locked);
}

void thread_counters_close(struct guard *guard, struct thread_counters *slots)
{
    struct leak_slots *memory = slots->memory;
    if (!memory)
        return;
    slots->memory = NULL;
    fold_and_free_counters(guard, slots, memory, slots->size_class);
}

static void grow_counters(struct guard *guard, struct thread_counters *slots)
{
    struct leak_slots *old = slots->memory, *larger = take_counters_memory(slots->size_class + 1);
    slots->evictions = 0;
    if (!larger)
        return;
    /* The new memory is installed first, because a signal handler may leave by longjmp as soon as a
     * lock is released. */
    use_counters_memory(slots, larger);
    fold_and_free_counters(guard, slots, old, slots->size_class++);
}

struct leak_slot *thread_counters_claim(struct guard *guard, struct thread_counters *slots,
                                        uint32_t site)
{
    struct leak_slot *pair = thread_counters_pair(slots, site);
    struct leak_slot *slot = !pair[0].site ? &pair[0] : !pair[1].site ? &pair[1] : NULL;
    if (!slot) {
        /* If slots were taken from another site so often (4 times for each slot), the cache is too
         * small for this thread. */
        if (++slots->evictions > 4 * slots->memory->count && slots->size_class + 1u < CLASSES) {
            grow_counters(guard, slots);
            return thread_counters_find(guard, slots, site);
        }
        slot = &pair[slots->evictions & 1];
        fold_slot(guard, slots, slots->memory, slot);
    }
    slot->last = 0;
    /* From here on readers of the file see the slot; its counts are 0. */
    store_release(&slot->site, site);
    return slot;
}

LOCK_FOR_FORK(thread_counters, &free_lock)

void thread_counters_fork_child(void)
{
    free_lock.word = 0;
    largest_made = 0;
    memset(free_list, 0, sizeof free_list);
}
