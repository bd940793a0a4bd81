/* one_heap.h - a heap that a test lays out block by block, and one look at it.
 *
 * The heap is one buffer; blocks are named by where they lie in it.
 */
#ifndef TESTS_ONE_HEAP_H
#define TESTS_ONE_HEAP_H

#include "tests/unit/preload/naive_heap.h"

#define MIB (1ull << 20)
#define BUFFER (16 * MIB)

static uintptr_t buffer; /* begins a page of the index */
#define ONE_HEAP_MOST 4096

static struct block blocks[ONE_HEAP_MOST];
static enum reach_before befores[ONE_HEAP_MOST];
static uintptr_t roots[64];
static int block_count, root_count;
static struct reach_codes codes;
static struct reach *reach;

static inline void setup(void)
{
    char *map = mmap(NULL, BUFFER + MIB, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    buffer = round_up((uintptr_t)map, MIB);
}

static inline uintptr_t *at(uint64_t offset)
{
    return (uintptr_t *)(buffer + offset);
}

static inline void add_before(uint64_t offset, uint64_t size, enum reach_before before)
{
    blocks[block_count] =
        (struct block){.address = buffer + offset, .size = size, .site = 1 + block_count};
    befores[block_count++] = before;
}

static inline void add(uint64_t offset, uint64_t size)
{
    add_before(offset, size, REACH_NEW);
}

static inline void root(uintptr_t word)
{
    roots[root_count++] = word;
}

/* Who allocated the block that was added last, and as which of his. */
static inline void made_by(uint32_t site, uint16_t thread, uint32_t count)
{
    blocks[block_count - 1].site = site;
    blocks[block_count - 1].thread = thread;
    blocks[block_count - 1].count = count;
}

static inline bool look_within(uint64_t memory_most)
{
    reach = reach_begin(block_count, memory_most);
    if (!reach)
        return false;
    for (int i = 0; i < block_count; i++)
        reach_add(reach, &blocks[i], befores[i]);
    bool good = reach_index(reach);
    if (good)
        reach_root(reach, (uintptr_t)roots, (uintptr_t)(roots + root_count), 77);
    if (good && reach_mark(reach, &codes, is_vtable))
        return true;
    reach_end(reach);
    return false;
}

static inline void look(void)
{
    ck_assert(look_within(UINT64_MAX));
}

static inline uint32_t node(uint64_t offset)
{
    for (uint32_t i = 0; i < reach_count(reach); i++)
        if (reach_block(reach, i).address == buffer + offset)
            return i;
    ck_abort_msg("no block at %#" PRIx64, offset);
}

static inline const char *verdict_name(enum leak_verdict verdict)
{
    static const char *const names[] = {"none",
#define V(name, word) word,
                                        LEAK_VERDICT_TABLE(V)
#undef V
    };
    return names[verdict];
}

static inline void expect(uint64_t offset, enum leak_verdict verdict, unsigned flags)
{
    enum leak_verdict got = reach_verdict(reach, node(offset));
    unsigned got_flags = reach_flags(reach, node(offset));
    ck_assert_msg(got == verdict && got_flags == flags,
                  "block at %#" PRIx64 ": %s, flags %u; wanted %s, flags %u", offset,
                  verdict_name(got), got_flags, verdict_name(verdict), flags);
}

#undef HIDDEN /* base.h's; no definition here needs it */
#define REACHABLE LEAK_VERDICT_REACHABLE
#define POSSIBLE LEAK_VERDICT_POSSIBLE
#define HIDDEN LEAK_VERDICT_HIDDEN
#define LOST LEAK_VERDICT_LOST

static inline TCase *part(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
