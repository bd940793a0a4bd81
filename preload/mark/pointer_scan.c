/* pointer_scan.c - reads all small blocks in address order before marking, and records to which
 * blocks they point.
 *
 * The processor prefetches sequential reads, but not across pages: so the first word of a later
 * block is prefetched, and its TLB entry is present when the scan comes to that block. */
#include "preload/mark/mark_passes.h"
#include "preload/mark/prefetch_ring.h"

/* Size of the largest block that is scanned; pointer_scan_find_word reads it again for each step of
 * a path. */
#define MAX_SCANNED 4096
#define SMALL_BLOCK 512 /* size in bytes of a few cache lines, which are fetched together */
#define MAX_WASTED (512u << 10)
#define BLOCKS_AHEAD 16 /* distance in blocks at which the scan prefetches a block */

struct pointer_scan {
    struct reach *reach;
    struct recent_edges recent;
    /* Bytes of blocks above SMALL_BLOCK that were scanned in vain (they became SCAN_UNREAD), less
     * the bytes of such blocks that were scanned with success. */
    uint64_t wasted;
    bool failed;
    struct prefetch_ring ring;
};

/* Says whether the memory suffices for an array of count elements: an array that only saves time
 * may take at most a quarter of the memory that is left. */
static bool is_affordable(const struct reach *reach, uint64_t count, size_t each)
{
    return count <= (reach->arena.most - reach->arena.used) / 4 / each;
}

static ALWAYS_INLINE void add_target(struct pointer_scan *scan, uint32_t to)
{
    struct scan_array *targets = &scan->reach->targets;
    uint32_t *place = NULL;
    if (likely(targets->count < targets->capacity) ||
        (targets->count < UINT32_MAX / 2 &&
         is_affordable(scan->reach, 2 * targets->count, sizeof *place)))
        place = scan_array_push(&scan->reach->arena, targets, sizeof *place);
    if (likely(place))
        *place = to;
    else
        scan->failed = true;
}

/* Records that block "from" points to another one, its target. Words leave the prefetch ring in the
 * order in which they entered it, so if "from" already has targets, they are the last ones in the
 * array. */
static ALWAYS_INLINE void visit_target(void *context, uintptr_t pointer, uint32_t number,
                                       uint32_t from, uint32_t at UNUSED)
{
    struct pointer_scan *scan = context;
    struct reach *reach = scan->reach;
    struct pointer_targets *row = &reach->targets_of[from];
    if (number == from || row->count == SCAN_UNREAD || scan->failed)
        return;
    if (unlikely(pointer != node_address(&reach->nodes[number]))) {
        reach->targets.count -= row->count > 1 ? row->count : 0;
        row->count = SCAN_UNREAD;
        uint64_t size = node_size(reach, &reach->nodes[from]);
        scan->wasted += size > SMALL_BLOCK ? 2 * size : 0;
        return;
    }
    if (!recent_edges_add(&scan->recent, from, number))
        return;
    uint32_t before = row->first;
    if (row->count == 0)
        row->first = number;
    if (row->count == 1) {
        row->first = (uint32_t)reach->targets.count;
        add_target(scan, before);
    }
    if (row->count++)
        add_target(scan, number);
}

static ALWAYS_INLINE unsigned scan_block(struct pointer_scan *scan,
                                         const struct pointer_filter *filter, uint32_t number)
{
    struct node_words words = node_words_first(scan->reach, number);
    return ring_scan_filtered(&scan->ring, scan->reach, filter, &words, number, visit_target, scan);
}

/* Says whether to scan a block. The targets of blocks that were lost before are not needed. Arenas
 * are full of interior pointers, which the scan cannot judge: if most blocks above SMALL_BLOCK have
 * such pointers, marking reads all of these blocks instead. */
static ALWAYS_INLINE bool should_scan(struct pointer_scan *scan, const struct mark_node *node)
{
    uint32_t size = node->size;
    if (likely(size <= SMALL_BLOCK))
        return !node_verdict(node);
    if (size > MAX_SCANNED || node_verdict(node) || scan->wasted > MAX_WASTED)
        return false;
    scan->wasted -= size < scan->wasted ? size : scan->wasted;
    return true;
}

static void scan_all(struct pointer_scan *scan, const struct pointer_filter *given)
{
    struct reach *reach = scan->reach;
    const struct pointer_filter filter = *given;
    for (uint32_t i = 0; i < reach->count && !scan->failed; i++) {
        struct mark_node *node = &reach->nodes[i];
        if (likely(reach->count - i > BLOCKS_AHEAD))
            __builtin_prefetch((const void *)node_address(&node[BLOCKS_AHEAD]));
        bool wanted = should_scan(scan, node);
        reach->targets_of[i] = (struct pointer_targets){.count = wanted ? 0 : SCAN_UNREAD};
        if (wanted)
            node_change_state(node, 0, scan_block(scan, &filter, i));
    }
    ring_drain(&scan->ring, reach, visit_target, scan);
}

static void leave_to_marking(struct reach *reach)
{
    for (uint32_t i = 0; i < reach->count; i++)
        reach->targets_of[i] = (struct pointer_targets){.count = SCAN_UNREAD};
}

void pointer_scan_run(struct reach *reach, const struct pointer_filter *filter)
{
    struct pointer_scan scan = {.reach = reach};
    scan.ring.row = (const char *)reach->nodes;
    scan.ring.row_size = sizeof *reach->nodes;
    reach->targets_source = NODE_NONE;
    if (!is_affordable(reach, reach->count, sizeof *reach->targets_of))
        return;
    reach->targets_of = scan_arena_map_raw(&reach->arena, reach->count, sizeof *reach->targets_of);
    if (!reach->targets_of)
        return;
    if (reach->outer) {
        leave_to_marking(reach);
        return;
    }
    if (is_affordable(reach, reach->count, sizeof(uint32_t)))
        scan_array_reserve(&reach->arena, &reach->targets, reach->count, sizeof(uint32_t));
    scan_all(&scan, filter);
    if (scan.failed)
        pointer_scan_end(reach);
}

void pointer_scan_end(struct reach *reach)
{
    scan_array_free(&reach->arena, &reach->targets);
    scan_arena_unmap(&reach->arena, reach->targets_of);
    reach->targets_of = NULL;
}

uint64_t pointer_scan_find_word(const struct reach *reach, uint32_t from, uint32_t to)
{
    const struct mark_node *node = &reach->nodes[from];
    const uintptr_t *words = (const uintptr_t *)node_address(node);
    uint64_t at = 0, last = node_size(reach, node) / WORD - 1;
    while (at < last && node_pointer(words[at]) != node_address(&reach->nodes[to]))
        at++;
    return at;
}
