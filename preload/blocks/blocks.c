/* blocks.c - the table of live blocks: blocks are in the shadow, or in the open table if the shadow
 * has no room. */
#include "preload/base/lock.h"
#include "preload/blocks/blocks.h"
#include "preload/blocks/table.h"

#define AROUND_MOST (1u << 14) /* largest number of regions of 2 KiB in which a block is searched */

void blocks_start(void)
{
    blocks_set_spacing(false);
    table_start();
}

void blocks_set_spacing(bool apart)
{
    /* Without "apart", two blocks of up to 16 bytes may begin in one window of 32 bytes, so the
     * shadow takes only blocks of at least 17 bytes. */
    shadow_state.least = apart ? 0 : 17;
}

/* ---- Inserting and removing blocks ----------------------------------------------------------- */

/* Empties the words that a new block needs. Older blocks there are blocks whose frees libleak has
 * not seen. An older block at the address of the new one is removed, and *old gets it; the others
 * move to the open table. False: the open table has no memory for them. */
static bool clear_place(uintptr_t area, const struct block *block, struct block *old,
                        enum blocks_insert *done)
{
    enum shadow_grain grain = shadow_grain_of(block->size);
    struct block obstacle;
    while (shadow_find_obstacle(area, block, grain, &obstacle)) {
        bool same = obstacle.address == block->address;
        if (!same && (!shadow_share_area(obstacle.address) || !table_insert(&obstacle)))
            return false;
        shadow_take(obstacle.address, same ? old : &obstacle, grain, NULL);
        *done = same ? BLOCKS_REPLACED : *done;
    }
    return true;
}

static bool take_other(uintptr_t address, struct block *old)
{
    return shadow_take(address, old, SHADOW_FINE, NULL) ||
           shadow_take(address, old, SHADOW_COARSE, NULL);
}

static uint32_t saturated_tick(const struct block *block)
{
    return block->tick < BLOCKS_TICK_MAX ? block->tick : BLOCKS_TICK_MAX;
}

static bool renew_run(struct run *run, const struct block *block)
{
    return run_renew(run, block->thread, saturated_tick(block), block->count, shadow_areas(),
                     shadow_each_identity);
}

static bool insert_in_shadow(struct run *run, const struct block *block, struct block *old,
                             enum blocks_insert *done)
{
    enum shadow_grain grain = shadow_grain_of(block->size);
    uintptr_t area = shadow_fits(block, grain) ? shadow_make_area(block->address, grain) : 0;
    if (!area || (!run_has(run, saturated_tick(block), block->count) && !renew_run(run, block)))
        return false;
    if (!shadow_put(area, block, run, grain) &&
        (!clear_place(area, block, old, done) || !shadow_put(area, block, run, grain)))
        return false;
    if (shadow_take(block->address, old, grain == SHADOW_FINE ? SHADOW_COARSE : SHADOW_FINE, NULL))
        *done = BLOCKS_REPLACED;
    return true;
}

static bool may_be_in_table(uintptr_t address)
{
    return shadow_is_shared(shadow_area(address, SHADOW_FINE), address);
}

/* The run that blocks_put_back uses, whichever thread calls it: the block that it inserts again may
 * have been allocated by another thread. others_lock guards the run. */
static struct lock others_lock;
static struct run others;

/* Inserts a block of 256 bytes or more if the words of its area are mapped and the thread's current
 * run contains its allocation. False: blocks_insert_slowly must insert the block in another way.
 * Most of its calls need only this function. */
static bool insert_coarse(struct run *run, const struct block *block)
{
    uintptr_t area = shadow_area(block->address, SHADOW_COARSE);
    return block->size >= SHADOW_COARSE_FROM && area && run &&
           run_has(run, block->tick, block->count) && !may_be_in_table(block->address) &&
           shadow_put(area, block, run, SHADOW_COARSE);
}

enum blocks_insert blocks_insert_slowly(struct run *run, const struct block *block,
                                        struct block *old)
{
    enum blocks_insert done = BLOCKS_NEW;
    if (likely(insert_coarse(run, block)))
        return shadow_take(block->address, old, SHADOW_FINE, NULL) ? BLOCKS_REPLACED : BLOCKS_NEW;
    if (!blocks_has_key(block->address))
        return BLOCKS_NO_MEMORY;
    if (may_be_in_table(block->address) && table_remove(block->address, old))
        done = BLOCKS_REPLACED;
    if (run && insert_in_shadow(run, block, old, &done))
        return done;
    /* If there is no memory for the new block, an older block at its address stays in the shadow;
     * the free of the new block will remove the older one. */
    if (!shadow_share_area(block->address) || !table_insert(block))
        return BLOCKS_NO_MEMORY;
    return take_other(block->address, old) ? BLOCKS_REPLACED : done;
}

bool blocks_put_back(struct guard *guard UNUSED, const struct block *block)
{
    struct block old;
    struct locked locked = lock_take(&others_lock);
    run_end(&others);
    if (!renew_run(&others, block))
        run_find(&others, block->thread, block->tick, block->count);
    bool done = blocks_insert_slowly(&others, block, &old) != BLOCKS_NO_MEMORY;
    lock_give(&locked);
    return done;
}

bool blocks_remove_slowly(uintptr_t address, struct block *out, struct origin *origin)
{
    if (likely(shadow_take(address, out, SHADOW_COARSE, origin)))
        return true;
    if (origin)
        origin->identity = ORIGIN_TOLD;
    return blocks_has_key(address) && may_be_in_table(address) && table_remove(address, out);
}

bool blocks_tell_origin(struct block *block, const struct origin *origin)
{
    if (origin->identity == ORIGIN_TOLD)
        return true;
    shadow_unpack_run(origin->identity, block);
    /* The run is read before "sweeps" is read, so that a sweep in between is noticed */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (likely(load_relaxed(&runs_state.sweeps) == origin->sweeps))
        return true;
    block->thread = 0;
    block->count = block->tick = 0;
    return false;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

bool blocks_find(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    return blocks_has_key(address) &&
           (shadow_find(address, out) || (may_be_in_table(address) && table_find(address, out)));
}

static bool block_covers(const struct block *block, uintptr_t address)
{
    return address - block->address < (block->size ? block->size : 1);
}

/* Finds the highest block that begins at or below an address, in at most "regions" regions;
 * out->address is 0 if there is none. *busy: set if another thread holds a lock; busy NULL: wait
 * for locks. */
static void find_below(uintptr_t address, unsigned regions, struct block *out, bool *busy)
{
    uint64_t number = address >> REGION_BITS, lowest = number < regions ? 0 : number - regions + 1;
    struct block other;
    if (!shadow_find_below(address, lowest << REGION_BITS, out))
        *out = (struct block){0};
    if (out->address)
        lowest = out->address >> REGION_BITS;
    for (; number >= lowest && number; number--)
        if (busy ? table_try_find_below(number, address, &other, busy)
                 : table_find_below(number, address, &other)) {
            if (other.address > out->address)
                *out = other;
            return;
        }
}

bool blocks_find_containing(struct guard *guard UNUSED, uintptr_t address, struct block *out)
{
    find_below(address, AROUND_MOST, out, NULL);
    return out->address && block_covers(out, address);
}

bool blocks_find_nearest(uintptr_t address, unsigned regions, struct block *out, bool *busy)
{
    *out = (struct block){0};
    if (table_is_started())
        find_below(address, regions, out, busy);
    return out->address != 0;
}

/* ---- Visiting all blocks --------------------------------------------------------------------- */

static void count_block(const struct block *block UNUSED, void *count)
{
    ++*(uint64_t *)count;
}

uint64_t blocks_count(void)
{
    uint64_t count = 0;
    shadow_each(count_block, NULL, &count);
    return count + table_count();
}

void blocks_each(blocks_visit *visit, void *context)
{
    shadow_each(visit, NULL, context);
    table_each(visit, context);
}

/* The state of a visit of all blocks in address order. next: the first region of the open table
 * whose blocks are not visited yet; end: the end of the array of these regions. */
struct merge {
    const struct blocks_region *next, *end;
    blocks_visit *visit;
    void *context;
};

static void visit_of_shadow(const struct block *block, void *context)
{
    const struct merge *merge = context;
    merge->visit(block, merge->context);
}

static void visit_regions_below(uintptr_t end, void *context)
{
    struct merge *merge = context;
    const struct blocks_region *from = merge->next;
    while (merge->next < merge->end && blocks_region_number(merge->next) < end >> REGION_BITS)
        merge->next++;
    table_each_in_regions(from, merge->next - from, merge->visit, merge->context);
}

void blocks_each_in_order(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                          void *context)
{
    struct merge merge = {regions, regions + count, visit, context};
    shadow_each(visit_of_shadow, visit_regions_below, &merge);
    visit_regions_below(UINTPTR_MAX, &merge);
}

/* ---- Checking invariants; locking around fork ------------------------------------------------ */

/* Sets *context to false if a block of the open table is in the shadow as well, or where the shadow
 * says that the open table has no blocks. */
static void check_place(const struct block *block, void *context)
{
    struct block out;
    *(bool *)context =
        *(bool *)context && may_be_in_table(block->address) && !shadow_find(block->address, &out);
}

bool blocks_check(void)
{
    bool once = true;
    table_each(check_place, &once);
    return once && shadow_check() && table_check();
}

void blocks_fork_lock(void)
{
    lock_take_raw(&others_lock);
    table_fork_lock();
    runs_fork_lock();
    shadow_fork_lock();
}

void blocks_fork_unlock(void)
{
    shadow_fork_unlock();
    runs_fork_unlock();
    table_fork_unlock();
    lock_give_raw(&others_lock);
}

void blocks_fork_child(void)
{
    others_lock.word = 0;
    shadow_fork_child();
    runs_fork_child();
    table_fork_child();
}
