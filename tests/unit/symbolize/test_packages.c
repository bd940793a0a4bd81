/* test_packages.c - which package has a file, and where the system's debug information is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbolize/records/packages.h"
#include "tests/unit/suite.h"

static struct arena *mem;
static char root[] = "/tmp/libleak-test-XXXXXX";

static void write_file(const char *path, const char *text, mode_t mode)
{
    const char *whole = arena_format(mem, "%s/%s", root, path);
    FILE *stream;

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
        mkdir(arena_format(mem, "%s/%.*s", root, (int)(slash - path), path), 0700);
    stream = fopen(whole, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
    ck_assert_int_eq(chmod(whole, mode), 0);
}

static void setup(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    mem = arena_begin();
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
    ck_assert_int_eq(system(arena_format(mem, "rm -rf %s", root)), 0);
    arena_end(mem);
}

static void make_dpkg(void)
{
    write_file("var/lib/dpkg/info/shelf.list", "/.\n/usr\n/usr/bin\n/usr/bin/shelf\n", 0600);
    write_file("var/lib/dpkg/info/libfoo1:amd64.list", "/lib/libfoo.so.1\n/usr/lib/libbar.so.2",
               0600);
    write_file("var/lib/dpkg/info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n", 0600);
    write_file("var/lib/dpkg/info/shelf.md5sums", "/usr/bin/other\n", 0600);
    write_file("var/lib/dpkg/info/shelf-doc.list", "/usr/bin/shelf.1\n/opt/usr/bin/tool\n", 0600);
}

static const struct {
    const char *path, *package, *debug;
} owned[] = {
    {"/usr/bin/shelf", "shelf", "shelf-dbgsym"},
    {"/bin/shelf", "shelf", "shelf-dbgsym"}, /* /bin is a link to /usr/bin */
    {"/usr/lib/libfoo.so.1", "libfoo1", "libfoo1-dbgsym"},
    {"/lib/libfoo.so.1", "libfoo1", "libfoo1-dbgsym"},
    {"/lib/libbar.so.2", "libfoo1", "libfoo1-dbgsym"}, /* the last line has no end */
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6", "libc6-dbg"},
    {"/usr/bin/other", NULL, NULL}, /* no list has it */
    {"/usr/bin", "shelf", "shelf-dbgsym"},
    {"/usr/bin/shel", NULL, NULL},
    {"/usr/bin/tool", NULL, NULL},
    {"/home/me/usr/bin/shelf", NULL, NULL},
    {"/usr/local/bin/shelf", NULL, NULL},
};

START_TEST(dpkg_names_the_package_of_a_file)
{
    struct packaged_file files[] = {{.path = "/usr/bin/none"}, {.path = owned[_i].path}};

    make_dpkg();
    packages_find(mem, root, files, 2);
    ck_assert_ptr_null(files[0].package);
    ck_assert_pstr_eq(files[1].package, owned[_i].package);
    ck_assert_pstr_eq(files[1].debug, owned[_i].debug);
}
END_TEST

START_TEST(a_system_without_packages_has_no_answer)
{
    struct packaged_file file = {.path = "/usr/bin/shelf"};

    packages_find(mem, root, &file, 1);
    ck_assert_ptr_null(file.package);
    ck_assert_ptr_null(packages_debuginfod_urls(mem, root));
}
END_TEST

static const struct {
    const char *release, *configured, *url;
} systems[] = {
    {"ID=debian\n", NULL, "https://debuginfod.debian.net"},
    {"NAME=\"Fedora\"\nID=fedora", NULL, "https://debuginfod.fedoraproject.org"},
    {"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", NULL, "https://debuginfod.opensuse.org"},
    {"ID=pop\nID_LIKE=\"ubuntu debian\"\n", NULL, "https://debuginfod.ubuntu.com"},
    {"ID=debianoid\n", NULL, NULL},
    {"VERSION_ID=debian\n", NULL, NULL},
    {"", NULL, NULL},
    {"ID=debian\n", "https://symbols.example.org https://b\n", "https://symbols.example.org"},
    {"ID=debian\n", "nonsense\n", "https://debuginfod.debian.net"},
};

START_TEST(each_distribution_has_its_server)
{
    write_file("etc/os-release", systems[_i].release, 0600);
    if (systems[_i].configured)
        write_file("etc/debuginfod/some.urls", systems[_i].configured, 0600);
    ck_assert_pstr_eq(packages_debuginfod_urls(mem, root), systems[_i].url);
}
END_TEST

static const struct {
    const char *script, *package;
} rpms[] = {
    {"#!/bin/sh\n[ \"$1 $4 $5\" = '-qf -- /usr/bin/shelf' ] && echo shelf\n", "shelf"},
    {"#!/bin/sh\necho one; echo two\n", "one"},
    {"#!/bin/sh\necho 'file /usr/bin/shelf is not owned by any package'; exit 1\n", NULL},
    {"#!/bin/sh\necho 'file /usr/bin/shelf is not owned by any package'\n", NULL},
    {"#!/bin/sh\n", NULL},
    {"#!/bin/sh\necho shelf; kill -9 $$\n", NULL},
    {"#!/bin/sh\necho shelf; exec sleep 60\n", NULL},
    {"#!/bin/sh\nexec cat /dev/zero\n", NULL},
    {"no program", NULL},
};

START_TEST(rpm_is_asked_and_not_waited_for)
{
    const char *program = arena_format(mem, "%s/rpm", root);
    time_t before = time(NULL);

    write_file("rpm", rpms[_i].script, 0700);
    ck_assert_pstr_eq(packages_ask_rpm(mem, program, "/usr/bin/shelf", 1500), rpms[_i].package);
    ck_assert_int_lt(time(NULL) - before, 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packages");
    TCase *all = tcase_create("packages");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, dpkg_names_the_package_of_a_file, 0, ROWS(owned));
    tcase_add_test(all, a_system_without_packages_has_no_answer);
    tcase_add_loop_test(all, each_distribution_has_its_server, 0, ROWS(systems));
    tcase_add_loop_test(all, rpm_is_asked_and_not_waited_for, 0, ROWS(rpms));
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
