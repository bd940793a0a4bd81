/* test_metrics.c - a fleet as metrics: what is written, how it is escaped, and its limits. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/records/records.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"
#include "top/metrics.h"

enum { MEMBERS = 40, SITES = 30 };

/* Processes by hand: member i has i + 1 kB in each of its sites. */
static struct fleet fleet;
static struct fleet_member members[MEMBERS];
static struct heap_snapshot snapshots[MEMBERS];
static struct counters counts[MEMBERS][SITES];
static struct snapshot_row rows[MEMBERS][SITES];
static struct site_name names[SITES];
static struct frame frames[SITES];
static char functions[SITES][32];
static struct metrics_options options;
static char *text;

static void setup(void)
{
    for (size_t i = 0; i < SITES; i++) {
        sprintf(functions[i], "function_%zu", i);
        frames[i] = (struct frame){.function = functions[i]};
        names[i] = (struct site_name){
            .signature = 0xabc0 + i, .kind = LEAK_KIND_MALLOC, .title = &frames[i]};
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        snapshots[i] = (struct heap_snapshot){.exe = "/bin/shelf",
                                              .started_ns = 1500000000,
                                              .counts = counts[i],
                                              .rows = rows[i],
                                              .count = SITES};
        for (size_t k = 0; k < SITES; k++) {
            rows[i][k] = (struct snapshot_row){.name = &names[k]};
            counts[i][k] = (struct counters){.bytes = 1000 * (i + 1) + k, .blocks = 1};
            snapshots[i].total.bytes += counts[i][k].bytes;
            snapshots[i].total.blocks++;
        }
        members[i] =
            (struct fleet_member){.found = {.name = (char *)"shelf", .pid = (pid_t)(i + 1)},
                                  .snapshot = &snapshots[i],
                                  .allocs = 7,
                                  .frees = 3};
    }
    fleet = (struct fleet){.at = members, .count = 1, .time_ns = 2250000000};
    options = (struct metrics_options){.sites = 2, .series = 1000};
}

static void teardown(void)
{
    free(text);
    text = NULL;
}

static const char *written(void)
{
    size_t length;
    FILE *stream;

    free(text);
    stream = open_memstream(&text, &length);
    metrics_write(&fleet, &options, stream);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

/* The lines that begin with the text. */
static size_t lines(const char *all, const char *begin)
{
    size_t count = 0;

    for (const char *at = all; at && *at; at = strchr(at, '\n'), at += at != NULL)
        count += strncmp(at, begin, strlen(begin)) == 0;
    return count;
}

static void has_line(const char *all, const char *line)
{
    const char *at = strstr(all, line);

    ck_assert_msg(at && (at == all || at[-1] == '\n') && at[strlen(line)] == '\n',
                  "no line %s in:\n%s", line, all);
}

/* ---- What is written ------------------------------------------------------------------------- */

START_TEST(a_process_and_its_largest_sites_are_reported)
{
    const char *all = written();

    has_line(all, "# TYPE libleak_processes gauge\nlibleak_processes 1");
    has_line(all, "libleak_written_time_seconds 2.250");
    has_line(all, "libleak_start_time_seconds{comm=\"shelf\",pid=\"1\"} 1.500");
    has_line(all, "libleak_live_bytes{comm=\"shelf\",pid=\"1\"} 30435");
    has_line(all, "# TYPE libleak_allocations_total counter\n"
                  "libleak_allocations_total{comm=\"shelf\",pid=\"1\"} 7");
    has_line(all, "libleak_site_live_bytes{comm=\"shelf\",pid=\"1\",signature=\"000000000000abdd\","
                  "kind=\"malloc\",function=\"function_29\"} 1029");
    ck_assert_uint_eq(lines(all, "libleak_site_live_bytes{"), 2);
    has_line(all, "libleak_sites_left_out{comm=\"shelf\",pid=\"1\"} 28");
}
END_TEST

START_TEST(what_is_not_known_is_not_there)
{
    const char *all = written();

    ck_assert_uint_eq(lines(all, "libleak_lost_bytes"), 0);
    ck_assert_uint_eq(lines(all, "libleak_look_time_seconds"), 0);
    ck_assert_uint_eq(lines(all, "libleak_memory_limit_bytes"), 0);
    ck_assert_uint_eq(lines(all, "libleak_site_growing"), 0);
    ck_assert_uint_eq(lines(all, "# HELP libleak_lost_bytes"), 0);
    snapshots[0].leak_check_ns = 1750000000;
    snapshots[0].limit = 4096;
    snapshots[0].limit_of = LEAK_LIMIT_CGROUP;
    all = written();
    has_line(all, "libleak_lost_bytes{comm=\"shelf\",pid=\"1\"} 0");
    has_line(all, "libleak_look_time_seconds{comm=\"shelf\",pid=\"1\"} 1.750");
    has_line(all, "libleak_memory_limit_bytes{comm=\"shelf\",pid=\"1\",limit=\"cgroup\"} 4096");
}
END_TEST

START_TEST(small_growing_sites_are_reported)
{
    static const struct growth verdicts[] = {
        {.verdict = GROWTH_GROWING, .bytes_per_second = 500},
        {.verdict = GROWTH_SLOW_CONSUMER, .bytes_per_second = 20},
        {.verdict = GROWTH_STEADY},
    };
    const char *all;

    for (int i = 0; i < 3; i++)
        rows[0][i].growth = &verdicts[i];
    snapshots[0].growing = 2;
    options.sites = SITES;
    all = written();
    has_line(all, "libleak_growing_sites{comm=\"shelf\",pid=\"1\"} 2");
    has_line(all, "libleak_growth_bytes_per_second{comm=\"shelf\",pid=\"1\"} 520");
    has_line(all, "libleak_site_growing{comm=\"shelf\",pid=\"1\",signature=\"000000000000abc0\","
                  "kind=\"malloc\",function=\"function_0\"} 1");
    has_line(all, "libleak_site_growing{comm=\"shelf\",pid=\"1\",signature=\"000000000000abc1\","
                  "kind=\"malloc\",function=\"function_1\"} 2");
    has_line(all, "libleak_site_growing{comm=\"shelf\",pid=\"1\",signature=\"000000000000abc2\","
                  "kind=\"malloc\",function=\"function_2\"} 0");
    options.sites = 1; /* of thirty, and the others are larger */
    ck_assert_uint_eq(lines(written(), "libleak_site_growing{"), 1);
    options.ordering.order = ORDER_BYTES;
    ck_assert_uint_eq(lines(written(), "libleak_site_growing{"), 0);
}
END_TEST

START_TEST(all_series_of_a_metric_stand_together_and_once)
{
    const char *all;

    fleet.count = 3;
    all = written();
    for (const char *at = all; at; at = strchr(at, '\n'), at += at != NULL) {
        const char *end = strchr(at, '\n');
        char *line, head[128];

        if (*at == '#' || !end)
            continue;
        line = strndup(at, (size_t)(strchr(at, ' ') - at) + 1); /* no label has a space here */
        ck_assert_msg(lines(all, line) == 1, "twice: %s", line);
        snprintf(head, sizeof(head), "# TYPE %.*s ", (int)strcspn(line, "{ "), line);
        ck_assert_msg(lines(all, head) == 1, "not once: %s", head);
        free(line);
    }
}
END_TEST

START_TEST(no_process_is_a_file_too)
{
    fleet.count = 0;
    has_line(written(), "libleak_processes 0");
    ck_assert_uint_eq(lines(text, "libleak_live_bytes"), 0);
}
END_TEST

START_TEST(a_store_that_cannot_be_read_is_counted)
{
    fleet.count = 2;
    members[1].snapshot = NULL;
    has_line(written(), "libleak_processes 2");
    has_line(text, "libleak_processes_unreadable 1");
    ck_assert_uint_eq(lines(text, "libleak_live_bytes{"), 1);
}
END_TEST

/* ---- Labels ---------------------------------------------------------------------------------- */

static const struct {
    const char *value, *escaped;
} values[] = {
    {"plain", "plain"},
    {"", ""},
    {"with \"quotes\"", "with \\\"quotes\\\""},
    {"back\\slash", "back\\\\slash"},
    {"two\nlines", "two\\\\x0alines"},
    {"\xff\x01", "\\\\xff\\\\x01"},
    {"gr\xc3\xb6\xc3\x9f"
     "er {a=\"b\"}",
     "gr\xc3\xb6\xc3\x9f"
     "er {a=\\\"b\\\"}"},
};

START_TEST(values_are_escaped)
{
    char line[256];

    snapshots[0].exe = values[_i].value;
    snprintf(line, sizeof(line),
             "libleak_process_info{comm=\"shelf\",pid=\"1\",exe=\"%s\",sampled=\"false\"} 1",
             values[_i].escaped);
    has_line(written(), line);
}
END_TEST

START_TEST(a_long_name_is_cut)
{
    char name[5000], *end;

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    frames[SITES - 1].function = name;
    end = strstr(written(), ",function=\"xxx");
    ck_assert_ptr_nonnull(end);
    ck_assert_uint_lt(strcspn(end, "\n"), 160);
}
END_TEST

static const struct {
    const char *word;
    bool fits;
} words[] = {
    {"cell=a", true}, {"_x9=", true},        {"cell=a=b", true}, {"cell", false},
    {"=a", false},    {"9cell=a", false},    {"ce-ll=a", false}, {"__name__=a", false},
    {"pid=4", false}, {"function=f", false}, {"", false},        {"pids=4", true},
};

START_TEST(labels_of_the_user_have_names_of_their_own)
{
    ck_assert_msg(label_is_valid(words[_i].word) == words[_i].fits, "%s", words[_i].word);
}
END_TEST

START_TEST(labels_of_the_user_are_on_every_series)
{
    static const char both[] = "cell=\"a\\\"b\",rack=\"7\"";
    const char *all;

    options.label[options.labels++] = "cell=a\"b";
    options.label[options.labels++] = "rack=7";
    all = written();
    has_line(all, "libleak_processes{cell=\"a\\\"b\",rack=\"7\"} 1");
    for (const char *at = all; at && *at; at = strchr(at, '\n'), at += at != NULL)
        ck_assert(*at == '#' || memmem(at, strcspn(at, "\n"), both, strlen(both)));
    ck_assert(label_has_same_name("cell=a", "cell=b") && !label_has_same_name("cell=a", "cells=a"));
}
END_TEST

/* ---- Limits ---------------------------------------------------------------------------------- */

static size_t series(const char *all)
{
    return lines(all, "libleak_");
}

START_TEST(there_are_never_more_series_than_asked_for)
{
    fleet.count = MEMBERS;
    options.sites = SITES;
    for (options.series = METRICS_SERIES_LEAST; options.series < 4000; options.series += 97)
        ck_assert_uint_le(series(written()), options.series);
    options.series = 1000000;
    ck_assert_uint_eq(lines(written(), "libleak_site_live_bytes{"), MEMBERS * SITES);
    has_line(text, "libleak_processes_left_out 0");
}
END_TEST

START_TEST(what_there_is_no_room_for_is_counted)
{
    char line[64];
    size_t taken;

    fleet.count = MEMBERS;
    options.series = 100;
    taken = lines(written(), "libleak_live_bytes{");
    ck_assert(taken > 0 && taken < MEMBERS);
    snprintf(line, sizeof(line), "libleak_processes_left_out %zu", MEMBERS - taken);
    has_line(text, line);
    has_line(text, "libleak_processes 40");
    ck_assert_ptr_nonnull(strstr(text, "libleak_live_bytes{comm=\"shelf\",pid=\"40\"}"));
    ck_assert_ptr_null(strstr(text, "pid=\"1\""));
}
END_TEST

START_TEST(what_grows_comes_before_what_is_large)
{
    static const struct growth growth = {.verdict = GROWTH_GROWING, .bytes_per_second = 1};

    fleet.count = MEMBERS;
    options.series = 100;
    rows[0][0].growth = &growth;
    ck_assert_ptr_nonnull(strstr(written(), "libleak_live_bytes{comm=\"shelf\",pid=\"1\"}"));
}
END_TEST

/* ---- What is lost ---------------------------------------------------------------------------- */

/* The sums of a report. */
static struct totals totals_of(const char *path, bool known)
{
    struct arena *mem = arena_begin();
    struct binary_search_path nowhere = {0};
    struct resolver *resolver = resolve_begin(mem, &nowhere);
    struct group_options group = {.suppressions = suppress_begin()};
    struct process process = {0};
    struct read_error trouble;
    struct totals totals;
    struct store store;

    ck_assert(reader_open(mem, path, &store, &trouble));
    if (known)
        suppress_add_defaults(group.suppressions);
    suppress_select_store(group.suppressions, &store, 0);
    group_records(mem, resolver, &store, &group, &process);
    totals = process.totals;
    suppress_end(group.suppressions);
    store_end(&store);
    resolve_end(resolver);
    arena_end(mem);
    return totals;
}

static void check_losses(struct store_builder *builder, bool some)
{
    char *path = builder_save(builder);
    struct totals totals = totals_of(path, true);
    struct snapshot_reader looks = snapshot_reader_begin(path, NULL);
    struct read_error trouble;
    struct heap_snapshot *snapshot = heap_snapshot_take(&looks, &trouble);

    ck_assert_ptr_nonnull(snapshot);
    ck_assert_uint_eq(snapshot->lost.bytes, totals.of[VERDICT_LOST].bytes);
    ck_assert_uint_eq(snapshot->lost.blocks, totals.of[VERDICT_LOST].blocks);
    ck_assert_uint_eq(snapshot->lost.indirect_bytes, totals.of[VERDICT_INDIRECT].bytes);
    ck_assert_uint_eq(snapshot->lost.indirect_blocks, totals.of[VERDICT_INDIRECT].blocks);
    ck_assert_int_eq(snapshot->lost.blocks > 0, some);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&looks);
    unlink(path);
    free(path);
}

START_TEST(what_is_lost_is_what_a_report_says)
{
    struct store_builder builder = builder_looked();

    check_losses(&builder, true);
    builder_end(&builder);
}
END_TEST

START_TEST(without_a_look_nothing_is_called_lost)
{
    struct store_builder builder = builder_example();

    check_losses(&builder, false);
    builder_end(&builder);
}
END_TEST

START_TEST(what_the_program_suppresses_is_not_lost)
{
    struct store_builder builder = builder_looked();

    builder_suppressions(&builder, "leaks.supp", "leak:*\n");
    check_losses(&builder, false);
    builder_end(&builder);
}
END_TEST

/* ---- The file -------------------------------------------------------------------------------- */

START_TEST(a_file_is_replaced_whole_and_all_may_read_it)
{
    char dir[] = "/tmp/libleak-unit-XXXXXX", path[64], beside[64], got[16] = "";
    struct stat info;
    FILE *stream;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/x.prom", dir);
    snprintf(beside, sizeof(beside), "%s/link", dir);
    umask(077);
    ck_assert(textfile_replace(path, "old", 3));
    ck_assert(textfile_replace(path, "newer", 5));
    stream = fopen(path, "r");
    ck_assert_uint_eq(fread(got, 1, sizeof(got), stream), 5);
    fclose(stream);
    ck_assert_str_eq(got, "newer");
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0644);
    ck_assert_int_eq(symlink(path, beside), 0);
    ck_assert(!textfile_replace(beside, "x", 1));
    ck_assert_int_eq(errno, EEXIST);
    ck_assert(!textfile_replace(dir, "x", 1));
    ck_assert_int_eq(errno, EISDIR);
    ck_assert(!textfile_replace("/nonexistent/x.prom", "x", 1));
    ck_assert_int_eq(errno, ENOENT);
    unlink(path);
    unlink(beside);
    ck_assert_int_eq(rmdir(dir), 0); /* nothing was left beside it */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *all = tcase_create("metrics");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_process_and_its_largest_sites_are_reported);
    tcase_add_test(all, what_is_not_known_is_not_there);
    tcase_add_test(all, small_growing_sites_are_reported);
    tcase_add_test(all, all_series_of_a_metric_stand_together_and_once);
    tcase_add_test(all, no_process_is_a_file_too);
    tcase_add_test(all, a_store_that_cannot_be_read_is_counted);
    tcase_add_loop_test(all, values_are_escaped, 0, ROWS(values));
    tcase_add_test(all, a_long_name_is_cut);
    tcase_add_loop_test(all, labels_of_the_user_have_names_of_their_own, 0, ROWS(words));
    tcase_add_test(all, labels_of_the_user_are_on_every_series);
    tcase_add_test(all, there_are_never_more_series_than_asked_for);
    tcase_add_test(all, what_there_is_no_room_for_is_counted);
    tcase_add_test(all, what_grows_comes_before_what_is_large);
    tcase_add_test(all, what_is_lost_is_what_a_report_says);
    tcase_add_test(all, without_a_look_nothing_is_called_lost);
    tcase_add_test(all, what_the_program_suppresses_is_not_lost);
    tcase_add_test(all, a_file_is_replaced_whole_and_all_may_read_it);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
