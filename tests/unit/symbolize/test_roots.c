/* test_roots.c - names of the words that hold blocks: variables of this very program, threads,
 * keys.
 */
#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

static struct {
    long before;
    void *words[8];
} known_table = {.before = 1};
void *known_global = &known_table;
static __thread void *known_tls[2] = {&known_global};

__attribute__((noinline)) static uint64_t known_counter(void)
{
    static void *counter[3];

    __asm__ volatile("" ::"r"(counter) : "memory");
    return (uint64_t)(uintptr_t)&counter[1];
}

static int first_module(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static const char *own_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[length > 0 ? length : 0] = 0;
    return path;
}

static struct arena *mem;
static struct resolver *resolver;

static void setup(void)
{
    struct binary_search_path search = {0};

    mem = arena_begin();
    resolver = resolve_begin(mem, &search);
}

static void teardown(void)
{
    resolve_end(resolver);
    arena_end(mem);
}

/* The process of a store with one block that one root points to; data: the path of the object whose
 * data the root may lie in. */
static struct process process_with(const struct leak_held *root, const char *data)
{
    struct store_builder builder = builder_begin();
    struct leak_found found = {.site = 1,
                               .verdict = LEAK_VERDICT_REACHABLE,
                               .root = 1,
                               .path = {0, 1},
                               .blocks = 1,
                               .bytes = 8};
    struct leak_step step = {.size = 8, .site = 1};
    struct leak_held held = *root;
    struct extent extent;
    struct store_image image;
    struct store store;
    struct read_error trouble;
    struct build_options options = {0};
    struct process process;
    uint64_t bias = 0;

    dl_iterate_phdr(first_module, &bias);
    held.blocks = 1;
    held.bytes = 8;
#if defined(__x86_64__)
    builder_header(&builder)->machine = EM_X86_64;
#else
    builder_header(&builder)->machine = EM_AARCH64;
#endif
    builder_header(&builder)->started_ns = 4000000000000000000; /* later than the file */
    builder_process(&builder, own_path(), "/", 1, (const char *const[]){"t"});
    builder_module(&builder, own_path(), bias, bias + (1 << 24), bias, 1, 0, "");
    builder_thread(&builder, 1, "t");
    builder_thread(&builder, 2, "worker");
    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_MALLOC, (struct leak_counts){1, 8, 0, 0});
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = &found,
                                                  .found_count = 1,
                                                  .roots = &held,
                                                  .root_count = 1,
                                                  .steps = &step,
                                                  .step_count = 1,
                                                  .module = data,
                                                  .start = bias,
                                                  .end = bias + (1 << 24),
                                                  .bias = bias});
    image = store_image_borrow(builder.data, builder.size, &extent);
    ck_assert(reader_parse(mem, &image, &store, &trouble));
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    builder_end(&builder);
    ck_assert_uint_eq(process.owner_count, 1);
    ck_assert_ptr_eq(process.owners[0].path, process.records[0].path);
    return process;
}

static const struct root *named(const struct leak_held *root, const char *data)
{
    return process_with(root, data).records[0].path->root;
}

/* "WORDS (test_roots.c:LINE)REST" */
static void must_read(const struct root *root, const char *words, const char *rest)
{
    char wanted[256];

    snprintf(wanted, sizeof(wanted), "%s (test_roots.c:%u)%s", words, root->line, rest);
    ck_assert_str_eq(root->words, wanted);
    ck_assert_uint_gt(root->line, 0);
}

START_TEST(globals_are_named_by_variable_and_line)
{
    struct leak_held held = {.root_class = LEAK_ROOT_CLASS_GLOBALS};
    const char *data = _i ? own_path() : ""; /* as the loader calls the program */
    const struct root *root;

    held.address = (uint64_t)(uintptr_t)&known_global;
    must_read(named(&held, data), "known_global", "");
    held.address = (uint64_t)(uintptr_t)&known_table.words[2];
    root = named(&held, data);
    must_read(root, "known_table", "");
    ck_assert_uint_eq(root->offset, 24);
    held.address = known_counter();
    root = named(&held, data);
    must_read(root, "known_counter::counter", "");
    ck_assert_str_eq(root->function, "known_counter");
    ck_assert_uint_eq(root->offset, 8);
}
END_TEST

START_TEST(a_global_without_a_name_is_a_place_in_its_module)
{
    struct leak_held held = {.root_class = LEAK_ROOT_CLASS_GLOBALS};
    uint64_t bias = 0;

    dl_iterate_phdr(first_module, &bias);
    held.address = bias + 0x10;
    ck_assert_str_eq(named(&held, own_path())->words, "test_roots +0x10");
    held.address = 8;
    ck_assert_str_eq(named(&held, NULL)->words, "data of a module");
}
END_TEST

START_TEST(thread_local_variables_are_named_with_their_thread)
{
    struct leak_held held = {.root_class = LEAK_ROOT_CLASS_TLS, .thread = 2};

    held.tls_offset = (char *)&known_tls[1] - (char *)__builtin_thread_pointer();
#if defined(__x86_64__)
    must_read(named(&held, NULL), "known_tls", " of T2");
#else /* gcc writes no place of such a variable */
    ck_assert_str_eq(named(&held, NULL)->words, "known_tls of T2");
#endif
    held.tls_offset = 1 << 30;
    ck_assert_str_eq(named(&held, NULL)->words, "thread-local storage of T2 (worker)");
    held.key = 6;
    ck_assert_str_eq(named(&held, NULL)->words, "pthread key 5 of T2");
    held.thread = 0;
    ck_assert_str_eq(named(&held, NULL)->words, "pthread key 5 of a thread that never allocated");
}
END_TEST

static uint64_t frame_pc, frame_cfa, frame_word;

/* Leaves a pointer in its own frame, and says where. The sanitizer would move it elsewhere. */
__attribute__((noinline, no_sanitize("address"))) static void known_frame(void)
{
    void *volatile held[4] = {&known_global};

    frame_pc = (uint64_t)(uintptr_t)({
        __label__ here;
    here:
        &&here;
    });
    frame_cfa = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
    frame_word = (uint64_t)(uintptr_t)&held[2];
    __asm__ volatile("" ::"r"(held) : "memory");
}

START_TEST(words_on_stacks_are_named_by_function_and_variable)
{
    struct leak_held held = {.root_class = LEAK_ROOT_CLASS_STACKS, .thread = 1};

    ck_assert_str_eq(named(&held, NULL)->words, "the stack of T1");
    known_frame();
    held.pc = frame_pc;
    ck_assert_str_eq(named(&held, NULL)->words, "a stack slot of known_frame() (T1)");
    held.cfa = frame_cfa;
    held.address = frame_word;
    ck_assert_str_eq(named(&held, NULL)->words, "held, a stack slot of known_frame() (T1)");
    held.pc = 0x10;
    ck_assert_str_eq(named(&held, NULL)->words, "a stack slot of a function in no module (T1)");
}
END_TEST

START_TEST(other_roots_have_words_too)
{
    static const struct {
        struct leak_held held;
        const char *words;
    } rows[] = {
        {{.root_class = LEAK_ROOT_CLASS_REGISTERS, .thread = 2}, "a register of T2"},
        {{.root_class = LEAK_ROOT_CLASS_USER, .address = 64}, "root region"},
        {{.root_class = LEAK_ROOT_CLASS_ANON, .start = 0xf000}, "mapping 0xf000"},
        {{.root_class = LEAK_ROOT_CLASS_NONE}, "an unknown place"},
    };

    ck_assert_str_eq(named(&rows[_i].held, NULL)->words, rows[_i].words);
}
END_TEST

START_TEST(a_mapping_has_no_address_in_a_stable_report)
{
    struct leak_held held = {
        .root_class = LEAK_ROOT_CLASS_ANON, .start = 0xf000, .address = 0xf010};
    struct process process = process_with(&held, NULL);
    struct report report = {.processes = &process, .process_count = 1};
    struct build_options options = {.stable = true};

    build_finish(&report, &options);
    ck_assert_str_eq(process.records[0].path->root->words, "a mapping");
    ck_assert(!process.owners[0].root->has_offset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roots");
    TCase *all = tcase_create("roots");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, globals_are_named_by_variable_and_line, 0, 2);
    tcase_add_test(all, a_global_without_a_name_is_a_place_in_its_module);
    tcase_add_test(all, thread_local_variables_are_named_with_their_thread);
    tcase_add_test(all, words_on_stacks_are_named_by_function_and_variable);
    tcase_add_loop_test(all, other_roots_have_words_too, 0, 4);
    tcase_add_test(all, a_mapping_has_no_address_in_a_stable_report);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
