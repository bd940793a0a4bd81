/* test_arena.c - private memory and the bootstrap pool: counted, limited, written down, recognised. */
#include "tests/unit/preload/unit.h"
#include "preload/memory/arena.h"
#include "preload/interpose/real_functions.h"
#include "leak_store.h"

START_TEST(used_is_the_sum_of_what_is_out)
{
    uint64_t state = unit_seed, want = 0;
    static struct {
        uint8_t *at;
        size_t size;
    } live[64];
    for (int n = 0; n < 2000; n++) {
        size_t i = unit_random(&state) % ARRAY_LENGTH(live);
        if (live[i].at) {
            ck_assert_msg(live[i].at[0] == 0 && live[i].at[live[i].size - 1] == 0, "not zeroed");
            arena_unmap(live[i].at, live[i].size);
            want -= round_up(live[i].size, 4096);
            live[i].at = NULL;
        } else {
            live[i].size = 1 + unit_random(&state) % 100000;
            live[i].at = arena_map(live[i].size);
            ck_assert_ptr_nonnull(live[i].at);
            want += round_up(live[i].size, 4096);
        }
        ck_assert_msg(arena_used() == want,
                      "seed %" PRIu64 " step %d: wanted %" PRIu64 ", got %" PRIu64, unit_seed, n,
                      want, arena_used());
    }
}
END_TEST

START_TEST(the_limit_holds_exactly)
{
    arena_set_limit(10 * 4096);
    void *nine = arena_map(9 * 4096);
    ck_assert_ptr_nonnull(nine);
    ck_assert_ptr_null(arena_map(4097));
    ck_assert_uint_eq(arena_used(), 9 * 4096);
    ck_assert(!arena_charge(4097));
    ck_assert(arena_charge(4096));
    ck_assert_ptr_null(arena_map(1));
    ck_assert_uint_eq(arena_used(), 10 * 4096);
    arena_unmap(nine, 9 * 4096);
    ck_assert_ptr_nonnull(arena_map(9 * 4096));
    arena_set_limit(0);
    ck_assert_ptr_nonnull(arena_map(1 << 20));
}
END_TEST

START_TEST(what_the_kernel_refuses_is_not_counted)
{
    ck_assert_ptr_null(arena_map(1ull << 50));
    ck_assert_uint_eq(arena_used(), 0);
    arena_unmap(NULL, 4096);
    ck_assert_uint_eq(arena_used(), 0);
}
END_TEST

START_TEST(the_account_balances_until_something_has_no_owner)
{
    struct leak_own account;
    void *own = arena_map(3 * 4096);
    ck_assert(arena_charge(5000));
    arena_register(&unit_seed, sizeof unit_seed); /* mapped by other means: in neither sum */
    ck_assert(arena_balance(&account));
    ck_assert_uint_eq(account.used, 3 * 4096 + 5000);
    ck_assert_uint_eq(account.mapped, 3 * 4096);
    ck_assert_uint_eq(account.charged, 5000);
    arena_discharge(1000);
    arena_unmap(arena_map(4096), 4096);
    ck_assert(arena_balance(&account));
    ck_assert_uint_eq(account.used, account.mapped + account.charged);
    arena_unmap(own, 2 * 4096); /* a page is forgotten */
    ck_assert(arena_balance(&account));
    ck_assert_uint_eq(account.used, account.mapped + account.charged + 4096);
}
END_TEST

/* ---- What is ours --------------------------------------------------------------------------- */

#define RANGES_MOST 4096

static struct {
    uintptr_t start;
    size_t size;
} seen[RANGES_MOST];
static unsigned seen_count;

static void note(uintptr_t start, size_t size, void *context)
{
    UNIT_WANT(context == &seen_count && size && seen_count < RANGES_MOST);
    seen[seen_count].start = start;
    seen[seen_count++].size = size;
}

static bool list(void)
{
    seen_count = 0;
    return arena_each_range(note, &seen_count);
}

static unsigned times_listed(const void *start, size_t size)
{
    unsigned times = 0;
    for (unsigned i = 0; i < seen_count; i++)
        times += seen[i].start == (uintptr_t)start && seen[i].size == size;
    return times;
}

/* One range after the other by address: the same ranges as in the list. */
static bool walk_finds_what_is_listed(void)
{
    unsigned found = 0;
    uintptr_t at = 0;
    for (struct arena_range range; (range = arena_next_range(at)).size; found++) {
        struct arena_range again = arena_next_range(range.start + range.size - 1);
        if (range.start < at || again.start != range.start ||
            times_listed((const char *)range.start, range.size) != 1)
            return false;
        at = range.start + range.size;
    }
    return found == seen_count;
}

START_TEST(what_is_mapped_or_owned_is_listed_until_it_goes)
{
    uint64_t state = unit_seed;
    static struct {
        char *at;
        size_t size;
        bool mapped;
    } live[64];
    static char elsewhere[64 * 100]; /* owned where it is */
    unsigned count = 0;
    for (int n = 0; n < 3000; n++) {
        size_t i = unit_random(&state) % ARRAY_LENGTH(live);
        if (!live[i].at) {
            live[i].mapped = unit_random(&state) % 2;
            live[i].size = live[i].mapped ? 4096 * (1 + unit_random(&state) % 4) : 100;
            live[i].at = live[i].mapped ? arena_map(live[i].size) : elsewhere + 100 * i;
            if (!live[i].mapped)
                arena_register(live[i].at, live[i].size);
            count++;
        } else {
            if (live[i].mapped)
                arena_unmap(live[i].at, live[i].size);
            else
                arena_unregister(live[i].at);
            live[i].at = NULL;
            count--;
        }
        if (n % 16)
            continue;
        UNIT_WANT(list());
        UNIT_WANT_MSG(seen_count == count + 1, "seed %" PRIu64 " step %d: %u listed, %u live",
                      unit_seed, n, seen_count, count); /* and the list itself */
        for (size_t k = 0; k < ARRAY_LENGTH(live); k++)
            UNIT_WANT(!live[k].at || times_listed(live[k].at, live[k].size) == 1);
        UNIT_WANT(walk_finds_what_is_listed());
    }
}
END_TEST

START_TEST(the_list_is_in_the_list)
{
    char *memory = arena_map(4096);
    ck_assert(list());
    ck_assert_uint_eq(seen_count, 2);
    ck_assert_uint_eq(times_listed(memory, 4096), 1);
    arena_unregister(memory + 8); /* not registered: nothing happens */
    arena_unregister(NULL);
    ck_assert(list());
    ck_assert_uint_eq(seen_count, 2);
    arena_unmap(memory, 4096);
    ck_assert(list());
    ck_assert_uint_eq(seen_count, 1);
}
END_TEST

static void ignore(uintptr_t start UNUSED, size_t size UNUSED, void *context)
{
    ++*(unsigned *)context;
}

START_TEST(when_there_are_too_many_the_list_says_so)
{
    unsigned most = 0, listed = 0;
    static char many[1 << 20];
    while (most < sizeof many && arena_each_range(ignore, &listed))
        for (unsigned i = 0; i < 4096; i++)
            arena_register(many + most++, 1);
    ck_assert_msg(most > 10000 && most < sizeof many, "%u ranges", most);
    arena_unregister(many);
    ck_assert(!arena_each_range(ignore, &listed)); /* what was not written down stays unknown */
}
END_TEST

/* ---- Boot ----------------------------------------------------------------------------------- */

static const struct {
    size_t size, alignment;
} requests[] = {{0, 1}, {1, 1}, {16, 16}, {17, 8}, {100, 64}, {3, 4096}, {1000, 256}, {5, 0}};

START_TEST(boot_blocks_are_aligned_sized_and_recognised)
{
    char *before = bootstrap_alloc(3, 1),
         *block = bootstrap_alloc(requests[_i].size, requests[_i].alignment);
    char *after = bootstrap_alloc(16, 1);
    size_t alignment = requests[_i].alignment < 16 ? 16 : requests[_i].alignment;
    ck_assert_msg((uintptr_t)block % alignment == 0, "%zu bytes aligned to %zu are at %p",
                  requests[_i].size, requests[_i].alignment, (void *)block);
    memset(before, 1, 3), memset(block, 2, requests[_i].size), memset(after, 3, 16);
    ck_assert_uint_eq(bootstrap_size(block), requests[_i].size);
    ck_assert_uint_eq(bootstrap_size(before), 3);
    ck_assert_uint_eq(bootstrap_size(after), 16);
    ck_assert(bootstrap_owns(block) && bootstrap_owns(before) && bootstrap_owns(after));
}
END_TEST

START_TEST(what_is_not_of_the_pool_is_not_taken_for_it)
{
    int local;
    void *heap = malloc(100);
    ck_assert(!bootstrap_owns(NULL) && !bootstrap_owns(&local) && !bootstrap_owns(heap) &&
              !bootstrap_owns((void *)-1));
    free(heap);
}
END_TEST

START_TEST(a_pool_that_is_full_refuses_and_stays_whole)
{
    char *blocks[2000];
    int count = 0;
    while (count < 2000 && (blocks[count] = bootstrap_alloc(100, 16)))
        memset(blocks[count], count, 100), count++;
    ck_assert_msg(count > 300 && count < 2000, "%d blocks of 100", count);
    ck_assert_ptr_null(bootstrap_alloc(1 << 20, 16));
    ck_assert_ptr_null(bootstrap_alloc(SIZE_MAX, 16));
    ck_assert_ptr_null(bootstrap_alloc(16, 8192));
    for (int i = 0; i < count; i++)
        ck_assert_msg(blocks[i][0] == (char)i && blocks[i][99] == (char)i &&
                          bootstrap_size(blocks[i]) == 100,
                      "block %d of %d is damaged", i, count);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("arena");
    TCase *arena = tcase_create("arena");
    tcase_add_test(arena, used_is_the_sum_of_what_is_out);
    tcase_add_test(arena, the_limit_holds_exactly);
    tcase_add_test(arena, what_the_kernel_refuses_is_not_counted);
    tcase_add_test(arena, the_account_balances_until_something_has_no_owner);
    suite_add_tcase(suite, arena);
    TCase *ours = tcase_create("ours");
    tcase_add_test(ours, what_is_mapped_or_owned_is_listed_until_it_goes);
    tcase_add_test(ours, the_list_is_in_the_list);
    tcase_add_test(ours, when_there_are_too_many_the_list_says_so);
    tcase_set_timeout(ours, 60);
    suite_add_tcase(suite, ours);
    TCase *boot = tcase_create("boot");
    tcase_add_loop_test(boot, boot_blocks_are_aligned_sized_and_recognised, 0,
                        ARRAY_LENGTH(requests));
    tcase_add_test(boot, what_is_not_of_the_pool_is_not_taken_for_it);
    tcase_add_test(boot, a_pool_that_is_full_refuses_and_stays_whole);
    suite_add_tcase(suite, boot);
    return unit_main(argc, argv, suite);
}
