/* test_misuse.c - which release is wrong, and what a pointer is that no block begins at.
 *
 * Blocks come by track_alloc and go by track_free as hooks have it; what was wrong is read from the
 * store, as a reader does.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/misuse/errors.h"
#include "preload/misuse/bad_free.h"
#include "preload/interpose/modules.h"
#include "preload/heap/quarantine.h"
#include "preload/interpose/real_functions.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/track/track.h"
#include "preload/contexts/context_tree.h"

#define ENTER()                                                                                    \
    struct frame caller = CALLER_FRAME();                                                          \
    struct guard *guard = guard_enter(&caller)

static char *heap; /* memory that may be anybody's */

static void setup(void)
{
    ENTER();
    lock_start();
    real_functions_find(); /* whose pool is in its own data is not this program */
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "misuse", environ));
    track_start();
    track_select_path();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    guard_leave(guard);
    heap = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static NOINLINE void came(const void *block, size_t size, unsigned kind)
{
    ENTER();
    guard->kind_flags = kind & ~BLOCKS_KIND;
    track_alloc(guard, &caller, (void *)block, size, kind & BLOCKS_KIND);
    guard->kind_flags = 0;
    guard_leave(guard);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void *went_as(const void *block, uint32_t how, size_t size, size_t alignment)
{
    struct free_form_frame frame = {CALLER_FRAME(), size, alignment};
    struct guard *guard = guard_enter(&frame.caller);
    bool said = how & (FREE_FORM_SIZED | FREE_FORM_ALIGNED);
    void *rest = said ? track_free_sized(guard, &frame, (void *)block, how)
                      : track_free(guard, &frame.caller, (void *)block, how);
    guard_leave(guard);
    __asm__ volatile("" ::: "memory");
    return rest;
}

static void went(const void *block)
{
    went_as(block, FREED_BY_FREE, 0, 0);
}

static const struct leak_events *table(void)
{
    static const struct leak_events none;
    uint64_t offset = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_EVENTS, &offset);
    return chunk ? (const struct leak_events *)(chunk + 1) : &none;
}

/* The one there is; its type NONE: there is none. */
static struct leak_event only(void)
{
    ck_assert_msg(table()->event[1].type == LEAK_EVENT_NONE, "there are two");
    return table()->event[0];
}

static void expect(enum leak_event_type type, enum leak_form form, int64_t offset)
{
    struct leak_event event = only();
    ck_assert_uint_eq(event.type, type);
    ck_assert_uint_eq(event.form, form);
    ck_assert_int_eq(event.offset, offset);
    ck_assert_uint_eq(event.thread, 1);
    ck_assert(event.node >= LEAK_NODE_FIRST && event.count == 1);
    ck_assert(error_table_check());
}

/* ---- Forms ---------------------------------------------------------------------------------- */

static const uint32_t forms[] = {FREED_BY_FREE,
                                 FREED_BY_FREE_SIZED,
                                 FREED_BY_FREE_ALIGNED_SIZED,
                                 FREED_BY_DELETE,
                                 FREED_BY_DELETE_SIZED,
                                 FREED_BY_DELETE_ARRAY,
                                 FREED_BY_DELETE_ARRAY_SIZED,
                                 FREED_BY_ALIGNED_DELETE,
                                 FREED_BY_ALIGNED_DELETE_SIZED,
                                 FREED_BY_ALIGNED_DELETE_ARRAY,
                                 FREED_BY_ALIGNED_DELETE_ARRAY_SIZED};

/* A row for each kind, a column for each form above. */
static const char *const right[LEAK_KIND_MAX] = {
    [LEAK_KIND_MALLOC] = "++.........",      [LEAK_KIND_MEMALIGN] = "+.+........",
    [LEAK_KIND_NEW] = "...++......",         [LEAK_KIND_NEW_ARRAY] = ".....++....",
    [LEAK_KIND_ALIGNED_NEW] = ".......++..", [LEAK_KIND_ALIGNED_NEW_ARRAY] = ".........++"};

START_TEST(every_kind_by_every_form)
{
    uint32_t wrong = 0;
    for (unsigned kind = LEAK_KIND_NONE + 1; kind < LEAK_KIND_CUSTOM; kind++)
        for (size_t form = 0; form < ARRAY_LENGTH(forms); form++) {
            came(heap, 64, kind | blocks_alignment_bits(64));
            ck_assert_ptr_eq(went_as(heap, forms[form], 64, 64), heap);
            if (right[kind][form] == '+') {
                ck_assert_uint_eq(table()->event[wrong].type, LEAK_EVENT_NONE);
                continue;
            }
            const struct leak_event *event = &table()->event[wrong++];
            ck_assert_uint_eq(event->type, LEAK_EVENT_MISMATCHED_FREE);
            ck_assert_uint_eq(event->form, free_form_of(forms[form]));
            ck_assert_uint_eq(sites_kind(event->site), kind);
            ck_assert_uint_eq(event->size, 64);
        }
    ck_assert_uint_eq(wrong, 6 * 11 - 12);
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
}
END_TEST

static const struct {
    unsigned kind;
    uint32_t how;
    uint64_t size, alignment;
    enum leak_event_type type;
} said[] = {
    {LEAK_KIND_NEW, FREED_BY_DELETE_SIZED, 64, 0, LEAK_EVENT_NONE},
    {LEAK_KIND_NEW, FREED_BY_DELETE_SIZED, 63, 0, LEAK_EVENT_SIZE_MISMATCH},
    {LEAK_KIND_NEW, FREED_BY_DELETE, 63, 0, LEAK_EVENT_NONE}, /* it says nothing */
    {LEAK_KIND_ALIGNED_NEW | 3 << 3, FREED_BY_ALIGNED_DELETE, 0, 64, LEAK_EVENT_NONE},
    {LEAK_KIND_ALIGNED_NEW | 3 << 3, FREED_BY_ALIGNED_DELETE, 0, 32, LEAK_EVENT_ALIGNMENT_MISMATCH},
    {LEAK_KIND_ALIGNED_NEW | 3 << 3, FREED_BY_ALIGNED_DELETE, 0, 0, LEAK_EVENT_ALIGNMENT_MISMATCH},
    {LEAK_KIND_ALIGNED_NEW | 3 << 3, FREED_BY_ALIGNED_DELETE_SIZED, 8, 32,
     LEAK_EVENT_SIZE_MISMATCH},
    {LEAK_KIND_ALIGNED_NEW, FREED_BY_ALIGNED_DELETE, 0, 4096,
     LEAK_EVENT_NONE}, /* not known: it fits */
    {LEAK_KIND_ALIGNED_NEW, FREED_BY_ALIGNED_DELETE, 0, 1ull << 62, LEAK_EVENT_ALIGNMENT_MISMATCH},
    {LEAK_KIND_ALIGNED_NEW, FREED_BY_ALIGNED_DELETE, 0, 24, LEAK_EVENT_ALIGNMENT_MISMATCH},
};

START_TEST(what_a_form_says_is_compared)
{
    ck_assert_uint_eq(blocks_alignment(3 << 3), 64);
    came(heap, 64, said[_i].kind);
    went_as(heap, said[_i].how, said[_i].size, said[_i].alignment);
    ck_assert_uint_eq(only().type, said[_i].type);
}
END_TEST

START_TEST(alignments_are_kept_as_far_as_they_fit)
{
    for (unsigned log = 0; log < 64; log++) {
        uint64_t kept = blocks_alignment(blocks_alignment_bits(1ull << log));
        ck_assert_uint_eq(kept, log >= 4 && log <= 18 ? 1ull << log : 0);
        ck_assert_uint_eq(blocks_alignment_bits(1ull << log) & (BLOCKS_KIND | BLOCKS_IGNORED), 0);
    }
    ck_assert_uint_eq(blocks_alignment_bits(0), 0);
}
END_TEST

START_TEST(realloc_of_a_block_of_new_is_wrong_and_goes_on)
{
    struct block block;
    struct frame caller = CALLER_FRAME();
    came(heap, 10, LEAK_KIND_NEW_ARRAY);
    ck_assert(track_remove_for_realloc(&guard_self, &caller, heap, &block));
    ck_assert_uint_eq(block.size, 10);
    expect(LEAK_EVENT_BAD_REALLOC, LEAK_FORM_REALLOC, 0);
}
END_TEST

/* ---- Pointers ------------------------------------------------------------------------------- */

START_TEST(a_second_free_names_the_first)
{
    came(heap, 10, LEAK_KIND_MALLOC);
    went(heap);
    went(heap);
    struct leak_event event = only();
    expect(LEAK_EVENT_DOUBLE_FREE, LEAK_FORM_FREE, 0);
    ck_assert_uint_eq(event.freed_thread, 1);
    ck_assert_uint_eq(event.freed_form, LEAK_FORM_FREE);
    ck_assert(event.freed_pc && event.site == 1);
    ck_assert_uint_eq(store_header->unknown_frees, 0);
}
END_TEST

START_TEST(a_free_of_the_next_block_there_is_right_and_its_owners_is_the_second)
{
    came(heap, 10, LEAK_KIND_MALLOC);
    went(heap);
    came(heap, 20, LEAK_KIND_NEW);
    went_as(heap, FREED_BY_DELETE, 0, 0); /* by whomever */
    ck_assert_uint_eq(only().type, LEAK_EVENT_NONE);
    went_as(heap, FREED_BY_DELETE, 0, 0);
    ck_assert_uint_eq(only().freed_form, LEAK_FORM_DELETE);
    ck_assert_uint_eq(sites_kind(only().site), LEAK_KIND_NEW);
}
END_TEST

static void *frees(void *block)
{
    went(block);
    return NULL;
}

START_TEST(another_thread_had_freed_it)
{
    pthread_t thread;
    came(heap, 10, LEAK_KIND_MALLOC);
    pthread_create(&thread, NULL, frees, heap);
    pthread_join(thread, NULL);
    went(heap);
    expect(LEAK_EVENT_DOUBLE_FREE, LEAK_FORM_FREE, 0);
    ck_assert_uint_eq(only().freed_thread, 2);
}
END_TEST

/* Frees that are no longer remembered, and memory that may have been somebody's unseen, are no news. */
START_TEST(what_is_not_certain_is_only_counted)
{
    came(heap, 10, LEAK_KIND_MALLOC);
    went(heap);
    if (_i == 0)
        for (int n = 1; n <= LEAK_RECENT; n++) {
            came(heap + 4096 + n * 64, 10, LEAK_KIND_MALLOC);
            went(heap + 4096 + n * 64);
        }
    else if (_i == 1)
        store_count_untracked(LEAK_UNTRACKED_NESTED, 1);
    else
        store_count_untracked(LEAK_UNTRACKED_FILTERED, 1);
    went(heap);
    ck_assert_uint_eq(only().type, LEAK_EVENT_NONE);
    ck_assert_uint_eq(store_header->unknown_frees, 1);
}
END_TEST

static const struct {
    size_t size, offset;
    unsigned kind;
    uint32_t how;
    enum leak_event_type type;
    int64_t told;
} insides[] = {
    {100, 1, LEAK_KIND_MALLOC, FREED_BY_FREE, LEAK_EVENT_INTERIOR_FREE, 1},
    {100, 99, LEAK_KIND_MALLOC, FREED_BY_FREE, LEAK_EVENT_INTERIOR_FREE, 99},
    {100, 100, LEAK_KIND_MALLOC, FREED_BY_FREE, LEAK_EVENT_NONE,
     0}, /* just behind it: somebody else's */
    {2 << 20, 2047 << 10, LEAK_KIND_MALLOC, FREED_BY_FREE, LEAK_EVENT_INTERIOR_FREE, 2047 << 10},
    {100, 8, LEAK_KIND_NEW_ARRAY, FREED_BY_DELETE, LEAK_EVENT_INTERIOR_FREE, 8},
    {100, -8, LEAK_KIND_NEW, FREED_BY_DELETE_ARRAY, LEAK_EVENT_MISMATCHED_FREE, -8},
    {100, -16, LEAK_KIND_NEW, FREED_BY_DELETE_ARRAY, LEAK_EVENT_MISMATCHED_FREE, -16},
    {100, -24, LEAK_KIND_NEW, FREED_BY_DELETE_ARRAY, LEAK_EVENT_NONE, 0},
    {100, -8, LEAK_KIND_NEW, FREED_BY_DELETE, LEAK_EVENT_NONE, 0},
    {100, -8, LEAK_KIND_MALLOC, FREED_BY_DELETE_ARRAY, LEAK_EVENT_NONE, 0},
};

START_TEST(inside_of_a_block_and_beside_it)
{
    came(heap + 64, insides[_i].size, insides[_i].kind);
    went_as(heap + 64 + insides[_i].offset, insides[_i].how, 0, 0);
    ck_assert_uint_eq(only().type, insides[_i].type);
    ck_assert_int_eq(only().offset, insides[_i].told);
    ck_assert_uint_eq(store_header->unknown_frees, insides[_i].type == LEAK_EVENT_NONE);
    ck_assert_uint_eq(blocks_count(), 1); /* the block itself is as it was */
}
END_TEST

static char data[64];

START_TEST(what_was_never_a_heaps_is_wild)
{
    char local[64];
    void *unmapped = heap + (1 << 20);
    munmap(unmapped, 4096);
    const struct {
        void *pointer;
        enum leak_place place;
    } wild[] = {{local + 8, LEAK_PLACE_STACK},
                {data + 8, LEAK_PLACE_OBJECT},
                /* The sanitizer's shadow lies there. */
                {(void *)(UNIT_SANITIZED ? 0x10 : 0x87654321), LEAK_PLACE_UNMAPPED},
                {unmapped, LEAK_PLACE_UNMAPPED},
                {(void *)(1ull << 60), LEAK_PLACE_UNMAPPED}};
    went(wild[_i].pointer);
    expect(LEAK_EVENT_INVALID_FREE, LEAK_FORM_FREE, 0);
    ck_assert_uint_eq(only().place, wild[_i].place);
    ck_assert_uint_eq(only().site, 0);
}
END_TEST

START_TEST(of_another_heap_is_foreign_however_many)
{
    for (int n = 0; n < 5000; n++)
        went(heap + n * 16);
    ck_assert_uint_eq(only().type, LEAK_EVENT_NONE);
    ck_assert_uint_eq(store_header->unknown_frees, 5000);
    came(heap, 10, LEAK_KIND_MALLOC);
    went_as(heap, FREED_BY_DELETE, 0, 0); /* a block is a block */
    expect(LEAK_EVENT_MISMATCHED_FREE, LEAK_FORM_DELETE, 0);
}
END_TEST

/* ---- A queue -------------------------------------------------------------------------------- */

/* Of the other heap no more is looked at, but for what lies elsewhere. */
START_TEST(a_wild_free_is_reported_after_thousands_of_foreign_ones)
{
    int here;
    for (int n = 0; n < 10000; n++)
        went(heap + (n % 4096) * 16);
    ck_assert_uint_eq(table()->event[0].type, LEAK_EVENT_NONE);
    went(&here);
    ck_assert_uint_eq(only().type, LEAK_EVENT_INVALID_FREE);
    ck_assert_uint_eq(only().place, LEAK_PLACE_STACK);
}
END_TEST

START_TEST(a_block_that_waits_is_not_freed_again)
{
    struct block block;
    struct frame caller = CALLER_FRAME();
    ck_assert(quarantine_start(1 << 20));
    track_select_path();
    came(heap, 10, LEAK_KIND_MALLOC);
    ck_assert_ptr_null(went_as(heap, FREED_BY_FREE, 0, 0));
    ck_assert_uint_eq(blocks_count(), 0);
    for (int n = 1; n <= 2 * LEAK_RECENT; n++) {
        came(heap + n * 64, 10, LEAK_KIND_MALLOC);
        ck_assert_ptr_null(went_as(heap + n * 64, FREED_BY_FREE, 0, 0));
    }
    ck_assert_ptr_null(went_as(heap, FREED_BY_FREE, 0, 0));
    expect(LEAK_EVENT_DOUBLE_FREE, LEAK_FORM_FREE, 0);
    ck_assert(only().freed_node >= LEAK_NODE_FIRST && only().size == 10);
    ck_assert(!track_remove_for_realloc(&guard_self, &caller, heap, &block)); /* libc's again */
    ck_assert_uint_eq(table()->event[1].form, LEAK_FORM_REALLOC);
    ck_assert(!quarantine_find(&guard_self, (uintptr_t)heap, false, &(struct quarantined){0}));
    came(heap + (1 << 20), QUARANTINE_LARGEST + 1, LEAK_KIND_MALLOC);
    ck_assert_ptr_nonnull(went_as(heap + (1 << 20), FREED_BY_FREE, 0, 0));
}
END_TEST

/* ---- on_error ------------------------------------------------------------------------------- */

static const struct {
    const char *option;
    bool good, double_frees, others; /* only reported */
} words[] = {
    {"report", true, true, true},
    {"", true, true, true},
    {"abort", true, false, false},
    {"report,double-free=abort", true, false, true},
    {"abort,double-free=report", true, true, false},
    {"double-free=abort,report", true, true, true}, /* later wins */
    {"double-free=trap,mismatched-free=stop", true, false, false},
    {"double=abort", false, true, true},
    {"double-free=explode", false, true, true},
    {"abort,nonsense", false, true, true},
    {"double-free=", false, true, true},
    {"=abort", false, true, true},
};

START_TEST(on_error_is_read_word_by_word)
{
    ck_assert(on_error_parse(words[_i].option, strlen(words[_i].option)) == words[_i].good);
    ck_assert(on_error_only_reports(LEAK_EVENT_DOUBLE_FREE) == words[_i].double_frees);
    ck_assert(on_error_only_reports(LEAK_EVENT_MISMATCHED_FREE) == words[_i].others);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("misuse");
    TCase *all = tcase_create("misuse");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, every_kind_by_every_form);
    tcase_add_loop_test(all, what_a_form_says_is_compared, 0, ARRAY_LENGTH(said));
    tcase_add_test(all, alignments_are_kept_as_far_as_they_fit);
    tcase_add_test(all, realloc_of_a_block_of_new_is_wrong_and_goes_on);
    tcase_add_test(all, a_second_free_names_the_first);
    tcase_add_test(all, a_free_of_the_next_block_there_is_right_and_its_owners_is_the_second);
    tcase_add_test(all, another_thread_had_freed_it);
    tcase_add_loop_test(all, what_is_not_certain_is_only_counted, 0, 3);
    tcase_add_loop_test(all, inside_of_a_block_and_beside_it, 0, ARRAY_LENGTH(insides));
    tcase_add_loop_test(all, what_was_never_a_heaps_is_wild, 0, 5);
    tcase_add_test(all, of_another_heap_is_foreign_however_many);
    tcase_add_test(all, a_wild_free_is_reported_after_thousands_of_foreign_ones);
    tcase_add_test(all, a_block_that_waits_is_not_freed_again);
    tcase_add_loop_test(all, on_error_is_read_word_by_word, 0, ARRAY_LENGTH(words));
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
