/* held_at_once.c - finds a function whose blocks were all alive at one time; described in
 * records.h.
 */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

/* The least bytes and blocks that a function must have had at the peak to be reported. With fewer
 * bytes the heap is small, with fewer blocks the blocks are large. */
#define BYTES_LEAST (256 << 10)
#define BLOCKS_LEAST 1000
/* The least share (0 to 1) of all blocks that the function ever allocated which must have been
 * alive at one time. */
#define AT_ONCE_LEAST 0.9
/* The least share (0 to 1) of the heap's bytes that the function's blocks must have. */
#define OWN_LEAST 0.5
/* Up to this share of the function's blocks may be left at the end, or be freed early, without
 * changing the result: they may serve another purpose. */
#define STRAY 0.02
/* The end of a process is the last END_SHARE of its run time, or END_SECONDS if that is longer. */
#define END_SHARE 0.15
#define END_SECONDS 1.0
/* The heap begins to fall at the last time at which it has this share of the blocks of its peak. */
#define FALLEN 0.95
#define NANOSECONDS 1e9

struct held_sites {
    struct free_sites *frees;
    const struct store *store;
    uint32_t *next; /* index of a site -> index + 1 of the next site of the function */
    uint32_t first;
};

/* The blocks of a function that were live when the heap was largest. */
struct function_sum {
    const struct frame *frame;
    uint64_t bytes, blocks;
};

/* Returns the sites with live blocks when the heap was largest; count 0: this is not recorded. */
static const struct store_peak_site *peak_sites(const struct store *store,
                                                struct held_at_once *held,
                                                const struct process *process, size_t *count)
{
    const struct store_history *history = &store->history;
    struct store_peak_site *live;

    *count = 0;
    if (history->peak.bytes > process->live_bytes) {
        held->bytes = history->peak.bytes;
        held->blocks = history->peak.blocks;
        *count = history->peak_site_count;
        return history->peak_sites;
    }
    /* The heap never fell: it is largest now. */
    held->bytes = process->live_bytes;
    held->blocks = process->live_blocks;
    live = arena_alloc_array(store->mem, store->site_count, sizeof(*live));
    for (uint32_t i = 0; i < store->site_count; i++)
        if (store->sites[i].live_blocks)
            live[(*count)++] = (struct store_peak_site){i, store->sites[i].live_bytes,
                                                        store->sites[i].live_blocks};
    return live;
}

/* Finds the function that allocated most bytes of the sites in the list, the sites with live blocks
 * at the peak. */
static struct function_sum find_largest(struct held_sites *held_sites,
                                        const struct store_peak_site *sites, size_t count)
{
    struct function_sum *sums = arena_alloc_array(held_sites->store->mem, count, sizeof(*sums));
    struct function_sum found = {0};
    struct hashmap by_name = {0};
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = free_wrappers_place(
            &held_sites->frees->wrappers, held_sites->store->sites[sites[i].site].node);
        uint64_t *slot = frame ? hashmap_put(&by_name, frame->name_hash, NULL) : NULL;

        if (!slot)
            continue;
        if (!*slot) {
            sums[used].frame = frame;
            *slot = ++used;
        }
        sums[*slot - 1].bytes = add_saturating(sums[*slot - 1].bytes, sites[i].bytes);
        sums[*slot - 1].blocks = add_saturating(sums[*slot - 1].blocks, sites[i].blocks);
    }
    for (size_t i = 0; i < used; i++)
        if (sums[i].bytes > found.bytes)
            found = sums[i];
    hashmap_end(&by_name);
    return found;
}

/* Lists all sites of the function, also those without live blocks at the peak; returns the number
 * of blocks of these sites that are live at the end. */
static uint64_t list_sites(struct held_sites *held_sites, struct held_at_once *held)
{
    uint64_t left = 0;

    for (uint32_t i = 0; i < held_sites->store->site_count; i++) {
        const struct store_site *site = &held_sites->store->sites[i];
        const struct frame *frame =
            site->counts.allocs ? free_wrappers_place(&held_sites->frees->wrappers, site->node)
                                : NULL;

        if (!frame || frame->name_hash != held->frame->name_hash)
            continue;
        held_sites->next[i] = held_sites->first;
        held_sites->first = i + 1;
        held->own_of = add_saturating(held->own_of, site->counts.allocs);
        left = add_saturating(left, site->live_blocks);
    }
    return left;
}

/* Returns the time at which the heap began to fall and did not rise again. */
static uint64_t fall_ns(const struct store *store, const struct held_at_once *held)
{
    const struct store_history *history = &store->history;
    uint32_t tick = history->peak.tick;

    for (size_t i = 0; i < history->moment_count; i++)
        if (history->moments[i].tick > tick &&
            (double)history->moments[i].blocks >= FALLEN * (double)held->blocks)
            tick = history->moments[i].tick;
    return store_time_of_tick(store, tick);
}

static enum held_until held_until(const struct store *store, const struct process *process,
                                  const struct held_at_once *held, uint64_t left)
{
    double life = (double)(process->until_ns - process->started_ns) / NANOSECONDS;
    double late = life * END_SHARE > END_SECONDS ? life * END_SHARE : END_SECONDS;

    if ((double)left >= (1 - STRAY) * (double)held->own_of)
        return HELD_FOR_GOOD;
    if ((double)left > STRAY * (double)held->own_of || process->how != END_EXIT)
        return HELD_UNKNOWN;
    return (double)process->until_ns - (double)fall_ns(store, held) <= late * NANOSECONDS
               ? HELD_TO_EXIT
               : HELD_UNKNOWN;
}

static const struct frame *freed_in(struct held_sites *held_sites)
{
    struct site_list sites = {held_sites->first, held_sites->next};
    struct record record = {.kind = held_sites->store->sites[sites.first - 1].kind};

    free_sites_fill(held_sites->frees, sites, &record);
    return record.freed.places ? record.freed.place[0].frame : NULL;
}

/* Says whether the function's blocks are a large enough part of the heap. This is checked before
 * the stacks of all sites are resolved, which takes long. */
static bool is_large(const struct held_at_once *held)
{
    return (double)held->own_bytes >= OWN_LEAST * (double)held->bytes &&
           held->own_blocks >= BLOCKS_LEAST && held->own_bytes >= BYTES_LEAST;
}

static bool was_alive_at_once(const struct held_at_once *held)
{
    return held->own_of && (double)held->own_blocks >= AT_ONCE_LEAST * (double)held->own_of;
}

void held_at_once_fill(struct arena *mem, struct free_sites *frees, const struct store *store,
                       struct process *process)
{
    struct held_sites held_sites = {.frees = frees, .store = store};
    struct held_at_once held = {.of = process->allocations};
    struct function_sum largest;
    size_t count;
    uint64_t left;
    const struct store_peak_site *sites = peak_sites(store, &held, process, &count);

    if (!count || held.bytes < BYTES_LEAST || held.blocks < BLOCKS_LEAST || process->sample > 1 ||
        process->forked || process->late || process->how == END_EXEC || process->how == END_LOST)
        return;
    largest = find_largest(&held_sites, sites, count);
    if (!largest.frame)
        return;
    held.frame = largest.frame;
    held.own_bytes = largest.bytes;
    held.own_blocks = largest.blocks;
    if (!is_large(&held))
        return;
    held_sites.next = arena_alloc_array(store->mem, store->site_count, sizeof(*held_sites.next));
    left = list_sites(&held_sites, &held);
    if (!was_alive_at_once(&held))
        return;
    held.until = held_until(store, process, &held, left);
    if ((double)left <= STRAY * (double)held.own_of)
        held.freed_in = freed_in(&held_sites);
    process->held = arena_alloc(mem, sizeof(held));
    *(struct held_at_once *)process->held = held;
}
