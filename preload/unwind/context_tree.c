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

/* An index slot: node id (26), stamp (6): bits of its path; 0 = empty. A store has room for 2^26
 * nodes at most. */
#define ID_BITS LEAK_NODE_BITS
#define ID_MOST LEAK_NODE_MOST

struct index_table {
    uint32_t size; /* 4 KiB << size, this struct included */
    uint32_t used; /* guarded by the stripe's lock */
    uint32_t slot[];
};

/* Two indices, half the stripes each: the inner frames', and that of the leaves alone, which is
 * what is looked into all the time and small enough to stay in the processor's cache. */
#define STRIPES_HALF (STRIPES / 2)

/* A table's address, and its size in the low bits: a look needs no line of the table but the
 * slot's.
 */
typedef uintptr_t index_handle;

static struct stripe {
    struct lock lock;
    index_handle table;
} stripes[STRIPES];

static struct segments nodes = {.type = LEAK_CHUNK_NODES,
                                .record_size = sizeof(struct leak_node),
                                .first_id = LEAK_NODE_FIRST,
                                .first_bits = 10,
                                .split_bits = 16};
static uint32_t last_node =
    LEAK_NODE_FIRST - 1; /* private twin of header.nodes: exact after fork */
static uint32_t inherited_nodes;

/* ---- Tables ---------------------------------------------------------------------------------- */

static struct index_table *table_of(index_handle handle)
{
    return (struct index_table *)(handle & -LEAK_PAGE);
}

static uint32_t capacity_of(index_handle handle)
{
    return ((LEAK_PAGE << handle % LEAK_PAGE) - sizeof(struct index_table)) / sizeof(uint32_t);
}

/* 0 without memory. */
static index_handle make_table(uint32_t size)
{
    struct index_table *table = size < SIZES ? arena_map(LEAK_PAGE << size) : NULL;
    if (!table)
        return 0;
    table->size = size;
    return (index_handle)table | size;
}

/* A reader may still be in it, so it is never unmapped. What it finds it compares with the node
 * itself, and what it does not find it looks for again under the lock: it makes no difference
 * whether the slots are gone already, or the kernel does not take them. */
static void leave_table(struct index_table *table)
{
    sys_advise(table, LEAK_PAGE << table->size, MADV_DONTNEED);
}

bool tree_start(void)
{
    for (int i = 0; i < STRIPES; i++)
        if (!(stripes[i].table = make_table(0)))
            return false;
    store_header->nodes = last_node;
    return true;
}

/* ---- Paths -----------------------------------------------------------------------------------
 * A node's path is a hash of all the frames from the outermost to it, and its place in the index.
 * It is known without its parent's id: a leaf can be looked for before any frame was.
 *
 * A table that grows needs it again. Its low bits are the slot's, the others stand where a node has
 * bits to spare:
 *     path:  31..16 above pc | 15..10 above parent | 10..5 stamp | 4..0 stripe
 * So whoever compares a node with what it should be compares the path as well. */

static uint32_t path_of(uint32_t outer, uintptr_t pc, uint32_t retired)
{
    return hash_u64(hash_u64(pc ^ (uint64_t)retired << 48) + outer);
}

static bool is_leaf(uintptr_t pc)
{
    return pc < LEAK_KIND_PCS;
}

static struct stripe *stripe_of(uint32_t path, uintptr_t pc)
{
    return &stripes[path % STRIPES_HALF + (is_leaf(pc) ? STRIPES_HALF : 0)];
}

/* Multiply-shift: the high bits choose the place, the low ones stripe and stamp. */
static uint32_t home_of(uint32_t path, uint32_t capacity)
{
    return (uint64_t)path * capacity >> 32;
}

static uint32_t stamp_of(uint32_t path)
{
    return path / STRIPES_HALF << ID_BITS;
}

static uint64_t pc_with(uintptr_t pc, uint32_t path)
{
    return pc | (uint64_t)path >> 16 << LEAK_PC_BITS;
}

static uint32_t parent_with(uint32_t parent, uint32_t path)
{
    return parent | path << 16 >> ID_BITS << ID_BITS;
}

static uintptr_t pc_in(const struct leak_node *node)
{
    return node->pc & LEAK_PC_MOST;
}

static uint32_t parent_in(const struct leak_node *node)
{
    return node->parent & ID_MOST;
}

_Static_assert(STRIPES_HALF == 1 << 5 && 16 - 10 == 32 - ID_BITS, "no bit of a path is lost");

/* Of a node that stands in that slot of the stripe. */
static uint32_t path_in(const struct leak_node *node, uint32_t slot, uint32_t stripe)
{
    return (uint32_t)(node->pc >> LEAK_PC_BITS) << 16 | node->parent >> ID_BITS << 10 |
           slot >> ID_BITS << 5 | stripe % STRIPES_HALF;
}

static bool matches(uint32_t id, uint32_t path, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    if (node->pc != pc_with(pc, path) || node->parent != parent_with(parent, path))
        return false;
    return is_leaf(pc) ? id > inherited_nodes : node->number == retired;
}

/* The ids in the slots that a path may have, one after the other. */
struct look {
    const struct index_table *table;
    uint32_t capacity, at, stamp;
};

static inline struct look look_for(index_handle handle, uint32_t path)
{
    uint32_t capacity = capacity_of(handle);
    return (struct look){table_of(handle), capacity, home_of(path, capacity), stamp_of(path)};
}

/* 0: no more. */
static inline uint32_t look_on(struct look *look)
{
    for (;;) {
        uint32_t slot = load_acquire(&look->table->slot[look->at]);
        look->at = look->at + 1 == look->capacity ? 0 : look->at + 1;
        if (!slot || (slot & ~ID_MOST) == look->stamp)
            return slot & ID_MOST;
    }
}

static uint32_t lookup(index_handle handle, uint32_t path, uint32_t parent, uintptr_t pc,
                       uint32_t retired)
{
    struct look look = look_for(handle, path);
    uint32_t id;
    while ((id = look_on(&look)) && !matches(id, path, parent, pc, retired))
        ;
    return id;
}

static void put(index_handle handle, uint32_t path, uint32_t id)
{
    struct index_table *table = table_of(handle);
    uint32_t capacity = capacity_of(handle), at = home_of(path, capacity);
    while (table->slot[at])
        at = at + 1 == capacity ? 0 : at + 1;
    /* Pairs with the acquire in lookup. */
    store_release(&table->slot[at], id | stamp_of(path));
    table->used++;
}

#define AHEAD 8 /* slots: their nodes lie in no order */

/* Into the larger one, what is in a table of the stripe. */
static void move_table(index_handle larger, index_handle old, uint32_t stripe)
{
    const uint32_t *slots = table_of(old)->slot;
    uint32_t count = capacity_of(old);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = slots[i] & ID_MOST,
                 ahead = i + AHEAD < count ? slots[i + AHEAD] & ID_MOST : 0;
        if (ahead)
            __builtin_prefetch(segmented_array_at(&nodes, ahead));
        if (id)
            put(larger, path_in(segmented_array_at(&nodes, id), slots[i], stripe), id);
    }
}

/* Room for one more; the stripe's lock is held. */
static bool make_room(struct stripe *stripe)
{
    struct index_table *old = table_of(stripe->table);
    uint32_t capacity = capacity_of(stripe->table);
    if (likely(old->used < capacity - capacity / 8))
        return true;
    index_handle table = make_table(old->size + 1);
    if (!table)
        return false;
    move_table(table, stripe->table, stripe - stripes);
    store_release(&stripe->table, table); /* pairs with the acquire in child_of */
    leave_table(old);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A new node under the stripe's lock; 0 without memory. */
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
    node->parent = parent_with(parent, path);
    node->number = number;
    store_release(&node->pc, pc_with(pc, path)); /* readers of the store take it from here */
    return id;
}

static NOINLINE uint32_t add_child(struct guard *guard, uint32_t path, uint32_t parent,
                                   uintptr_t pc, uint32_t retired)
{
    struct stripe *stripe = stripe_of(path, pc);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t id = lookup(stripe->table, path, parent, pc, retired);
    if (!id && make_room(stripe) && (id = make_node(guard, path, parent, pc, retired)))
        put(stripe->table, path, id);
    lock_give(&locked);
    return id;
}

static uint32_t child_of(struct guard *guard, uint32_t path, uint32_t parent, uintptr_t pc,
                         uint32_t retired)
{
    /* Pairs with the release in make_room. */
    index_handle table = load_acquire(&stripe_of(path, pc)->table);
    uint32_t id = lookup(table, path, parent, pc, retired);
    return likely(id) ? id : add_child(guard, path, parent, pc, retired);
}

static uint32_t path_at(const struct unwind_trace *trace, uint32_t depth)
{
    return depth ? trace->step[depth - 1].path : trace->end;
}

static uint32_t work_out_path(struct unwind_step *step, uint32_t outer)
{
    return step->path = path_of(outer, step->pc, step->retired);
}

/* The innermost frame's path; those that are new in the trace are worked out. */
static uint32_t work_out_paths(struct unwind_trace *trace, uint32_t known)
{
    if (likely(trace->paths))
        return path_at(trace, trace->depth);
    uint32_t path = path_at(trace, known);
    for (uint32_t i = known; i < trace->depth; i++)
        path = work_out_path(&trace->step[i], path);
    return path;
}

void tree_expect(struct unwind_trace *trace, unsigned sort)
{
    uint32_t path = path_at(trace, trace->kept);
    for (uint32_t i = trace->found; i-- > 0;)
        path = work_out_path(&trace->fresh[i], path);
    trace->paths = true;
    path = path_of(path, sort, 0);
    struct look look = look_for(load_acquire(&stripe_of(path, sort)->table), path);
    __builtin_prefetch(&look.table->slot[look.at]);
}

/* Is that leaf the one of the trace? The new frames get their nodes on the way. */
static bool is_leaf_of(uint32_t leaf, struct unwind_trace *trace, uint32_t known, uint32_t outer,
                       uint32_t path, unsigned sort)
{
    const struct leak_node *node = segmented_array_at(&nodes, leaf);
    uint32_t i = trace->depth, id = parent_in(node);
    if (node->pc != pc_with(sort, path) || leaf <= inherited_nodes)
        return false;
    for (; i > known && id >= LEAK_NODE_FIRST; i--) {
        struct unwind_step *step = &trace->step[i - 1];
        node = segmented_array_at(&nodes, id);
        if (node->pc != pc_with(step->pc, step->path) || node->number != step->retired)
            return false;
        step->node = id;
        id = parent_in(node);
    }
    return i == known && id == outer;
}

/* A stack that was seen before is found from its inner end: one look into the index, and then its
 * nodes, which were made one after the other and lie together. */
static uint32_t find_leaf(struct unwind_trace *trace, uint32_t known, uint32_t outer, uint32_t path,
                          unsigned sort)
{
    struct look look = look_for(load_acquire(&stripe_of(path, sort)->table), path);
    uint32_t id;
    while ((id = look_on(&look)) && !is_leaf_of(id, trace, known, outer, path, sort))
        ;
    return id;
}

/* Frame by frame from the outside; what is not there yet is made. */
static NOINLINE uint32_t make_leaf(struct guard *guard, struct unwind_trace *trace, uint32_t known,
                                   uint32_t outer, uint32_t path, unsigned sort)
{
    uint32_t node = outer;
    for (uint32_t i = known; i < trace->depth && node; i++) {
        struct unwind_step *step = &trace->step[i];
        node = step->node = child_of(guard, step->path, node, step->pc, step->retired);
    }
    return node ? child_of(guard, path, node, sort, 0) : 0;
}

/* The leaf of a trace and a pc that is none; 0 when there is no memory. */
static inline const struct leak_node *leaf_of(struct guard *guard, struct unwind_trace *trace,
                                              unsigned sort)
{
    uint32_t known = trace->shared, outer = known ? trace->step[known - 1].node : trace->end;
    uint32_t path = path_of(work_out_paths(trace, known), sort, 0);
    uint32_t leaf = find_leaf(trace, known, outer, path, sort);
    if (unlikely(!leaf))
        leaf = make_leaf(guard, trace, known, outer, path, sort);
    if (unlikely(!leaf)) {
        unwind_forget(trace); /* not every frame has its node: the next trace must not rely on it */
        return NULL;
    }
    return segmented_array_at(&nodes, leaf);
}

uint32_t tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort)
{
    const struct leak_node *leaf = leaf_of(guard, trace, sort);
    return leaf ? leaf->number : 0;
}

uint32_t tree_free_node(struct guard *guard, struct unwind_trace *trace)
{
    const struct leak_node *leaf = leaf_of(guard, trace, LEAK_PC_FREE);
    return leaf ? parent_in(leaf) : 0;
}

struct leak_node tree_node(uint32_t id)
{
    const struct leak_node *node = segmented_array_at(&nodes, id);
    return (struct leak_node){.pc = pc_in(node), .parent = parent_in(node), .number = node->number};
}

/* As it was when the node was made. */
static uint32_t path_again(uint32_t id)
{
    if (id < LEAK_NODE_FIRST)
        return id;
    struct leak_node node = tree_node(id);
    return path_of(path_again(node.parent), node.pc, is_leaf(node.pc) ? 0 : node.number);
}

bool tree_check(void)
{
    for (uint32_t id = LEAK_NODE_FIRST; id <= last_node; id++) {
        struct leak_node node = tree_node(id);
        if (!node.pc)
            continue;
        uint32_t retired = is_leaf(node.pc) ? 0 : node.number;
        uint32_t path = path_again(id);
        if (node.parent >= id ||
            (!(is_leaf(node.pc) && id <= inherited_nodes) &&
             lookup(stripe_of(path, node.pc)->table, path, node.parent, node.pc, retired) != id))
            return false;
    }
    return true;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void tree_fork_lock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&nodes.lock);
}

void tree_fork_unlock(void)
{
    lock_give_raw(&nodes.lock);
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

bool tree_fork_child(void)
{
    for (int i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
    inherited_nodes = last_node;
    if (!segmented_array_fork_child(&nodes, last_node))
        return false;
    store_header->nodes = last_node;
    return true;
}
