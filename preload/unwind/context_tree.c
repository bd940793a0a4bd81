/* context_tree.c - nodes in the recording file, found by the hash of their path. */
#include "preload/unwind/context_tree.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/segmented_array.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#include <sys/mman.h>

#define STRIPES 64
#define SIZES 24 /* tables of 4 KiB << 0 .. 23 */

_Static_assert(LEAK_KIND_MAX - 1 <= 1 << LEAK_TAG_SHIFT, "a leaf's pc has no room for its kind");
_Static_assert((LEAK_TAGS << LEAK_TAG_SHIFT) + LEAK_KIND_MAX - 1 < LEAK_PC_FREE,
               "a leaf's pc has no room for its tag");

/* An index slot: node id (26), stamp (6): bits of its path; 0 = empty. A recording file has at most
 * 2^26 nodes. */
#define ID_BITS LEAK_NODE_BITS
#define ID_MOST LEAK_NODE_MOST

struct index_table {
    uint32_t size; /* 4 KiB << size, this struct included */
    uint32_t used; /* guarded by the stripe's lock */
    uint32_t slot[];
};

/* Two indices with half the stripes each: inner nodes, and leaves. Nearly all lookups are of
 * leaves, and their index is small enough to stay in the CPU's cache. */
#define STRIPES_HALF (STRIPES / 2)

/* A table's address, and its size in the low bits: a lookup reads no cache line of the table but
 * the slot's. */
typedef uintptr_t index_handle;

static struct stripe {
    struct lock lock;
    index_handle table;
} stripes[STRIPES];

static struct segmented_array nodes = {.type = LEAK_CHUNK_NODES,
                                       .record_size = sizeof(struct leak_node),
                                       .first_id = LEAK_NODE_FIRST,
                                       .first_bits = 10,
                                       .split_bits = 16};
static uint32_t last_node =
    LEAK_NODE_FIRST - 1; /* private twin of header.nodes: exact after fork */
static uint32_t inherited_nodes;

/* ---- Tables ---------------------------------------------------------------------------------- */

static struct index_table *index_table_of(index_handle handle)
{
    return (struct index_table *)(handle & -LEAK_PAGE);
}

static uint32_t index_capacity(index_handle handle)
{
    return ((LEAK_PAGE << handle % LEAK_PAGE) - sizeof(struct index_table)) / sizeof(uint32_t);
}

/* Returns 0 when there is no memory. */
static index_handle make_index_table(uint32_t size)
{
    struct index_table *table = size < SIZES ? arena_map(LEAK_PAGE << size) : NULL;
    if (!table)
        return 0;
    table->size = size;
    return (index_handle)table | size;
}

/* A reader may still be in an outgrown table, so it is never unmapped. A reader compares what it
 * finds with the node itself, and repeats a failed lookup under the lock: it does not matter
 * whether the kernel has already dropped the slots, or refuses to. */
static void abandon_index_table(struct index_table *table)
{
    sys_advise(table, LEAK_PAGE << table->size, MADV_DONTNEED);
}

bool context_tree_start(void)
{
    for (int i = 0; i < STRIPES; i++)
        if (!(stripes[i].table = make_index_table(0)))
            return false;
    store_header->nodes = last_node;
    return true;
}

/* ---- Paths -----------------------------------------------------------------------------------
 * A node's path is a hash of all frames from the outermost to this one; it determines the node's
 * slot. It does not depend on the parent's id, so a leaf can be looked up before its frames are.
 *
 * Growing a table needs the paths again. A path's low bits follow from the slot and the stripe, the
 * others are stored in unused bits of the node:
 *     path:  31..16 above pc | 15..10 above parent | 10..5 stamp | 4..0 stripe
 * So comparing a node's words with a key compares the path as well. */

static uint32_t extend_path(uint32_t outer, uintptr_t pc, uint32_t retired)
{
    return hash_u64(hash_u64(pc ^ (uint64_t)retired << 48) + outer);
}

static bool is_leaf(uintptr_t pc)
{
    return pc < LEAK_KIND_PCS;
}

static struct stripe *index_stripe_of(uint32_t path, uintptr_t pc)
{
    return &stripes[path % STRIPES_HALF + (is_leaf(pc) ? STRIPES_HALF : 0)];
}

/* Multiply-shift: the high bits choose the place, the low ones stripe and stamp. */
static uint32_t index_home(uint32_t path, uint32_t capacity)
{
    return (uint64_t)path * capacity >> 32;
}

static uint32_t path_stamp(uint32_t path)
{
    return path / STRIPES_HALF << ID_BITS;
}

static uint64_t encode_pc(uintptr_t pc, uint32_t path)
{
    return pc | (uint64_t)path >> 16 << LEAK_PC_BITS;
}

static uint32_t encode_parent(uint32_t parent, uint32_t path)
{
    return parent | path << 16 >> ID_BITS << ID_BITS;
}

static uintptr_t decode_pc(const struct leak_node *node)
{
    return node->pc & LEAK_PC_MOST;
}

static uint32_t decode_parent(const struct leak_node *node)
{
    return node->parent & ID_MOST;
}

_Static_assert(STRIPES_HALF == 1 << 5 && 16 - 10 == 32 - ID_BITS, "no bit of a path is lost");

/* The path of a node with that slot in that stripe. */
static uint32_t decode_path(const struct leak_node *node, uint32_t slot, uint32_t stripe)
{
    return (uint32_t)(node->pc >> LEAK_PC_BITS) << 16 | node->parent >> ID_BITS << 10 |
           slot >> ID_BITS << 5 | stripe % STRIPES_HALF;
}

static bool node_matches(uint32_t id, uint32_t path, uint32_t parent, uintptr_t pc,
                         uint32_t retired)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    if (node->pc != encode_pc(pc, path) || node->parent != encode_parent(parent, path))
        return false;
    return is_leaf(pc) ? id > inherited_nodes : node->number == retired;
}

/* Iterates over the ids in the slots where a path may be. */
struct index_probe {
    const struct index_table *table;
    uint32_t capacity, at, stamp;
};

static inline struct index_probe start_index_probe(index_handle handle, uint32_t path)
{
    uint32_t capacity = index_capacity(handle);
    return (struct index_probe){index_table_of(handle), capacity, index_home(path, capacity),
                                path_stamp(path)};
}

/* Returns 0 at the end. */
static inline uint32_t next_probed_id(struct index_probe *probe)
{
    for (;;) {
        uint32_t slot = load_acquire(&probe->table->slot[probe->at]);
        probe->at = probe->at + 1 == probe->capacity ? 0 : probe->at + 1;
        if (!slot || (slot & ~ID_MOST) == probe->stamp)
            return slot & ID_MOST;
    }
}

static uint32_t find_node(index_handle handle, uint32_t path, uint32_t parent, uintptr_t pc,
                          uint32_t retired)
{
    struct index_probe probe = start_index_probe(handle, path);
    uint32_t id;
    while ((id = next_probed_id(&probe)) && !node_matches(id, path, parent, pc, retired))
        ;
    return id;
}

static void insert_node(index_handle handle, uint32_t path, uint32_t id)
{
    struct index_table *table = index_table_of(handle);
    uint32_t capacity = index_capacity(handle), at = index_home(path, capacity);
    while (table->slot[at])
        at = at + 1 == capacity ? 0 : at + 1;
    /* Pairs with the acquire in next_probed_id. */
    store_release(&table->slot[at], id | path_stamp(path));
    table->used++;
}

#define AHEAD 8 /* slots to prefetch: their nodes are scattered in memory */

/* Copies a table of the stripe to a larger one. */
static void rehash_index(index_handle larger, index_handle old, uint32_t stripe)
{
    const uint32_t *slots = index_table_of(old)->slot;
    uint32_t count = index_capacity(old);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = slots[i] & ID_MOST,
                 ahead = i + AHEAD < count ? slots[i + AHEAD] & ID_MOST : 0;
        if (ahead)
            __builtin_prefetch(segmented_array_at(&nodes, ahead));
        if (id)
            insert_node(larger, decode_path(segmented_array_at(&nodes, id), slots[i], stripe), id);
    }
}

/* Grows the table if it is 7/8 full; the stripe's lock is held. */
static bool reserve_index_slot(struct stripe *stripe)
{
    struct index_table *old = index_table_of(stripe->table);
    uint32_t capacity = index_capacity(stripe->table);
    if (likely(old->used < capacity - capacity / 8))
        return true;
    index_handle table = make_index_table(old->size + 1);
    if (!table)
        return false;
    rehash_index(table, stripe->table, stripe - stripes);
    store_release(&stripe->table, table); /* pairs with the acquire in find_or_add_child */
    abandon_index_table(old);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A new node, the stripe's lock is held; 0 when there is no memory. */
static uint32_t make_node(struct guard *guard, uint32_t path, uint32_t parent, uintptr_t pc,
                          uint32_t retired)
{
    uint32_t id, number = retired;
    if (unlikely(load_relaxed(&last_node) >= ID_MOST - STRIPES))
        return 0;
    struct leak_node *node = segmented_array_append(&nodes, &last_node, &id);
    if (!node || (is_leaf(pc) && pc != LEAK_PC_FREE && !(number = sites_make(guard, parent, pc))))
        return 0;
    store_relaxed(&store_header->nodes, load_relaxed(&last_node));
    node->parent = encode_parent(parent, path);
    node->number = number;
    store_release(&node->pc, encode_pc(pc, path)); /* publishes it to readers of the recording */
    return id;
}

static NOINLINE uint32_t add_child(struct guard *guard, uint32_t path, uint32_t parent,
                                   uintptr_t pc, uint32_t retired)
{
    struct stripe *stripe = index_stripe_of(path, pc);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t id = find_node(stripe->table, path, parent, pc, retired);
    if (!id && reserve_index_slot(stripe) && (id = make_node(guard, path, parent, pc, retired)))
        insert_node(stripe->table, path, id);
    lock_give(&locked);
    return id;
}

static uint32_t find_or_add_child(struct guard *guard, uint32_t path, uint32_t parent, uintptr_t pc,
                                  uint32_t retired)
{
    /* Pairs with the release in reserve_index_slot. */
    index_handle table = load_acquire(&index_stripe_of(path, pc)->table);
    uint32_t id = find_node(table, path, parent, pc, retired);
    return likely(id) ? id : add_child(guard, path, parent, pc, retired);
}

static uint32_t path_at_depth(struct unwind_trace *trace, uint32_t depth)
{
    return depth ? unwind_outermost(trace)[depth - 1].path : trace->end;
}

static uint32_t compute_path(struct unwind_step *step, uint32_t outer)
{
    return step->path = extend_path(outer, step->pc, step->retired);
}

/* The innermost frame's path; computes the paths of the frames from known on. */
static uint32_t compute_paths(struct unwind_trace *trace, uint32_t known)
{
    if (likely(trace->paths))
        return path_at_depth(trace, trace->depth);
    uint32_t path = path_at_depth(trace, known);
    for (uint32_t i = known; i < trace->depth; i++)
        path = compute_path(&unwind_outermost(trace)[i], path);
    return path;
}

void context_tree_prefetch(struct unwind_trace *trace, unsigned sort)
{
    uint32_t path = path_at_depth(trace, trace->shared);
    for (uint32_t i = trace->cut + trace->shared; i < trace->kept; i++)
        path = compute_path(&trace->step[i], path);
    for (uint32_t i = trace->found < trace->depth ? trace->found : trace->depth; i-- > 0;)
        path = compute_path(unwind_fresh_at(trace, i), path);
    trace->paths = true;
    path = extend_path(path, sort, 0);
    struct index_probe probe =
        start_index_probe(load_acquire(&index_stripe_of(path, sort)->table), path);
    __builtin_prefetch(&probe.table->slot[probe.at]);
}

/* Does the leaf's chain of parents equal the trace? Sets the nodes of the new frames on the way. */
static bool leaf_matches_trace(uint32_t leaf, struct unwind_trace *trace, uint32_t known,
                               uint32_t outer, uint32_t path, unsigned sort)
{
    const struct leak_node *node = segmented_array_at(&nodes, leaf);
    uint32_t i = trace->depth, id = decode_parent(node);
    if (node->pc != encode_pc(sort, path) || leaf <= inherited_nodes)
        return false;
    for (; i > known && id >= LEAK_NODE_FIRST; i--) {
        struct unwind_step *step = &unwind_outermost(trace)[i - 1];
        node = segmented_array_at(&nodes, id);
        if (node->pc != encode_pc(step->pc, step->path) || node->number != step->retired)
            return false;
        step->node = id;
        id = decode_parent(node);
    }
    return i == known && id == outer;
}

/* A known stack is found from its inner end: one index lookup, then its nodes, which were created
 * one after the other and mostly lie together. */
static uint32_t find_leaf(struct unwind_trace *trace, uint32_t known, uint32_t outer, uint32_t path,
                          unsigned sort)
{
    struct index_probe probe =
        start_index_probe(load_acquire(&index_stripe_of(path, sort)->table), path);
    uint32_t id;
    while ((id = next_probed_id(&probe)) &&
           !leaf_matches_trace(id, trace, known, outer, path, sort))
        ;
    return id;
}

/* Goes from the outermost frame inwards and creates missing nodes. */
static NOINLINE uint32_t make_leaf(struct guard *guard, struct unwind_trace *trace, uint32_t known,
                                   uint32_t outer, uint32_t path, unsigned sort)
{
    uint32_t node = outer;
    for (uint32_t i = known; i < trace->depth && node; i++) {
        struct unwind_step *step = &unwind_outermost(trace)[i];
        node = step->node = find_or_add_child(guard, step->path, node, step->pc, step->retired);
    }
    return node ? find_or_add_child(guard, path, node, sort, 0) : 0;
}

/* The leaf of a trace and a sort; NULL when there is no memory. */
static inline const struct leak_node *find_or_make_leaf(struct guard *guard,
                                                        struct unwind_trace *trace, unsigned sort)
{
    uint32_t known = trace->shared,
             outer = known ? unwind_outermost(trace)[known - 1].node : trace->end;
    uint32_t path = extend_path(compute_paths(trace, known), sort, 0);
    uint32_t leaf = find_leaf(trace, known, outer, path, sort);
    if (unlikely(!leaf))
        leaf = make_leaf(guard, trace, known, outer, path, sort);
    if (unlikely(!leaf)) {
        unwind_invalidate(trace); /* some frames have no node: the next trace must not share them */
        return NULL;
    }
    return segmented_array_at(&nodes, leaf);
}

uint32_t context_tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort)
{
    const struct leak_node *leaf = find_or_make_leaf(guard, trace, sort);
    return leaf ? leaf->number : 0;
}

uint32_t context_tree_free_node(struct guard *guard, struct unwind_trace *trace)
{
    const struct leak_node *leaf = find_or_make_leaf(guard, trace, LEAK_PC_FREE);
    return leaf ? decode_parent(leaf) : 0;
}

struct leak_node context_tree_node(uint32_t id)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    return (struct leak_node){
        .pc = decode_pc(node), .parent = decode_parent(node), .number = node->number};
}

/* The path that the node was created with. */
static uint32_t recompute_path(uint32_t id)
{
    if (id < LEAK_NODE_FIRST)
        return id;
    struct leak_node node = context_tree_node(id);
    return extend_path(recompute_path(node.parent), node.pc, is_leaf(node.pc) ? 0 : node.number);
}

bool context_tree_check(void)
{
    for (uint32_t id = LEAK_NODE_FIRST; id <= last_node; id++) {
        struct leak_node node = context_tree_node(id);
        if (!node.pc)
            continue;
        uint32_t retired = is_leaf(node.pc) ? 0 : node.number;
        uint32_t path = recompute_path(id);
        if (node.parent >= id || (!(is_leaf(node.pc) && id <= inherited_nodes) &&
                                  find_node(index_stripe_of(path, node.pc)->table, path,
                                            node.parent, node.pc, retired) != id))
            return false;
    }
    return true;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void context_tree_fork_lock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&nodes.lock);
}

void context_tree_fork_unlock(void)
{
    lock_give_raw(&nodes.lock);
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

bool context_tree_fork_child(void)
{
    for (int i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
    inherited_nodes = last_node;
    if (!segmented_array_fork_child(&nodes, last_node))
        return false;
    store_header->nodes = last_node;
    return true;
}
