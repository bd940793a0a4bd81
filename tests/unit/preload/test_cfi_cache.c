/* test_cfi_cache.c - what the table of rows answers is what the module says, however it has grown.
 *
 * The addresses are those of libc's code. The program has the module inside it, so that it can see
 * whether a row is in the table or was worked out again.
 */
#include "tests/unit/preload/unit.h"
#include "preload/unwind/cfi_cache.c"
#include "preload/store/store.h"

#include <link.h>

#define MANY 24000u /* several times the smallest table */
#define THREADS 4

static struct {
    uintptr_t start, end;
} code;

static int find_code(struct dl_phdr_info *info, size_t size UNUSED, void *inside)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || (uintptr_t)inside - start >= segment->p_memsz)
            continue;
        code.start = start;
        code.end = start + segment->p_memsz;
    }
    return 0;
}

static void setup(void)
{
    ck_assert(store_create(unit_directory, "rows", environ));
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start());
    dl_iterate_phdr(find_code, (void *)(uintptr_t)qsort);
    ck_assert_uint_gt(code.end - code.start, MANY * 8);
}

static uintptr_t place(uint32_t n)
{
    return code.start + 8 + n * ((code.end - code.start - 16) / MANY);
}

static bool is_right(uintptr_t pc)
{
    struct cfi_row got = cfi_cache_find(&unit_guard, pc), wanted = compute_row(&unit_guard, pc);
    return got.rule == wanted.rule && (got.rule == CFI_NONE || pack_row(got) == pack_row(wanted));
}

static bool is_kept(uintptr_t pc)
{
    uint32_t at = cfi_cache_home(cfi_cache.table, pc);
    for (unsigned probe = 0; probe < PROBES; probe++, at++)
        if ((cfi_cache_slots(cfi_cache.table)[at % slot_count(cfi_cache.table)] & LEAK_PC_MOST) ==
            pc)
            return true;
    return false;
}

START_TEST(rows_stay_as_the_table_grows)
{
    uint32_t kept = 0, first = slot_count(cfi_cache.table);
    for (uint32_t n = 0; n < MANY; n++)
        ck_assert_msg(is_right(place(n)), "row %u is wrong when it is new", n);
    ck_assert_uint_lt(first, slot_count(cfi_cache.table));
    ck_assert_uint_ge(slot_count(cfi_cache.table), MANY);
    ck_assert_uint_le(slot_count(cfi_cache.table), 4 * MANY);
    for (uint32_t n = 0; n < MANY; n++)
        kept += is_kept(place(n));
    ck_assert_msg(kept > MANY / 100 * 99, "of %u rows %u are there", MANY, kept);
    for (uint32_t n = 0; n < MANY; n++)
        ck_assert_msg(is_right(place(n)), "row %u is wrong when it was kept", n);
}
END_TEST

START_TEST(an_address_without_a_free_slot_displaces_another_one)
{
    for (uint32_t n = 0; n < MANY; n++)
        is_right(place(n));
    displaced = 0;
    for (uint32_t n = 0; n < MANY; n++) {
        ck_assert_msg(is_right(place(n)), "row %u is wrong", n);
        ck_assert_msg(is_kept(place(n)), "row %u is worked out each time", n);
    }
    ck_assert_uint_lt(displaced, MANY / 20);
}
END_TEST

START_TEST(few_rows_take_little_memory)
{
    for (uint32_t n = 0; n < 1000; n++)
        ck_assert(is_right(place(n)));
    ck_assert_uint_eq(slot_count(cfi_cache.table), 1u << CFI_CACHE_BITS_MIN);
}
END_TEST

START_TEST(a_reader_that_was_in_an_outgrown_table_finds_nothing_in_it)
{
    if (unit_is_emulated()) /* its madvise may leave them */
        return UNIT_SKIP(UNIT_EMULATED);
    uintptr_t small = cfi_cache.table;
    for (uint32_t n = 0; n < MANY; n++)
        cfi_cache_find(&unit_guard, place(n));
    ck_assert_uint_ne(small, cfi_cache.table);
    for (uint32_t i = 0; i < slot_count(small); i++)
        ck_assert_uint_eq(cfi_cache_slots(small)[i], EMPTY);
}
END_TEST

START_TEST(a_module_that_goes_leaves_no_rows)
{
    uintptr_t middle = code.start + (code.end - code.start) / 2;
    for (uint32_t n = 0; n < MANY; n += 16)
        cfi_cache_find(&unit_guard, place(n));
    cfi_cache_forget(code.start, middle);
    for (uint32_t n = 0; n < MANY; n += 16)
        ck_assert_msg(is_kept(place(n)) == (place(n) - 1 >= middle), "row %u", n);
    for (uint32_t n = 0; n < MANY; n++) /* and none comes back when it grows */
        if (place(n) - 1 >= middle)
            cfi_cache_find(&unit_guard, place(n));
    for (uint32_t n = 0; n < MANY; n++)
        ck_assert_msg(place(n) - 1 >= middle || !is_kept(place(n)), "row %u came back", n);
}
END_TEST

static void *ask(void *seed)
{
    uint32_t n = (uint32_t)(uintptr_t)seed;
    for (uint32_t i = 0; i < MANY; i++) {
        n = (n * 1664525 + 1013904223) % (1u << 31);
        if (!is_right(place(n % MANY)))
            return "a row is wrong";
    }
    return NULL;
}

START_TEST(parallel_lookups_have_the_same_result)
{
    pthread_t thread[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, ask, (void *)(i * 977)), 0);
    for (uint32_t i = 0; i < 200; i++)
        cfi_cache_forget(place(i * 100 % MANY), place(i * 100 % MANY) + 4096);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        ck_assert_msg(!wrong, "thread %d: %s", i, (const char *)wrong);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("rows");
    TCase *all = tcase_create("rows");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, rows_stay_as_the_table_grows);
    tcase_add_test(all, an_address_without_a_free_slot_displaces_another_one);
    tcase_add_test(all, few_rows_take_little_memory);
    tcase_add_test(all, a_reader_that_was_in_an_outgrown_table_finds_nothing_in_it);
    tcase_add_test(all, a_module_that_goes_leaves_no_rows);
    tcase_add_test(all, parallel_lookups_have_the_same_result);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
