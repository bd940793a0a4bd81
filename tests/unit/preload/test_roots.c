/* test_roots.c - the roots of this process: each class where it should be, and nothing else.
 *
 * The runtime is linked into this program, so the program's own data count as the runtime's; those
 * of libc stand for the globals of all others.
 */
#include "tests/unit/preload/unit.h"
#include "preload/memory/arena.h"
#include "preload/heap/free_history.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/roots/roots.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "context.h"

#include <dlfcn.h>

#define ALL (~0u)
#define ONLY(name) (1u << LEAK_ROOT_CLASS_##name)

/* ---- The option ----------------------------------------------------------------------------- */

static const struct {
    const char *list;
    bool good;
    unsigned classes;
} lists[] = {
    {"", true, 0},
    {"none", true, 0},
    {"globals", true, ONLY(GLOBALS)},
    {"anon,user", true, ONLY(ANON) | ONLY(USER)},
    {"globals,globals", true, ONLY(GLOBALS)},
    {"none,tls", true, ONLY(TLS)},
    {"globals,stacks,registers,tls,user,anon", true,
     ONLY(GLOBALS) | ONLY(STACKS) | ONLY(REGISTERS) | ONLY(TLS) | ONLY(USER) | ONLY(ANON)},
    {"stacks,", true, ONLY(STACKS)},
    {",stacks", false, 0},
    {"stacks,,tls", false, 0},
    {"stack", false, 0},
    {"stacksx", false, 0},
    {"Globals", false, 0},
    {" globals", false, 0},
    {"globals tls", false, 0},
    {"all", false, 0},
    {"globals,heap", false, 0},
};

START_TEST(a_list_of_classes_is_read_whole_or_refused)
{
    size_t length = strlen(lists[_i].list);
    const char *copy = (const char *)unit_at_page_end(lists[_i].list, length);
    unsigned classes = 0;
    bool good = roots_parse_classes(copy, length, &classes);
    ck_assert_msg(good == lists[_i].good, "'%s'", lists[_i].list);
    ck_assert_msg(!good || classes == lists[_i].classes, "'%s': %#x", lists[_i].list, classes);
}
END_TEST

/* ---- A snapshot of this process -------------------------------------------------------------- */

static struct procmaps maps;
static struct elf_images images;
static struct roots roots;
static struct world world;

static void setup(void)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    real_functions_find();
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "roots", environ));
    track_start();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    guard_leave(guard);
    roots_start();
}

static const void *block;
static size_t block_size;

/* The caller of this function requests the check: its frame is live, the frames below are not. */
static NOINLINE void find_roots(unsigned classes, bool stopped)
{
    struct frame caller = CALLER_FRAME();
    struct roots_caller taker = {.tid = sys_gettid(),
                                 .sp = (uintptr_t)__builtin_frame_address(0) - 256,
                                 .frame = caller.sp,
                                 .pc = caller.pc,
                                 .fp = caller.fp};
    struct reach *reach = reach_begin(8, UINT64_MAX);
    ck_assert(reach && procmaps_read(&maps));
    if (block)
        reach_add_block(reach, &(struct block){.address = (uintptr_t)block, .size = block_size},
                        REACH_NEW);
    ck_assert(reach_build_index(reach) && elf_images_find(&maps, &images));
    struct roots_input picture = {.maps = &maps,
                                  .images = &images,
                                  .world = &world,
                                  .caller = &taker,
                                  .reach = reach,
                                  .classes = classes,
                                  .stopped = stopped};
    ck_assert(roots_find(&picture, &roots));
    for (uint32_t i = 0; i < roots.ranges.count; i++) {
        const struct scan_range *range = &roots.ranges.range[i];
        UNIT_WANT(range->start < range->end && range->start % sizeof(uintptr_t) == 0);
        UNIT_WANT(range->root_class && classes >> range->root_class & 1);
    }
}

/* The class of the range that contains a word; NONE: it is no root. */
static enum leak_root_class class_of(const void *word)
{
    for (uint32_t i = 0; i < roots.ranges.count; i++)
        if ((uintptr_t)word - roots.ranges.range[i].start <
            roots.ranges.range[i].end - roots.ranges.range[i].start)
            return roots.ranges.range[i].root_class;
    return LEAK_ROOT_CLASS_NONE;
}

static void *in_data = &in_data;
static __thread void *in_tls;

static const void *global(void)
{
    return dlsym(RTLD_DEFAULT, "_IO_2_1_stdout_");
}

static void *map_pages(unsigned pages)
{
    void *map =
        mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    return map;
}

START_TEST(every_word_is_of_the_class_it_belongs_to)
{
    void *volatile on_stack = NULL;
    void *anonymous = map_pages(4);
    memset(anonymous, 1, 4096);
    in_tls = anonymous;
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(global()), LEAK_ROOT_CLASS_GLOBALS);
    ck_assert_int_eq(class_of((void *)&on_stack), LEAK_ROOT_CLASS_STACKS);
    ck_assert_int_eq(class_of(&in_tls), LEAK_ROOT_CLASS_TLS);
    ck_assert_int_eq(class_of(anonymous), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(find_roots), LEAK_ROOT_CLASS_NONE); /* code */
}
END_TEST

START_TEST(a_class_that_is_left_out_holds_nothing)
{
    void *volatile on_stack = NULL;
    void *anonymous = map_pages(4);
    static const unsigned leave_out[] = {ONLY(GLOBALS), ONLY(STACKS), ONLY(TLS), ONLY(ANON)};
    const void *const words[] = {global(), (const void *)&on_stack, &in_tls, anonymous};
    memset(anonymous, 1, 4096);
    for (unsigned i = 0; i < ARRAY_LENGTH(leave_out); i++) {
        find_roots(ALL & ~leave_out[i], true);
        for (unsigned k = 0; k < ARRAY_LENGTH(words); k++)
            UNIT_WANT_MSG((class_of(words[k]) != LEAK_ROOT_CLASS_NONE) == (k != i),
                          "without %#x: word %u is of class %d", leave_out[i], k,
                          class_of(words[k]));
    }
    find_roots(0, true);
    ck_assert_uint_eq(roots.ranges.count, 0);
}
END_TEST

/* ---- What is no root ------------------------------------------------------------------------- */

static NOINLINE const void *address_in_a_frame_that_is_gone(void)
{
    void *volatile words[64];
    words[0] = NULL;
    uintptr_t address = (uintptr_t)words;
    __asm__ volatile("" : "+r"(address));
    return (const void *)(address - 4096);
}

START_TEST(below_the_stack_pointer_nothing_is_live)
{
    const void *dead = address_in_a_frame_that_is_gone();
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(dead), LEAK_ROOT_CLASS_NONE);
    find_roots(ALL, false); /* the caller's stack is known even if the other threads run */
    ck_assert_int_eq(class_of(dead), LEAK_ROOT_CLASS_NONE);
}
END_TEST

START_TEST(memory_of_the_runtime_is_no_root)
{
    char *ours = arena_map(1 << 20), *shared;
    memset(ours, 1, 1 << 20);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 1, 4096);
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(ours), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(ours + (1 << 20) - 8), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(store_header), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(&in_data), LEAK_ROOT_CLASS_NONE);
}
END_TEST

START_TEST(the_heap_is_no_root_and_what_is_mapped_beside_it_is)
{
    if (unit_is_emulated())
        return UNIT_SKIP(UNIT_EMULATED);
    char *above = map_pages(16), *large = malloc(1 << 20), *below = map_pages(16);
    char *small = malloc(100);
    memset(above, 1, 16 * 4096);
    memset(below, 1, 16 * 4096);
    block = large;
    block_size = 1 << 20;
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(small), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(large), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(large + (1 << 20) - 8), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(above), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(above + 16 * 4096 - 8), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(below), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(below + 16 * 4096 - 8), LEAK_ROOT_CLASS_ANON);
    free(large);
    free(small);
}
END_TEST

/* Untouched gigabytes cost nothing; touched pages in them count. */
START_TEST(of_a_large_mapping_only_touched_pages_are_read)
{
    const size_t size = 1ull << 30;
    char *sparse = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(sparse, MAP_FAILED);
    madvise(sparse, size, MADV_NOHUGEPAGE);
    sparse[0] = sparse[size / 2] = sparse[size - 1] = 1;
    find_roots(ALL, true);
    /* Where a heap of glibc could begin a word is read, which touches the page. */
    const char *untouched = sparse + size / 4 + 12345 * 8;
    if (class_of(untouched) == LEAK_ROOT_CLASS_ANON)
        return UNIT_SKIP("/proc/self/pagemap says nothing here");
    ck_assert_int_eq(class_of(sparse), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(sparse + size / 2), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(sparse + size - 8), LEAK_ROOT_CLASS_ANON);
    ck_assert_int_eq(class_of(sparse + size / 2 + 8192), LEAK_ROOT_CLASS_NONE);
}
END_TEST

/* ---- Regions of the program ------------------------------------------------------------------ */

START_TEST(a_region_is_a_root_until_it_is_taken_back)
{
    char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uintptr_t start = (uintptr_t)shared;
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
    ck_assert(roots_add_region(start, 4096));
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_USER);
    ck_assert_int_eq(class_of(shared + 4088), LEAK_ROOT_CLASS_USER);
    ck_assert_int_eq(class_of(shared + 4096), LEAK_ROOT_CLASS_NONE);
    find_roots(ALL & ~ONLY(USER), true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
    roots_remove_region(start, 8192); /* of another size, of another start: not this one */
    roots_remove_region(start + 8, 4096);
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_USER);
    roots_remove_region(start, 4096);
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
    roots_remove_region(start, 4096);
}
END_TEST

START_TEST(a_region_named_twice_is_taken_back_twice)
{
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert(roots_add_region((uintptr_t)shared, 4096));
    roots_remove_region((uintptr_t)shared, 4096);
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_USER);
    roots_remove_region((uintptr_t)shared, 4096);
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
}
END_TEST

/* Words are aligned; a region need not be, and a region without a whole word adds none. */
START_TEST(an_odd_region_has_its_whole_words)
{
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(roots_add_region((uintptr_t)shared + 3, 20)); /* 3 … 23 */
    ck_assert(roots_add_region((uintptr_t)shared + 104, 0));
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
    ck_assert_int_eq(class_of(shared + 8), LEAK_ROOT_CLASS_USER);
    ck_assert_int_eq(class_of(shared + 104), LEAK_ROOT_CLASS_NONE);
}
END_TEST

START_TEST(when_there_are_too_many_the_next_is_refused_and_the_rest_stay)
{
    unsigned count = 0;
    char *shared = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (count < 100000 && roots_add_region((uintptr_t)shared + count * 8, 8))
        count++;
    ck_assert_uint_ge(count, 1000);
    ck_assert_uint_lt(count, 100000);
    find_roots(ALL, true);
    for (unsigned i = 0; i < count; i += 111)
        UNIT_WANT(class_of(shared + i * 8) == LEAK_ROOT_CLASS_USER);
    roots_remove_region((uintptr_t)shared, 8);
    ck_assert(roots_add_region((uintptr_t)shared + count * 8, 8));
    find_roots(ALL, true);
    ck_assert_int_eq(class_of(shared + count * 8), LEAK_ROOT_CLASS_USER);
    ck_assert_int_eq(class_of(shared), LEAK_ROOT_CLASS_NONE);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("roots");
    TCase *option = tcase_create("option");
    tcase_add_loop_test(option, a_list_of_classes_is_read_whole_or_refused, 0, ARRAY_LENGTH(lists));
    suite_add_tcase(suite, option);
    if (UNIT_SANITIZED) { /* it maps terabytes that cannot be told from the program's */
        dprintf(1, "skip: picture, regions: the sanitizer's shadow is a root\n");
        return unit_main(argc, argv, suite);
    }
    TCase *picture = tcase_create("picture");
    tcase_add_checked_fixture(picture, setup, NULL);
    tcase_add_test(picture, every_word_is_of_the_class_it_belongs_to);
    tcase_add_test(picture, a_class_that_is_left_out_holds_nothing);
    tcase_add_test(picture, below_the_stack_pointer_nothing_is_live);
    tcase_add_test(picture, memory_of_the_runtime_is_no_root);
    tcase_add_test(picture, the_heap_is_no_root_and_what_is_mapped_beside_it_is);
    tcase_add_test(picture, of_a_large_mapping_only_touched_pages_are_read);
    suite_add_tcase(suite, picture);
    TCase *regions = tcase_create("regions");
    tcase_add_checked_fixture(regions, setup, NULL);
    tcase_add_test(regions, a_region_is_a_root_until_it_is_taken_back);
    tcase_add_test(regions, a_region_named_twice_is_taken_back_twice);
    tcase_add_test(regions, an_odd_region_has_its_whole_words);
    tcase_add_test(regions, when_there_are_too_many_the_next_is_refused_and_the_rest_stay);
    suite_add_tcase(suite, regions);
    return unit_main(argc, argv, suite);
}
