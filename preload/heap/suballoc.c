/* suballoc.c - the table of suballocated blocks: a treap by (address, pool), and for each pool a
 * list of its blocks. */
#include "preload/heap/suballoc.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"

#define FIRST_ENTRIES 1024
#define FIRST_POOLS 512
/* Largest number of entries that are tried to find the one whose block contains an address; when
 * all were tried, the blocks that lie further away are not found. */
#define AROUND_MOST 4096

struct entry {
    uintptr_t address; /* 0: the entry is free, and "left" is the next free entry */
    struct blocks_entry is;
    uint32_t pool;
    uint32_t left, right;
    uint32_t newer, older; /* neighbours in the list of the pool's blocks */
};

uint64_t suballoc_count;
static struct lock lock;      /* guards the variables below */
static struct entry *entries; /* an array from index 1 on; index 0 means "none" */
/* Element i: index in "entries" of the newest block of pool number i. */
static uint32_t *newest;
static uint32_t capacity, used, unused, root, pools;

/* ---- Memory for entries ---------------------------------------------------------------------- */

/* Ensures that an array has an element with index "at". False: no memory. */
static bool grow_array(void **array, uint32_t *room, size_t each, uint32_t at, uint32_t least)
{
    if (at < *room)
        return true;
    uint32_t more = *room ? *room * 2 : least;
    void *made = at < more ? arena_map(more * each) : NULL;
    if (!made)
        return false;
    if (*array) {
        memcpy(made, *array, *room * each);
        arena_unmap(*array, *room * each);
    }
    *array = made;
    *room = more;
    return true;
}

static uint32_t alloc_entry(void)
{
    uint32_t made = unused;
    if (made) {
        unused = entries[made].left;
        return made;
    }
    void *array = entries;
    if (used >= UINT32_MAX / 2 ||
        !grow_array(&array, &capacity, sizeof *entries, used + 1, FIRST_ENTRIES))
        return 0;
    entries = array;
    return ++used;
}

static void free_entry(uint32_t it)
{
    entries[it] = (struct entry){.left = unused};
    unused = it;
}

/* Ensures that "newest" has an element for a pool. False: no memory. The array stays small, because
 * pools.c uses the numbers of removed pools again. */
static bool reserve_pool_list(uint32_t pool)
{
    void *array = newest;
    bool room;
    while (!(room = pool < pools) && grow_array(&array, &pools, sizeof *newest, pools, FIRST_POOLS))
        newest = array;
    return room;
}

/* ---- The treap ------------------------------------------------------------------------------- */

static bool key_is_before(const struct entry *entry, uintptr_t address, uint32_t pool)
{
    return entry->address != address ? entry->address < address : entry->pool < pool;
}

static uint32_t treap_priority(uint32_t it)
{
    return (uint32_t)hash_u64(it);
}

/* Inserts an entry above the first entry of lower priority on its way down, and splits the subtree
 * below that place: smaller keys go to the left of the new entry, larger ones to its right. */
static void treap_insert(uint32_t it)
{
    struct entry *made = &entries[it];
    uint32_t *link = &root;
    while (*link && treap_priority(*link) >= treap_priority(it))
        link = key_is_before(&entries[*link], made->address, made->pool) ? &entries[*link].right
                                                                         : &entries[*link].left;
    uint32_t rest = *link, *left = &made->left, *right = &made->right;
    *link = it;
    while (rest) {
        uint32_t **side = key_is_before(&entries[rest], made->address, made->pool) ? &left : &right;
        **side = rest;
        *side = side == &left ? &entries[rest].right : &entries[rest].left;
        rest = **side;
    }
    *left = *right = 0;
}

static void treap_remove(uint32_t it)
{
    const struct entry *gone = &entries[it];
    uint32_t *link = &root, left = gone->left, right = gone->right;
    while (*link != it)
        link = key_is_before(&entries[*link], gone->address, gone->pool) ? &entries[*link].right
                                                                         : &entries[*link].left;
    while (left && right) {
        bool left_is_above = treap_priority(left) >= treap_priority(right);
        *link = left_is_above ? left : right;
        link = left_is_above ? &entries[left].right : &entries[right].left;
        *(left_is_above ? &left : &right) = *link;
    }
    *link = left ? left : right;
}

/* Indices of the last entry before a key, and of the first entry at or after it; 0: there is
 * none. */
struct neighbours {
    uint32_t before, behind;
};

static struct neighbours treap_neighbours(uintptr_t address, uint32_t pool)
{
    struct neighbours found = {0};
    for (uint32_t it = root; it;)
        if (key_is_before(&entries[it], address, pool)) {
            found.before = it;
            it = entries[it].right;
        } else {
            found.behind = it;
            it = entries[it].left;
        }
    return found;
}

/* ---- Finding, linking and removing one entry ------------------------------------------------- */

static struct suballoc_block entry_block(uint32_t it)
{
    return (struct suballoc_block){.block = blocks_unpack(&entries[it].is, entries[it].address),
                                   .pool = entries[it].pool};
}

static uint64_t entry_size(uint32_t it)
{
    return entry_block(it).block.size;
}

static uint32_t find_entry(uintptr_t address, uint32_t pool)
{
    uint32_t it = treap_neighbours(address, pool == SUBALLOC_ANY_POOL ? 0 : pool).behind,
             smallest = 0;
    if (pool != SUBALLOC_ANY_POOL)
        return it && entries[it].address == address && entries[it].pool == pool ? it : 0;
    for (; it && entries[it].address == address;
         it = treap_neighbours(address, entries[it].pool + 1).behind)
        if (!smallest || entry_size(it) < entry_size(smallest))
            smallest = it;
    return smallest;
}

static void link_into_pool(uint32_t it)
{
    struct entry *entry = &entries[it];
    entry->newer = 0;
    entry->older = newest[entry->pool];
    if (entry->older)
        entries[entry->older].newer = it;
    newest[entry->pool] = it;
}

static void unlink_from_pool(uint32_t it)
{
    const struct entry *entry = &entries[it];
    if (entry->older)
        entries[entry->older].newer = entry->newer;
    if (entry->newer)
        entries[entry->newer].older = entry->older;
    else
        newest[entry->pool] = entry->older;
}

static bool remove_entry_at(uint32_t it, struct suballoc_block *out)
{
    if (!it)
        return false;
    *out = entry_block(it);
    treap_remove(it);
    if (out->pool)
        unlink_from_pool(it);
    free_entry(it);
    store_relaxed(&suballoc_count, suballoc_count - 1);
    return true;
}

/* ---- The functions of suballoc.h ------------------------------------------------------------- */

enum blocks_insert suballoc_insert(struct guard *guard UNUSED, const struct block *block,
                                   uint32_t pool, struct block *old)
{
    enum blocks_insert result = BLOCKS_NO_MEMORY;
    if (!blocks_has_key(block->address))
        return result;
    struct locked locked = lock_take(&lock);
    uint32_t it = find_entry(block->address, pool);
    if (it) {
        *old = entry_block(it).block;
        entries[it].is = blocks_pack(block);
        result = BLOCKS_REPLACED;
    } else if ((!pool || reserve_pool_list(pool)) && (it = alloc_entry())) {
        entries[it] =
            (struct entry){.address = block->address, .is = blocks_pack(block), .pool = pool};
        treap_insert(it);
        if (pool)
            link_into_pool(it);
        store_relaxed(&suballoc_count, suballoc_count + 1);
        result = BLOCKS_NEW;
    }
    lock_give(&locked);
    return result;
}

bool suballoc_remove(struct guard *guard UNUSED, uintptr_t address, uint32_t pool,
                     struct suballoc_block *out)
{
    struct locked locked = lock_take(&lock);
    bool known = remove_entry_at(find_entry(address, pool), out);
    lock_give(&locked);
    return known;
}

bool suballoc_remove_in_range(struct guard *guard UNUSED, uintptr_t start, uintptr_t end,
                              struct suballoc_block *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = treap_neighbours(start, 0).behind;
    bool known = it && entries[it].address < end && remove_entry_at(it, out);
    lock_give(&locked);
    return known;
}

bool suballoc_remove_member(struct guard *guard, uint32_t pool, struct suballoc_block *out)
{
    return suballoc_remove_outside(guard, pool, 0, 0, out);
}

bool suballoc_remove_outside(struct guard *guard UNUSED, uint32_t pool, uintptr_t start,
                             uintptr_t end, struct suballoc_block *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = pool && pool < pools ? newest[pool] : 0;
    while (it && entries[it].address - start < end - start)
        it = entries[it].older;
    bool known = remove_entry_at(it, out);
    lock_give(&locked);
    return known;
}

/* Finds the entry whose block contains an address. It searches downwards: where blocks are nested,
 * the nearest one that contains the address is the smallest. */
static uint32_t find_entry_containing(uintptr_t address)
{
    uint32_t it = treap_neighbours(address, SUBALLOC_ANY_POOL).before, found = 0;
    for (unsigned tried = 0; it && tried < AROUND_MOST; tried++) {
        bool reaches =
            address - entries[it].address < entry_size(it) || entries[it].address == address;
        if (found && entries[it].address != entries[found].address)
            break;
        if (reaches && (!found || entry_size(it) < entry_size(found)))
            found = it;
        it = treap_neighbours(entries[it].address, entries[it].pool).before;
    }
    return found;
}

bool suballoc_find_containing(struct guard *guard UNUSED, uintptr_t address,
                              struct suballoc_block *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = find_entry_containing(address);
    if (it)
        *out = entry_block(it);
    lock_give(&locked);
    return it;
}

bool suballoc_ignore(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = find_entry_containing(address);
    if (it) {
        struct block block = entry_block(it).block;
        block.kind |= BLOCKS_IGNORED;
        entries[it].is = blocks_pack(&block);
    }
    lock_give(&locked);
    return it;
}

bool suballoc_first(uintptr_t address, uint32_t pool, struct suballoc_block *out)
{
    uint32_t it = treap_neighbours(address, pool).behind;
    if (it)
        *out = entry_block(it);
    return it;
}

void suballoc_each(void (*visit)(const struct block *block, void *context), void *context)
{
    struct suballoc_block it;
    for (bool more = suballoc_first(0, 0, &it); more;
         more = suballoc_first(it.block.address, it.pool + 1, &it))
        visit(&it.block, context);
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static bool check_pool_lists(uint64_t *members)
{
    for (uint32_t pool = 1; pool < pools; pool++)
        for (uint32_t it = newest[pool], newer = 0; it; newer = it, it = entries[it].older) {
            if (entries[it].pool != pool || entries[it].newer != newer || !entries[it].address)
                return false;
            ++*members;
        }
    return true;
}

static bool check_treap_children(uint32_t it)
{
    uint32_t left = entries[it].left, right = entries[it].right;
    return (!left || treap_priority(left) <= treap_priority(it)) &&
           (!right || treap_priority(right) <= treap_priority(it));
}

bool suballoc_check(void)
{
    uint64_t count = 0, of_pools = 0, members = 0, free = 0;
    uintptr_t address = 0;
    uint32_t pool = 0;
    for (uint32_t it = treap_neighbours(0, 0).behind; it;
         it = treap_neighbours(address, pool + 1).behind) {
        if (count && !key_is_before(&(struct entry){.address = address, .pool = pool},
                                    entries[it].address, entries[it].pool))
            return false;
        if (!check_treap_children(it) || !entries[it].address)
            return false;
        address = entries[it].address;
        pool = entries[it].pool;
        of_pools += pool != 0;
        count++;
    }
    for (uint32_t it = unused; it && free <= used; it = entries[it].left)
        free += entries[it].address ? used + 1ull : 1;
    return check_pool_lists(&members) && members == of_pools && count == suballoc_count &&
           count + free == used;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(suballoc, &lock)

void suballoc_fork_child(void)
{
    lock.word = 0;
}
