#include "preload/track/fill.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "preload/heap/sample.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/options/options.h"
#include "preload/store/store.h"
#include "arch.h"

/* The number of pages that one call of mincore examines. */
#define PAGES_A_CALL 256
/* A flag in the word before each block of glibc, which holds the size of its chunk: the chunk is a
 * mapping of its own. */
#define CHUNK_IS_MAPPED 2

struct fill_state fill_state;

static bool clears;             /* true: new blocks are cleared, because of fill=auto */
static struct fill_bytes bytes; /* the value of the option fill */
/* malloc_usable_size of the allocator that real.realloc belongs to; NULL: none is known. */
static size_t (*usable)(void *);
static uint64_t page_size, spent; /* spent: bytes counted against the limit in fill.h */

/* ---- Start ----------------------------------------------------------------------------------- */

/* Returns the byte with which glibc fills new blocks because of MALLOC_PERTURB_ or its tunable.
 * glibc leaves out blocks from a thread's cache, so libleak fills all blocks with this byte.
 * FILL_AUTO: neither is set. */
static int get_byte_of_libc(char **envp)
{
    static const char tunable[] = "glibc.malloc.perturb=";
    const char *value = options_getenv(envp, "MALLOC_PERTURB_");
    const char *tunables = options_getenv(envp, "GLIBC_TUNABLES");
    const char *found = tunables ? strstr(tunables, tunable) : NULL;
    uint64_t byte;
    if (found)
        value = found + sizeof tunable - 1;
    if (!value || !parse_number(value, strcspn(value, ":"), &byte) || !(byte & UINT8_MAX))
        return FILL_AUTO;
    return (byte & UINT8_MAX) ^ UINT8_MAX;
}

/* Says whether glibc tags its memory; its chunks have other sizes then. */
static bool has_memory_tags(char **envp)
{
    const char *tunables = options_getenv(envp, "GLIBC_TUNABLES");
    return tunables && strstr(tunables, "glibc.mem.tagging");
}

void fill_start(char **envp)
{
    options_get_fill(&options_current, &bytes);
    page_size = sys_page_size();
    uintptr_t real_malloc = (uintptr_t)real.malloc, real_realloc = (uintptr_t)real.realloc;
    fill_state.of_libc =
        modules_same_object((uintptr_t)real.exit, real_malloc) && !has_memory_tags(envp);
    if (bytes.fresh == FILL_AUTO && fill_state.of_libc)
        bytes.fresh = get_byte_of_libc(envp);
    if (real.malloc_usable_size &&
        modules_same_object((uintptr_t)real.malloc_usable_size, real_realloc))
        usable = real.malloc_usable_size;
    clears = bytes.fresh == FILL_AUTO && !sample_state.bytes && !options_current.min_size &&
             !options_current.max_size;
    fill_state.frees = bytes.freed >= 0;
    fill_state.small = clears ? FILL_SMALL : 0;
    /* If libleak was loaded late, earlier blocks may have used any part of the heap. */
    if (real_functions_loaded_late())
        memset(fill_state.high, 0xff, sizeof fill_state.high);
}

void fill_note_linked_malloc(void)
{
    fill_state.of_libc = false;
    usable = NULL;
}

void fill_restart(void)
{
    spent = 0;
}

/* ---- Large blocks --------------------------------------------------------------------------- */

/* Counts size bytes against the limit in fill.h. False: the limit is reached, so they must not be
 * cleared. */
static bool take_credit(uint64_t size)
{
    uint64_t limit = FILL_FIRST + load_relaxed(&store_header->epoch) * FILL_PER_TICK;
    if (load_relaxed(&spent) + size > limit)
        return false;
    add_relaxed(&spent, size);
    return true;
}

/* Clears those pages that are in memory. False: the limit in fill.h is reached, or a sandbox
 * forbids mincore. */
static bool clear_pages(char *at, size_t count)
{
    unsigned char in_memory[PAGES_A_CALL];
    for (size_t now; count; count -= now, at += now * page_size) {
        now = count < PAGES_A_CALL ? count : PAGES_A_CALL;
        if (!take_credit(FILL_MEDIUM) || sys_mincore(at, now * page_size, in_memory) != 0)
            return false;
        for (size_t i = 0, end; i < now; i = end + 1) {
            for (end = i; end < now && in_memory[end] & 1;)
                end++;
            if (end > i && !take_credit((end - i) * page_size))
                return false;
            memset(at + i * page_size, 0, (end - i) * page_size);
        }
    }
    return true;
}

static bool clear_large(char *block, size_t size)
{
    uintptr_t start = arch_address(block), end = start + size;
    uintptr_t first = round_up(start, page_size), last = end & ~(page_size - 1);
    if (fill_state.of_libc && size <= FILL_MEDIUM) {
        if (!take_credit(size))
            return false;
        first = last;
    }
    if (first >= last) {
        memset(block, 0, size);
        return true;
    }
    memset(block, 0, first - start);
    memset(block + (last - start), 0, end - last);
    return clear_pages(block + (first - start), (last - first) / page_size);
}

/* ---- Blocks that were not cleared ----------------------------------------------------------- */

static struct uncleared {
    uintptr_t address; /* address of the block; 0: the entry is empty */
    uint64_t size;
} uncleared[1024];

static struct uncleared *uncleared_slot(uintptr_t address)
{
    return &uncleared[hash_u64(address) % ARRAY_LENGTH(uncleared)];
}

/* Records whether the block at address was cleared. If two threads write the same entry at the same
 * time, one of their blocks may be missing. kept: how many of the block's first bytes realloc kept
 * from the old block. */
static void note_clearing(uintptr_t address, uint64_t size, bool cleared, size_t kept)
{
    struct uncleared *slot = uncleared_slot(address);
    if (!cleared) {
        store_relaxed(&slot->size, size);
        store_relaxed(&slot->address, address);
    } else if (!kept && load_relaxed(&slot->address) == address) {
        store_relaxed(&slot->address, 0);
    }
}

void fill_each_uncleared(fill_visit *visit, void *context)
{
    for (size_t i = 0; i < ARRAY_LENGTH(uncleared); i++)
        if (uncleared[i].address)
            visit(uncleared[i].address, uncleared[i].size, context);
}

/* ---- Filling new blocks ---------------------------------------------------------------------- */

static bool has_mapping_of_its_own(const void *block)
{
    return fill_state.of_libc && ((const size_t *)arch_address(block))[-1] & CHUNK_IS_MAPPED;
}

/* Returns the highest address between start and end below which a block may have been before;
 * memory above it is fresh from the kernel. */
static uintptr_t find_used_end(uintptr_t start, uintptr_t end)
{
    uintptr_t high = load_relaxed(fill_high_of(end));
    bool one_area = start >> FILL_AREA_BITS == end >> FILL_AREA_BITS;
    return fill_state.of_libc && one_area && high < end ? high : end;
}

/* Fills the new part of a block: the bytes from kept to size. */
static void fill_from(char *block, size_t kept, size_t size)
{
    uintptr_t start = arch_address(block) + kept, end = start - kept + fill_size(size);
    if (bytes.fresh >= 0) {
        memset(block + kept, bytes.fresh, end - start);
    } else if (clears && !has_mapping_of_its_own(block)) {
        uintptr_t used = find_used_end(start, end);
        note_clearing(start - kept, size, used <= start || clear_large(block + kept, used - start),
                      kept);
        fill_note_end(end);
    }
}

void fill_large(void *block, size_t size)
{
    fill_from(block, 0, size);
}

/* ---- realloc and free ----------------------------------------------------------------------- */

size_t fill_kept(void *old, size_t size)
{
    return usable && (clears || bytes.fresh >= 0) ? usable(old) : size;
}

void fill_grown(void *block, size_t kept, size_t size)
{
    fill_from(block, kept, size);
}

void fill_freed(void *block, size_t size)
{
    memset(block, bytes.freed, size);
}
