/* test_frame_record.c - which addresses can be return addresses in the frame records of code
 * without unwind table: those behind a call of a function that has no table either. */
#include "tests/unit/preload/unit.h"
#include "preload/unwind/frame_record.h"
#include "preload/unwind/unwind.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/interpose/modules.h"
#include "preload/store/store.h"
#include "arch.h"

#include <sys/mman.h>

#define PIECE 16 /* room for the code of one case */

static uint8_t *page; /* code as a JIT compiler makes it: no module contains it */

static void setup(void)
{
    ck_assert(store_create(unit_directory, "records", environ));
    modules_start(unwind_forget);
    ck_assert(cfi_cache_start());
    page = mmap(NULL, LEAK_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
}

/* Puts code into a piece of the page, and asks for the address behind it. */
static bool returns_behind(unsigned piece, const uint8_t *code, unsigned size)
{
    uint8_t *place = page + PIECE * (piece + 1);
    memcpy(place - size, code, size);
    return frame_record_returns_to(&unit_guard, (uintptr_t)place);
}

#if ARCH_FINDS_CALLS

static const struct {
    const char *text;
    uint8_t code[7];
    uint8_t size;
} calls[] =
    {
        {"call rax", {0xff, 0xd0}, 2},
        {"call r10", {0x41, 0xff, 0xd2}, 3},
        {"call [rbx]", {0xff, 0x13}, 2},
        {"call [rax+8]", {0xff, 0x50, 0x08}, 3},
        {"call [rsp]", {0xff, 0x14, 0x24}, 3},
        {"call [rsp+16]", {0xff, 0x54, 0x24, 0x10}, 4},
        {"call [rip+n]", {0xff, 0x15, 1, 2, 0, 0}, 6},
        {"call [rbx+n]", {0xff, 0x93, 0x40, 6, 0, 0}, 6},
        {"call [n]", {0xff, 0x14, 0x25, 0x10, 0, 0, 0}, 7},
        {"call [rsp+n]", {0xff, 0x94, 0x24, 0, 1, 0, 0}, 7},
        {"call into the page", {0xe8, 0x20, 0, 0, 0}, 5},
},
  others[] = {
      {"jmp rax", {0xff, 0xe0}, 2},
      {"push [rbp-8]", {0xff, 0x75, 0xf8}, 3},
      {"call rax; nop", {0xff, 0xd0, 0x90}, 3},
      {"call [rax+8] without its last byte", {0xff, 0x50}, 2},
      {"jmp into the page", {0xe9, 0x20, 0, 0, 0}, 5},
      {"ret", {0xc3}, 1},
};

START_TEST(an_address_behind_a_call_is_a_return_address)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(calls); i++)
        ck_assert_msg(returns_behind(i, calls[i].code, calls[i].size), "%s", calls[i].text);
}
END_TEST

START_TEST(an_address_behind_another_instruction_is_none)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(others); i++)
        ck_assert_msg(!returns_behind(i, others[i].code, others[i].size), "%s", others[i].text);
    ck_assert(!frame_record_returns_to(&unit_guard, (uintptr_t)page)); /* nothing before it */
    ck_assert(!frame_record_returns_to(&unit_guard, 4096));
}
END_TEST

/* A function with a table keeps its own record or none: a record with the return address of its
 * call is not that of code without table. */
START_TEST(a_call_of_a_function_with_a_table_does_not_count)
{
    for (unsigned with_table = 0; with_table < 2; with_table++) {
        uint8_t *code = mmap((void *)(((uintptr_t)setup & -LEAK_PAGE) + ((64 + with_table) << 20)),
                             LEAK_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uintptr_t target = with_table ? (uintptr_t)setup : (uintptr_t)code + 64;
        int64_t distance = target - ((uintptr_t)code + 32);
        int32_t stored = (int32_t)distance;
        ck_assert_int_eq(stored, distance); /* the page lies near the program */
        code[32 - 5] = 0xe8;
        memcpy(code + 32 - 4, &stored, sizeof stored);
        ck_assert_int_eq(frame_record_returns_to(&unit_guard, (uintptr_t)code + 32), !with_table);
    }
}
END_TEST

START_TEST(what_is_known_of_code_is_forgotten_with_it)
{
    uintptr_t address = (uintptr_t)page + PIECE;
    ck_assert(returns_behind(0, calls[0].code, calls[0].size));
    page[PIECE - 1] = 0x90;
    ck_assert(frame_record_returns_to(&unit_guard, address)); /* the answer is cached */
    unwind_forget(address, address + PIECE);                  /* not this address */
    ck_assert(frame_record_returns_to(&unit_guard, address));
    unwind_forget(address - 1, address);
    ck_assert(!frame_record_returns_to(&unit_guard, address));
    page[PIECE - 1] = 0xd0;
    ck_assert(!frame_record_returns_to(&unit_guard, address));
    unwind_forget(address - 1, address);
    ck_assert(frame_record_returns_to(&unit_guard, address));
}
END_TEST

#else

START_TEST(no_call_is_recognised_on_other_processors)
{
    static const uint8_t code[] = {0xff, 0xd0, 0x3f, 0xd6};
    ck_assert(!returns_behind(0, code, sizeof code));
}
END_TEST

#endif

int main(int argc, char **argv)
{
    Suite *suite = suite_create("frame_record");
    TCase *all = tcase_create("frame_record");
    tcase_add_checked_fixture(all, setup, NULL);
#if ARCH_FINDS_CALLS
    tcase_add_test(all, an_address_behind_a_call_is_a_return_address);
    tcase_add_test(all, an_address_behind_another_instruction_is_none);
    tcase_add_test(all, a_call_of_a_function_with_a_table_does_not_count);
    tcase_add_test(all, what_is_known_of_code_is_forgotten_with_it);
#else
    tcase_add_test(all, no_call_is_recognised_on_other_processors);
#endif
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
