/* test_memory_limits.c - which limit is the smallest, and that nearness to it is reported once. */
#include "tests/unit/preload/unit.h"
#include "preload/memory/memory_limits.h"
#include "preload/base/sys.h"

#include <sys/resource.h>

/* ---- Control groups --------------------------------------------------------------------------- */

static char mount[600];

static void write_limit(const char *group, const char *text)
{
    char path[700];
    snprintf(path, sizeof path, "%s%s", mount, group);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s%s/memory.max", mount, group);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_ne(file, NULL);
    fputs(text, file);
    fclose(file);
}

static uint64_t limit_of(const char *group)
{
    return memory_limits_of_cgroup(mount, group, strlen(group), "memory.max");
}

START_TEST(a_group_has_the_least_limit_of_all_it_is_in)
{
    snprintf(mount, sizeof mount, "%s", unit_directory);
    write_limit("/slice", "4096000\n");
    write_limit("/slice/large", "9000000\n");
    write_limit("/slice/small", "8192\n");
    write_limit("/slice/any", "max\n");
    write_limit("/free", "9223372036854771712\n"); /* none, as version 1 writes it */
    ck_assert_uint_eq(limit_of("/slice/small"), 8192);
    ck_assert_uint_eq(limit_of("/slice/large"), 4096000);
    ck_assert_uint_eq(limit_of("/slice/any"), 4096000);
    ck_assert_uint_eq(limit_of("/free"), UINT64_MAX);
    ck_assert_uint_eq(limit_of("/"), UINT64_MAX);
    ck_assert_uint_eq(limit_of("/no/such/group"), UINT64_MAX);
    write_limit("", "5000\n"); /* a container's own group stands at the top */
    ck_assert_uint_eq(limit_of("/docker/4711"), 5000);
    ck_assert_uint_eq(limit_of("/slice/small"), 5000);
}
END_TEST

/* ---- Near to it ------------------------------------------------------------------------------- */

/* They would bind qemu-user itself, so it sets none. */
#define NO_LIMITS "limits of memory cannot be set here (qemu-user)"
#define LIMIT (1ull << 30)
#define MUCH (1000ull << 20)

static unsigned told;

static void tell(void)
{
    told++;
}

START_TEST(nearness_is_reported_once_until_there_is_room_again)
{
    enum leak_limit of;
    if (unit_is_emulated())
        return UNIT_SKIP(NO_LIMITS);
    sys_set_rlimit(RLIMIT_DATA, LIMIT);
    memory_limits_start();
    ck_assert_uint_le(memory_limits_smallest(&of), LIMIT);
    memory_limits_watch(90, tell);
    memory_limits_tick();
    ck_assert_uint_eq(told, 0);
    for (unsigned times = 1; times <= 2; times++) {
        void *much = sys_map_lazily(MUCH);
        ck_assert_ptr_ne(much, NULL);
        memory_limits_tick();
        memory_limits_tick();
        ck_assert_uint_eq(told, times);
        sys_unmap(much, MUCH);
        memory_limits_tick();
    }
    memory_limits_watch(0, tell);
    ck_assert_ptr_ne(sys_map_lazily(MUCH), NULL);
    memory_limits_tick();
    ck_assert_uint_eq(told, 2);
}
END_TEST

START_TEST(the_smallest_limit_is_the_one_that_counts)
{
    enum leak_limit of;
    if (unit_is_emulated())
        return UNIT_SKIP(NO_LIMITS);
    sys_set_rlimit(RLIMIT_DATA, LIMIT);
    memory_limits_start();
    uint64_t least = memory_limits_smallest(&of);
    ck_assert(least < LIMIT ? of == LEAK_LIMIT_CGROUP || of == LEAK_LIMIT_ADDRESS_SPACE
                            : of == LEAK_LIMIT_DATA);
    sys_set_rlimit(RLIMIT_DATA, 64 << 20);
    memory_limits_start();
    least = memory_limits_smallest(&of);
    ck_assert(least < 64 << 20 || of == LEAK_LIMIT_DATA);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("limits");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_group_has_the_least_limit_of_all_it_is_in);
    if (!UNIT_SANITIZED) { /* whose shadow is data, and more than any limit */
        tcase_add_test(all, the_smallest_limit_is_the_one_that_counts);
        tcase_add_test(all, nearness_is_reported_once_until_there_is_room_again);
    }
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
