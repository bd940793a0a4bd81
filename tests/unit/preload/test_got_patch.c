/* test_got_patch.c - the calls of an object in use are redirected to other functions.
 *
 * Three libraries are compiled at test time: "theirs" and "ours" have the same function, "user"
 * calls it from theirs. Where there is no compiler the tests are skipped.
 */
#include "tests/unit/preload/unit.h"
#include "preload/interpose/got_patch.h"

#include <dlfcn.h>
#include <link.h>

static char path[4][200];

static bool compile(char *out, const char *name, const char *flags, const char *text)
{
    char command[2000];
    snprintf(out, 200, "%s/%s.so", unit_directory, name);
    snprintf(
        command, sizeof command,
        "cd %s && echo '%s' | ${CC:-cc} -w -O1 -shared -fPIC -Wl,-rpath,%s -o %s -x c - -x none %s",
        unit_directory, text, unit_directory, out, flags);
    return system(command) == 0;
}

/* The function itself answers 1 or 2; once through a call, once through a pointer. */
static bool compile_all(const char *binding)
{
    char flags[600];
    if (!compile(path[0], "theirs", "", "int answer(void) { return 1; }") ||
        !compile(path[1], "ours", "", "int answer(void) { return 2; }") ||
        !compile(path[3], "others", "", "int answer(void) { return 3; }"))
        return false;
    snprintf(flags, sizeof flags, "%s %s -Wl,-z,relro", path[0], binding);
    return compile(path[2], "user", flags,
                   "int answer(void); int call(void) { return answer(); }"
                   "int (*pointer(void))(void) { return answer; }");
}

static uintptr_t our_answer;

static uintptr_t replacement(const char *name)
{
    return strcmp(name, "answer") == 0 ? our_answer : 0;
}

static int (*call)(void);
static int (*(*pointer)(void))(void);

static void load(void)
{
    void *ours = dlopen(path[1], RTLD_NOW | RTLD_LOCAL), *user = dlopen(path[2], RTLD_LAZY);
    ck_assert_msg(ours && user, "%s", dlerror());
    call = (int (*)(void))dlsym(user, "call");
    pointer = (int (*(*)(void))(void))dlsym(user, "pointer");
    our_answer = (uintptr_t)dlsym(ours, "answer");
    got_patch_start((const void *)our_answer);
}

/* How the parts of the object may be used, in one line; how many mappings a part has does not
 * count. */
static void read_access(char *out)
{
    char line[600], access[8], last[8] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    *out = '\0';
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "/user.so") && sscanf(line, "%*s %7s", access) == 1 &&
            strcmp(access, last) != 0)
            strcat(strcat(out, strcpy(last, access)), " ");
    fclose(maps);
}

static const struct binding {
    const char *flags;
    bool called_before;
} bindings[] = {{"-Wl,-z,now", false}, {"-Wl,-z,lazy", false}, {"-Wl,-z,lazy", true}};

START_TEST(calls_of_an_object_in_use_are_redirected)
{
    char before[400], after[400];
    if (!compile_all(bindings[_i].flags))
        return UNIT_SKIP("no compiler");
    load();
    if (bindings[_i].called_before)
        ck_assert_int_eq(call(), 1);
    read_access(before);
    for (int twice = 0; twice < 2; twice++) {
        got_patch_redirect(replacement);
        ck_assert_int_eq(call(), 2);
        ck_assert_int_eq(pointer()(), 2);
    }
    read_access(after);
    ck_assert_str_eq(before, after);
}
END_TEST

START_TEST(an_object_that_could_mean_two_functions_is_left_alone)
{
    if (!compile_all(bindings[_i].flags))
        return UNIT_SKIP("no compiler");
    load();
    ck_assert(dlopen(path[3], RTLD_NOW | RTLD_LOCAL));
    got_patch_redirect(replacement);
    ck_assert_int_eq(call(), 1);
    ck_assert_int_eq(pointer()(), 1);
}
END_TEST

struct names {
    const struct symbols *symbols;
    unsigned count, others; /* others: names that are no export */
    bool has_answer;
};

static void note_name(const char *name, void *context)
{
    struct names *names = context;
    names->count++;
    names->has_answer |= strcmp(name, "answer") == 0;
    names->others += !symbols_find_export(names->symbols, name);
}

static int visit_names(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct symbols symbols;
    struct names *names = context;
    if (!symbols_object_contains(object, our_answer) || !symbols_read(object, &symbols))
        return 0;
    names->symbols = &symbols;
    return symbols_each_name(&symbols, note_name, names) ? 1 : -1;
}

START_TEST(each_exported_name_is_visited)
{
    struct names names = {0};
    if (!compile_all("-Wl,-z,lazy"))
        return UNIT_SKIP("no compiler");
    load();
    if (dl_iterate_phdr(visit_names, &names) < 0)
        return UNIT_SKIP("no GNU hash table");
    ck_assert(names.has_answer);
    ck_assert_uint_ge(names.count, 1);
    ck_assert_uint_eq(names.others, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("got_patch");
    TCase *all = tcase_create("got");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, calls_of_an_object_in_use_are_redirected, 0, ARRAY_LENGTH(bindings));
    tcase_add_loop_test(all, an_object_that_could_mean_two_functions_is_left_alone, 0,
                        ARRAY_LENGTH(bindings));
    tcase_add_test(all, each_exported_name_is_visited);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
