/* stack_cache.c - adds entries to the stack cache and finds them; gives a few threads larger
 * caches. */
#include "preload/unwind/stack_cache.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"

#define WINDOW 256
#define SLEEP 4096
#define PASSED_OFTEN 16

/* The memory of large caches, and which of it is in use; a thread that ends leaves it to the next
 * one. */
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

/* Removes the entries of all sets. It writes only to sets in use, so that most memory of a thread
 * with few stacks is never touched. */
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
    stack_cache_clear(cache); /* also resets the counters: the large cache needs time to fill */
    cache->large = large;
    /* Another thread, or the parent process, may have left entries in the large cache. */
    stack_cache_clear(cache);
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

/* Decides at the end of a window of lookups: makes the cache larger, suspends it, or continues. */
static NOINLINE void end_lookup_window(struct stack_cache *cache)
{
    if (cache->misses * 16 > cache->lookups)
        cache->missed += cache->misses;
    bool long_enough = cache->missed > 4 * STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS;
    if (long_enough && !grow_stack_cache(cache) && cache->misses > cache->lookups / 4 * 3)
        cache->asleep = SLEEP;
    cache->lookups = cache->misses = 0;
}

/* Returns the entry that the next new stack of a set replaces: the one behind the newest. */
static struct stack_cache_entry *next_victim(struct stack_cache *cache, unsigned set)
{
    struct stack_cache_entry *entry = set_at(cache, set)->entry;
    const struct stack_cache_entry *newest = stack_cache_newest(cache)[set];
    return entry + (newest ? (newest - entry + 1) % STACK_CACHE_WAYS : 0);
}

/* ---- Hints: words that become part of the key ------------------------------------------------ */

/* Adds a word to the key for a pc and sp. False: the key has the largest number of words already,
 * or this word is too far from sp. */
static bool add_hint_word(struct stack_cache *cache, uintptr_t pc, uintptr_t sp, uint64_t offset)
{
    struct stack_cache_hint *hint = stack_cache_hint_at(cache, pc, sp);
    if (hint->pc != pc || hint->sp != sp) {
        hint->count = 0;
        __asm__ volatile("" ::: "memory");
        hint->pc = pc;
        hint->sp = sp;
    }
    if (hint->count == STACK_CACHE_HINT_WORDS || offset > UINT16_MAX)
        return false;
    for (unsigned i = hint->count; i < STACK_CACHE_HINT_WORDS; i++)
        hint->offset[i] = offset;
    /* The compiler must store the offset before it increments the count: a signal handler that
     * reads the hint here must not count an offset of another pc and sp. */
    __asm__ volatile("" ::: "memory");
    hint->count++;
    return true;
}

/* Removes the entries of a pc and sp whose key has changed, because they cannot be found any
 * more. */
static void drop_entries_of(struct stack_cache_set *set, uintptr_t pc, uintptr_t sp)
{
    for (unsigned way = 0; way < STACK_CACHE_WAYS; way++)
        if (set->entry[way].pc == pc && set->entry[way].sp == sp)
            set->entry[way].pc = 0;
}

/* Returns step i of an entry, counted from 0 and from the innermost step. */
static const struct stack_step *step_of(const struct stack_cache_entry *entry, unsigned i)
{
    return i < entry->inner_steps ? entry->inner + (entry->inner_steps - 1 - i)
                                  : entry->inner + entry->to_outer +
                                        (entry->outer_steps - 1 - (i - entry->inner_steps));
}

/* Finds the innermost word in which an entry differs from the stack, and returns its distance in
 * bytes from low, the low end of the stack; 0: there is none. */
static uint32_t find_difference(const struct stack_cache_entry *entry, uintptr_t low)
{
    for (unsigned i = 0; i < (unsigned)entry->inner_steps + entry->outer_steps; i++) {
        const struct stack_step *step = step_of(entry, i);
        for (unsigned at = STACK_STEP_WORDS; at--;)
            if (*(const uintptr_t *)(low + step->offset[at]) != step->word[at])
                return step->offset[at];
    }
    return 0;
}

/* Makes the keys of two stacks different: the caller's, and that of rival, an entry of the same
 * set. If they have the same pc, sp and key, the innermost word in which they differ becomes part
 * of the key. All words further in are equal, so the caller's stack has that word, too. */
static void learn_hint(struct stack_cache *cache, const struct stack_cache_entry *rival,
                       uintptr_t low, const struct frame *caller, uint64_t key)
{
    if (rival->pc != caller->pc || rival->sp != caller->sp || rival->key != (uint32_t)key ||
        (rival->fp_matters && rival->fp != caller->fp) || rival->start < cache->intact)
        return;
    uint32_t offset = find_difference(rival, low);
    uint64_t word = (low + offset - caller->sp) / sizeof(uintptr_t);
    if (offset && add_hint_word(cache, caller->pc, caller->sp, word))
        drop_entries_of(set_at(cache, stack_cache_set_index(cache, key)), caller->pc, caller->sp);
}

/* ---- Finding and adding stacks --------------------------------------------------------------- */

uint32_t stack_cache_find_older(struct stack_cache *cache, uintptr_t low,
                                const struct frame *caller, unsigned sort, uint64_t key)
{
    unsigned set = stack_cache_set_index(cache, key);
    struct stack_cache_entry *entry = set_at(cache, set)->entry;
    struct stack_cache_entry **newest = &stack_cache_newest(cache)[set];
    /* A set that is not in use is not read: the kernel would map a page of zeros, and copy that
     * page at the first store. */
    for (unsigned way = 0; *newest && way < STACK_CACHE_WAYS; way++, entry++)
        if (entry->key == (uint32_t)key && entry != *newest &&
            stack_cache_matches(cache, entry, low, caller, sort)) {
            uint32_t site = entry->site;
            if (++(*newest)->passed == PASSED_OFTEN)
                learn_hint(cache, *newest, low, caller, key);
            *newest = entry;
            stack_cache_note(cache, entry);
            return site;
        }
    cache->misses++;
    if (unlikely(cache->lookups >= WINDOW))
        end_lookup_window(cache);
    return 0;
}

static unsigned ring_size(const struct stack_cache *cache)
{
    return cache->large ? STACK_CACHE_RING_MAX : STACK_CACHE_RING_MIN;
}

/* Reserves room for steps in the ring. Entries whose steps were there are empty from now on. */
static struct stack_step *reserve_steps(struct stack_cache *cache, unsigned count)
{
    unsigned size = ring_size(cache);
    if (cache->head + count > size) {
        cache->written += size - cache->head;
        cache->head = 0;
    }
    struct stack_step *room = (cache->large ? cache->large->ring : cache->ring) + cache->head;
    cache->head += count;
    cache->written += count;
    cache->intact = cache->written > size ? cache->written - size : 0;
    return room;
}

/* Returns how many of the outermost steps of a trace are equal to those of the base (a recent stack
 * whose outer steps other entries may share). first: index of the trace's first word. 0 also if
 * less than half of the steps are equal, or if the base will be overwritten soon. */
static unsigned count_common_steps(const struct stack_cache *cache,
                                   const struct unwind_trace *trace, unsigned first, unsigned words)
{
    unsigned count = 0, most = words / STACK_STEP_WORDS;
    if (cache->base_start + ring_size(cache) / 2 < cache->written)
        return 0;
    for (; count < most && count < cache->base_steps; count++) {
        const struct stack_step *step = &cache->base[count];
        unsigned at = first + count * STACK_STEP_WORDS;
        if (memcmp(step->word, trace->word + at, sizeof step->word) != 0 ||
            memcmp(step->offset, trace->offset + at, sizeof step->offset) != 0)
            break;
    }
    return 2 * count >= most ? count : 0;
}

/* Copies "words" words of a trace, from index "first" on, to steps. If the last step is not full,
 * its last word is repeated. */
static void copy_words(struct stack_step *step, const struct unwind_trace *trace, unsigned first,
                       unsigned words)
{
    for (unsigned i = 0; i < round_up(words, STACK_STEP_WORDS); i++) {
        unsigned at = first + (i < words ? i : words - 1);
        step[i / STACK_STEP_WORDS].offset[i % STACK_STEP_WORDS] = trace->offset[at];
        step[i / STACK_STEP_WORDS].word[i % STACK_STEP_WORDS] = trace->word[at];
    }
}

static void set_base(struct stack_cache *cache, const struct stack_cache_entry *entry)
{
    /* While it changes there is no base: a signal handler may leave this function by longjmp. */
    cache->base_steps = 0;
    __asm__ volatile("" ::: "memory");
    cache->base = entry->inner;
    cache->base_start = entry->start;
    __asm__ volatile("" ::: "memory");
    cache->base_steps = entry->inner_steps;
}

/* Stores the words of a trace for an entry: outer words that are equal to those of the base only as
 * a reference to the base. first, words: the range of the trace's words that belongs to frames
 * within its limit. */
static void keep_words(struct stack_cache *cache, struct stack_cache_entry *entry,
                       const struct unwind_trace *trace, unsigned first, unsigned words)
{
    unsigned common = count_common_steps(cache, trace, first, words);
    unsigned own = words - common * STACK_STEP_WORDS;
    entry->outer_steps = common;
    entry->inner_steps = (own + STACK_STEP_WORDS - 1) / STACK_STEP_WORDS;
    struct stack_step *room = reserve_steps(cache, entry->inner_steps);
    entry->inner = room;
    entry->to_outer = common ? cache->base - room : 0;
    entry->start = common ? cache->base_start : cache->written - entry->inner_steps;
    __asm__ volatile("" ::: "memory");
    copy_words(room, trace, first + common * STACK_STEP_WORDS, own);
    if (!common)
        set_base(cache, entry);
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
    uint64_t key = stack_cache_key(cache, inner->pc, inner->sp);
    unsigned set = stack_cache_set_index(cache, key);
    if (stack_cache_newest(cache)[set]) {
        struct frame caller = {.pc = inner->pc, .sp = inner->sp, .fp = inner->fp};
        learn_hint(cache, next_victim(cache, set), low, &caller, key);
        key = stack_cache_key(cache, inner->pc, inner->sp);
        set = stack_cache_set_index(cache, key);
    }
    struct stack_cache_entry *entry = next_victim(cache, set);
    entry->pc = 0; /* a signal handler must not find an incomplete entry */
    __asm__ volatile("" ::: "memory");
    entry->sp = inner->sp;
    entry->fp = inner->fp;
    entry->fp_matters = inner->fp_matters;
    entry->looked = trace->looked;
    entry->sort = sort;
    entry->site = site;
    entry->key = key;
    entry->passed = 0;
    keep_words(cache, entry, trace, first, words);
    /* The set refers to the entry before the entry is valid: stack_cache_clear looks only at sets
     * in use. */
    stack_cache_newest(cache)[set] = entry;
    __asm__ volatile("" ::: "memory");
    entry->pc = inner->pc;
    stack_cache_note(cache, entry);
}

void stack_cache_clear(struct stack_cache *cache)
{
    clear_sets(set_at(cache, 0), stack_cache_newest(cache),
               cache->large ? STACK_CACHE_SETS_MAX : STACK_CACHE_SETS_MIN);
    cache->lookups = cache->misses = cache->asleep = cache->missed = 0;
    cache->last = cache->guess = cache->is_sure = 0;
    cache->written = cache->intact = cache->head = cache->base_steps = 0;
    struct stack_cache_hint *hint = cache->large ? cache->large->hint : cache->hint;
    unsigned hints = cache->large ? STACK_CACHE_HINTS_MAX : STACK_CACHE_HINTS_MIN;
    for (; hints--; hint++)
        if (hint->pc)
            hint->pc = 0;
}
