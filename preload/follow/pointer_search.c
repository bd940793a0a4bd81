#include "preload/follow/pointer_search.h"
#include "preload/memory/arena.h"
#include "preload/base/sys.h"
#include "preload/elf/procmaps.h"
#include "preload/blocks/blocks.h"
#include "preload/interpose/modules.h"
#include "context.h"

#define MEMORY_MOST (256u << 20) /* largest number of bytes that a search of the memory reads */
/* Number of regions of 2 KiB below a word in which the block that contains the word is looked for:
 * blocks of up to 32 MiB are found. */
#define BLOCK_REGIONS 16384
/* glibc aligns the heaps of its secondary arenas to this number of bytes. */
#define GLIBC_HEAP (WORD == 8 ? 64ull << 20 : 1ull << 20)

/* Largest numbers of blocks below the block, and of bytes of them, that a search reads. */
#define BELOW_MOST 4096
#define BELOW_BYTES (1u << 20)
/* The same as BLOCK_REGIONS for a pointer in a block: blocks of up to 4 KiB are found. */
#define POINTER_REGIONS 2

bool pointer_search_word(uintptr_t address, struct pointer_target target)
{
    uintptr_t word;
    return sys_peek(address, &word, sizeof word) && pointer_leads_to(word, target);
}

bool pointer_search_registers(const ucontext_t *context, bool kept, struct pointer_target target)
{
    unsigned count;
    const uintptr_t *row = context_registers(context, &count);
    for (unsigned i = 0; i < count; i++)
        if (context_register_is_kept(i) == kept && pointer_leads_to(row[i], target))
            return true;
    return false;
}

/* A copy of the piece of memory that is being searched. One buffer is enough, because only one
 * thread is single-stepped at a time. */
static char window[64 << 10];

uintptr_t pointer_search_range(uintptr_t start, uintptr_t end, struct pointer_target target)
{
    for (uintptr_t at = start; at < end; at += sizeof window) {
        size_t size = end - at < sizeof window ? end - at : sizeof window;
        if (!sys_peek(at, window, size))
            continue;
        for (size_t i = 0; i + sizeof(uintptr_t) <= size; i += sizeof(uintptr_t))
            if (pointer_leads_to(*(const uintptr_t *)(window + i), target)) {
                memset(window, 0, size);
                return at + i;
            }
    }
    return 0;
}

/* ---- Blocks below the block ------------------------------------------------------------------- */

/* The blocks to which pointers lead from the block, directly or through each other: nodes of a
 * std::map that is a member of the block, say, which point back to it. Hashed by address. Blocks
 * that do not fit are left out, and then count as blocks that do not belong to the block. */
static struct {
    uintptr_t block[BELOW_MOST]; /* addresses, in the order in which they were found */
    uint32_t sizes[BELOW_MOST];
    uint16_t place[2 * BELOW_MOST]; /* index + 1 in "block"; 0: empty */
    unsigned count;
    size_t left; /* number of bytes of blocks that may still be read */
} below;

/* Returns the place in the hash table that has the block, or an empty one. */
static uint16_t *find_below(uintptr_t address)
{
    uint64_t at = hash_u64(address);
    while (below.place[at % ARRAY_LENGTH(below.place)] &&
           below.block[below.place[at % ARRAY_LENGTH(below.place)] - 1] != address)
        at++;
    return &below.place[at % ARRAY_LENGTH(below.place)];
}

static void add_below(uintptr_t word, struct pointer_target target)
{
    struct block block;
    bool busy;
    uintptr_t pointer = arch_address((const void *)word);
    if (pointer < LEAK_PAGE || pointer_leads_to(word, target) || below.count == BELOW_MOST ||
        !blocks_find_nearest(pointer, POINTER_REGIONS, &block, &busy) ||
        pointer - block.address >= block.size || block.size > below.left)
        return;
    uint16_t *place = find_below(block.address);
    if (*place)
        return;
    below.block[below.count] = block.address;
    below.sizes[below.count] = block.size;
    *place = ++below.count;
    below.left -= block.size;
}

static void add_targets(uintptr_t start, uint64_t size, struct pointer_target target)
{
    uintptr_t words[64];
    for (uint64_t done = 0, some; done + sizeof *words <= size; done += some) {
        some = size - done < sizeof words ? (size - done) & -sizeof *words : sizeof words;
        for (uint64_t i = 0; sys_peek(start + done, words, some) && i < some / sizeof *words; i++)
            add_below(words[i], target);
    }
}

static void fill_below(struct pointer_target target)
{
    below.count = 0;
    below.left = BELOW_BYTES;
    memset(below.place, 0, sizeof below.place);
    add_targets(~target.hidden, target.size < BELOW_BYTES ? target.size : BELOW_BYTES, target);
    for (unsigned i = 0; i < below.count; i++)
        add_targets(below.block[i], below.sizes[i], target);
}

/* ---- Searching the memory of the process ----------------------------------------------------- */

struct memory_search {
    struct pointer_target target;
    uintptr_t stack_end, own_stack, found;
    size_t left; /* number of bytes that the search may still read */
    bool knows_below;
    bool below; /* a word in a block below the block points to it */
};

/* Says whether a block is below the block. */
static bool is_below(struct memory_search *search, const struct block *block)
{
    if (!search->knows_below)
        fill_below(search->target);
    search->knows_below = true;
    bool found = *find_below(block->address) != 0;
    search->below |= found;
    return found;
}

/* Returns the end of the range of libleak's own memory that contains the address. 0: the address is
 * not in libleak's memory. */
static uintptr_t own_end(uintptr_t address)
{
    struct arena_range range = arena_next_range(address);
    if (range.size && range.start <= address)
        return range.start + range.size;
    return modules_is_own(address) ? round_up(address + 1, LEAK_PAGE) : 0;
}

/* Returns how far the program's own memory extends from "at" on: the end of the mapping, or the
 * start of libleak's own memory if that comes first. */
static uintptr_t program_end(uintptr_t at, uintptr_t end)
{
    struct arena_range range = arena_next_range(at);
    return range.size && range.start < end ? range.start : end;
}

static bool is_heap(const struct mapping *mapping)
{
    return strncmp(mapping->path, "[heap", 5) == 0 ||
           (!*mapping->path && mapping->start % GLIBC_HEAP == 0);
}

static bool is_libc(const struct mapping *mapping)
{
    return strstr(mapping->path, "/libc.so") || strstr(mapping->path, "/libc-2");
}

/* Says whether the word at an address counts as a pointer to the block. Words of freed blocks do
 * not count, because a freed block keeps its old pointers. In libc's data only pointers to the
 * start of the block count, because libc's lists of free memory point to the last bytes of the
 * block before the free memory. Words of blocks below the block do not count, because the program
 * reaches most of these through the block only. */
static bool may_hold(struct memory_search *search, const struct mapping *mapping, uintptr_t address)
{
    struct block block;
    uintptr_t word;
    bool busy = false;
    if (is_libc(mapping))
        return sys_peek(address, &word, sizeof word) && pointer_is_start(word, search->target);
    if (!blocks_find_nearest(address, BLOCK_REGIONS, &block, &busy) || busy ||
        address - block.address >= block.size)
        return !is_heap(mapping) || busy;
    return !pointer_is_start(block.address, search->target) && !is_below(search, &block);
}

static void search_part(struct memory_search *search, const struct mapping *mapping, uintptr_t at,
                        uintptr_t end)
{
    size_t size = end - at < search->left ? end - at : search->left;
    search->left -= size;
    for (end = at + size; (at = pointer_search_range(at, end, search->target)); at += sizeof at)
        if (!own_end(at) && may_hold(search, mapping, at)) {
            search->found = at;
            return;
        }
}

static bool contains(const struct mapping *mapping, uintptr_t address)
{
    return mapping->start <= address && address < mapping->end;
}

static void search_mapping(const struct mapping *mapping, void *context)
{
    struct memory_search *search = context;
    if (!mapping->read || !mapping->write || mapping->shared ||
        contains(mapping, search->stack_end - 1) || contains(mapping, search->own_stack))
        return;
    for (uintptr_t at = mapping->start, end; at < mapping->end && !search->found; at = end)
        if (!(end = own_end(at))) {
            end = program_end(at, mapping->end);
            search_part(search, mapping, at, end);
        }
}

uintptr_t pointer_search_memory(uintptr_t stack_end, struct pointer_target target, bool *is_below)
{
    static char line[8 << 10];
    struct memory_search search = {.target = target,
                                   .stack_end = stack_end,
                                   .left = MEMORY_MOST,
                                   .own_stack = (uintptr_t)__builtin_frame_address(0)};
    procmaps_each(line, sizeof line, search_mapping, &search);
    *is_below = search.below;
    return search.found;
}
