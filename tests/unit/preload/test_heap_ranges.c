/* test_heap_ranges.c - which memory is the allocator's: the break, heaps of other arenas, blocks
 * with a mapping of their own, and nothing beside them. Real blocks of the real malloc, in this
 * process.
 */
#include "tests/unit/preload/unit.h"
#include "preload/roots/heap_ranges.h"

#include <malloc.h>

#define LARGE (1u << 20) /* above M_MMAP_THRESHOLD: a mapping of its own */

static struct procmaps maps;
static struct heap_ranges heaps;
static const void *known[64]; /* the blocks in the table */
static size_t sizes[64];
static unsigned known_count;

static void *keep(void *block, size_t size)
{
    known[known_count] = block;
    sizes[known_count++] = size;
    return block;
}

static void look(bool glibc)
{
    struct reach *reach = reach_begin(known_count, UINT64_MAX);
    ck_assert(reach && procmaps_read(&maps));
    for (unsigned i = 0; i < known_count; i++)
        reach_add_block(reach, &(struct block){.address = (uintptr_t)known[i], .size = sizes[i]},
                        REACH_NEW);
    ck_assert(reach_build_index(reach) && heap_ranges_find(&maps, reach, glibc, &heaps));
    for (uint32_t i = 0; i < heaps.count; i++) {
        ck_assert(heaps.range[i].start < heaps.range[i].end);
        ck_assert(i == 0 || heaps.range[i - 1].end <= heaps.range[i].start);
    }
    reach_end(reach);
}

static const struct heap_range *around(const void *address)
{
    for (uint32_t i = 0; i < heaps.count; i++)
        if ((uintptr_t)address - heaps.range[i].start < heaps.range[i].end - heaps.range[i].start)
            return &heaps.range[i];
    return NULL;
}

static void *map_pages(unsigned pages)
{
    void *map =
        mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    return map;
}

START_TEST(the_break_is_a_heap_also_without_blocks)
{
    if (unit_is_emulated())
        return UNIT_SKIP(UNIT_EMULATED);
    char *block = malloc(100), local;
    look(true);
    const struct heap_range *heap = around(block);
    ck_assert(heap && heap->end == (uintptr_t)sbrk(0));
    ck_assert(!around(&local) && !around(&maps) && !around(map_pages(1)));
    free(block);
}
END_TEST

/* ---- Arenas --------------------------------------------------------------------------------- */

static void *thread_blocks[2];
static void
    *in_arenas[16]; /* all blocks of the threads: freeing them would make space in an arena */
static unsigned in_arenas_count;
static pthread_barrier_t meet;

static void *allocate_elsewhere(void *size)
{
    thread_blocks[0] = malloc(100);
    thread_blocks[1] = malloc((size_t)size);
    for (unsigned i = 0; i < 2; i++)
        in_arenas[in_arenas_count++] = thread_blocks[i];
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return NULL;
}

static void free_in_arenas(void)
{
    while (in_arenas_count)
        free(in_arenas[--in_arenas_count]);
}

/* The heap is 64 MiB of addresses, of which glibc has made a part accessible: that part counts. */
START_TEST(the_arena_of_another_thread_is_a_heap_also_without_known_blocks)
{
    pthread_t thread;
    ck_assert_int_eq(mallopt(M_MMAP_THRESHOLD, 1 << 25), 1);
    ck_assert_int_eq(mallopt(M_ARENA_MAX, 8), 1);
    pthread_barrier_init(&meet, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_elsewhere, (void *)(1ul << 20)), 0);
    pthread_barrier_wait(&meet);
    look(true);
    const struct heap_range *heap = around(thread_blocks[0]);
    ck_assert(heap && heap == around(thread_blocks[1]));
    /* The accessible part is one mapping; qemu-user shows it as several. */
    const struct mapping *mapping = procmaps_find(&maps, heap->end - 1);
    ck_assert_uint_eq(heap->start % (64 << 20), 0);
    ck_assert(mapping && mapping->write && heap->end <= mapping->end &&
              heap->end - heap->start >= 1 << 20);
    char *last = (char *)thread_blocks[1] + (1 << 20) - 1;
    ck_assert_ptr_eq(around(last), heap);
    pthread_barrier_wait(&meet);
    pthread_join(thread, NULL);
    free_in_arenas();
}
END_TEST

/* An arena with several heaps: the later ones point to the first. */
START_TEST(further_heaps_of_an_arena_are_heaps)
{
    pthread_t thread;
    ck_assert_int_eq(mallopt(M_MMAP_THRESHOLD, 1 << 25), 1);
    pthread_barrier_init(&meet, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_elsewhere, (void *)(24ul << 20)), 0);
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    pthread_join(thread, NULL);
    /* The arena is free again: the next threads share it until it is full. */
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, allocate_elsewhere, (void *)(24ul << 20)),
                         0);
        pthread_barrier_wait(&meet);
        look(true);
        ck_assert(around(thread_blocks[0]) && around(thread_blocks[1]));
        ck_assert(around((char *)thread_blocks[1] + (24 << 20) - 1));
        pthread_barrier_wait(&meet);
        pthread_join(thread, NULL);
    }
    free_in_arenas();
}
END_TEST

/* A mapping at a multiple of 64 MiB with arbitrary content is no arena. */
START_TEST(what_only_lies_where_a_heap_could_is_none)
{
    uint64_t state = unit_seed;
    char *area = mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(area, MAP_FAILED);
    uintptr_t *at = (uintptr_t *)round_up((uintptr_t)area, 64 << 20);
    const uintptr_t words[] = {0,
                               1,
                               (uintptr_t)at,
                               (uintptr_t)at + 4096,
                               (uintptr_t)&state,
                               (uintptr_t)&maps,
                               UINTPTR_MAX,
                               unit_random(&state)};
    for (unsigned i = 0; i < ARRAY_LENGTH(words); i++) {
        at[0] = words[i];
        at[2] = 1 << 20;
        look(true);
        UNIT_WANT_MSG(!around(at), "word %u: taken for a heap", i);
    }
    at[0] = (uintptr_t)(at + 4); /* as glibc writes it, but empty or too large */
    at[2] = 0;
    look(true);
    ck_assert(!around(at));
    at[2] = (64 << 20) + 4096;
    look(true);
    ck_assert(!around(at));
    at[2] = 1 << 20; /* and complete: it cannot be told from a heap */
    look(true);
    ck_assert(around(at));
}
END_TEST

/* ---- Mappings of their own ------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t alignment;
} forms[] = {{"malloc", 0}, {"aligned to 64", 64}, {"to a page", 4096}, {"to 2 MiB", 2 << 20}};

/* The kernel merges neighbouring mappings: only the block's part counts. */
START_TEST(a_large_block_is_its_mapping_and_not_its_neighbours)
{
    ck_assert_int_eq(mallopt(M_MMAP_THRESHOLD, 128 << 10), 1);
    char *above = map_pages(16);
    void *block = NULL;
    if (!forms[_i].alignment)
        block = malloc(LARGE);
    else
        ck_assert_int_eq(posix_memalign(&block, forms[_i].alignment, LARGE), 0);
    char *below = map_pages(16);
    keep(block, LARGE);
    look(true);
    const struct heap_range *heap = around(block);
    ck_assert_msg(heap != NULL, "%s: no heap", forms[_i].name);
    ck_assert_ptr_eq(around((char *)block + LARGE - 1), heap);
    ck_assert(!around(above) && !around(below));
    ck_assert_uint_le(heap->end - heap->start, LARGE + forms[_i].alignment + 3 * 4096);
    free(block);
    known_count = 0;
    look(true);
    ck_assert(!around(block));
}
END_TEST

START_TEST(large_blocks_side_by_side_are_all_taken)
{
    ck_assert_int_eq(mallopt(M_MMAP_THRESHOLD, 128 << 10), 1);
    for (unsigned i = 0; i < 32; i++)
        keep(malloc(LARGE), LARGE);
    char *between = map_pages(1);
    for (unsigned i = 0; i < 32; i++)
        keep(malloc(200 << 10), 200 << 10);
    look(true);
    for (unsigned i = 0; i < known_count; i++)
        ck_assert(around(known[i]) && around((const char *)known[i] + sizes[i] - 1));
    ck_assert(!around(between));
}
END_TEST

/* The size word says that the block is mapped, but not where a mapping could be. */
START_TEST(what_only_looks_like_a_mapping_of_its_own_is_none)
{
    char *home = map_pages(64);
    uint64_t *block = (uint64_t *)(home + 5 * 4096 + 16);
    ck_assert_int_eq(mprotect(home, 4096, PROT_NONE), 0);
    ck_assert_int_eq(mprotect(home + 63 * 4096, 4096, PROT_NONE), 0);
    const uint64_t words[][2] = {
        {0, 4096 | 2}, {16, 8192 | 2}, {4096, 48 | 2}, {UINT64_MAX / 2, 2}};
    keep(block, 5000); /* the first one does not reach to its end */
    for (unsigned i = 0; i < ARRAY_LENGTH(words); i++) {
        memcpy(block - 2, words[i], sizeof words[i]);
        look(true);
        const struct heap_range *heap = around(block);
        UNIT_WANT_MSG(heap && heap->start == (uintptr_t)home + 4096 &&
                          heap->end == (uintptr_t)home + 63 * 4096,
                      "words %u: not all of what is mapped", i);
    }
    memcpy(block - 2, (uint64_t[]){0, 8192 | 2}, 16); /* as glibc writes them */
    look(true);
    ck_assert_uint_eq(around(block)->end - around(block)->start, 8192);
}
END_TEST

/* ---- Any other allocator -------------------------------------------------------------------- */

START_TEST(of_another_allocator_each_mapping_with_a_block_is_taken_whole)
{
    char *home = map_pages(64), *other;
    ck_assert_int_eq(mprotect(home, 4096, PROT_NONE), 0); /* apart from what is below … */
    ck_assert_int_eq(mprotect(home + 63 * 4096, 4096, PROT_NONE), 0); /* … and above */
    other = map_pages(64);
    ck_assert_int_eq(mprotect(other + 63 * 4096, 4096, PROT_NONE), 0);
    keep(home + 5 * 4096 + 16, 100);
    keep(home + 9 * 4096, 100);
    look(false);
    const struct heap_range *heap = around(home + 4096);
    ck_assert(heap && heap->start == (uintptr_t)home + 4096);
    ck_assert_uint_eq(heap->end, (uintptr_t)home + 63 * 4096);
    ck_assert(!around(other));
    ck_assert_uint_eq(heaps.count, 1);
    ck_assert(!around(sbrk(0) - 1)); /* the break belongs to no allocator then */
}
END_TEST

START_TEST(an_unmapped_block_makes_no_range)
{
    keep((void *)0x10000, 100); /* never mapped unless requested */
    look(false);
    ck_assert_uint_eq(heaps.count, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("heap_ranges");
    TCase *glibc = tcase_create("glibc"), *others = tcase_create("others");
    if (!UNIT_SANITIZED) { /* else malloc is not glibc's */
        tcase_add_test(glibc, the_break_is_a_heap_also_without_blocks);
        tcase_add_test(glibc, the_arena_of_another_thread_is_a_heap_also_without_known_blocks);
        tcase_add_test(glibc, further_heaps_of_an_arena_are_heaps);
        tcase_add_loop_test(glibc, a_large_block_is_its_mapping_and_not_its_neighbours, 0,
                            ARRAY_LENGTH(forms));
        tcase_add_test(glibc, large_blocks_side_by_side_are_all_taken);
        tcase_add_test(glibc, what_only_looks_like_a_mapping_of_its_own_is_none);
        tcase_add_test(glibc, what_only_lies_where_a_heap_could_is_none);
    }
    suite_add_tcase(suite, glibc);
    tcase_add_test(others, of_another_allocator_each_mapping_with_a_block_is_taken_whole);
    tcase_add_test(others, an_unmapped_block_makes_no_range);
    suite_add_tcase(suite, others);
    return unit_main(argc, argv, suite);
}
