/* stack_cache.c - entries of the cache, and the large sets that few threads may have. */
#include "preload/unwind/stack_cache.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"

#define WINDOW 256
#define SLEEP 4096

/* Large sets in use, and their memory, which the next thread uses again. */
static struct {
    struct lock lock;
    bool taken[STACK_CACHE_LARGE_THREADS];
    struct stack_cache_large *memory[STACK_CACHE_LARGE_THREADS];
} large_sets;

static struct stack_cache_large *take_large_sets(void)
{
    struct stack_cache_large *large = NULL;
    struct locked locked = lock_take(&large_sets.lock);
    for (unsigned i = 0; i < STACK_CACHE_LARGE_THREADS && !large; i++) {
        if (large_sets.taken[i])
            continue;
        if (!large_sets.memory[i])
            large_sets.memory[i] = arena_map(sizeof *large);
        large = large_sets.memory[i];
        large_sets.taken[i] = large != NULL;
    }
    lock_give(&locked);
    return large;
}

/* Writes to used sets only, so that most memory of a thread with few stacks is never touched. */
static void clear_sets(struct stack_cache_set *set, struct stack_cache_entry **newest,
                       unsigned count)
{
    for (; count--; set++, newest++) {
        if (!*newest)
            continue;
        for (unsigned way = 0; way < STACK_CACHE_WAYS; way++)
            set->entry[way].pc = 0;
        *newest = NULL;
    }
}

static struct stack_cache_set *set_at(struct stack_cache *cache, unsigned set)
{
    return &(cache->large ? cache->large->set : cache->small)[set];
}

static bool grow_stack_cache(struct stack_cache *cache)
{
    struct stack_cache_large *large = cache->large ? NULL : take_large_sets();
    if (!large)
        return false;
    /* The parent process may have left them full. */
    clear_sets(large->set, large->newest, STACK_CACHE_SETS_MAX);
    stack_cache_clear(cache); /* resets the counters too: the large sets need time to fill */
    cache->large = large;
    return true;
}

void stack_cache_close(struct stack_cache *cache)
{
    struct stack_cache_large *large = cache->large;
    stack_cache_clear(cache);
    cache->large = NULL;
    struct locked locked = lock_take(&large_sets.lock);
    for (unsigned i = 0; i < STACK_CACHE_LARGE_THREADS; i++)
        if (large && large_sets.memory[i] == large)
            large_sets.taken[i] = false;
    lock_give(&locked);
}

void stack_cache_fork_child(const struct stack_cache *cache)
{
    large_sets.lock.word = 0;
    for (unsigned i = 0; i < STACK_CACHE_LARGE_THREADS; i++)
        large_sets.taken[i] = cache && cache->large && cache->large == large_sets.memory[i];
}

/* Decides at the end of a window: grow the cache, suspend it, or go on. */
static NOINLINE void end_lookup_window(struct stack_cache *cache)
{
    if (cache->misses * 16 > cache->lookups)
        cache->missed += cache->misses;
    bool long_enough = cache->missed > 4 * STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS;
    if (long_enough && !grow_stack_cache(cache) && cache->misses > cache->lookups / 4 * 3)
        cache->asleep = SLEEP;
    cache->lookups = cache->misses = 0;
}

/* The entry whose place the next stack of the set takes: the one behind the newest. */
static struct stack_cache_entry *next_victim(struct stack_cache *cache, unsigned set)
{
    struct stack_cache_entry *entry = set_at(cache, set)->entry;
    const struct stack_cache_entry *newest = stack_cache_newest(cache)[set];
    return entry + (newest ? (newest - entry + 1) % STACK_CACHE_WAYS : 0);
}

/* ---- Hints ----------------------------------------------------------------------------------- */

static struct stack_cache_hint *hint_at(struct stack_cache *cache, uintptr_t pc, uintptr_t sp)
{
    uint64_t hash = (pc + sp) * 0x9e3779b97f4a7c15ull;
    return &cache->hint[hash >> (64 - __builtin_ctz(STACK_CACHE_HINTS))];
}

/* The key of a live stack; pc + sp if it has no hint. */
static uintptr_t stack_key(struct stack_cache *cache, uintptr_t pc, uintptr_t sp)
{
    const struct stack_cache_hint *hint = hint_at(cache, pc, sp);
    uintptr_t key = pc + sp;
    for (unsigned i = 0; hint->pc == pc && hint->sp == sp && i < hint->count; i++)
        key = key * 31 + ((const uintptr_t *)sp)[hint->offset[i]];
    return key;
}

/* Adds a word to the key of a stack. False: it has enough, or the word is too far away. */
static bool add_hint_word(struct stack_cache *cache, uintptr_t pc, uintptr_t sp, uint64_t offset)
{
    struct stack_cache_hint *hint = hint_at(cache, pc, sp);
    if (hint->pc != pc || hint->sp != sp) {
        hint->count = 0;
        hint->pc = pc;
        hint->sp = sp;
    }
    if (hint->count == STACK_CACHE_HINT_WORDS || offset > UINT16_MAX)
        return false;
    hint->offset[hint->count++] = offset;
    return true;
}

/* The new stack would take the place of an entry with the same pc and sp. Does the key get another
 * word, by which the two are told apart? That is the innermost word in which they differ. */
static bool learn_hint(struct stack_cache *cache, const struct stack_cache_entry *entry,
                       uintptr_t low, const struct unwind_trace *trace)
{
    const struct unwind_step *inner = unwind_step_at(trace, 0);
    if (entry->pc != inner->pc || entry->sp != inner->sp || entry->start < cache->intact)
        return false;
    const uint32_t *offset = (const uint32_t *)(entry->word + entry->words);
    unsigned ours = inner->words;
    for (unsigned theirs = entry->words; theirs-- && ours--;) {
        if (trace->offset[ours] != offset[theirs])
            return false;
        if (trace->word[ours] != entry->word[theirs])
            return add_hint_word(cache, inner->pc, inner->sp,
                                 (low + offset[theirs] - inner->sp) / sizeof(uintptr_t));
    }
    return false;
}

/* ---- Finding and adding ---------------------------------------------------------------------- */

uint32_t stack_cache_find_older(struct stack_cache *cache, uintptr_t low,
                                const struct frame *caller, unsigned sort)
{
    uintptr_t key = stack_key(cache, caller->pc, caller->sp);
    unsigned set = stack_cache_set_index(cache, key);
    struct stack_cache_entry *entry = set_at(cache, set)->entry;
    struct stack_cache_entry **newest = &stack_cache_newest(cache)[set];
    /* An unused set is not read: the kernel would map a page of zeros, and copy it later. */
    for (unsigned way = 0; *newest && way < STACK_CACHE_WAYS; way++, entry++)
        if (entry->key == (uint32_t)key && stack_cache_matches(cache, entry, low, caller, sort)) {
            *newest = entry;
            return entry->site;
        }
    cache->misses++;
    if (unlikely(cache->lookups >= WINDOW))
        end_lookup_window(cache);
    return 0;
}

/* Room in the ring. Entries whose words were there are empty from now on. */
static uintptr_t *reserve_words(struct stack_cache *cache, unsigned count)
{
    unsigned size = cache->large ? STACK_CACHE_RING_MAX : STACK_CACHE_RING_MIN;
    if (cache->head + count > size) {
        cache->written += size - cache->head;
        cache->head = 0;
    }
    uintptr_t *room = (cache->large ? cache->large->ring : cache->ring) + cache->head;
    cache->head += count;
    cache->written += count;
    cache->intact = cache->written > size ? cache->written - size : 0;
    return room;
}

/* The words of the frames of a trace; those beyond its limit do not matter. */
static void copy_words(struct stack_cache *cache, struct stack_cache_entry *entry,
                       const struct unwind_trace *trace, unsigned first, unsigned words)
{
    unsigned count = words + (words * sizeof(uint32_t) + WORD - 1) / WORD; /* words and offsets */
    entry->word = reserve_words(cache, count);
    entry->start = cache->written - count;
    entry->words = words;
    __asm__ volatile("" ::: "memory");
    memcpy(entry->word, trace->word + first, words * sizeof *trace->word);
    memcpy(entry->word + words, trace->offset + first, words * sizeof *trace->offset);
}

/* The entries of a pc and sp whose key has changed are found no more. */
static void drop_entries_of(struct stack_cache_set *set, uintptr_t pc, uintptr_t sp)
{
    for (unsigned way = 0; way < STACK_CACHE_WAYS; way++)
        if (set->entry[way].pc == pc && set->entry[way].sp == sp)
            set->entry[way].pc = 0;
}

void stack_cache_add(struct stack_cache *cache, uintptr_t low, const struct unwind_trace *trace,
                     unsigned sort, uint32_t site)
{
    if (cache->asleep || !trace->shareable || !trace->depth)
        return;
    const struct unwind_step *inner = unwind_step_at(trace, 0);
    unsigned first = trace->step[trace->cut].words, words = inner->words - first;
    if (!inner->in_words || words > STACK_CACHE_WORDS)
        return;
    uintptr_t key = stack_key(cache, inner->pc, inner->sp);
    unsigned set = stack_cache_set_index(cache, key);
    struct stack_cache_entry *entry = next_victim(cache, set);
    if (stack_cache_newest(cache)[set] && learn_hint(cache, entry, low, trace)) {
        drop_entries_of(set_at(cache, set), inner->pc, inner->sp);
        key = stack_key(cache, inner->pc, inner->sp);
        set = stack_cache_set_index(cache, key);
        entry = next_victim(cache, set);
    }
    entry->pc = 0; /* a signal handler must not find an incomplete entry */
    __asm__ volatile("" ::: "memory");
    entry->sp = inner->sp;
    entry->fp = inner->fp;
    entry->fp_matters = inner->fp_matters;
    entry->looked = trace->looked;
    entry->sort = sort;
    entry->site = site;
    entry->key = key;
    copy_words(cache, entry, trace, first, words);
    /* The set names the entry before the entry is valid: only sets in use are ever cleared. */
    stack_cache_newest(cache)[set] = entry;
    __asm__ volatile("" ::: "memory");
    entry->pc = inner->pc;
}

void stack_cache_clear(struct stack_cache *cache)
{
    clear_sets(set_at(cache, 0), stack_cache_newest(cache),
               cache->large ? STACK_CACHE_SETS_MAX : STACK_CACHE_SETS_MIN);
    cache->lookups = cache->misses = cache->asleep = cache->missed = 0;
    cache->written = cache->intact = cache->head = 0;
    for (unsigned i = 0; i < STACK_CACHE_HINTS; i++)
        if (cache->hint[i].pc)
            cache->hint[i].pc = 0;
}
