/* dropped_pointers.c - finds the code that freed the owner of lost blocks; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

struct dropped_pointers dropped_pointers_begin(const struct store *store)
{
    const struct store_leak_check *look = store->look;
    struct dropped_pointers orphans = {.store = store};

    if (!look || !look->orphan_count)
        return orphans;
    orphans.first = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*orphans.first));
    orphans.next = array_grow(NULL, &(size_t){0}, look->orphan_count, sizeof(*orphans.next));
    memset(orphans.first, 0, store->site_count * sizeof(*orphans.first));
    for (size_t i = 0; i < look->orphan_count; i++) {
        if (!look->orphans[i].blocks)
            continue; /* the freed owner pointed to blocks of the site, but none of them is lost */
        orphans.next[i] = orphans.first[look->orphans[i].site];
        orphans.first[look->orphans[i].site] = (uint32_t)i + 1;
    }
    return orphans;
}

void dropped_pointers_end(struct dropped_pointers *orphans)
{
    free(orphans->first);
    free(orphans->next);
}

static const struct store_orphan *largest_pair(const struct dropped_pointers *orphans,
                                               struct site_list sites)
{
    const struct store_orphan *all = orphans->store->look->orphans, *found = NULL;

    for (uint32_t site = sites.first; site; site = sites.next[site - 1])
        for (uint32_t at = orphans->first[site - 1]; at; at = orphans->next[at - 1])
            if (!found || all[at - 1].blocks > found->blocks)
                found = &all[at - 1];
    return found;
}

static bool is_freed_by_same_function(struct free_sites *frees, const struct store_orphan *a,
                                      const struct store_orphan *b)
{
    const struct frame *one = free_wrappers_place(&frees->wrappers, a->node),
                       *other = free_wrappers_place(&frees->wrappers, b->node);

    return !one || !other || one->name_hash == other->name_hash;
}

/* Finds an earlier owner of the record's blocks. A pair is a site of lost blocks and a freed block
 * that pointed to them. Returns the newest pair older than `pair` whose freed block pointed to as
 * many of the record's blocks and was freed in another function; NULL = none. */
static const struct store_orphan *earlier_pair(const struct dropped_pointers *orphans,
                                               struct free_sites *frees, struct site_list sites,
                                               const struct store_orphan *pair)
{
    const struct store_orphan *all = orphans->store->look->orphans, *found = NULL;

    for (uint32_t site = sites.first; site; site = sites.next[site - 1])
        for (uint32_t at = orphans->first[site - 1]; at; at = orphans->next[at - 1]) {
            /* all[] is in the order of time, so `one` < `pair` means that `one` is older */
            const struct store_orphan *one = &all[at - 1];

            if (one < pair && (!found || one > found) && one->blocks == pair->blocks &&
                !is_freed_by_same_function(frees, one, pair))
                found = one;
        }
    return found;
}

/* Skips members of class templates, outwards from index `at`, and returns the index of the user
 * frame behind them: the function that uses a container says more than the container's own
 * functions. Returns `at` if there is no such frame, or it is main. */
static size_t skip_template_members(const struct frame *const *frames, size_t count, size_t at)
{
    for (size_t i = at; i < count; i++) {
        if (frames[i]->role != FRAME_USER || !frames[i]->function)
            continue;
        if (!demangle_is_template_member(frames[i]->function))
            return strcmp(frames[i]->function, "main") == 0 ? at : i;
    }
    return at;
}

/* Returns the index of the user frame that freed the owner. It skips wrappers like my_free(),
 * unless there is no other user frame. */
static size_t freeing_frame(struct free_sites *frees, const struct orphaned *orphaned,
                            uint32_t node)
{
    const struct frame *place = free_wrappers_place(&frees->wrappers, node);
    size_t user = frame_first_user(orphaned->frames, orphaned->frame_count);

    for (size_t i = 0; place && i < orphaned->frame_count; i++)
        if (orphaned->frames[i] == place)
            return i;
    return user < orphaned->frame_count ? user : 0;
}

/* Says whether a member of a class template freed a block that a member of this template had
 * allocated. A container does so when it grows: it has copied its pointers to a larger block
 * before, so nothing was lost by that free. */
static bool is_moved(struct free_sites *frees, const struct dropped_pointers *orphans,
                     const struct store_orphan *pair)
{
    const struct frame *frames[TRACE_MAX],
        *freeing = free_wrappers_place(&frees->wrappers, pair->node);
    uint32_t ending;
    size_t count;

    if (pair->holder == STORE_NO_SITE || !freeing || !freeing->function ||
        !demangle_is_template_member(freeing->function))
        return false;
    count = signatures_node_frames(frees->signatures, orphans->store->sites[pair->holder].node,
                                   frames, &ending);
    for (size_t i = 0; i < count; i++)
        if (frames[i]->role == FRAME_USER && frames[i]->name_hash == freeing->name_hash)
            return true;
    return false;
}

/* Returns the frame of the function that allocated the owner. */
static const struct frame *holding_frame(struct free_sites *frees, uint32_t node)
{
    const struct frame *place = free_wrappers_place(&frees->wrappers, node), *frames[TRACE_MAX];
    uint32_t ending;
    size_t at = 0, count;

    if (!place || !place->function || !demangle_is_template_member(place->function))
        return place;
    count = signatures_node_frames(frees->signatures, node, frames, &ending);
    while (at < count && frames[at] != place)
        at++;
    return at < count ? frames[skip_template_members(frames, count, at)] : place;
}

static struct orphaned describe_pair(const struct dropped_pointers *orphans,
                                     struct free_sites *frees, const struct store_orphan *pair)
{
    struct orphaned orphaned = {0};
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;
    uint32_t ending;

    orphaned.frame_count = signatures_node_frames(frees->signatures, pair->node, found, &ending);
    if (!orphaned.frame_count)
        return orphaned;
    frames = arena_alloc_array(frees->mem, orphaned.frame_count, sizeof(*frames));
    memcpy(frames, found, orphaned.frame_count * sizeof(*frames));
    orphaned.frames = frames;
    orphaned.user = skip_template_members(frames, orphaned.frame_count,
                                          freeing_frame(frees, &orphaned, pair->node));
    orphaned.blocks = pair->blocks;
    if (pair->holder != STORE_NO_SITE)
        orphaned.holder = holding_frame(frees, orphans->store->sites[pair->holder].node);
    return orphaned;
}

void dropped_pointers_fill(const struct dropped_pointers *orphans, struct free_sites *frees,
                           struct site_list sites, struct record *record)
{
    const struct store_orphan *pair = orphans->first ? largest_pair(orphans, sites) : NULL;
    const struct store_orphan *earlier = pair ? earlier_pair(orphans, frees, sites, pair) : NULL;

    if (pair && is_moved(frees, orphans, pair))
        return;
    if (pair)
        record->orphaned = describe_pair(orphans, frees, pair);
    /* the function to fix is more likely the one that freed the owner without freeing these
     * blocks */
    if (record->orphaned.blocks && record->freed.places)
        record->freed.place[0].close = false;
    if (earlier && record->orphaned.blocks)
        record->earlier = describe_pair(orphans, frees, earlier);
}
