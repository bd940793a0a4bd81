#include "preload/heap/dropped_pointers.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/base/lock.h"
#include "preload/heap/rank_index.h"

#define PLACES 4096 /* a power of two */
#define WAYS 8
#define HOLDER_MOST 512 /* bytes: a larger block is a pool or a table, and no object's */
#define CHILDREN 4      /* of one holder that are kept */

static struct orphan *places; /* from the first one on */
static struct lock lock;

static uint32_t home_of(uint32_t site, uint32_t holder, uint32_t node)
{
    return hash_u64(((uint64_t)site << 32 | holder) ^ hash_u64(node)) % PLACES;
}

static struct orphan *way_of(uint32_t home, unsigned way)
{
    return &places[(home + way) % PLACES];
}

static bool is_pair(const struct orphan *orphan, uint32_t site, uint32_t holder, uint32_t node)
{
    return orphan->site == site && orphan->holder == holder && orphan->node == node;
}

/* Is the last block that this pair was seen for gone? */
static bool is_over(struct guard *guard, const struct orphan *orphan)
{
    const struct orphan_block *last = &orphan->last[(orphan->blocks - 1) % ORPHANS_KEPT];
    struct block block;
    return !blocks_find(guard, last->address, &block) || block.count != last->count ||
           block.thread != last->thread;
}

/* The pair's place, or one for it; NULL: all are taken by pairs that matter. */
static struct orphan *place_for(struct guard *guard, uint32_t site, uint32_t holder, uint32_t node)
{
    uint32_t home = home_of(site, holder, node);
    struct orphan *room = NULL;
    for (unsigned way = 0; way < WAYS; way++) {
        struct orphan *at = way_of(home, way);
        if (is_pair(at, site, holder, node))
            return at;
        if (!room && !at->site)
            room = at;
    }
    for (unsigned way = 0; !room && way < WAYS; way++)
        if (is_over(guard, way_of(home, way)))
            room = way_of(home, way);
    if (room)
        *room = (struct orphan){.site = site, .holder = holder, .node = node};
    return room;
}

static void keep(struct guard *guard, const struct block *child, uint32_t holder, uint32_t node)
{
    struct locked locked = lock_take(&lock);
    if (unlikely(!places))
        places = arena_map(PLACES * sizeof *places);
    struct orphan *at = places ? place_for(guard, child->site, holder, node) : NULL;
    if (at)
        at->last[at->blocks++ % ORPHANS_KEPT] = (struct orphan_block){
            .address = child->address, .count = child->count, .thread = child->thread};
    lock_give(&locked);
}

/* Where the word points, if anywhere. Other threads may write to it: it is not ours to wonder. */
static uintptr_t pointed_by(const uintptr_t *word)
{
    return arch_address((const void *)load_relaxed(word));
}

void orphans_look(struct guard *guard, struct thread *thread, const struct frame *caller,
                  const struct block *holder, const void *content, uint32_t *node)
{
    unsigned words = holder->size / sizeof(uintptr_t), kept = 0;
    struct block child;
    if (holder->size > HOLDER_MOST)
        return;
    for (unsigned i = 0; i < words && kept < CHILDREN; i++) {
        uintptr_t address = pointed_by((const uintptr_t *)content + i);
        if (address < 4096 || address >= PLACES_END || !blocks_find(guard, address, &child) ||
            !child.site)
            continue;
        if (!*node && !(*node = capture_node(guard, thread, caller)))
            return;
        keep(guard, &child, holder->site, *node);
        kept++;
    }
}

const struct orphan *orphans_next(uint32_t *at)
{
    while (places && *at < PLACES)
        if (places[(*at)++].site)
            return &places[*at - 1];
    return NULL;
}

bool orphans_check(void)
{
    const struct orphan *orphan;
    for (uint32_t at = 0; (orphan = orphans_next(&at));) {
        uint32_t home = home_of(orphan->site, orphan->holder, orphan->node);
        unsigned found = 0;
        for (unsigned way = 0; way < WAYS; way++)
            if (is_pair(way_of(home, way), orphan->site, orphan->holder, orphan->node))
                found += way_of(home, way) == orphan ? 1 : 2;
        if (found != 1 || !orphan->blocks)
            return false;
    }
    return true;
}

LOCK_FOR_FORK(orphans, &lock)

void orphans_fork_child(void)
{
    lock.word = 0;
    if (places) /* sites and nodes are the parent's */
        arena_unmap(places, PLACES * sizeof *places);
    places = NULL;
}
