/* test_source_path.c - the whole path of what a line table names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/debuginfo/source_path.h"
#include "tests/unit/suite.h"

static const struct {
    const char *path, *clean;
} cleaned[] = {
    {"/a/b.c", "/a/b.c"},
    {"/a/./b//c.c", "/a/b/c.c"},
    {"/a/build/../src/c.c", "/a/src/c.c"},
    {"/a/b/../../../c.c", "/c.c"},
    {"/..", "/"},
    {"./src/c.c", "src/c.c"},
    {"../src/c.c", "../src/c.c"},
    {"a/../../c.c", "../c.c"},
    {"../../a/../b.c", "../../b.c"},
    {"a/..", ""},
    {"..a/b..c", "..a/b..c"},
    {"/a/...", "/a/..."},
    {"", ""},
};

START_TEST(a_path_loses_what_leads_nowhere)
{
    char path[64];

    strcpy(path, cleaned[_i].path);
    source_path_clean(path);
    ck_assert_str_eq(path, cleaned[_i].clean);
}
END_TEST

static const struct {
    const char *directory, *file, *path;
} found[] = {
    {"/build", "/src/x.c", "/src/x.c"},
    {"/build", "x.c", "/build/x.c"},
    {"/build/obj", "../src/x.c", "/build/src/x.c"},
    {"/build", "./x.c", "/build/x.c"},
    {NULL, "src/x.c", "src/x.c"},
    {"", "src/x.c", "src/x.c"},
    /* -fdebug-prefix-map=/build=. */
    {".", "src/x.c", "src/x.c"},
    {"./obj", "../src/x.c", "src/x.c"},
    {"obj", "obj/x.c", "obj/x.c"},
    {"obj", "object/x.c", "obj/object/x.c"},
};

START_TEST(a_name_counts_from_the_directory_of_the_compiler)
{
    struct source_paths paths = {.mem = arena_begin()};
    const char *path = source_path_find(&paths, found[_i].directory, found[_i].file);

    ck_assert_str_eq(path, found[_i].path);
    ck_assert_ptr_eq(source_path_find(&paths, found[_i].directory, found[_i].file), path);
    ck_assert_ptr_null(source_path_find(&paths, found[_i].directory, NULL));
    source_paths_end(&paths);
    arena_end(paths.mem);
}
END_TEST

/* top/link -> real/build; the compiler ran in top/link and read ../x.c, which is real/x.c. */
START_TEST(a_link_may_lead_elsewhere)
{
    char top[] = "/tmp/libleak-test-XXXXXX", path[64], link[64], wanted[80];
    struct source_paths paths = {.mem = arena_begin()};

    ck_assert_ptr_nonnull(mkdtemp(top));
    ck_assert_int_eq(chdir(top), 0);
    ck_assert_int_eq(mkdir("real", 0700) + mkdir("real/build", 0700), 0);
    ck_assert_int_eq(symlink("real/build", "link"), 0);
    fclose(fopen("real/x.c", "w"));
    snprintf(link, sizeof(link), "%s/link", top);
    snprintf(wanted, sizeof(wanted), "%s/../x.c", link);
    ck_assert_str_eq(source_path_find(&paths, link, "../x.c"), wanted);
    snprintf(path, sizeof(path), "%s/real/build", top);
    snprintf(wanted, sizeof(wanted), "%s/real/x.c", top);
    ck_assert_str_eq(source_path_find(&paths, path, "../x.c"), wanted);
    ck_assert_int_eq(unlink("real/x.c") + unlink("link") + rmdir("real/build") + rmdir("real"), 0);
    ck_assert_int_eq(rmdir(top), 0);
    source_paths_end(&paths);
    arena_end(paths.mem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_path");
    TCase *all = tcase_create("source_path");

    tcase_add_loop_test(all, a_path_loses_what_leads_nowhere, 0, ROWS(cleaned));
    tcase_add_loop_test(all, a_name_counts_from_the_directory_of_the_compiler, 0, ROWS(found));
    tcase_add_test(all, a_link_may_lead_elsewhere);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
