/* context_tree.c - stores nodes in the recording file and finds them by the hash of their path;
 * gives whole stacks their numbers. */
#include "preload/contexts/context_tree.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/wide.h"
#include "preload/store/segmented_array.h"
#include "preload/contexts/sites.h"
#include "preload/contexts/stack_table.h"
#include "preload/contexts/table_regions.h"
#include "preload/store/store.h"

#define STRIPES TABLE_STRIPES

_Static_assert(LEAK_KIND_MAX - 1 <= 1 << LEAK_TAG_SHIFT, "a sort has no room for its kind");
_Static_assert((LEAK_TAGS << LEAK_TAG_SHIFT) + LEAK_KIND_MAX - 1 < LEAK_PC_FREE,
               "a sort has no room for its tag");

/* The parts of an index slot: id of a node (26 bits), stamp (6 bits of the hash of the node's
 * path); 0: the slot is empty. So a recording file has at most 2^26 nodes. */
#define ID_BITS LEAK_NODE_BITS
#define ID_MOST LEAK_NODE_MOST

/* The tables of the index, one for each stripe. Beside struct stripe a lookup reads only one cache
 * line of the table, that of the slot. */
static struct stripe {
    struct lock lock;
    uint32_t used; /* number of slots in use; guarded by the lock */
    table_handle table;
} stripes[STRIPES];

static struct table_regions regions;

static struct segmented_array nodes = {.type = LEAK_CHUNK_NODES,
                                       .record_size = sizeof(struct leak_node),
                                       .first_id = LEAK_NODE_FIRST,
                                       .first_bits = 10,
                                       .split_bits = 16};
/* Copy of header.nodes. The parent may change header.nodes after a fork, but not this variable of
 * the child, so it says exactly how many nodes the child has inherited. */
static uint32_t last_node = LEAK_NODE_FIRST - 1;
static uint32_t inherited_sites;

/* ---- Tables of the index --------------------------------------------------------------------- */

static uint32_t *index_slots(table_handle handle)
{
    return table_address(handle);
}

static uint32_t index_capacity(table_handle handle)
{
    return table_bytes(handle) / sizeof(uint32_t);
}

bool context_tree_start(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i].table = table_regions_make(&regions, i, 0);
    store_header->nodes = last_node;
    return stripes[0].table && stack_table_start();
}

/* ---- Paths -----------------------------------------------------------------------------------
 * A node's path is a hash of all frames from the outermost to this one. Together with the sort of a
 * stack it makes the stack's key (stack_table.h). The high half of a path, the node's place,
 * determines its slot.
 *
 * When a table grows, the places of its nodes are needed again. The low bits of a place follow from
 * the slot and the stripe; the other bits are stored in unused bits of the node:
 *     place:  31..16 above pc | 15..10 above parent | 10..5 stamp | 4..0 stripe
 * So comparing a node's words with a key compares the place as well. */

static uint64_t extend_path(uint64_t outer, uintptr_t pc, uint32_t retired)
{
    wide product = wide_multiply(outer ^ 0x9e3779b97f4a7c15ull,
                                 (pc + retired * 0xd6e8feb86659fd93ull) ^ 0xa0761d6478bd642full);
    return wide_shift(product, 0) ^ wide_shift(product, 64);
}

static uint32_t place_of(uint64_t path)
{
    return path >> 32;
}

static struct stripe *index_stripe_of(uint32_t place)
{
    return &stripes[place % STRIPES];
}

/* Computes the slot at which the search for a node begins, from the node's place (high half of the
 * hash of its path). The high bits of the place choose the slot, the low bits the stripe and the
 * stamp. */
static uint32_t index_home(uint32_t place, uint32_t capacity)
{
    return (uint64_t)place * capacity >> 32;
}

static uint32_t place_stamp(uint32_t place)
{
    return place / STRIPES << ID_BITS;
}

static uint64_t encode_pc(uintptr_t pc, uint32_t place)
{
    return pc | (uint64_t)place >> 16 << LEAK_PC_BITS;
}

static uint32_t encode_parent(uint32_t parent, uint32_t place)
{
    return parent | place << 16 >> ID_BITS << ID_BITS;
}

static uintptr_t decode_pc(const struct leak_node *node)
{
    return node->pc & LEAK_PC_MOST;
}

static uint32_t decode_parent(const struct leak_node *node)
{
    return node->parent & ID_MOST;
}

_Static_assert(STRIPES == 1 << 5 && 16 - 10 == 32 - ID_BITS, "no bit of a place is lost");

/* Computes a node's place (high half of the hash of its path) from the node, its slot and its
 * stripe. */
static uint32_t decode_place(const struct leak_node *node, uint32_t slot, uint32_t stripe)
{
    return (uint32_t)(node->pc >> LEAK_PC_BITS) << 16 | node->parent >> ID_BITS << 10 |
           slot >> ID_BITS << 5 | stripe % STRIPES;
}

static bool node_matches(uint32_t id, uint32_t place, uint32_t parent, uintptr_t pc,
                         uint32_t retired)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    return node->pc == encode_pc(pc, place) && node->parent == encode_parent(parent, place) &&
           node->number == retired;
}

/* An iterator over the slots of the index in which a node with a given place (high half of the hash
 * of its path) may be. */
struct index_probe {
    const uint32_t *slots;
    uint32_t capacity, at, stamp;
};

static inline struct index_probe start_index_probe(table_handle handle, uint32_t place)
{
    uint32_t capacity = index_capacity(handle);
    return (struct index_probe){index_slots(handle), capacity, index_home(place, capacity),
                                place_stamp(place)};
}

/* Returns the id of the next node whose stamp, bits of its path's hash, is the one that is
 * searched; 0: there is none. */
static inline uint32_t next_probed_id(struct index_probe *probe)
{
    for (;;) {
        uint32_t slot = load_acquire(&probe->slots[probe->at]);
        probe->at = probe->at + 1 == probe->capacity ? 0 : probe->at + 1;
        if (!slot || (slot & ~ID_MOST) == probe->stamp)
            return slot & ID_MOST;
    }
}

static uint32_t find_node(table_handle handle, uint32_t place, uint32_t parent, uintptr_t pc,
                          uint32_t retired)
{
    struct index_probe probe = start_index_probe(handle, place);
    uint32_t id;
    while ((id = next_probed_id(&probe)) && !node_matches(id, place, parent, pc, retired))
        ;
    return id;
}

static void insert_node(table_handle handle, uint32_t place, uint32_t id)
{
    uint32_t *slots = index_slots(handle);
    uint32_t capacity = index_capacity(handle), at = index_home(place, capacity);
    while (slots[at])
        at = at + 1 == capacity ? 0 : at + 1;
    /* Pairs with load_acquire in next_probed_id: a thread that sees the id also sees the node. */
    store_release(&slots[at], id | place_stamp(place));
}

#define AHEAD 8 /* distance, in slots, of the prefetch of nodes, which are scattered in memory */

static void rehash_index(table_handle larger, table_handle old, uint32_t stripe)
{
    const uint32_t *slots = index_slots(old);
    uint32_t count = index_capacity(old);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = slots[i] & ID_MOST,
                 ahead = i + AHEAD < count ? slots[i + AHEAD] & ID_MOST : 0;
        if (ahead)
            __builtin_prefetch(segmented_array_at(&nodes, ahead));
        if (id)
            insert_node(larger, decode_place(segmented_array_at(&nodes, id), slots[i], stripe), id);
    }
}

/* Makes the table of the stripe larger if it is 3/4 full. The caller holds the lock of the stripe.
 * False: there is no memory. */
static bool reserve_index_slot(struct stripe *stripe)
{
    table_handle old = stripe->table;
    if (likely(stripe->used < index_capacity(old) / 4 * 3))
        return true;
    table_handle table = table_regions_make(&regions, stripe - stripes, old % LEAK_PAGE + 1);
    if (!table)
        return false;
    rehash_index(table, old, stripe - stripes);
    /* Pairs with load_acquire in find_or_add_child: a thread that sees the table also sees its
     * slots. */
    store_release(&stripe->table, table);
    /* Another thread may still read the old table, which may read as empty now: a lookup compares
     * each node with the key, and is repeated under the lock if it finds nothing. */
    table_regions_abandon(old);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Makes a node; the caller holds the lock of the stripe. 0: there is no memory. */
static uint32_t make_node(uint32_t place, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    uint32_t id;
    if (unlikely(load_relaxed(&last_node) >= ID_MOST - STRIPES))
        return 0;
    struct leak_node *node = segmented_array_append(&nodes, &last_node, &id);
    if (!node)
        return 0;
    store_relaxed(&store_header->nodes, load_relaxed(&last_node));
    node->parent = encode_parent(parent, place);
    node->number = retired;
    /* From here on readers of the recording file see the node. */
    store_release(&node->pc, encode_pc(pc, place));
    return id;
}

static uint32_t add_child(uint32_t place, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    struct stripe *stripe = index_stripe_of(place);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t id = find_node(stripe->table, place, parent, pc, retired);
    if (!id && reserve_index_slot(stripe) && (id = make_node(place, parent, pc, retired))) {
        insert_node(stripe->table, place, id);
        stripe->used++;
    }
    lock_give(&locked);
    return id;
}

static uint32_t find_or_add_child(uint32_t place, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    /* Pairs with store_release in reserve_index_slot: a thread that sees the table sees its
     * slots. */
    table_handle table = load_acquire(&index_stripe_of(place)->table);
    uint32_t id = find_node(table, place, parent, pc, retired);
    return likely(id) ? id : add_child(place, parent, pc, retired);
}

static void prefetch_child(uint32_t place)
{
    table_handle table = load_relaxed(&index_stripe_of(place)->table);
    __builtin_prefetch(&index_slots(table)[index_home(place, index_capacity(table))]);
}

/* Finds the node of the innermost frame. Frames without a node get one, from the outermost inwards.
 * 0: there is no memory. */
static uint32_t find_or_make_frames(struct unwind_trace *trace)
{
    struct unwind_step *step = unwind_outermost(trace);
    uint32_t known = trace->depth, last = load_relaxed(&last_node);
    for (; known && !step[known - 1].node; known--)
        prefetch_child(place_of(step[known - 1].path));
    uint32_t node = known ? step[known - 1].node : trace->end;
    for (uint32_t i = known; i < trace->depth && node; i++) {
        /* A node that was just made has no children yet, so none is looked up. */
        node = step[i].node = (node > last ? add_child : find_or_add_child)(
            place_of(step[i].path), node, step[i].pc, step[i].retired);
    }
    return node;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static uint64_t path_at_depth(struct unwind_trace *trace, uint32_t depth)
{
    return depth ? unwind_outermost(trace)[depth - 1].path : trace->end;
}

/* Computes the path (hash of all frames from the outermost on) of a frame that has no valid node:
 * the frame is new, or was beyond the depth limit in the last trace. */
static uint64_t compute_path(struct unwind_step *step, uint64_t outer)
{
    step->node = 0;
    return step->path = extend_path(outer, step->pc, step->retired);
}

static uint64_t stack_key(uint64_t path, unsigned sort)
{
    uint64_t key = extend_path(path, sort, 0);
    return key + !key;
}

/* Computes the paths (hashes) of the frames that are not shared with the thread's last trace;
 * returns the path of the innermost frame. */
static uint64_t compute_paths(struct unwind_trace *trace)
{
    if (likely(trace->paths))
        return path_at_depth(trace, trace->depth);
    uint64_t path = path_at_depth(trace, trace->shared);
    for (uint32_t i = trace->shared; i < trace->depth; i++)
        path = compute_path(&unwind_outermost(trace)[i], path);
    return path;
}

void context_tree_prefetch(struct unwind_trace *trace, unsigned sort)
{
    uint64_t path = path_at_depth(trace, trace->shared);
    for (uint32_t i = trace->cut + trace->shared; i < trace->kept; i++)
        path = compute_path(&trace->step[i], path);
    for (uint32_t i = trace->found < trace->depth ? trace->found : trace->depth; i-- > 0;)
        path = compute_path(unwind_fresh_at(trace, i), path);
    trace->paths = true;
    stack_table_prefetch(stack_key(path, sort));
}

/* Gives a stack its number: that of a new site, or for a free the node of its innermost frame. */
static uint32_t number_stack(struct guard *guard, uint64_t key, uint32_t node, unsigned sort)
{
    struct locked locked = stack_table_lock(key);
    uint32_t number = stack_table_find(key); /* another thread may have added the stack */
    if (!number && stack_table_reserve(key)) {
        number = sort == LEAK_PC_FREE ? node : sites_make(guard, node, sort);
        if (number)
            stack_table_add(key, number);
    }
    lock_give(&locked);
    return number;
}

static NOINLINE uint32_t add_stack(struct guard *guard, struct unwind_trace *trace, uint64_t key,
                                   unsigned sort)
{
    uint32_t node = find_or_make_frames(trace);
    uint32_t number = node ? number_stack(guard, key, node, sort) : 0;
    /* Without memory some frames may have no node, so the next trace must not share them. */
    if (unlikely(!number))
        unwind_invalidate(trace);
    return number;
}

static inline uint32_t find_or_add_stack(struct guard *guard, struct unwind_trace *trace,
                                         unsigned sort)
{
    uint64_t key = stack_key(compute_paths(trace), sort);
    uint32_t number = stack_table_find(key);
    return likely(number) ? number : add_stack(guard, trace, key, sort);
}

uint32_t context_tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort)
{
    return find_or_add_stack(guard, trace, sort);
}

uint32_t context_tree_free_node(struct guard *guard, struct unwind_trace *trace)
{
    return find_or_add_stack(guard, trace, LEAK_PC_FREE);
}

struct leak_node context_tree_node(uint32_t id)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    return (struct leak_node){
        .pc = decode_pc(node), .parent = decode_parent(node), .number = node->number};
}

/* Computes the path (hash of all frames from the outermost on) of a node from the node and its
 * parents. */
static uint64_t recompute_path(uint32_t id)
{
    if (id < LEAK_NODE_FIRST)
        return id;
    struct leak_node node = context_tree_node(id);
    return extend_path(recompute_path(node.parent), node.pc, node.number);
}

bool context_tree_check(void)
{
    for (uint32_t id = LEAK_NODE_FIRST; id <= last_node; id++) {
        struct leak_node node = context_tree_node(id);
        if (!node.pc)
            continue;
        uint32_t place = place_of(recompute_path(id));
        if (node.parent >= id || find_node(index_stripe_of(place)->table, place, node.parent,
                                           node.pc, node.number) != id)
            return false;
    }
    for (uint32_t site = inherited_sites + 1; site <= sites_last(); site++) {
        unsigned sort = sites_kind(site) + (sites_tag(site) << LEAK_TAG_SHIFT);
        if (sites_node(site) &&
            stack_table_find(stack_key(recompute_path(sites_node(site)), sort)) != site)
            return false;
    }
    return stack_table_check();
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void context_tree_fork_lock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    stack_table_fork_lock();
    lock_take_raw(&regions.lock);
    lock_take_raw(&nodes.lock);
}

void context_tree_fork_unlock(void)
{
    lock_give_raw(&nodes.lock);
    lock_give_raw(&regions.lock);
    stack_table_fork_unlock();
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

bool context_tree_fork_child(void)
{
    stack_table_fork_child();
    for (int i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
    regions.lock.word = 0;
    inherited_sites = sites_last();
    if (!segmented_array_fork_child(&nodes, last_node))
        return false;
    store_header->nodes = last_node;
    return true;
}
