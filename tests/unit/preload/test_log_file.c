/* test_log_file.c - a file of whole lines: what is written is there, in order, wherever the window is.
 *
 *     the file = the lines written + newlines, and after a cut the lines alone
 */
#include "tests/unit/preload/unit.h"
#include "preload/store/log_file.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/base/strbuf.h"

#include <sys/resource.h>

static bool say(const char *words)
{
    struct locked locked;
    struct strbuf *line = log_file_begin(&locked);
    if (!line)
        return false;
    strbuf_add(line, words);
    strbuf_add(line, "\n");
    log_file_commit(&locked);
    return true;
}

/* Its text, until the next call. */
static char *file(size_t *length)
{
    FILE *stream = fopen(log_file_path(), "r");
    static char *bytes;
    ck_assert_ptr_nonnull(stream);
    fseek(stream, 0, SEEK_END);
    *length = (size_t)ftell(stream);
    rewind(stream);
    bytes = realloc(bytes, *length + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *length, stream), *length);
    bytes[*length] = '\0';
    fclose(stream);
    return bytes;
}

static void start(const char *name)
{
    char pattern[128];
    lock_start();
    log_start();
    snprintf(pattern, sizeof pattern, "%s/%s", unit_directory, name);
    ck_assert(log_file_start(pattern, "program"));
}

START_TEST(lines_are_there_at_once_and_blank_ones_behind)
{
    size_t length;
    start("lines");
    ck_assert(say("one") && say("two"));
    char *bytes = file(&length);
    ck_assert_int_eq(strncmp(bytes, "one\ntwo\n", 8), 0);
    ck_assert_uint_eq(strspn(bytes + 7, "\n"), length - 7);
    log_file_trim(true, false);
    ck_assert_str_eq(file(&length), "one\ntwo\n");
    ck_assert(say("three"));
    log_file_trim(true, true);
    ck_assert(say("four"));
    ck_assert_str_eq(file(&length), "one\ntwo\nthree\nfour\n");
    ck_assert_uint_eq(log_file_lost(), 0);
}
END_TEST

/* Of many lengths, so that windows end anywhere; now and then the file is cut. */
START_TEST(a_million_bytes_are_whole_lines_in_order)
{
    uint64_t state = unit_seed;
    char words[4100], *bytes, *at;
    size_t length, written = 0;
    start("many");
    for (int i = 0; i < 2000; i++) {
        int wide = snprintf(words, sizeof words, "%d ", i);
        size_t more = unit_random(&state) % (i % 50 ? 1000 : 4000);
        memset(words + wide, 'x', more);
        words[wide + more] = '\0';
        UNIT_WANT(say(words));
        written += wide + more + 1;
        if (i % 300 == 299)
            log_file_trim(true, false);
    }
    log_file_trim(true, true);
    at = bytes = file(&length);
    ck_assert_uint_eq(length, written);
    for (int i = 0; i < 2000; i++) {
        UNIT_WANT_MSG(atoi(at) == i, "line %d begins %.20s (seed %" PRIu64 ")", i, at, unit_seed);
        at = strchr(at, '\n') + 1;
    }
    ck_assert_ptr_eq(at, bytes + length);
}
END_TEST

START_TEST(a_line_too_long_is_left_out_up_to_its_last_newline)
{
    struct locked locked;
    size_t length;
    start("long");
    struct strbuf *line = log_file_begin(&locked);
    strbuf_add(line, "head\n");
    for (int i = 0; i < 20000; i++)
        strbuf_add(line, "0123456789");
    log_file_commit(&locked);
    log_file_trim(true, true);
    ck_assert_str_eq(file(&length), "head\n");
}
END_TEST

static const struct {
    const char *pattern, *first, *second;
} names[] = {
    {"plain", "plain", "plain.%d"},
    {"%e-%n", "program-1", "program-2"},
    {"%p", "%d", "%d.%d"},
    {"100%%", "100%", "100%.%d"},
    {"%x%", "%x%", "%x%.%d"},
};

START_TEST(a_name_is_made_of_its_pattern_and_never_another_files)
{
    char wanted[200], pattern[200];
    for (int i = 0; i < 2; i++) {
        const char *name = i ? names[_i].second : names[_i].first;
        start(names[_i].pattern);
        snprintf(pattern, sizeof pattern, "%s/", unit_directory);
        for (char *to = pattern + strlen(pattern); (*to = *name); to++, name++)
            if (name[0] == '%' && name[1] == 'd') {
                to += sprintf(to, "%d", getpid()) - 1;
                name++;
            }
        snprintf(wanted, sizeof wanted, "%s", pattern);
        ck_assert_str_eq(log_file_path(), wanted);
        ck_assert(say("mine"));
    }
}
END_TEST

START_TEST(a_child_has_a_file_of_its_own)
{
    size_t length;
    int status;
    start("family.%p");
    ck_assert(say("parent"));
    pid_t child = fork();
    if (child == 0) {
        log_file_detach();
        if (say("detached"))
            _exit(1);
        log_file_fork_child();
        if (!say("child"))
            _exit(2);
        log_file_trim(true, true);
        _exit(strcmp(file(&length), "child\n") != 0);
    }
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert(say("again"));
    log_file_trim(true, true);
    ck_assert_str_eq(file(&length), "parent\nagain\n");
}
END_TEST

START_TEST(beyond_the_file_size_limit_lines_are_counted)
{
    struct rlimit limit = {600 << 10, 600 << 10};
    size_t length, good = 0, lines = 0;
    char words[1000];
    if (unit_is_emulated())
        return UNIT_SKIP(UNIT_EMULATED);
    start("limit");
    setrlimit(RLIMIT_FSIZE, &limit);
    memset(words, 'y', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    for (int i = 0; i < 1000; i++)
        good += say(words);
    ck_assert_uint_gt(log_file_lost(), 300);
    pid_t child = fork();
    if (child == 0) {
        log_file_detach();
        log_file_fork_child();
        _exit(say("child") || log_file_lost());
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    for (const char *at = file(&length); *at; at++)
        lines += at[0] == 'y' && at[1] == '\n';
    ck_assert_uint_eq(lines + log_file_lost(), 1000);
    ck_assert_uint_ge(good, lines);
    ck_assert_uint_eq(strspn(file(&length), "y\n"), length);
    ck_assert_uint_le(length, 600 << 10);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("journal");
    TCase *all = tcase_create("journal");
    tcase_add_test(all, lines_are_there_at_once_and_blank_ones_behind);
    tcase_add_test(all, a_million_bytes_are_whole_lines_in_order);
    tcase_add_test(all, a_line_too_long_is_left_out_up_to_its_last_newline);
    tcase_add_loop_test(all, a_name_is_made_of_its_pattern_and_never_another_files, 0,
                        ARRAY_LENGTH(names));
    tcase_add_test(all, a_child_has_a_file_of_its_own);
    tcase_add_test(all, beyond_the_file_size_limit_lines_are_counted);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
