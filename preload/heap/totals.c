#include "preload/heap/totals.h"
#include "preload/base/base.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/heap/threads.h"

#include <limits.h>

#define TRIES 8

#define ANY_TAG UINT_MAX

struct addition {
    struct leak_counts sum;
    unsigned tag; /* or any */
};

static bool is_meant(const struct addition *addition, uint32_t site)
{
    return addition->tag == ANY_TAG || sites_tag(site) == addition->tag;
}

static void add_slots(const struct thread *thread, void *context)
{
    struct addition *to = context;
    const struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    for (uint32_t i = 0; memory && i < memory->count; i++) {
        uint32_t site = load_acquire(&memory->slot[i].site);
        if (site && is_meant(to, site))
            to->sum = sites_sum(&to->sum, &memory->slot[i].counts);
    }
}

static void add_sites(struct addition *to)
{
    for (uint32_t site = 1, last = sites_last(); site <= last; site++) {
        struct leak_counts counts = sites_counts(site);
        if (is_meant(to, site))
            to->sum = sites_sum(&to->sum, &counts);
    }
}

/* A fold that is under way, or was meanwhile, may count twice or not at all: then once more. */
static struct leak_counts add_up(unsigned tag)
{
    struct addition all = {.tag = tag};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = load_acquire(&store_header->folds);
        all.sum = (struct leak_counts){0};
        threads_each(add_slots, &all);
        add_sites(&all);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && before == load_relaxed(&store_header->folds))
            break;
    }
    return all.sum;
}

struct leak_counts counts_of_process(struct guard *guard UNUSED)
{
    return add_up(ANY_TAG);
}

struct leak_counts counts_of_tag(struct guard *guard UNUSED, unsigned tag)
{
    return add_up(tag);
}

bool counts_of_thread(struct guard *guard, struct leak_counts *out)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (!thread)
        return false;
    struct addition mine = {.sum = thread->slots.folded, .tag = ANY_TAG};
    if (!thread->stand_in)
        add_slots(thread, &mine);
    *out = mine.sum;
    threads_done(thread, &shared);
    return !thread->stand_in;
}
