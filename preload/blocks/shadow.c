/* shadow.c - maps the words of areas, removes blocks that are in the way, looks up and visits
 * blocks. */
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "preload/blocks/shadow.h"
#include "leak_store.h"

#include <sys/mman.h>

#define FINE_SIZE ((size_t)8 << (SHADOW_AREA_BITS - SHADOW_FINE_BITS))
#define PART_SIZE (SHADOW_AREAS * sizeof(struct shadow_area))
#define STOCK_AREAS_MOST 16
/* Number of areas whose fine words fill a huge page, and the largest number in one mapping of huge
 * pages. */
#define HUGE_AREAS 8
#define HUGE_AREAS_MOST 32
#define STEP_BITS 11 /* shadow_each calls before() once for each 2^11 addresses */

struct shadow_state shadow_state;

static struct lock lock; /* guards the variables below, and the making of parts and areas */
static struct stock {
    uint64_t areas; /* number of areas that have words of this grain (fine or coarse) */
    char *next;     /* memory that is mapped for the words of future areas */
    size_t left;
} stocks[SHADOW_GRAINS];

/* A range of numbers from "first" to "end" - 1; end 0: it is empty. */
struct span {
    uint32_t first, end;
};

/* The range of the numbers of the parts that exist and, for each part, of the areas that have been
 * asked for. They save the leak check of a short program from reading empty tables, which would map
 * their pages. A range is widened before the words of an area are published. */
static struct span parts, areas[SHADOW_PARTS];

static void widen_span(struct span *span, uint32_t number)
{
    if (!span->end || number < span->first)
        store_relaxed(&span->first, number);
    if (number >= span->end)
        store_relaxed(&span->end, number + 1);
}

/* ---- Parts and areas ------------------------------------------------------------------------- */

/* Says whether nearly all pages of the fine words of an area are in memory. */
static bool is_dense(uintptr_t area)
{
    unsigned char pages[FINE_SIZE / LEAK_PAGE];
    unsigned used = 0;
    if (area <= SHADOW_SHARED || sys_mincore(shadow_word(area, 0, SHADOW_FINE), FINE_SIZE, pages))
        return false;
    for (unsigned i = 0; i < sizeof pages; i++)
        used += pages[i] & 1;
    return used >= sizeof pages * 7 / 8;
}

/* Returns the number of areas whose words are mapped next: 1 + an eighth of the number of areas
 * that exist, at most STOCK_AREAS_MOST. With one mapping for each area the list of libleak's own
 * memory ranges (arena.h) would soon be full. huge: half of the number of areas that exist, at most
 * HUGE_AREAS_MOST, as whole huge pages, at least one. */
static uint64_t next_areas(const struct stock *stock, bool huge)
{
    uint64_t number = huge ? stock->areas / 2 / HUGE_AREAS * HUGE_AREAS : stock->areas / 8 + 1;
    uint64_t least = huge ? HUGE_AREAS : 1, most = huge ? HUGE_AREAS_MOST : STOCK_AREAS_MOST;
    return number < least ? least : number < most ? number : most;
}

/* Maps memory for the words of several areas in one call. dense: all of it will soon be in use, so
 * it gets huge pages, of which each saves 512 page faults. */
static bool map_stock(struct stock *stock, size_t each, bool dense)
{
    bool huge = dense && stock->areas >= HUGE_AREAS;
    size_t size = next_areas(stock, huge) * each;
    stock->next = arena_map(size);
    if (!stock->next && size > each)
        stock->next = arena_map(size = each);
    stock->left = stock->next ? size : 0;
    if (huge && stock->next)
        sys_advise(stock->next, size, MADV_HUGEPAGE);
    return stock->left;
}

/* Takes memory for the words of an area from the stock. in_front: the words of the area at the next
 * lower addresses. If nearly all their pages are in use, the new area will soon be full, too, so
 * one call populates all its pages. */
static uintptr_t take_from_stock(enum shadow_grain grain, uintptr_t in_front)
{
    struct stock *stock = &stocks[grain];
    size_t size = shadow_windows(grain) * sizeof(uint64_t);
    bool dense = grain == SHADOW_FINE && is_dense(in_front);
    if (!stock->left && !map_stock(stock, size, dense))
        return 0;
    uintptr_t words = (uintptr_t)stock->next;
    stock->next += size;
    stock->left -= size;
    stock->areas++;
    /* Old kernels refuse MADV_POPULATE_WRITE, which is harmless. */
    if (dense)
        sys_advise((void *)words, size, MADV_POPULATE_WRITE);
    return words;
}

/* Returns the entry of an area in the table of its part (4 GiB of addresses), which is made if
 * necessary. NULL: no memory for the part. The caller holds the lock. */
static struct shadow_area *find_area(uintptr_t address)
{
    uint32_t number = (uint64_t)address >> SHADOW_PART_BITS;
    uint32_t at = address >> SHADOW_AREA_BITS & (SHADOW_AREAS - 1);
    struct shadow_area **part = &shadow_state.part[number];
    /* A release store: if another thread forks meanwhile and the child sees the part's address, it
     * also sees the part's memory. */
    if (!*part)
        store_release(part, (struct shadow_area *)arena_map(PART_SIZE));
    if (!*part)
        return NULL;
    widen_span(&parts, number);
    widen_span(&areas[number], at);
    return &(*part)[at];
}

uintptr_t shadow_make_area(uintptr_t address, enum shadow_grain grain)
{
    uintptr_t words = shadow_area(address, grain);
    if (words > SHADOW_SHARED || (uint64_t)address >> SHADOW_ADDRESS_BITS)
        return words;
    struct locked locked = lock_take(&lock);
    struct shadow_area *area = find_area(address);
    if (area && area->words[grain] <= SHADOW_SHARED) {
        words = take_from_stock(grain, shadow_area(address - (1u << SHADOW_AREA_BITS), grain));
        /* A release store: if another thread forks meanwhile and the child sees the address of the
         * words, it also sees the words. */
        if (words)
            store_release(&area->words[grain], words | area->words[grain]);
    }
    words = area ? area->words[grain] : 0;
    lock_give(&locked);
    return words > SHADOW_SHARED ? words : 0;
}

bool shadow_share_area(uintptr_t address)
{
    if (shadow_is_shared(shadow_area(address, SHADOW_FINE), address))
        return true;
    struct locked locked = lock_take(&lock);
    struct shadow_area *area = find_area(address);
    if (area) {
        store_relaxed(&area->shared, area->shared | shadow_piece(address));
        store_release(&area->words[SHADOW_FINE], area->words[SHADOW_FINE] | SHADOW_SHARED);
    }
    lock_give(&locked);
    return area != NULL;
}

/* ---- Finding older blocks in the words that a new block needs -------------------------------- */

static ALWAYS_INLINE void unpack(const uint64_t *at, uint64_t word, uintptr_t address,
                                 struct block *out)
{
    shadow_unpack(word, word & SHADOW_LARGE ? load_relaxed(&at[1]) : 0, address, out);
}

static uintptr_t block_address(uintptr_t window, uint64_t word, enum shadow_grain grain)
{
    return grain == SHADOW_FINE ? (window | (word >> SHADOW_ODD_SHIFT & 1) << 4)
                                : window + (word >> SHADOW_SIZE_SHIFT & 7) * 16;
}

bool shadow_find_obstacle(uintptr_t area, const struct block *block, enum shadow_grain grain,
                          struct block *out)
{
    const uint64_t size = 1u << shadow_window_bits(grain), large = SHADOW_BLOCK | SHADOW_LARGE;
    uintptr_t window = block->address & ~(size - 1);
    uint64_t *at = shadow_word(area, block->address, grain), word = load_relaxed(at);
    unsigned number = shadow_window(block->address, grain);
    uint64_t in_front = number ? load_relaxed(&at[-1]) : 0, behind;
    if (word & SHADOW_BLOCK)
        return unpack(at, word, block_address(window, word, grain), out), true;
    if (word && (in_front & large) == large)
        return unpack(at - 1, in_front, block_address(window - size, in_front, grain), out), true;
    store_relaxed(at, 0);
    if (block->size < SHADOW_LARGE_FROM || number == shadow_windows(grain) - 1)
        return false;
    behind = load_relaxed(&at[1]);
    if (behind & SHADOW_BLOCK)
        return unpack(at + 1, behind, block_address(window + size, behind, grain), out), true;
    store_relaxed(&at[1], 0);
    return false;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

static ALWAYS_INLINE bool find_in_grain(uintptr_t address, enum shadow_grain grain,
                                        struct block *out)
{
    uintptr_t area = shadow_area(address, grain);
    if (area <= SHADOW_SHARED)
        return false;
    const uint64_t *at = shadow_word(area, address, grain);
    uint64_t word = load_relaxed(at);
    if (!shadow_has(word, address, grain))
        return false;
    unpack(at, word, address, out);
    return true;
}

bool shadow_find(uintptr_t address, struct block *out)
{
    return find_in_grain(address, SHADOW_FINE, out) || find_in_grain(address, SHADOW_COARSE, out);
}

/* Finds the highest block that begins at or below an address, in the same area and not below
 * "least". */
static bool find_below_in_area(uintptr_t address, uintptr_t least, enum shadow_grain grain,
                               struct block *out)
{
    uintptr_t area = shadow_area(address, grain);
    uintptr_t start = address & ~(uintptr_t)((1u << SHADOW_AREA_BITS) - 1);
    if (area <= SHADOW_SHARED)
        return false;
    const uint64_t *words = shadow_word(area, start, grain);
    for (unsigned at = shadow_window(address, grain) + 1; at--;) {
        uint64_t word = load_relaxed(&words[at]);
        uintptr_t window = start + ((uintptr_t)at << shadow_window_bits(grain));
        uintptr_t begin = block_address(window, word, grain);
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
        struct block coarse;
        bool found = find_below_in_area(address, least, SHADOW_FINE, out);
        if (find_below_in_area(address, found ? out->address + 1 : least, SHADOW_COARSE, &coarse)) {
            *out = coarse;
            found = true;
        }
        if (found || (address & ~last) <= least)
            return found;
        address = (address & ~last) - 1;
    }
}

/* ---- Visiting all blocks --------------------------------------------------------------------- */

uint64_t shadow_areas(void)
{
    return load_relaxed(&stocks[SHADOW_FINE].areas) + load_relaxed(&stocks[SHADOW_COARSE].areas);
}

/* Calls visit for every area that has words. start: the first address of the area. */
static void each_area(void (*visit)(const struct shadow_area *area, uintptr_t start, void *context),
                      void *context)
{
    for (uint64_t i = load_relaxed(&parts.first); i < load_relaxed(&parts.end); i++) {
        const struct shadow_area *part = load_acquire(&shadow_state.part[i]);
        if (!part)
            continue;
        for (uint64_t at = load_relaxed(&areas[i].first); at < load_relaxed(&areas[i].end); at++)
            if ((part[at].words[SHADOW_FINE] | part[at].words[SHADOW_COARSE]) > SHADOW_SHARED)
                visit(&part[at], (uint64_t)i << SHADOW_PART_BITS | at << SHADOW_AREA_BITS, context);
    }
}

/* Returns the fine or the coarse words of an area; NULL: it has none. */
static const uint64_t *words_of(const struct shadow_area *area, enum shadow_grain grain)
{
    uintptr_t words = load_acquire(&area->words[grain]);
    return words > SHADOW_SHARED ? shadow_word(words, 0, grain) : NULL;
}

static void visit_identities(const struct shadow_area *area, uintptr_t start UNUSED, void *context)
{
    void (*visit)(uint32_t) = *(void (**)(uint32_t))context;
    for (enum shadow_grain grain = 0; grain < SHADOW_GRAINS; grain++) {
        const uint64_t *words = words_of(area, grain);
        for (unsigned at = 0; words && at < shadow_windows(grain); at++) {
            uint64_t word = load_acquire(&words[at]);
            if (word & SHADOW_BLOCK)
                visit(shadow_identity(word));
        }
    }
}

void shadow_each_identity(void (*visit)(uint32_t identity))
{
    each_area(visit_identities, &visit);
}

struct each {
    blocks_visit *visit;
    void (*before)(uintptr_t end, void *context);
    void *context;
};

/* Says whether any of the words is that of a block. Most words are empty in a heap that was freed:
 * one branch for many of them is faster than one for each. */
static bool have_block(const uint64_t *words, unsigned count)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all |= load_relaxed(&words[i]);
    return all & SHADOW_BLOCK;
}

/* Visits the blocks of one grain (fine or coarse) that begin in the 2 KiB of addresses from "step"
 * on. */
static void visit_step(const struct each *each, const uint64_t *words, uintptr_t step,
                       enum shadow_grain grain)
{
    const unsigned bits = shadow_window_bits(grain);
    const uint64_t *at = words + shadow_window(step, grain);
    if (!have_block(at, 1u << (STEP_BITS - bits)))
        return;
    for (uintptr_t window = step; window < step + (1u << STEP_BITS); window += 1u << bits, at++) {
        struct block block, newer;
        uint64_t word = load_relaxed(at);
        if (!(word & SHADOW_BLOCK))
            continue;
        unpack(at, word, block_address(window, word, grain), &block);
        if (grain == SHADOW_FINE || !find_in_grain(block.address, SHADOW_FINE, &newer))
            each->visit(&block, each->context);
    }
}

static void visit_area(const struct shadow_area *area, uintptr_t start, void *context)
{
    const struct each *each = context;
    const uint64_t *fine = words_of(area, SHADOW_FINE), *coarse = words_of(area, SHADOW_COARSE);
    uintptr_t end = start + (1u << SHADOW_AREA_BITS);
    for (uintptr_t step = start; step < end; step += 1u << STEP_BITS) {
        if (each->before)
            each->before(step + (1u << STEP_BITS), each->context);
        if (fine)
            visit_step(each, fine, step, SHADOW_FINE);
        if (coarse)
            visit_step(each, coarse, step, SHADOW_COARSE);
    }
}

void shadow_each(blocks_visit *visit, void (*before)(uintptr_t end, void *context), void *context)
{
    struct each each = {visit, before, context};
    each_area(visit_area, &each);
}

/* ---- Checking invariants; locking around fork ------------------------------------------------ */

/* Sets *context to false if an invariant of an area is violated. The invariants hold in a process
 * in which libleak has seen every free, and no longjmp has left the runtime. */
static void check_area(const struct shadow_area *area, uintptr_t start UNUSED, void *context)
{
    bool *good = context;
    *good = *good && !area->shared == !(area->words[SHADOW_FINE] & SHADOW_SHARED);
    for (enum shadow_grain grain = 0; grain < SHADOW_GRAINS; grain++) {
        const uint64_t *words = words_of(area, grain);
        bool large = false;
        for (unsigned at = 0; words && at < shadow_windows(grain); at++) {
            unsigned what = words[at] >> SHADOW_ODD_SHIFT;
            *good = *good && (what == 1) == large && (words[at] == 0) == (what == 0);
            large = what >= 2 && words[at] & SHADOW_LARGE;
        }
        *good = *good && !large;
    }
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
