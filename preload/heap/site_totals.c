/* site_totals.c - adds up the counters of sites and threads. */
#include "preload/heap/site_totals.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/contexts/sites.h"
#include "preload/heap/threads.h"
#include "preload/store/store.h"

#include <limits.h>

#define SITE_TRIES 4
#define TOTALS_TRIES 8
#define ANY_TAG UINT_MAX

/* ---- Totals of one site ---------------------------------------------------------------------- */

struct adding {
    uint32_t site;
    struct leak_counts sum;
};

static void add_slots_of_site(const struct thread *thread, void *context)
{
    struct adding *adding = context;
    struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    if (!memory)
        return;
    /* The thread may replace its array of slots meanwhile, so the array and its number of slots are
     * read through one pointer. */
    struct thread_counters slots = {.memory = memory, .pairs = memory->count / 2};
    const struct leak_slot *pair = thread_counters_pair(&slots, adding->site);
    for (int i = 0; i < 2; i++)
        if (load_acquire(&pair[i].site) == adding->site)
            adding->sum = sites_sum(&adding->sum, &pair[i].counts);
}

/* Returns the exact counts of a site. A fold, which moves the counts of a thread's slot to the
 * site, writes the site's counts before it clears the slot. So if the site's counts are the same
 * before and after the addition, no fold was seen half done. */
bool site_totals_read_site(struct guard *guard UNUSED, uint32_t site, struct leak_counts *counts)
{
    for (int i = 0; i < SITE_TRIES; i++) {
        struct leak_counts before = sites_counts(site);
        struct adding adding = {.site = site, .sum = before};
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        threads_each(add_slots_of_site, &adding);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        struct leak_counts after = sites_counts(site);
        if (memcmp(&before, &after, sizeof after) == 0) {
            *counts = adding.sum;
            return true;
        }
    }
    return false;
}

/* ---- Totals of all sites --------------------------------------------------------------------- */

static bool reserve_totals(struct site_totals *totals, uint32_t last)
{
    if (last < totals->room)
        return true;
    uint32_t room = round_up(last + last / 2 + 1, LEAK_PAGE / sizeof *totals->at);
    struct site_total *larger = arena_map(room * sizeof *larger);
    if (!larger)
        return false;
    if (totals->at) {
        memcpy(larger, totals->at, totals->room * sizeof *totals->at);
        arena_unmap(totals->at, totals->room * sizeof *totals->at);
    }
    totals->at = larger;
    totals->room = room;
    return true;
}

/* Adds the live blocks and bytes of one slot or of one site. Those of a slot may be negative,
 * because a thread may free blocks that others allocated; the sum over all threads is not. */
static void add_net_counts(struct site_totals *totals, uint32_t site,
                           const struct leak_counts *counts)
{
    if (site > totals->last)
        /* The site was created after the addition began. */
        return;
    totals->at[site].bytes += load_relaxed(&counts->bytes) - load_relaxed(&counts->freed_bytes);
    totals->at[site].blocks += load_relaxed(&counts->allocs) - load_relaxed(&counts->frees);
}

static void add_thread_slots(const struct thread *thread, void *context)
{
    struct site_totals *totals = context;
    const struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    totals->threads++;
    totals->work += memory ? memory->count : 0;
    for (uint32_t i = 0; memory && i < memory->count; i++) {
        uint32_t site = load_acquire(&memory->slot[i].site);
        if (site)
            add_net_counts(totals, site, &memory->slot[i].counts);
    }
}

bool site_totals_compute(struct guard *guard UNUSED, struct site_totals *totals)
{
    uint32_t last = sites_last();
    if (!reserve_totals(totals, last))
        return false;
    totals->last = last;
    totals->all.bytes = totals->all.blocks = 0;
    totals->threads = 0;
    totals->work = last;
    for (uint32_t site = 1; site <= last; site++)
        totals->at[site].bytes = totals->at[site].blocks = 0;
    threads_each(add_thread_slots, totals);
    for (uint32_t site = 1; site <= last; site++) {
        struct site_total *sum = &totals->at[site];
        struct leak_counts counts = sites_counts(site);
        add_net_counts(totals, site, &counts);
        /* A free may be read before its allocation was counted; then the sum is negative, and is
         * set to 0. */
        if ((int64_t)sum->bytes < 0)
            sum->bytes = 0;
        if ((int32_t)sum->blocks < 0)
            sum->blocks = 0;
        totals->all.bytes += sum->bytes;
        totals->all.blocks += sum->blocks;
    }
    return true;
}

/* ---- Keeping the largest sites --------------------------------------------------------------- */

static void sift_down(struct site_rank *top, size_t count, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && top[child + 1].size < top[child].size)
            child++;
        if (child >= count || top[i].size <= top[child].size)
            return;
        struct site_rank down = top[i];
        top[i] = top[child];
        top[child] = down;
        i = child;
    }
}

size_t site_totals_keep_largest(struct site_rank *top, size_t count, size_t room, uint32_t site,
                                uint64_t size)
{
    if (count < room) {
        top[count++] = (struct site_rank){site, size};
        for (size_t i = count == room ? count / 2 : 0; i-- > 0;)
            sift_down(top, count, i);
    } else if (size > top[0].size) {
        top[0] = (struct site_rank){site, size};
        sift_down(top, count, 0);
    }
    return count;
}

/* ---- Totals of the process, of a thread, of a tag -------------------------------------------- */

struct addition {
    struct leak_counts sum;
    unsigned tag; /* the tag whose allocations are added up; ANY_TAG: all */
};

static bool has_wanted_tag(const struct addition *addition, uint32_t site)
{
    return addition->tag == ANY_TAG || sites_tag(site) == addition->tag;
}

static void add_thread_counts(const struct thread *thread, void *context)
{
    struct addition *to = context;
    const struct leak_slots *memory = load_relaxed(&thread->slots.memory);
    for (uint32_t i = 0; memory && i < memory->count; i++) {
        uint32_t site = load_acquire(&memory->slot[i].site);
        if (site && has_wanted_tag(to, site))
            to->sum = sites_sum(&to->sum, &memory->slot[i].counts);
    }
}

static void add_folded_counts(struct addition *to)
{
    for (uint32_t site = 1, last = sites_last(); site <= last; site++) {
        struct leak_counts counts = sites_counts(site);
        if (has_wanted_tag(to, site))
            to->sum = sites_sum(&to->sum, &counts);
    }
}

/* Adds up the counts of all sites with a tag. Counts that a thread folds during the addition may be
 * counted twice or not at all; then the addition is repeated, up to TOTALS_TRIES times. */
static struct leak_counts sum_by_tag(unsigned tag)
{
    struct addition all = {.tag = tag};
    for (int i = 0; i < TOTALS_TRIES; i++) {
        uint64_t before = load_acquire(&store_header->folds);
        all.sum = (struct leak_counts){0};
        threads_each(add_thread_counts, &all);
        add_folded_counts(&all);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && before == load_relaxed(&store_header->folds))
            break;
    }
    return all.sum;
}

struct leak_counts totals_of_process(struct guard *guard UNUSED)
{
    return sum_by_tag(ANY_TAG);
}

struct leak_counts totals_of_tag(struct guard *guard UNUSED, unsigned tag)
{
    return sum_by_tag(tag);
}

bool totals_of_thread(struct guard *guard, struct leak_counts *out)
{
    struct locked shared;
    struct thread *thread = threads_self(guard, &shared);
    if (!thread)
        return false;
    struct addition mine = {.sum = thread->slots.folded, .tag = ANY_TAG};
    if (!thread->stand_in)
        add_thread_counts(thread, &mine);
    *out = mine.sum;
    threads_done(thread, &shared);
    return !thread->stand_in;
}
