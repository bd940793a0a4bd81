#include "preload/heap/site_totals.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/unwind/sites.h"
#include "preload/heap/threads.h"

#define TRIES 4

/* ---- One site ------------------------------------------------------------------------------ */

struct adding {
    uint32_t site;
    struct leak_counts sum;
};

static void add_counts(struct leak_counts *sum, const struct leak_counts *more)
{
    sum->allocs += load_relaxed(&more->allocs);
    sum->bytes += load_relaxed(&more->bytes);
    sum->frees += load_relaxed(&more->frees);
    sum->freed_bytes += load_relaxed(&more->freed_bytes);
}

static void add_slots(const struct thread *thread, void *context)
{
    struct adding *adding = context;
    struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    if (!memory)
        return;
    struct slots slots = {.memory = memory, .pairs = memory->count / 2}; /* one of each moment */
    const struct leak_slot *pair = slots_pair(&slots, adding->site);
    for (int i = 0; i < 2; i++)
        if (load_acquire(&pair[i].site) == adding->site)
            add_counts(&adding->sum, &pair[i].counts);
}

/* A fold writes the site's counts before it clears the slot: when they are the same before and
 * after, none was seen half. */
bool tally_site(struct guard *guard UNUSED, uint32_t site, struct leak_counts *counts)
{
    for (int i = 0; i < TRIES; i++) {
        struct leak_counts before = sites_counts(site);
        struct adding adding = {.site = site, .sum = before};
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        threads_each(add_slots, &adding);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        struct leak_counts after = sites_counts(site);
        if (memcmp(&before, &after, sizeof after) == 0) {
            *counts = adding.sum;
            return true;
        }
    }
    return false;
}

/* ---- All of them --------------------------------------------------------------------------- */

static bool has_room(struct tally *tally, uint32_t last)
{
    if (last < tally->room)
        return true;
    uint32_t room = round_up(last + last / 2 + 1, LEAK_PAGE / sizeof *tally->at);
    struct tally_sum *larger = arena_map(room * sizeof *larger);
    if (!larger)
        return false;
    if (tally->at) {
        memcpy(larger, tally->at, tally->room * sizeof *tally->at);
        arena_unmap(tally->at, tally->room * sizeof *tally->at);
    }
    tally->at = larger;
    tally->room = room;
    return true;
}

/* Net sums may be "negative" slot by slot; the site's sum is not. */
static void add_net(struct tally *tally, uint32_t site, const struct leak_counts *counts)
{
    if (site > tally->last)
        return; /* made meanwhile */
    tally->at[site].bytes += load_relaxed(&counts->bytes) - load_relaxed(&counts->freed_bytes);
    tally->at[site].blocks += load_relaxed(&counts->allocs) - load_relaxed(&counts->frees);
}

static void add_thread(const struct thread *thread, void *context)
{
    struct tally *tally = context;
    const struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    tally->threads++;
    tally->work += memory ? memory->count : 0;
    for (uint32_t i = 0; memory && i < memory->count; i++) {
        uint32_t site = load_acquire(&memory->slot[i].site);
        if (site)
            add_net(tally, site, &memory->slot[i].counts);
    }
}

bool tally_take(struct guard *guard UNUSED, struct tally *tally)
{
    uint32_t last = sites_last();
    if (!has_room(tally, last))
        return false;
    tally->last = last;
    tally->all.bytes = tally->all.blocks = 0;
    tally->threads = 0;
    tally->work = last;
    for (uint32_t site = 1; site <= last; site++)
        tally->at[site].bytes = tally->at[site].blocks = 0;
    threads_each(add_thread, tally);
    for (uint32_t site = 1; site <= last; site++) {
        struct tally_sum *sum = &tally->at[site];
        struct leak_counts counts = sites_counts(site);
        add_net(tally, site, &counts);
        /* A free may be counted before its allocation is seen: less than nothing is nothing. */
        if ((int64_t)sum->bytes < 0)
            sum->bytes = 0;
        if ((int32_t)sum->blocks < 0)
            sum->blocks = 0;
        tally->all.bytes += sum->bytes;
        tally->all.blocks += sum->blocks;
    }
    return true;
}

/* ---- The largest --------------------------------------------------------------------------- */

static void sink(struct tally_top *top, size_t count, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && top[child + 1].size < top[child].size)
            child++;
        if (child >= count || top[i].size <= top[child].size)
            return;
        struct tally_top down = top[i];
        top[i] = top[child];
        top[child] = down;
        i = child;
    }
}

size_t tally_keep(struct tally_top *top, size_t count, size_t room, uint32_t site, uint64_t size)
{
    if (count < room) {
        top[count++] = (struct tally_top){site, size};
        for (size_t i = count == room ? count / 2 : 0; i-- > 0;)
            sink(top, count, i);
    } else if (size > top[0].size) {
        top[0] = (struct tally_top){site, size};
        sink(top, count, 0);
    }
    return count;
}
