#include "preload/unwind/stack_cache.h"
#include "preload/base/arena.h"
#include "preload/base/lock.h"

#define WINDOW 256
#define SLEEP 4096

/* Who has the many: a flag and memory, which serves the next one. */
static struct {
    struct lock lock;
    bool taken[LEAVES_MANY_THREADS];
    struct leaf_set *memory[LEAVES_MANY_THREADS];
} places;

static struct leaf_set *take_place(void)
{
    struct leaf_set *many = NULL;
    struct locked locked = lock_take(&places.lock);
    for (unsigned i = 0; i < LEAVES_MANY_THREADS && !many; i++) {
        if (places.taken[i])
            continue;
        if (!places.memory[i])
            places.memory[i] = arena_map(LEAVES_MANY * sizeof *many);
        many = places.memory[i];
        places.taken[i] = many != NULL;
    }
    lock_give(&locked);
    return many;
}

static bool grow(struct leaves *leaves)
{
    struct leaf_set *many = leaves->many ? NULL : take_place();
    if (!many)
        return false;
    leaves->many = many;
    leaves_forget(leaves); /* what is in the few; and the many are given time to fill */
    return true;
}

void leaves_close(struct leaves *leaves)
{
    struct leaf_set *many = leaves->many;
    leaves->many = NULL;
    leaves_forget(leaves);
    struct locked locked = lock_take(&places.lock);
    for (unsigned i = 0; i < LEAVES_MANY_THREADS; i++)
        if (many && places.memory[i] == many)
            places.taken[i] = false;
    lock_give(&locked);
}

void leaves_fork_child(const struct leaves *leaves)
{
    places.lock.word = 0;
    for (unsigned i = 0; i < LEAVES_MANY_THREADS; i++)
        places.taken[i] = leaves && leaves->many && leaves->many == places.memory[i];
}

/* At the end of a window: are they enough, is it worth the while? */
static NOINLINE void take_stock(struct leaves *leaves)
{
    if (leaves->misses * 16 > leaves->lookups)
        leaves->missed += leaves->misses;
    bool long_enough = leaves->missed > 4 * LEAVES_FEW * LEAVES_WAYS;
    if (long_enough && !grow(leaves) && leaves->misses > leaves->lookups / 4 * 3)
        leaves->asleep = SLEEP;
    leaves->lookups = leaves->misses = 0;
}

static struct leaf *older_of_set(struct leaves *leaves, unsigned set)
{
    struct leaf *leaf = (leaves->many ? leaves->many : leaves->few)[set].leaf;
    return leaf + (leaves->newest[set] == leaf);
}

uint32_t leaves_find_older(struct leaves *leaves, uintptr_t low, const struct frame *caller,
                           unsigned sort)
{
    unsigned set = leaves_set(leaves, caller->pc, caller->sp);
    struct leaf *leaf = older_of_set(leaves, set);
    if (leaves_fits(leaf, low, caller, sort)) {
        leaves->newest[set] = leaf;
        return leaf->site;
    }
    leaves->misses++;
    if (unlikely(leaves->lookups >= WINDOW))
        take_stock(leaves);
    return 0;
}

void leaves_keep(struct leaves *leaves, const struct unwind_trace *trace, unsigned sort,
                 uint32_t site)
{
    if (leaves->asleep || !trace->serves || !trace->depth)
        return;
    const struct unwind_step *inner = &trace->step[trace->depth - 1];
    if (!inner->in_words || inner->words > LEAVES_WORDS)
        return;
    unsigned set = leaves_set(leaves, inner->pc, inner->sp);
    struct leaf *leaf = older_of_set(leaves, set);
    leaf->pc = 0; /* a handler may come in between and find it half made */
    __asm__ volatile("" ::: "memory");
    leaf->sp = inner->sp;
    leaf->fp = inner->fp;
    leaf->fp_matters = inner->fp_matters;
    leaf->looked = trace->looked;
    leaf->sort = sort;
    leaf->site = site;
    leaf->words = inner->words;
    memcpy(leaf->offset, trace->offset, inner->words * sizeof *leaf->offset);
    memcpy(leaf->word, trace->word, inner->words * sizeof *leaf->word);
    __asm__ volatile("" ::: "memory");
    leaf->pc = inner->pc;
    leaves->newest[set] = leaf;
}

void leaves_forget(struct leaves *leaves)
{
    for (unsigned set = 0; set < LEAVES_MANY; set++)
        if (leaves->newest[set])
            leaves->newest[set] = NULL;
    for (unsigned set = 0; set < (leaves->many ? LEAVES_MANY : LEAVES_FEW); set++)
        for (unsigned way = 0; way < LEAVES_WAYS; way++)
            (leaves->many ? leaves->many : leaves->few)[set].leaf[way].pc = 0;
    leaves->lookups = leaves->misses = leaves->asleep = leaves->missed = 0;
}
