/* test_x86_instruction.c - lengths, and what becomes of a pointer in a register; the bytes are what gcc and
 * clang write. */
#include "common/typeinfo/x86_instruction.h"

#include <string.h>

#include "tests/unit/suite.h"

static const struct {
    const char *text, *bytes;
    unsigned length;
    enum x86_operation operation;
    int to, from, base;
    int64_t displacement;
} rows[] = {
    {"mov %rax,%rbx", "\x48\x89\xc3", 3, X86_MOVE, X86_BX, X86_AX, X86_NONE, 0},
    {"mov %rax,-0x8(%rbp)", "\x48\x89\x45\xf8", 4, X86_STORE, X86_AX, X86_AX, X86_BP, -8},
    {"mov 0x10(%rax),%r12", "\x4c\x8b\x60\x10", 4, X86_LOAD, 12, 12, X86_AX, 16},
    {"mov %rax,0x2e10(%rip)", "\x48\x89\x05\x10\x2e\x00\x00", 7, X86_STORE, X86_AX, X86_AX, X86_IP,
     0x2e10},
    {"mov %rbx,(%rdx,%rax,8)", "\x48\x89\x1c\xc2", 4, X86_STORE, X86_BX, X86_BX, X86_DX, 0},
    {"lea 0x8(%rsp),%rdi", "\x48\x8d\x7c\x24\x08", 5, X86_ADDRESS, X86_DI, X86_NONE, X86_SP, 8},
    {"mov %eax,%ebx", "\x89\xc3", 2, X86_OTHER, X86_BX, X86_AX, X86_NONE, 0},
    {"movl $0x1,0x10(%rax)", "\xc7\x40\x10\x01\x00\x00\x00", 7, X86_STORE_OTHER, X86_NONE, X86_NONE,
     X86_AX, 16},
    {"add $0x10,%rax", "\x48\x83\xc0\x10", 4, X86_ADD_CONSTANT, X86_AX, X86_NONE, X86_NONE, 0},
    {"addq $0x8,-0x8(%rbp)", "\x48\x83\x45\xf8\x08", 5, X86_ADD_TO_MEMORY, X86_NONE, X86_NONE,
     X86_BP, -8},
    {"add %rdx,%rax", "\x48\x01\xd0", 3, X86_ADD, X86_AX, X86_DX, X86_NONE, 0},
    {"call", "\xe8\x10\x00\x00\x00", 5, X86_CALL, X86_NONE, X86_NONE, X86_NONE, 0},
    {"call *0x8(%rax)", "\xff\x50\x08", 3, X86_CALL_POINTER, X86_NONE, X86_NONE, X86_AX, 8},
    {"jne", "\x75\x10", 2, X86_BRANCH, X86_NONE, X86_NONE, X86_NONE, 0},
    {"jmp *%rax", "\xff\xe0", 2, X86_JUMP_POINTER, X86_NONE, X86_NONE, X86_NONE, 0},
    {"ret", "\xc3", 1, X86_RETURN, X86_NONE, X86_NONE, X86_NONE, 0},
    {"ud2", "\x0f\x0b", 2, X86_STOP, X86_NONE, X86_NONE, X86_NONE, 0},
    {"endbr64", "\xf3\x0f\x1e\xfa", 4, X86_OTHER, X86_NONE, X86_NONE, X86_NONE, 0},
    {"movups %xmm0,(%rax)", "\x0f\x11\x00", 3, X86_STORE_OTHER, X86_NONE, X86_NONE, X86_AX, 0},
    {"vmovdqu %ymm0,0x20(%rax)", "\xc5\xfe\x7f\x40\x20", 5, X86_OTHER, X86_NONE, X86_NONE, X86_AX,
     32},
    {"movabs $0x1122334455667788,%rax", "\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11", 10, X86_SET,
     X86_AX, X86_NONE, X86_NONE, 0},
    {"nopw 0x0(%rax,%rax,1)", "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", 9, X86_OTHER, X86_NONE,
     X86_NONE, X86_AX, 0},
};

START_TEST(instruction_is_read)
{
    struct x86_instruction read;

    ck_assert_msg(x86_instruction_read((const uint8_t *)rows[_i].bytes, rows[_i].length, &read),
                  "%s is unknown", rows[_i].text);
    ck_assert_msg(read.length == rows[_i].length && read.operation == rows[_i].operation,
                  "%s: length %u, operation %d", rows[_i].text, read.length, read.operation);
    ck_assert_msg(read.to == rows[_i].to && read.from == rows[_i].from &&
                      read.base == rows[_i].base && read.displacement == rows[_i].displacement,
                  "%s: to %d, from %d, base %d + %ld", rows[_i].text, read.to, read.from, read.base,
                  (long)read.displacement);
}
END_TEST

START_TEST(instruction_that_is_cut_is_none)
{
    struct x86_instruction read;

    for (unsigned length = 0; length < rows[_i].length; length++)
        ck_assert_msg(!x86_instruction_read((const uint8_t *)rows[_i].bytes, length, &read),
                      "%s of %u bytes", rows[_i].text, length);
}
END_TEST

/* A vector register has the number of a general one, which stays as it was. */
START_TEST(vector_instructions_leave_pointers_alone)
{
    struct x86_instruction read;

    ck_assert(x86_instruction_read((const uint8_t *)"\x0f\x28\xc1", 3, &read));
    ck_assert_uint_eq(read.changed, 0);
    ck_assert(
        x86_instruction_read((const uint8_t *)"\x0f\xb6\xc0", 3, &read)); /* movzbl %al,%eax */
    ck_assert_uint_eq(read.changed, 1u << X86_AX);
}
END_TEST

START_TEST(any_bytes_are_read_within_their_length)
{
    uint64_t state = 1;
    unsigned wrong = 0;

    for (int i = 0; i < 200000; i++) {
        struct x86_instruction read;
        uint8_t bytes[16];

        for (size_t k = 0; k < sizeof(bytes); k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[k] = (uint8_t)(state >> 56);
        }
        if (!x86_instruction_read(bytes, sizeof(bytes), &read))
            continue;
        wrong += !read.length || read.length > 15 || read.to < X86_NONE ||
                 read.to >= X86_REGISTERS || read.from < X86_NONE || read.from >= X86_REGISTERS ||
                 read.base < X86_NONE || read.base > X86_IP || read.index < X86_NONE ||
                 read.index >= X86_REGISTERS || read.changed >> X86_REGISTERS;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("x86_instruction");
    TCase *tcase = tcase_create("x86_instruction");

    tcase_add_loop_test(tcase, instruction_is_read, 0, ROWS(rows));
    tcase_add_loop_test(tcase, instruction_that_is_cut_is_none, 0, ROWS(rows));
    tcase_add_test(tcase, vector_instructions_leave_pointers_alone);
    tcase_add_test(tcase, any_bytes_are_read_within_their_length);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
