/* test_golang.c - who has Go's code: by the note of its linker, or by what it exports. */
#include "tests/unit/preload/unit.h"
#include "preload/interpose/golang.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"

#include <dlfcn.h>

#define NOTE(name, content, type, text)                                                            \
    {                                                                                              \
        (name) | (uint64_t)(content) << 32, (type) | (uint64_t)(text) << 32                        \
    }
#define GO 0x006f47u  /* "Go\0" */
#define GNU 0x554e47u /* "GNU" */

static const struct {
    const char *name;
    uint64_t words[4];
    size_t length;
    bool noted;
} notes[] = {
    {"Go's", NOTE(4, 0, 4, GO), 16, true},
    {"Go's with four bytes", {4 | 4ull << 32, 4 | (uint64_t)GO << 32, 7}, 20, true},
    {"behind another", {4, 1 | (uint64_t)GNU << 32, 4, 4 | (uint64_t)GO << 32}, 32, true},
    {"nothing", {0}, 0, false},
    {"somebody else's", NOTE(4, 0, 4, GNU), 16, false},
    {"another of Go's", NOTE(4, 0, 1, GO), 16, false},
    {"a longer name", NOTE(5, 0, 4, GO), 20, false},
    {"cut short in its head", NOTE(4, 0, 4, GO), 11, false},
    {"cut short in its name", NOTE(4, 0, 4, GO), 15, false},
    {"longer than there is", NOTE(4, 400, 4, GO), 32, false},
    {"behind one that is longer than there is", NOTE(~0u, ~0u, 4, GO), 32, false},
};

START_TEST(only_a_whole_note_of_gos_linker_counts)
{
    ck_assert_msg(golang_has_note((const char *)notes[_i].words, notes[_i].length) ==
                      notes[_i].noted,
                  "%s", notes[_i].name);
}
END_TEST

static uintptr_t library(const char *source)
{
    char command[1024], path[256];
    snprintf(path, sizeof path, "%s/library.so", unit_directory);
    snprintf(command, sizeof command, "echo '%s' | cc -shared -fPIC -x c -o %s - 2>/dev/null",
             source, path);
    if (system(command) != 0)
        return 0;
    void *handle = dlopen(path, RTLD_NOW);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    return (uintptr_t)dlsym(handle, "code");
}

START_TEST(who_exports_the_way_into_go_has_it_and_is_remembered)
{
    uintptr_t code =
        unit_is_emulated() ? 0 : library("int code(void) { return 1; } int crosscall2;");
    if (!code) {
        UNIT_SKIP("no compiler");
        return;
    }
    ck_assert(!golang_contains(code));
    ck_assert(golang_detect(code));
    ck_assert(golang_contains(code) && golang_detect(code));
    ck_assert(!golang_contains((uintptr_t)library));
}
END_TEST

START_TEST(code_of_c_is_not_detected_as_go)
{
    uintptr_t code =
        unit_is_emulated() ? 0 : library("int code(void) { return 1; } int crosscall;");
    ck_assert(!code || !golang_detect(code));
    ck_assert(!golang_detect((uintptr_t)library));
    ck_assert(!golang_detect((uintptr_t)printf));
    ck_assert(!golang_detect((uintptr_t)&code));
    ck_assert(!golang_detect(0));
    ck_assert(!golang_contains((uintptr_t)library));
}
END_TEST

static void setup(void)
{
    modules_start(cfi_cache_forget);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("golang");
    TCase *all = tcase_create("golang");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_loop_test(all, only_a_whole_note_of_gos_linker_counts, 0, ARRAY_LENGTH(notes));
    tcase_add_test(all, who_exports_the_way_into_go_has_it_and_is_remembered);
    tcase_add_test(all, code_of_c_is_not_detected_as_go);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
