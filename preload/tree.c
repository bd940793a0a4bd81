#include "preload/tree.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/segments.h"
#include "preload/sites.h"
#include "preload/store.h"

#define STRIPES 64
#define FIRST_CAPACITY 64

struct index_slot {
    uint32_t id; /* 0 = empty; written last */
    uint32_t tag;
};

struct index_table {
    uint32_t capacity, used; /* used: guarded by the stripe's lock */
    struct index_slot slot[];
};

static struct stripe {
    struct lock lock;
    struct index_table *table;
} stripes[STRIPES];

static struct segments nodes = {.type = LEAK_CHUNK_NODES,
                                .record_size = sizeof(struct leak_node),
                                .first_id = LEAK_NODE_FIRST,
                                .first_bits = 10};
static uint32_t last_node =
    LEAK_NODE_FIRST - 1; /* private twin of header.nodes: exact after fork */
static uint32_t inherited_nodes;

static struct index_table *make_table(uint32_t capacity)
{
    struct index_table *table = arena_map(sizeof *table + capacity * sizeof table->slot[0]);
    if (table)
        table->capacity = capacity;
    return table;
}

bool tree_start(void)
{
    for (int i = 0; i < STRIPES; i++)
        if (!(stripes[i].table = make_table(FIRST_CAPACITY * 7)))
            return false;
    store_header->nodes = last_node;
    return true;
}

static uint64_t hash_key(uint32_t parent, uintptr_t pc, uint32_t retired)
{
    return hash_u64(hash_u64(pc ^ (uint64_t)retired << 48) + parent);
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
    uint32_t at = (hash >> 6) % table->capacity, tag = hash >> 32;
    for (;; at = at + 1 == table->capacity ? 0 : at + 1) {
        uint32_t id = load_acquire(&table->slot[at].id);
        if (!id)
            return 0;
        if (table->slot[at].tag == tag && matches(id, parent, pc, retired))
            return id;
    }
}

static void put(struct index_table *table, uint64_t hash, uint32_t id)
{
    uint32_t at = (hash >> 6) % table->capacity;
    while (table->slot[at].id)
        at = at + 1 == table->capacity ? 0 : at + 1;
    table->slot[at].tag = hash >> 32;
    /* Pairs with the acquire in lookup. */
    store_release(&table->slot[at].id, id);
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
    if (likely(old->used * 8 < old->capacity * 7))
        return true;
    struct index_table *table = make_table(old->capacity * 2);
    if (!table)
        return false;
    for (uint32_t i = 0; i < old->capacity; i++)
        if (old->slot[i].id)
            put(table, hash_node(segments_at(&nodes, old->slot[i].id)), old->slot[i].id);
    store_release(&stripe->table, table); /* pairs with the acquire in child_of */
    return true;
}

/* A new node under the stripe's lock; 0 without memory. */
static uint32_t make_node(struct guard *guard, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    uint32_t id, number = retired;
    struct leak_node *node = segments_next(&nodes, &last_node, &id);
    if (!node || (is_leaf(pc) && !(number = sites_make(guard, parent, pc))))
        return 0;
    store_relaxed(&store_header->nodes, load_relaxed(&last_node));
    node->parent = parent;
    node->number = number;
    store_release(&node->pc, pc); /* readers of the store take it from here */
    return id;
}

static uint32_t child_of(struct guard *guard, uint32_t parent, uintptr_t pc, uint32_t retired)
{
    uint64_t hash = hash_key(parent, pc, retired);
    struct stripe *stripe = &stripes[hash % STRIPES];
    uint32_t id = lookup(load_acquire(&stripe->table), hash, parent, pc, retired);
    if (likely(id))
        return id;
    struct locked locked = lock_take(&stripe->lock);
    id = lookup(stripe->table, hash, parent, pc, retired);
    if (!id && make_room(stripe) && (id = make_node(guard, parent, pc, retired)))
        put(stripe->table, hash, id);
    lock_give(&locked);
    return id;
}

uint32_t tree_site(struct guard *guard, struct unwind_trace *trace, enum leak_kind kind)
{
    if (trace->shared && trace->shared == trace->depth && trace->leaf_depth == trace->depth &&
        trace->leaf_kind == (uint32_t)kind)
        return trace->leaf_site;
    uint32_t known = trace->shared, node = trace->end;
    trace->leaf_kind = LEAK_KIND_NONE;
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
    trace->leaf_depth = trace->depth;
    trace->leaf_kind = kind;
    trace->leaf_site = ((const struct leak_node *)segments_at(&nodes, leaf))->number;
    return trace->leaf_site;
}

const struct leak_node *tree_node(uint32_t id)
{
    return segments_at(&nodes, id);
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
             lookup(stripes[hash % STRIPES].table, hash, node->parent, node->pc, retired) != id))
            return false;
    }
    return true;
}

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

bool tree_fork_child(uint32_t *inherited)
{
    for (int i = 0; i < STRIPES; i++)
        stripes[i].lock.word = 0;
    inherited_nodes = *inherited = last_node;
    if (!segments_fork_child(&nodes, last_node))
        return false;
    store_header->nodes = last_node;
    return true;
}
