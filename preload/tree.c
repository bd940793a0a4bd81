#include "preload/tree.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/segments.h"
#include "preload/sites.h"
#include "preload/store.h"

#define STRIPES 64
#define SIZES 24 /* tables of 4 KiB << 0 .. 23 */

/* An index slot: node id (26), tag (6); 0 = empty. A store has room for 2^26 nodes at most. */
#define ID_BITS 26
#define ID_MOST ((1u << ID_BITS) - 1)

struct index_table {
    uint32_t size; /* 4 KiB << size, this struct included */
    uint32_t used; /* guarded by the stripe's lock */
    struct index_table *next_spare;
    uint32_t slot[];
};

static struct stripe {
    struct lock lock;
    struct index_table *table;
} stripes[STRIPES];

/* Outgrown tables, for the next stripe that grows to their size. */
static struct {
    struct lock lock;
    struct index_table *first[SIZES];
} spare;

static struct segments nodes = {.type = LEAK_CHUNK_NODES,
                                .record_size = sizeof(struct leak_node),
                                .first_id = LEAK_NODE_FIRST,
                                .first_bits = 10};
static uint32_t last_node =
    LEAK_NODE_FIRST - 1; /* private twin of header.nodes: exact after fork */
static uint32_t inherited_nodes;

/* ---- Tables ---------------------------------------------------------------------------------- */

static uint32_t capacity_of(const struct index_table *table)
{
    return ((LEAK_PAGE << table->size) - sizeof *table) / sizeof table->slot[0];
}

static struct index_table *make_table(uint32_t size)
{
    if (size >= SIZES)
        return NULL;
    struct locked locked = lock_take(&spare.lock);
    struct index_table *table = spare.first[size];
    if (table)
        spare.first[size] = table->next_spare;
    lock_give(&locked);
    if (!table && !(table = arena_map(LEAK_PAGE << size)))
        return NULL;
    table->size = size;
    table->used = 0;
    for (uint32_t i = 0; i < capacity_of(table); i++)
        store_relaxed(&table->slot[i], 0); /* whole words: somebody may be reading */
    return table;
}

/* A reader may still be in it: tables are never unmapped, and what it finds there it compares with
 * the node itself. */
static void spare_table(struct index_table *table)
{
    struct locked locked = lock_take(&spare.lock);
    table->next_spare = spare.first[table->size];
    spare.first[table->size] = table;
    lock_give(&locked);
}

bool tree_start(void)
{
    for (int i = 0; i < STRIPES; i++)
        if (!(stripes[i].table = make_table(0)))
            return false;
    store_header->nodes = last_node;
    return true;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint64_t hash_key(uint32_t parent, uintptr_t pc, uint32_t retired)
{
    return hash_u64(hash_u64(pc ^ (uint64_t)retired << 48) + parent);
}

static struct stripe *stripe_of(uint64_t hash)
{
    return &stripes[hash >> 32 & (STRIPES - 1)];
}

/* Multiply-shift on the low half; the high half chooses stripe and tag. */
static uint32_t home_of(uint64_t hash, uint32_t capacity)
{
    return (hash & UINT32_MAX) * capacity >> 32;
}

static uint32_t tag_of(uint64_t hash)
{
    return hash >> 58 << ID_BITS;
}

static bool is_leaf(uintptr_t pc)
{
    return pc < LEAK_KIND_PCS;
}

static bool matches(uint32_t id, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    const struct leak_node *node = segments_at(&nodes, id);
    if (node->pc != pc || node->parent != parent)
        return false;
    return is_leaf(pc) ? id > inherited_nodes : node->number == retired;
}

static uint32_t lookup(const struct index_table *table, uint64_t hash, uint32_t parent,
                       uintptr_t pc, uint32_t retired)
{
    uint32_t capacity = capacity_of(table), tag = tag_of(hash);
    uint32_t at = home_of(hash, capacity);
    for (;; at = at + 1 == capacity ? 0 : at + 1) {
        uint32_t slot = load_acquire(&table->slot[at]);
        if (!slot)
            return 0;
        if ((slot & ~ID_MOST) == tag && matches(slot & ID_MOST, parent, pc, retired))
            return slot & ID_MOST;
    }
}

static void put(struct index_table *table, uint64_t hash, uint32_t id)
{
    uint32_t capacity = capacity_of(table), at = home_of(hash, capacity);
    while (table->slot[at])
        at = at + 1 == capacity ? 0 : at + 1;
    /* Pairs with the acquire in lookup. */
    store_release(&table->slot[at], id | tag_of(hash));
    table->used++;
}

static uint64_t hash_node(const struct leak_node *node)
{
    return hash_key(node->parent, node->pc, is_leaf(node->pc) ? 0 : node->number);
}

/* Room for one more; the stripe's lock is held. */
static bool make_room(struct stripe *stripe)
{
    struct index_table *old = stripe->table;
    uint32_t capacity = capacity_of(old);
    if (likely(old->used < capacity - capacity / 8))
        return true;
    struct index_table *table = make_table(old->size + 1);
    if (!table)
        return false;
    for (uint32_t i = 0; i < capacity; i++) {
        uint32_t id = old->slot[i] & ID_MOST;
        if (id)
            put(table, hash_node(segments_at(&nodes, id)), id);
    }
    store_release(&stripe->table, table); /* pairs with the acquire in child_of */
    spare_table(old);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A new node under the stripe's lock; 0 without memory. */
static uint32_t make_node(struct guard *guard, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    uint32_t id, number = retired;
    if (unlikely(load_relaxed(&last_node) >= ID_MOST - STRIPES))
        return 0;
    struct leak_node *node = segments_next(&nodes, &last_node, &id);
    if (!node || (is_leaf(pc) && !(number = sites_make(guard, parent, pc))))
        return 0;
    store_relaxed(&store_header->nodes, load_relaxed(&last_node));
    node->parent = parent;
    node->number = number;
    store_release(&node->pc, pc); /* readers of the store take it from here */
    return id;
}

static NOINLINE uint32_t add_child(struct guard *guard, uint64_t hash, uint32_t parent,
                                   uintptr_t pc, uint32_t retired)
{
    struct stripe *stripe = stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t id = lookup(stripe->table, hash, parent, pc, retired);
    if (!id && make_room(stripe) && (id = make_node(guard, parent, pc, retired)))
        put(stripe->table, hash, id);
    lock_give(&locked);
    return id;
}

static uint32_t child_of(struct guard *guard, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    uint64_t hash = hash_key(parent, pc, retired);
    uint32_t id = lookup(load_acquire(&stripe_of(hash)->table), hash, parent, pc, retired);
    return likely(id) ? id : add_child(guard, hash, parent, pc, retired);
}

uint32_t tree_site(struct guard *guard, struct unwind_trace *trace, enum leak_kind kind)
{
    uint32_t known = trace->shared, node = trace->end;
    if (known)
        node = trace->step[known - 1].node;
    for (uint32_t i = known; i < trace->depth && node; i++) {
        struct unwind_step *step = &trace->step[i];
        node = step->node = child_of(guard, node, step->pc, step->retired);
    }
    uint32_t leaf = node ? child_of(guard, node, kind, 0) : 0;
    if (!leaf) {
        unwind_forget(trace); /* not every frame has its node: the next trace must not rely on it */
        return 0;
    }
    return ((const struct leak_node *)segments_at(&nodes, leaf))->number;
}

bool tree_check(void)
{
    for (uint32_t id = LEAK_NODE_FIRST; id <= last_node; id++) {
        const struct leak_node *node = segments_at(&nodes, id);
        if (!node->pc)
            continue;
        uint64_t hash = hash_node(node);
        uint32_t retired = is_leaf(node->pc) ? 0 : node->number;
        if (node->parent >= id ||
            (!(is_leaf(node->pc) && id <= inherited_nodes) &&
             lookup(stripe_of(hash)->table, hash, node->parent, node->pc, retired) != id))
            return false;
    }
    return true;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void tree_fork_lock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&spare.lock);
    lock_take_raw(&nodes.lock);
}

void tree_fork_unlock(void)
{
    lock_give_raw(&nodes.lock);
    lock_give_raw(&spare.lock);
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

bool tree_fork_child(uint32_t *inherited)
{
    spare.lock.word = 0;
    for (int i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
    inherited_nodes = *inherited = last_node;
    if (!segments_fork_child(&nodes, last_node))
        return false;
    store_header->nodes = last_node;
    return true;
}
