/* dropped_pointers.c - scans freed blocks for pointers to live blocks, and records pairs (site of
 * the live block, site of the freed block, stack of the free). */
#include "preload/heap/dropped_pointers.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/base/lock.h"
#include "preload/interpose/libc_stream.h"

#define PAIRS 4096 /* number of slots of the table of dropped pointers, a power of two */
#define WAYS 8
/* Largest size of a freed block that is scanned; a larger block is a pool or a table, not an
 * object. */
#define HOLDER_MOST 8192
#define HOLDER_EDGE 256 /* bytes at the start and at the end of a freed block that are scanned */
#define CHILDREN 4      /* largest number of pointers of one freed block that are recorded */
/* Lower words are not pointers, because the first page is never mapped. */
#define ADDRESS_LEAST 4096
#define ADDRESS_END (1ull << 48)

static struct dropped_pair *pairs; /* the table of dropped pointers; NULL: none was recorded yet */
static struct lock lock;
static uint32_t recorded; /* number of dropped pointers that were ever recorded */

static uint32_t pair_home(uint32_t site, uint32_t holder, uint32_t node)
{
    return hash_u64(((uint64_t)site << 32 | holder) ^ hash_u64(node)) % PAIRS;
}

static struct dropped_pair *pair_at(uint32_t home, unsigned way)
{
    return &pairs[(home + way) % PAIRS];
}

static bool pair_matches(const struct dropped_pair *pair, uint32_t site, uint32_t holder,
                         uint32_t node)
{
    return pair->site == site && pair->holder == holder && pair->node == node;
}

/* Says whether the live block that was recorded last in a struct dropped_pair has been freed
 * since. */
static bool pair_is_stale(struct guard *guard, const struct dropped_pair *pair)
{
    const struct dropped_block *last = &pair->last[(pair->blocks - 1) % DROPPED_POINTERS_KEPT];
    struct block block;
    return !blocks_find(guard, last->address, &block) || block.count != last->count ||
           block.thread != last->thread;
}

/* Returns the slot of the struct dropped_pair with these sites and this node, or claims a slot for
 * it. NULL: each slot that it may use has another pair whose last block is still live. */
static struct dropped_pair *find_or_claim_pair(struct guard *guard, uint32_t site, uint32_t holder,
                                               uint32_t node)
{
    uint32_t home = pair_home(site, holder, node);
    struct dropped_pair *room = NULL;
    for (unsigned way = 0; way < WAYS; way++) {
        struct dropped_pair *at = pair_at(home, way);
        if (pair_matches(at, site, holder, node))
            return at;
        if (!room && !at->site)
            room = at;
    }
    for (unsigned way = 0; !room && way < WAYS; way++)
        if (pair_is_stale(guard, pair_at(home, way)))
            room = pair_at(home, way);
    if (room)
        *room = (struct dropped_pair){.site = site, .holder = holder, .node = node};
    return room;
}

static void record_dropped_block(struct guard *guard, const struct block *child, uint32_t holder,
                                 uint32_t node)
{
    struct locked locked = lock_take(&lock);
    if (unlikely(!pairs))
        pairs = arena_map(PAIRS * sizeof *pairs);
    struct dropped_pair *at = pairs ? find_or_claim_pair(guard, child->site, holder, node) : NULL;
    if (at) {
        at->when = ++recorded;
        at->last[at->blocks++ % DROPPED_POINTERS_KEPT] = (struct dropped_block){
            .address = child->address, .count = child->count, .thread = child->thread};
    }
    lock_give(&locked);
}

/* Returns the address that a word contains, while other threads may be writing to it. */
static uintptr_t read_pointer(const uintptr_t *word)
{
    return arch_address((const void *)load_relaxed(word));
}

/* Says whether the word at byte "at" of a freed block may be a pointer of the program. False: the
 * block is a FILE, and libc itself has written this word. */
static bool may_own(const struct block *holder, const void *content, size_t at)
{
    return holder->size < LIBC_STREAM_COOKIE + sizeof(void *) ||
           !libc_stream_is(content, holder->size) || libc_stream_word_is_programs(at);
}

void dropped_pointers_scan(struct guard *guard, struct thread *thread, const struct frame *caller,
                           const struct block *holder, const void *content, uint32_t *node)
{
    unsigned words = holder->size / sizeof(uintptr_t), edge = HOLDER_EDGE / sizeof(uintptr_t);
    unsigned kept = 0;
    struct block child;
    if (holder->size > HOLDER_MOST)
        return;
    for (unsigned i = 0; i < words && kept < CHILDREN; i++) {
        if (i == edge && words > 2 * edge)
            i = words - edge;
        uintptr_t address = read_pointer((const uintptr_t *)content + i);
        if (address < ADDRESS_LEAST || address >= ADDRESS_END ||
            !blocks_find(guard, address, &child) || !child.site ||
            !may_own(holder, content, i * sizeof address))
            continue;
        if (!*node && !(*node = capture_node(guard, thread, caller)))
            return;
        record_dropped_block(guard, &child, holder->site, *node);
        kept++;
    }
}

/* The numbers of the slots in use, in the order of dropped_pointers_sort. The table itself is not
 * sorted: a page that the child writes is copied. */
static uint16_t sorted[PAIRS];
static uint32_t sorted_count;
static bool is_sorted;

void dropped_pointers_sort(void)
{
    sorted_count = 0;
    for (uint32_t i = 0; pairs && i < PAIRS; i++)
        if (pairs[i].site)
            sorted[sorted_count++] = i;
    for (uint32_t gap = sorted_count / 2; gap; gap /= 2) /* Shell sort */
        for (uint32_t i = gap; i < sorted_count; i++) {
            uint16_t item = sorted[i];
            uint32_t k = i;
            for (; k >= gap && pairs[sorted[k - gap]].when > pairs[item].when; k -= gap)
                sorted[k] = sorted[k - gap];
            sorted[k] = item;
        }
    is_sorted = true;
}

const struct dropped_pair *dropped_pointers_next(uint32_t *at)
{
    if (is_sorted)
        return *at < sorted_count ? &pairs[sorted[(*at)++]] : NULL;
    while (pairs && *at < PAIRS)
        if (pairs[(*at)++].site)
            return &pairs[*at - 1];
    return NULL;
}

bool dropped_pointers_check(void)
{
    const struct dropped_pair *pair;
    for (uint32_t at = 0; (pair = dropped_pointers_next(&at));) {
        uint32_t home = pair_home(pair->site, pair->holder, pair->node);
        unsigned found = 0;
        for (unsigned way = 0; way < WAYS; way++)
            if (pair_matches(pair_at(home, way), pair->site, pair->holder, pair->node))
                found += pair_at(home, way) == pair ? 1 : 2;
        if (found != 1 || !pair->blocks)
            return false;
    }
    return true;
}

LOCK_FOR_FORK(dropped_pointers, &lock)

void dropped_pointers_fork_child(void)
{
    lock.word = 0;
    if (pairs) /* the sites and nodes in the pairs belong to the parent's recording file */
        arena_unmap(pairs, PAIRS * sizeof *pairs);
    pairs = NULL;
}
