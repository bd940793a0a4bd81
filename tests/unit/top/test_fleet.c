/* test_fleet.c - processes from update to update: recognized again, dropped at their end, counts that
 * never go back. The process is always the test itself, in stores made by hand. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"
#include "top/fleet.h"

static struct store_builder builder;
static struct fleet fleet;
static uint32_t site;
static char *path;

/* Field 22 of its line in /proc. */
static uint64_t start_time(void)
{
    char text[1024] = "";
    FILE *stream = fopen("/proc/self/stat", "r");
    const char *at;

    ck_assert_ptr_nonnull(fgets(text, sizeof(text), stream));
    fclose(stream);
    at = strrchr(text, ')');
    for (int field = 2; field < 22; field++)
        at = strchr(at + 1, ' ');
    return strtoull(at + 1, NULL, 10);
}

static void save(void)
{
    char *fresh = builder_save(&builder);

    if (path) {
        ck_assert_int_eq(rename(fresh, path), 0);
        free(fresh);
    } else {
        path = fresh;
    }
}

static void setup(void)
{
    struct leak_header *header;

    builder = builder_begin();
    builder_process(&builder, "/bin/shelf", "/", 1, (const char *const[]){"shelf"});
    builder_thread(&builder, 1, "shelf");
    site = builder_site(&builder, builder_node(&builder, 0x5000, LEAK_ROOT_COMPLETE, 0),
                        LEAK_KIND_MALLOC, (struct leak_counts){10, 1000, 4, 400});
    header = builder_header(&builder);
    header->end_how = LEAK_END_NONE;
    header->pid = getpid();
    header->start_time = start_time();
    memset(header->host, 0, sizeof(header->host));
    gethostname(header->host, sizeof(header->host) - 1);
    save();
}

static void teardown(void)
{
    fleet_end(&fleet);
    builder_end(&builder);
    unlink(path);
    free(path);
    path = NULL;
}

/* Updates the fleet with so many processes of that recording file. */
static void look(size_t count)
{
    struct process_list finds = {.at = calloc(count + 1, sizeof(*finds.at)), .count = count};

    for (size_t i = 0; i < count; i++)
        finds.at[i] = (struct listed_process){.path = strdup(path),
                                     .name = strdup("shelf"),
                                     .pid = getpid(),
                                     .start_time = start_time(),
                                     .started_ns = i + 1};
    fleet_update(&fleet, &finds);
    process_list_end(&finds);
}

START_TEST(a_process_is_known_again)
{
    const struct fleet_program *program;

    look(1);
    ck_assert_uint_eq(fleet.count, 1);
    ck_assert_ptr_nonnull(fleet.at[0].snapshot);
    ck_assert_uint_eq(fleet.at[0].snapshot->total.bytes, 600);
    ck_assert(!fleet.at[0].snapshot->delta.known);
    program = fleet.at[0].program;
    look(1);
    ck_assert_uint_eq(fleet.count, 1);
    ck_assert(fleet.at[0].snapshot->delta.known);
    ck_assert_ptr_eq(fleet.at[0].program, program);
}
END_TEST

START_TEST(processes_of_one_program_share_it_until_the_last_has_ended)
{
    look(3);
    ck_assert_uint_eq(fleet.count, 3);
    ck_assert_ptr_eq(fleet.at[0].program, fleet.at[2].program);
    ck_assert_uint_eq(fleet.programs->members, 3);
    look(1);
    ck_assert_uint_eq(fleet.count, 1);
    ck_assert_uint_eq(fleet.programs->members, 1);
    look(0);
    ck_assert_uint_eq(fleet.count, 0);
    ck_assert_ptr_null(fleet.programs);
}
END_TEST

START_TEST(who_has_ended_since_it_was_found_is_no_member)
{
    builder_header(&builder)->end_how = LEAK_END_EXIT;
    save();
    look(1);
    ck_assert_uint_eq(fleet.count, 0);
    unlink(path);
    look(1);
    ck_assert_uint_eq(fleet.count, 0);
}
END_TEST

START_TEST(a_store_that_cannot_be_read_stays_a_member)
{
    ck_assert_int_eq(truncate(path, 100), 0);
    look(1);
    ck_assert_uint_eq(fleet.count, 1);
    ck_assert_ptr_null(fleet.at[0].snapshot);
    save();
    look(1);
    ck_assert_ptr_nonnull(fleet.at[0].snapshot);
}
END_TEST

START_TEST(counts_never_go_back)
{
    look(1);
    builder_site_at(&builder, site)->counts.allocs -= 3;
    builder_site_at(&builder, site)->counts.frees -= 3;
    save();
    look(1);
    ck_assert_uint_eq(fleet.at[0].snapshot->total.allocs, 7);
    ck_assert_uint_eq(fleet.at[0].allocs, 10);
    ck_assert_uint_eq(fleet.at[0].frees, 4);
    builder_site_at(&builder, site)->counts.allocs += 5;
    save();
    look(1);
    ck_assert_uint_eq(fleet.at[0].allocs, 12);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet");
    TCase *looks = tcase_create("looks");

    tcase_add_checked_fixture(looks, setup, teardown);
    tcase_add_test(looks, a_process_is_known_again);
    tcase_add_test(looks, processes_of_one_program_share_it_until_the_last_has_ended);
    tcase_add_test(looks, who_has_ended_since_it_was_found_is_no_member);
    tcase_add_test(looks, a_store_that_cannot_be_read_stays_a_member);
    tcase_add_test(looks, counts_never_go_back);
    suite_add_tcase(suite, looks);
    return suite_run(suite);
}
