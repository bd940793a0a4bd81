/* test_modules.c - objects and their generations: who was at an address, and since when.
 *
 * Small libraries are compiled at test time; where there is no compiler those tests are skipped.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#include <dlfcn.h>

static void setup(void)
{
    ck_assert(store_create(unit_directory, "modules", environ));
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start());
}

/* The n-th module record in the store, or NULL. */
static const struct leak_module *record(unsigned n)
{
    uint64_t offset = 0;
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_MODULES, &offset)))
        for (uint64_t at = 0; at < chunk->length;) {
            const struct leak_module *module = (const void *)((const char *)(chunk + 1) + at);
            if (!n--)
                return module;
            at += module->length;
        }
    return NULL;
}

static const struct leak_module *record_around(uintptr_t pc, uint32_t retired)
{
    const struct leak_module *module;
    for (unsigned n = 0; (module = record(n)); n++)
        if (pc - module->start < module->end - module->start && module->loaded > retired)
            return module;
    return NULL;
}

START_TEST(an_object_is_recorded_on_first_sight_and_once)
{
    struct module_view view;
    uintptr_t pc = (uintptr_t)&setup, libc = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    for (int twice = 0; twice < 2; twice++) {
        ck_assert(modules_find(&unit_guard, pc, &view));
        ck_assert(pc >= view.start && pc < view.end && view.eh_frame_hdr);
        ck_assert(modules_find(&unit_guard, libc, &view));
        ck_assert(libc >= view.start && libc < view.end);
    }
    ck_assert_uint_eq(store_header->modules, 2);
    char exe[600] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    ck_assert_str_eq(record(0)->path, exe);
    ck_assert_ptr_nonnull(strstr(record(1)->path, "libc.so"));
    ck_assert_ptr_null(record(2));
    for (unsigned n = 0; n < 2; n++) {
        const struct leak_module *module = record(n);
        ck_assert_uint_eq(module->loaded, n + 1);
        ck_assert_uint_eq(module->unloaded, 0);
        ck_assert_uint_eq(module->length % 8, 0);
        ck_assert_uint_eq(module->path_length, strlen(module->path));
        ck_assert_uint_le(module->bias, module->start);
    }
    ck_assert_uint_eq(record(1)->build_id_length, 20);
    Dl_info info;
    ck_assert(dladdr((void *)libc, &info));
    ck_assert_uint_eq(record(1)->bias, (uintptr_t)info.dli_fbase);
}
END_TEST

START_TEST(an_address_of_no_object_is_of_none)
{
    struct module_view view;
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t places[] = {0, 1, 4096, (uintptr_t)page, (uintptr_t)&view, UINTPTR_MAX, 1ull << 63};
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
        ck_assert_msg(!modules_find(&unit_guard, places[i], &view), "%#" PRIxPTR " is of an object",
                      places[i]);
    ck_assert_uint_eq(store_header->modules, 0);
}
END_TEST

START_TEST(our_own_code_is_ours_and_libcs_is_not)
{
    ck_assert(modules_is_own((uintptr_t)modules_start));
    ck_assert(!modules_is_own((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version")));
    ck_assert(!modules_is_own(0));
}
END_TEST

/* ---- Libraries that come and go ------------------------------------------------------------- */

static char library_path[2][200];

static bool compile(int which)
{
    char source[200], define[40] = "-DNUMBER=0";
    define[strlen(define) - 1] += which;
    strcpy(source, unit_directory);
    strcat(source, "/plugin.c");
    strcpy(library_path[which], unit_directory);
    strcat(library_path[which], which ? "/two.so" : "/one.so");
    int fd = open(source, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    static const char text[] = "int plugin(void) { return NUMBER; }\n";
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "exec ${CC:-cc} \"$@\"", "cc", "-shared", "-fPIC",
               "-Wl,--build-id", define, "-o", library_path[which], source, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    return status == 0;
}

static uintptr_t function_of(void *library)
{
    void *function = library ? dlsym(library, "plugin") : NULL;
    ck_assert_msg(function, "%s", dlerror());
    return (uintptr_t)function + 1;
}

static void loader_was_at_work(void)
{
    modules_note_change();
    modules_refresh(&unit_guard);
}

/* Another file at the same address. */
START_TEST(what_was_unloaded_is_kept_and_its_successor_is_somebody_else)
{
    if (!compile(0) || !compile(1))
        return UNIT_SKIP("no compiler");
    struct module_view view;
    void *first = dlopen(library_path[0], RTLD_NOW);
    uintptr_t pc = function_of(first);
    ck_assert(modules_find(&unit_guard, pc, &view));
    ck_assert_uint_eq(modules_retired(pc), 0);
    loader_was_at_work(); /* nothing went */
    ck_assert_uint_eq(modules_retired(pc), 0);
    dlclose(first);
    loader_was_at_work();
    ck_assert_uint_eq(record(0)->unloaded, 2);
    ck_assert_uint_eq(modules_retired(pc), 2);
    ck_assert_uint_eq(modules_retired((uintptr_t)&setup), 0);

    void *second = dlopen(library_path[1], RTLD_NOW);
    uintptr_t next = function_of(second);
    if (next != pc) {
        dlclose(second);
        return UNIT_SKIP("the loader did not use the address again");
    }
    ck_assert(modules_find(&unit_guard, next, &view));
    const struct leak_module *old = record_around(pc, 0),
                             *now = record_around(next, modules_retired(next));
    ck_assert(old && now && old != now);
    ck_assert_str_eq(old->path, library_path[0]);
    ck_assert_str_eq(now->path, library_path[1]);
    ck_assert(now->loaded > old->unloaded && !now->unloaded);
    ck_assert_int_ne(memcmp(old->build_id, now->build_id, 20), 0);
}
END_TEST

START_TEST(what_comes_back_to_its_place_is_the_same_module)
{
    if (!compile(0) || !compile(1))
        return UNIT_SKIP("no compiler");
    struct module_view view;
    uintptr_t pc = 0;
    for (int n = 0; n < 50; n++) {
        void *library = dlopen(library_path[0], RTLD_NOW);
        uintptr_t now = function_of(library);
        if (pc && now != pc)
            return UNIT_SKIP("the loader did not use the address again");
        pc = now;
        ck_assert(modules_find(&unit_guard, pc, &view));
        ck_assert_uint_eq(modules_retired(pc), 0);
        ck_assert_uint_eq(record(0)->unloaded, 0);
        dlclose(library);
        loader_was_at_work();
        ck_assert_uint_ne(modules_retired(pc), 0);
        ck_assert_uint_ne(record(0)->unloaded, 0);
    }
    ck_assert_uint_eq(store_header->modules, 1);
    void *other = dlopen(library_path[1], RTLD_NOW);
    ck_assert(modules_find(&unit_guard, function_of(other), &view));
    ck_assert_uint_eq(store_header->modules, 2);
    dlclose(other);
    loader_was_at_work();
    void *library = dlopen(library_path[0], RTLD_NOW); /* its place was another one's meanwhile */
    ck_assert(modules_find(&unit_guard, function_of(library), &view));
    ck_assert_uint_eq(store_header->modules, function_of(library) == pc ? 3 : 2);
}
END_TEST

/* The change was not noticed in between: the address is the same, the object is not. */
START_TEST(a_quick_exchange_is_seen_by_the_build_id)
{
    if (!compile(0) || !compile(1))
        return UNIT_SKIP("no compiler");
    struct module_view view;
    void *first = dlopen(library_path[0], RTLD_NOW);
    uintptr_t pc = function_of(first);
    modules_find(&unit_guard, pc, &view);
    if (sys_peek_may_fault())
        return UNIT_SKIP("the kernel does not copy our memory here (qemu-user)");
    dlclose(first);
    void *second = dlopen(library_path[1], RTLD_NOW);
    if (function_of(second) != pc)
        return UNIT_SKIP("the loader did not use the address again");
    loader_was_at_work();
    ck_assert_uint_ne(record(0)->unloaded, 0);
    ck_assert_uint_ne(modules_retired(pc), 0);
}
END_TEST

START_TEST(a_row_dies_with_its_object)
{
    if (!compile(0))
        return UNIT_SKIP("no compiler");
    void *library = dlopen(library_path[0], RTLD_NOW);
    uintptr_t pc = function_of(library);
    ck_assert_int_ne(cfi_cache_find(&unit_guard, pc).rule, CFI_NONE);
    dlclose(library);
    loader_was_at_work();
    ck_assert_int_eq(cfi_cache_find(&unit_guard, pc).rule, CFI_NONE);
}
END_TEST

START_TEST(hundreds_of_generations_stay_apart)
{
    if (!compile(0) || !compile(1))
        return UNIT_SKIP("no compiler");
    struct module_view view;
    for (int n = 0; n < 400; n++) {
        void *library = dlopen(library_path[n % 2], RTLD_NOW);
        ck_assert(modules_find(&unit_guard, function_of(library), &view));
        dlclose(library);
        loader_was_at_work();
    }
    ck_assert_uint_eq(store_header->modules, 400);
    uint32_t before = 0;
    for (unsigned n = 0; n < 400; n++) {
        ck_assert_msg(record(n)->loaded > before && record(n)->unloaded > record(n)->loaded,
                      "generation %u: %u to %u after %u", n, record(n)->loaded, record(n)->unloaded,
                      before);
        before = record(n)->unloaded;
    }
}
END_TEST

START_TEST(a_fork_child_knows_the_same_modules)
{
    struct module_view view;
    modules_find(&unit_guard, (uintptr_t)&setup, &view);
    modules_find(&unit_guard, (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &view);
    modules_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        struct leak_header *parent;
        uint64_t size;
        const struct leak_module *old = record(1);
        uint32_t loaded = old->loaded;
        if (!store_create_child(&parent, &size))
            _exit(1);
        modules_fork_child();
        store_unmap_parent(parent, size);
        if (store_header->modules != 2 || !record(1) || record(1)->loaded != loaded || record(2))
            _exit(2);
        if (!modules_find(&unit_guard, (uintptr_t)&setup, &view) || store_header->modules != 2)
            _exit(3);
        _exit(0);
    }
    modules_fork_unlock();
    unit_await_success(pid);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("modules");
    TCase *all = tcase_create("modules");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, an_object_is_recorded_on_first_sight_and_once);
    tcase_add_test(all, an_address_of_no_object_is_of_none);
    tcase_add_test(all, our_own_code_is_ours_and_libcs_is_not);
    tcase_add_test(all, what_was_unloaded_is_kept_and_its_successor_is_somebody_else);
    tcase_add_test(all, what_comes_back_to_its_place_is_the_same_module);
    tcase_add_test(all, a_quick_exchange_is_seen_by_the_build_id);
    tcase_add_test(all, a_row_dies_with_its_object);
    tcase_add_test(all, hundreds_of_generations_stay_apart);
    tcase_add_test(all, a_fork_child_knows_the_same_modules);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
