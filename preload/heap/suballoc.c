#include "preload/heap/suballoc.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"

#define FIRST_ENTRIES 1024
#define FIRST_POOLS 512
#define AROUND_MOST 4096 /* entries looked at for the one that an address is in */

struct entry {
    uintptr_t address; /* 0: free, and "left" is the next one */
    struct blocks_entry is;
    uint32_t pool;
    uint32_t left, right;
    uint32_t newer, older; /* members of the pool */
};

uint64_t carved_count;
static struct lock lock;      /* guards what follows */
static struct entry *entries; /* from 1 on: 0 is nobody */
static uint32_t *newest;      /* by pool: its list */
static uint32_t capacity, used, unused, root, pools;

/* ---- Memory --------------------------------------------------------------------------------- */

/* An array with room for one more than "at"; false: no memory. */
static bool reach_to(void **array, uint32_t *room, size_t each, uint32_t at, uint32_t least)
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

static uint32_t take_entry(void)
{
    uint32_t made = unused;
    if (made) {
        unused = entries[made].left;
        return made;
    }
    void *array = entries;
    if (used >= UINT32_MAX / 2 ||
        !reach_to(&array, &capacity, sizeof *entries, used + 1, FIRST_ENTRIES))
        return 0;
    entries = array;
    return ++used;
}

static void give_entry(uint32_t it)
{
    entries[it] = (struct entry){.left = unused};
    unused = it;
}

/* Numbers of pools are small: pools.c uses those again that are free. */
static bool has_list(uint32_t pool)
{
    void *array = newest;
    bool room;
    while (!(room = pool < pools) && reach_to(&array, &pools, sizeof *newest, pools, FIRST_POOLS))
        newest = array;
    return room;
}

/* ---- The tree ------------------------------------------------------------------------------- */

static bool is_before(const struct entry *entry, uintptr_t address, uint32_t pool)
{
    return entry->address != address ? entry->address < address : entry->pool < pool;
}

static uint32_t priority(uint32_t it)
{
    return (uint32_t)hash_u64(it);
}

/* Below *link what is before the new one goes to its left, the rest to its right. */
static void tree_put(uint32_t it)
{
    struct entry *made = &entries[it];
    uint32_t *link = &root;
    while (*link && priority(*link) >= priority(it))
        link = is_before(&entries[*link], made->address, made->pool) ? &entries[*link].right
                                                                     : &entries[*link].left;
    uint32_t rest = *link, *left = &made->left, *right = &made->right;
    *link = it;
    while (rest) {
        uint32_t **side = is_before(&entries[rest], made->address, made->pool) ? &left : &right;
        **side = rest;
        *side = side == &left ? &entries[rest].right : &entries[rest].left;
        rest = **side;
    }
    *left = *right = 0;
}

static void tree_take(uint32_t it)
{
    const struct entry *gone = &entries[it];
    uint32_t *link = &root, left = gone->left, right = gone->right;
    while (*link != it)
        link = is_before(&entries[*link], gone->address, gone->pool) ? &entries[*link].right
                                                                     : &entries[*link].left;
    while (left && right) {
        bool left_is_above = priority(left) >= priority(right);
        *link = left_is_above ? left : right;
        link = left_is_above ? &entries[left].right : &entries[right].left;
        *(left_is_above ? &left : &right) = *link;
    }
    *link = left ? left : right;
}

/* The last one before that place, and the first one at or behind it; 0: none. */
struct neighbours {
    uint32_t before, behind;
};

static struct neighbours tree_beside(uintptr_t address, uint32_t pool)
{
    struct neighbours found = {0};
    for (uint32_t it = root; it;)
        if (is_before(&entries[it], address, pool)) {
            found.before = it;
            it = entries[it].right;
        } else {
            found.behind = it;
            it = entries[it].left;
        }
    return found;
}

/* ---- One entry ------------------------------------------------------------------------------ */

static struct carved carved_of(uint32_t it)
{
    return (struct carved){.block = blocks_unpack(&entries[it].is, entries[it].address),
                           .pool = entries[it].pool};
}

static uint64_t size_of(uint32_t it)
{
    return carved_of(it).block.size;
}

static uint32_t find(uintptr_t address, uint32_t pool)
{
    uint32_t it = tree_beside(address, pool == CARVED_ANY ? 0 : pool).behind, smallest = 0;
    if (pool != CARVED_ANY)
        return it && entries[it].address == address && entries[it].pool == pool ? it : 0;
    for (; it && entries[it].address == address;
         it = tree_beside(address, entries[it].pool + 1).behind)
        if (!smallest || size_of(it) < size_of(smallest))
            smallest = it;
    return smallest;
}

static void join_pool(uint32_t it)
{
    struct entry *entry = &entries[it];
    entry->newer = 0;
    entry->older = newest[entry->pool];
    if (entry->older)
        entries[entry->older].newer = it;
    newest[entry->pool] = it;
}

static void leave_pool(uint32_t it)
{
    const struct entry *entry = &entries[it];
    if (entry->older)
        entries[entry->older].newer = entry->newer;
    if (entry->newer)
        entries[entry->newer].older = entry->older;
    else
        newest[entry->pool] = entry->older;
}

static bool take_out(uint32_t it, struct carved *out)
{
    if (!it)
        return false;
    *out = carved_of(it);
    tree_take(it);
    if (out->pool)
        leave_pool(it);
    give_entry(it);
    store_relaxed(&carved_count, carved_count - 1);
    return true;
}

/* ---- The table ------------------------------------------------------------------------------ */

enum blocks_insert carved_insert(struct guard *guard UNUSED, const struct block *block,
                                 uint32_t pool, struct block *old)
{
    enum blocks_insert result = BLOCKS_NO_MEMORY;
    if (!blocks_has_key(block->address))
        return result;
    struct locked locked = lock_take(&lock);
    uint32_t it = find(block->address, pool);
    if (it) {
        *old = carved_of(it).block;
        entries[it].is = blocks_pack(block);
        result = BLOCKS_REPLACED;
    } else if ((!pool || has_list(pool)) && (it = take_entry())) {
        entries[it] =
            (struct entry){.address = block->address, .is = blocks_pack(block), .pool = pool};
        tree_put(it);
        if (pool)
            join_pool(it);
        store_relaxed(&carved_count, carved_count + 1);
        result = BLOCKS_NEW;
    }
    lock_give(&locked);
    return result;
}

bool carved_remove(struct guard *guard UNUSED, uintptr_t address, uint32_t pool, struct carved *out)
{
    struct locked locked = lock_take(&lock);
    bool known = take_out(find(address, pool), out);
    lock_give(&locked);
    return known;
}

bool carved_remove_in(struct guard *guard UNUSED, uintptr_t start, uintptr_t end,
                      struct carved *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = tree_beside(start, 0).behind;
    bool known = it && entries[it].address < end && take_out(it, out);
    lock_give(&locked);
    return known;
}

bool carved_remove_member(struct guard *guard, uint32_t pool, struct carved *out)
{
    return carved_remove_outside(guard, pool, 0, 0, out);
}

bool carved_remove_outside(struct guard *guard UNUSED, uint32_t pool, uintptr_t start,
                           uintptr_t end, struct carved *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = pool && pool < pools ? newest[pool] : 0;
    while (it && entries[it].address - start < end - start)
        it = entries[it].older;
    bool known = take_out(it, out);
    lock_give(&locked);
    return known;
}

/* At or below: with blocks in blocks, the nearest that reaches so far is the smallest. */
static uint32_t around(uintptr_t address)
{
    uint32_t it = tree_beside(address, CARVED_ANY).before, found = 0;
    for (unsigned tried = 0; it && tried < AROUND_MOST; tried++) {
        bool reaches =
            address - entries[it].address < size_of(it) || entries[it].address == address;
        if (found && entries[it].address != entries[found].address)
            break;
        if (reaches && (!found || size_of(it) < size_of(found)))
            found = it;
        it = tree_beside(entries[it].address, entries[it].pool).before;
    }
    return found;
}

bool carved_find_around(struct guard *guard UNUSED, uintptr_t address, struct carved *out)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = around(address);
    if (it)
        *out = carved_of(it);
    lock_give(&locked);
    return it;
}

bool carved_ignore(struct guard *guard UNUSED, uintptr_t address)
{
    struct locked locked = lock_take(&lock);
    uint32_t it = around(address);
    if (it) {
        struct block block = carved_of(it).block;
        block.kind |= BLOCKS_IGNORED;
        entries[it].is = blocks_pack(&block);
    }
    lock_give(&locked);
    return it;
}

bool carved_first(uintptr_t address, uint32_t pool, struct carved *out)
{
    uint32_t it = tree_beside(address, pool).behind;
    if (it)
        *out = carved_of(it);
    return it;
}

void carved_each(void (*visit)(const struct block *block, void *context), void *context)
{
    struct carved it;
    for (bool more = carved_first(0, 0, &it); more;
         more = carved_first(it.block.address, it.pool + 1, &it))
        visit(&it.block, context);
}

/* ---- Its equations -------------------------------------------------------------------------- */

static bool check_lists(uint64_t *members)
{
    for (uint32_t pool = 1; pool < pools; pool++)
        for (uint32_t it = newest[pool], newer = 0; it; newer = it, it = entries[it].older) {
            if (entries[it].pool != pool || entries[it].newer != newer || !entries[it].address)
                return false;
            ++*members;
        }
    return true;
}

static bool check_children(uint32_t it)
{
    uint32_t left = entries[it].left, right = entries[it].right;
    return (!left || priority(left) <= priority(it)) && (!right || priority(right) <= priority(it));
}

bool carved_check(void)
{
    uint64_t count = 0, of_pools = 0, members = 0, free = 0;
    uintptr_t address = 0;
    uint32_t pool = 0;
    for (uint32_t it = tree_beside(0, 0).behind; it; it = tree_beside(address, pool + 1).behind) {
        if (count && !is_before(&(struct entry){.address = address, .pool = pool},
                                entries[it].address, entries[it].pool))
            return false;
        if (!check_children(it) || !entries[it].address)
            return false;
        address = entries[it].address;
        pool = entries[it].pool;
        of_pools += pool != 0;
        count++;
    }
    for (uint32_t it = unused; it && free <= used; it = entries[it].left)
        free += entries[it].address ? used + 1ull : 1;
    return check_lists(&members) && members == of_pools && count == carved_count &&
           count + free == used;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(carved, &lock)

void carved_fork_child(void)
{
    lock.word = 0;
}
