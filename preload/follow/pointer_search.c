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

/* ---- Searching the memory of the process ----------------------------------------------------- */

struct memory_search {
    struct pointer_target target;
    uintptr_t stack_end, own_stack, found;
    size_t left; /* number of bytes that the search may still read */
};

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
 * block before the free memory. */
static bool may_hold(const struct memory_search *search, const struct mapping *mapping,
                     uintptr_t address)
{
    struct block block;
    uintptr_t word;
    bool busy = false;
    if (is_libc(mapping))
        return sys_peek(address, &word, sizeof word) && pointer_is_start(word, search->target);
    if (!blocks_find_nearest(address, BLOCK_REGIONS, &block, &busy) || busy ||
        address - block.address >= block.size)
        return !is_heap(mapping) || busy;
    return !pointer_is_start(block.address, search->target);
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

uintptr_t pointer_search_memory(uintptr_t stack_end, struct pointer_target target)
{
    static char line[8 << 10];
    struct memory_search search = {.target = target,
                                   .stack_end = stack_end,
                                   .left = MEMORY_MOST,
                                   .own_stack = (uintptr_t)__builtin_frame_address(0)};
    procmaps_each(line, sizeof line, search_mapping, &search);
    return search.found;
}
