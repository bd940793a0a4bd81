#include "preload/counts.h"
#include "preload/atomic.h"
#include "preload/sites.h"
#include "preload/store.h"
#include "preload/threads.h"

#define TRIES 8

static void add_slots(const struct thread *thread, void *context)
{
    struct leak_counts *sum = context;
    const struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    for (uint32_t i = 0; memory && i < memory->count; i++)
        if (load_acquire(&memory->slot[i].site))
            *sum = sites_sum(sum, &memory->slot[i].counts);
}

/* A fold that is under way, or was meanwhile, may count twice or not at all: then once more. */
struct leak_counts counts_of_process(struct guard *guard UNUSED)
{
    struct leak_counts sum = {0};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = load_acquire(&store_header->folds);
        sum = (struct leak_counts){0};
        threads_each(add_slots, &sum);
        for (uint32_t site = 1, last = sites_last(); site <= last; site++) {
            struct leak_counts counts = sites_counts(site);
            sum = sites_sum(&sum, &counts);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && before == load_relaxed(&store_header->folds))
            break;
    }
    return sum;
}

bool counts_of_thread(struct guard *guard, struct leak_counts *out)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (!thread)
        return false;
    *out = thread->slots.folded;
    if (!thread->stand_in)
        add_slots(thread, out);
    threads_done(thread, &shared);
    return !thread->stand_in;
}
