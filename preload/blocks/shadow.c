/* shadow.c - maps areas of the shadow, clears up what is left in it, reads it. */
#include "preload/base/arena.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "preload/blocks/shadow.h"
#include "leak_store.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define AREA_SIZE (SHADOW_WINDOWS * sizeof(uint64_t))
#define PART_SIZE (SHADOW_AREAS * sizeof(uintptr_t))
#define AREAS_AT_ONCE_MOST 16
#define STEP_WINDOWS 64 /* shadow_each calls before() once in so many windows */

uintptr_t *shadow_parts[SHADOW_PARTS];
size_t shadow_least;

static struct lock lock; /* guards the variables below, and making parts and areas */
static uint64_t areas;
static char *stock; /* mapped for areas to come */
static size_t stock_left;

/* ---- Parts and areas ------------------------------------------------------------------------- */

/* Is nearly all of an area's memory in use? */
static bool is_dense(uintptr_t area)
{
    unsigned char pages[AREA_SIZE / LEAK_PAGE];
    unsigned used = 0;
    if (area <= SHADOW_SHARED || sys_mincore(shadow_word(area, 0), AREA_SIZE, pages))
        return false;
    for (unsigned i = 0; i < sizeof pages; i++)
        used += pages[i] & 1;
    return used >= sizeof pages * 7 / 8;
}

/* Maps several areas at once, the more the more there are: a range of its own for each would fill
 * the arena's list of ranges. */
static bool map_stock(bool dense)
{
    uint64_t more = areas / 8 + 1;
    size_t size = (more < AREAS_AT_ONCE_MOST ? more : AREAS_AT_ONCE_MOST) * AREA_SIZE;
    stock = arena_map(size);
    if (!stock && size > AREA_SIZE)
        stock = arena_map(size = AREA_SIZE);
    stock_left = stock ? size : 0;
    if (dense && size == AREAS_AT_ONCE_MOST * AREA_SIZE)
        sys_advise(stock, size, MADV_HUGEPAGE);
    return stock_left;
}

/* Where the area in front is full this one will be: its pages are populated with one call. */
static uintptr_t take_from_stock(uintptr_t in_front)
{
    bool dense = is_dense(in_front);
    if (!stock_left && !map_stock(dense))
        return 0;
    uintptr_t area = (uintptr_t)stock;
    stock += AREA_SIZE;
    stock_left -= AREA_SIZE;
    areas++;
    if (dense)
        sys_advise((void *)area, AREA_SIZE, MADV_POPULATE_WRITE); /* fails on old kernels */
    return area;
}

/* The place of an area in its part; NULL: no memory for the part. The lock is held. */
static uintptr_t *place_of_area(uintptr_t address)
{
    uintptr_t **part = &shadow_parts[address >> SHADOW_PART_BITS];
    if (!*part)
        store_release(part, (uintptr_t *)arena_map(PART_SIZE)); /* pairs with a fork */
    return *part ? &(*part)[address >> SHADOW_AREA_BITS & (SHADOW_AREAS - 1)] : NULL;
}

uintptr_t shadow_make_area(uintptr_t address)
{
    uintptr_t area = shadow_area(address);
    if (area > SHADOW_SHARED || address >> SHADOW_ADDRESS_BITS)
        return area;
    struct locked locked = lock_take(&lock);
    uintptr_t *place = place_of_area(address);
    if (place && *place <= SHADOW_SHARED) {
        uintptr_t words = take_from_stock(shadow_area(address - (1u << SHADOW_AREA_BITS)));
        if (words)
            store_release(place, words | *place); /* pairs with a fork */
    }
    area = place ? *place : 0;
    lock_give(&locked);
    return area > SHADOW_SHARED ? area : 0;
}

bool shadow_share_area(uintptr_t address)
{
    if (shadow_area(address) & SHADOW_SHARED || address >> SHADOW_ADDRESS_BITS)
        return true;
    struct locked locked = lock_take(&lock);
    uintptr_t *place = place_of_area(address);
    if (place)
        store_relaxed(place, *place | SHADOW_SHARED);
    lock_give(&locked);
    return place != NULL;
}

/* ---- Obstacles ------------------------------------------------------------------------------- */

static void unpack(const uint64_t *at, uint64_t word, uintptr_t address, struct block *out)
{
    shadow_unpack(word, word & SHADOW_LARGE ? load_relaxed(&at[1]) : 0, address, out);
}

static uintptr_t block_address(uintptr_t window, uint64_t word)
{
    return window + (word >> SHADOW_HALF_SHIFT & 1) * 16;
}

bool shadow_find_obstacle(uintptr_t area, const struct block *block, struct block *out)
{
    const uint64_t size = 1u << SHADOW_WINDOW_BITS, large = SHADOW_BLOCK | SHADOW_LARGE;
    uintptr_t window = block->address & ~(size - 1);
    uint64_t *at = shadow_word(area, block->address), word = load_relaxed(at);
    bool first = shadow_window(block->address) == 0;
    uint64_t in_front = first ? 0 : load_relaxed(&at[-1]), behind;
    if (word & SHADOW_BLOCK)
        return shadow_find(block_address(window, word), out);
    if (word && (in_front & large) == large)
        return shadow_find(block_address(window - size, in_front), out);
    store_relaxed(at, 0);
    if (block->size < SHADOW_LARGE_FROM || shadow_window(block->address) == SHADOW_WINDOWS - 1)
        return false;
    behind = load_relaxed(&at[1]);
    if (behind & SHADOW_BLOCK)
        return shadow_find(block_address(window + size, behind), out);
    store_relaxed(&at[1], 0);
    return false;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

bool shadow_find(uintptr_t address, struct block *out)
{
    uintptr_t area = shadow_area(address);
    if (area <= SHADOW_SHARED)
        return false;
    const uint64_t *at = shadow_word(area, address);
    uint64_t word = load_relaxed(at);
    if (!shadow_has(word, address))
        return false;
    unpack(at, word, address, out);
    return true;
}

/* The same in one area. */
static bool find_below_in_area(uintptr_t area, uintptr_t address, uintptr_t least,
                               struct block *out)
{
    uintptr_t start = address & ~(uintptr_t)((1u << SHADOW_AREA_BITS) - 1);
    const uint64_t *words = shadow_word(area, start);
    for (unsigned at = shadow_window(address) + 1; at--;) {
        uint64_t word = load_relaxed(&words[at]);
        uintptr_t begin = block_address(start + ((uintptr_t)at << SHADOW_WINDOW_BITS), word);
        if (!(word & SHADOW_BLOCK) || begin > address)
            continue;
        if (begin < least)
            return false;
        unpack(&words[at], word, begin, out);
        return true;
    }
    return false;
}

bool shadow_find_below(uintptr_t address, uintptr_t least, struct block *out)
{
    const uintptr_t last = (1u << SHADOW_AREA_BITS) - 1;
    for (;;) {
        uintptr_t area = shadow_area(address);
        if (area > SHADOW_SHARED && find_below_in_area(area, address, least, out))
            return true;
        if ((address & ~last) <= least)
            return false;
        address = (address & ~last) - 1;
    }
}

/* ---- All blocks ------------------------------------------------------------------------------ */

uint64_t shadow_areas(void)
{
    return load_relaxed(&areas);
}

/* Calls visit with every area that has words, and the address of its first window. */
static void each_area(void (*visit)(const uint64_t *words, uintptr_t start, void *context),
                      void *context)
{
    for (uint64_t i = 0; i < SHADOW_PARTS; i++) {
        const uintptr_t *part = load_acquire(&shadow_parts[i]);
        for (uint64_t at = 0; part && at < SHADOW_AREAS; at++) {
            uintptr_t area = load_acquire(&part[at]), start = i << SHADOW_PART_BITS;
            if (area > SHADOW_SHARED)
                visit(shadow_word(area, 0), start | at << SHADOW_AREA_BITS, context);
        }
    }
}

static void visit_identities(const uint64_t *words, uintptr_t start UNUSED, void *context)
{
    void (*visit)(uint32_t) = *(void (**)(uint32_t))context;
    for (unsigned at = 0; at < SHADOW_WINDOWS; at++) {
        uint64_t word = load_acquire(&words[at]);
        if (word & SHADOW_BLOCK)
            visit(shadow_identity(word));
    }
}

void shadow_each_identity(void (*visit)(uint32_t identity))
{
    each_area(visit_identities, &visit);
}

static void count_words(const uint64_t *words, uintptr_t start UNUSED, void *context)
{
    uint64_t count = 0;
    for (unsigned at = 0; at < SHADOW_WINDOWS; at++)
        count += load_relaxed(&words[at]) >> 63;
    *(uint64_t *)context += count;
}

uint64_t shadow_count(void)
{
    uint64_t count = 0;
    each_area(count_words, &count);
    return count;
}

struct each {
    blocks_visit *visit;
    void (*before)(uintptr_t end, void *context);
    void *context;
};

static void visit_window(const struct each *each, const uint64_t *at, uintptr_t window)
{
    struct block block;
    uint64_t word = load_relaxed(at);
    if (!(word & SHADOW_BLOCK))
        return;
    unpack(at, word, block_address(window, word), &block);
    each->visit(&block, each->context);
}

static void visit_area(const uint64_t *words, uintptr_t start, void *context)
{
    const struct each *each = context;
    for (unsigned at = 0; at < SHADOW_WINDOWS; at++) {
        uintptr_t window = start + ((uintptr_t)at << SHADOW_WINDOW_BITS);
        if (at % STEP_WINDOWS == 0 && each->before)
            each->before(window + (STEP_WINDOWS << SHADOW_WINDOW_BITS), each->context);
        visit_window(each, &words[at], window);
    }
}

void shadow_each(blocks_visit *visit, void (*before)(uintptr_t end, void *context), void *context)
{
    struct each each = {visit, before, context};
    each_area(visit_area, &each);
}

/* ---- Invariants, fork ------------------------------------------------------------------------ */

/* In the test's process no free is unseen, and no longjmp leaves the runtime. */
static void check_area(const uint64_t *words, uintptr_t start UNUSED, void *context)
{
    bool *good = context, large = false;
    for (unsigned at = 0; at < SHADOW_WINDOWS; at++) {
        unsigned what = words[at] >> SHADOW_HALF_SHIFT;
        *good = *good && (what == 1) == large && (words[at] == 0) == (what == 0);
        large = what >= 2 && words[at] & SHADOW_LARGE;
    }
    *good = *good && !large;
}

bool shadow_check(void)
{
    bool good = true;
    each_area(check_area, &good);
    return good && runs_check(shadow_each_identity);
}

LOCK_FOR_FORK(shadow, &lock)

void shadow_fork_child(void)
{
    lock.word = 0;
}
