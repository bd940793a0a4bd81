/* test_displace.c - which beginnings of functions may be moved, how they look then, and that they still
 * do what they did. */
#include "tests/unit/preload/unit.h"
#include "preload/interpose/displace.h"

#include <sys/mman.h>

#define PLACE 256 /* of the copy, behind the function */

struct beginning {
    const char *what;
    const char *code;
    unsigned size, room; /* of the function, and with what is behind it */
    const char *refused; /* NULL: it is moved */
    unsigned skip, taken;
    const char *copy; /* without the jump back; NULL: as it was */
    unsigned copied;
};

#define MOVED(what, code, skip, taken)                                                             \
    {                                                                                              \
        what, code, sizeof code - 1, sizeof code - 1, NULL, skip, taken, NULL, taken               \
    }
#define CHANGED(what, code, taken, copy)                                                           \
    {                                                                                              \
        what, code, sizeof code - 1, sizeof code - 1, NULL, 0, taken, copy, sizeof copy - 1        \
    }
#define REFUSED(what, code, why)                                                                   \
    {                                                                                              \
        what, code, sizeof code - 1, sizeof code - 1, why, 0, 0, NULL, 0                           \
    }
#define LENDS(what, code, size, refused, taken, copied)                                            \
    {                                                                                              \
        what, code, size, sizeof code - 1, refused, 0, taken, NULL, copied                         \
    }
#define UNKNOWN "it begins with code that cannot be moved"
#define SHORT "it is too short"
#define LOOP "its beginning is a loop"
#define FAR "what it refers to is too far away"

#ifdef __x86_64__
static const struct beginning beginnings[] = {
    MOVED("push %rbp; mov %rsp,%rbp; sub $32,%rsp; leave; ret",
          "\x55\x48\x89\xe5\x48\x83\xec\x20\xc9\xc3", 0, 8),
    MOVED("endbr64 stays; push %r12; push %rbp; push %rbx; ret",
          "\xf3\x0f\x1e\xfa\x41\x54\x55\x53\xc3\x90\x90", 4, 5),
    MOVED("nops stay, which the program may rewrite; push %r12; push %rbp; push %rbx; ret",
          "\x90\x66\x90\x0f\x1f\x44\x00\x00\x41\x54\x55\x53\xc3\x90\x90", 8, 5),
    MOVED("endbr64 and a jump over nops stay; push %r12; push %rbp; push %rbx; ret",
          "\xf3\x0f\x1e\xfa\xeb\x09\x66\x0f\x1f\x84\0\0\x02\0\0\x41\x54\x55\x53\xc3\x90\x90", 15,
          5),
    REFUSED("nops, and too little behind them", "\x90\x90\x90\x90\x90\xc3", SHORT),
    REFUSED("xchg %rax,%r8 is no nop; ret", "\x49\x90\xc3", SHORT),
    MOVED("push %r15; push %r14; push %r13; ret", "\x41\x57\x41\x56\x41\x55\xc3", 0, 6),
    MOVED("test %rdi,%rdi; mov %rdi,%rax; ret", "\x48\x85\xff\x48\x89\xf8\xc3", 0, 6),
    MOVED("mov %fs:0,%rax; ret", "\x64\x48\x8b\x04\x25\0\0\0\0\xc3", 0, 9),
    MOVED("cmp $4096,%rdi; ret", "\x48\x81\xff\0\x10\0\0\xc3", 0, 7),
    MOVED("movabs $…,%rax; ret", "\x48\xb8\1\2\3\4\5\6\7\x8\xc3", 0, 10),
    MOVED("sub $264,%rsp; ret", "\x48\x81\xec\x08\x01\0\0\xc3", 0, 7),
    MOVED("mov 8(%rsp,%rax,8),%edx; ret", "\x8b\x54\xc4\x08\x31\xc0\xc3", 0, 6),
    CHANGED("lea 16(%rip),%rax; ret", "\x48\x8d\x05\x10\0\0\0\xc3", 7,
            "\x48\x8d\x05\x10\xff\xff\xff"),
    CHANGED("cmpl $0,16(%rip) counts from the end of the number", "\x83\x3d\x10\0\0\0\0\xc3", 7,
            "\x83\x3d\x10\xff\xff\xff\0"),
    CHANGED("test %rdi,%rdi; je +9; a short jump becomes a long one",
            "\x48\x85\xff\x74\x09\x31\xc0\xc3\x90\x90\x90\x90\x90\x90\xc3", 5,
            "\x48\x85\xff\x0f\x84\x05\xff\xff\xff"),
    CHANGED("jmp elsewhere is all of it", "\xe9\0\1\0\0", 5, "\xe9\0\0\0\0"),
    REFUSED("int3: a debugger has been there", "\xcc\x55\x48\x89\xe5\xc3", UNKNOWN),
    CHANGED("sub $8,%rsp; call elsewhere: it comes back here", "\x48\x83\xec\x08\xe8\0\1\0\0\xc3",
            9, "\x48\x83\xec\x08\x68\x09\0\x40\0\xc7\x44\x24\x04\0\0\0\0\xe9\xf3\xff\xff\xff"),
    REFUSED("call by a pointer", "\xff\xd0\x90\x90\x90\xc3", UNKNOWN),
    REFUSED("call through memory", "\xff\x15\0\0\0\0\xc3", UNKNOWN),
    REFUSED("jmp through memory", "\xff\x25\0\0\0\0\xc3", UNKNOWN),
    REFUSED("lock cmpxchg8b", "\xf0\x0f\xc7\x0f\x90\x90\xc3", UNKNOWN),
    REFUSED("vmovdqu", "\xc5\xfe\x6f\x07\x90\xc3", UNKNOWN),
    REFUSED("syscall", "\x0f\x05\x90\x90\x90\xc3", UNKNOWN),
    REFUSED("what start_at= writes", "\x06\x90\x90\x90\x90\xc3", UNKNOWN),
    REFUSED("cut off", "\x48\x8d\x05\x10\0", UNKNOWN),
    REFUSED("ret", "\xc3", SHORT),
    REFUSED("xor %eax,%eax; ret", "\x31\xc0\xc3", SHORT),
    REFUSED("endbr64; ret", "\xf3\x0f\x1e\xfa\xc3", SHORT),
    REFUSED("nothing", "", SHORT),
    LENDS("ret, and nopw behind it", "\xc3\x66\x0f\x1f\x44\x00\x00", 1, NULL, 5, 1),
    LENDS("ret, and int3 behind it", "\xc3\xcc\xcc\xcc\xcc", 1, NULL, 5, 1),
    LENDS("ret, and too little behind it", "\xc3\x90\x90\x90", 1, SHORT, 0, 0),
    LENDS("ret, and code behind it", "\xc3\x90\x90\x31\xc0\xc3", 1, SHORT, 0, 0),
    REFUSED("a loop that begins where the function does", "\x48\xff\xc7\x80\x3f\x00\x75\xf8\xc3",
            LOOP), /* inc; cmpb; jne -8; ret */
    REFUSED("a loop into what is moved", "\x31\xc0\xff\xc0\x3c\x05\x72\xfa\xc3", LOOP),
    REFUSED("a loop behind code that is not understood",
            "\x31\xc0\xff\xc0\x90\xc5\xfe\x6f\x07\x72\xf7\xc3", LOOP),
    MOVED("a loop behind it", "\x31\xc0\x31\xd2\x90\xff\xc0\x3c\x05\x72\xfa\xc3", 0, 5),
    MOVED("a number that looks like a jump back, in code that is understood",
          "\x31\xc0\x31\xd2\x90\xb8\x72\xf9\x72\xf7\xc3", 0, 5),
    MOVED("the call of itself", "\x31\xc0\x31\xd2\x90\xe8\xf6\xff\xff\xff\xc3", 0, 5),
    REFUSED("a loop that begins behind the push", /* push; L: test; je; inc; jmp L; pop; ret */
            "\x53\x48\x85\xff\x74\x05\x48\xff\xc7\xeb\xf6\x5b\xc3", LOOP),
    REFUSED("a loop around what is called first", /* push; L: sub; call; test; je L; pop; ret */
            "\x53\x48\x29\xc7\xe8\0\1\0\0\x48\x85\xc0\x74\xf3\x5b\xc3", LOOP),
    REFUSED("a loop that begins with sub $8,%r12, which is no stack",
            "\x49\x83\xec\x08\x90\x48\xff\xc7\x75\xf6\xc3", LOOP),
    MOVED("a jump back to before the push is a call",
          "\x41\x57\x41\x56\x41\x55\x41\x5d\x41\x5e\x41\x5f\xeb\xf2", 0, 6),
};
#else
#define RET "\xc0\x03\x5f\xd6"
static const struct beginning beginnings[] = {
    MOVED("stp x29,x30,[sp,#-32]!; ret", "\xfd\x7b\xbe\xa9" RET, 0, 4),
    MOVED("bti c stays; sub sp,sp,#16; ret", "\x5f\x24\x03\xd5\xff\x43\x00\xd1" RET, 4, 4),
    MOVED("nops stay; sub sp,sp,#16; ret", "\x1f\x20\x03\xd5\x1f\x20\x03\xd5\xff\x43\x00\xd1" RET,
          8, 4),
    MOVED("bti c and a jump over nops stay; sub sp,sp,#16; ret",
          "\x5f\x24\x03\xd5\x03\x00\x00\x14\x1f\x20\x03\xd5\x1f\x20\x03\xd5\xff\x43\x00\xd1" RET,
          16, 4),
    MOVED("mov x1,x0; ret", "\xe1\x03\x00\xaa" RET, 0, 4),
    MOVED("mrs x1,tpidr_el0; ret", "\x41\xd0\x3b\xd5" RET, 0, 4),
    REFUSED("ldr x0, literal", "\x40\x00\x00\x58" RET, UNKNOWN),
    CHANGED("b: from another place", "\x02\x00\x00\x14" RET RET, 4, "\xc2\xff\xff\x17"),
    CHANGED("cbz x0, .+8: over a jump to the rest", "\x40\x00\x00\xb4" RET RET, 4,
            "\x40\x00\x00\xb4\xc0\xff\xff\x17\xc0\xff\xff\x17"),
    CHANGED("tbz x0, #0, .+8", "\x40\x00\x00\x36" RET RET, 4,
            "\x40\x00\x00\x36\xc0\xff\xff\x17\xc0\xff\xff\x17"),
    CHANGED("b.ne .+8", "\x41\x00\x00\x54" RET RET, 4,
            "\x41\x00\x00\x54\xc0\xff\xff\x17\xc0\xff\xff\x17"),
    CHANGED("adrp x3, .+4096: as a word", "\x03\x00\x00\xb0" RET, 4,
            "\x43\x00\x00\x58\xc0\xff\xff\x17\x00\x10\x40\x00\x00\x00\x00\x00"),
    CHANGED("adr x3, .-4", "\xe3\xff\xff\x10" RET, 4,
            "\x43\x00\x00\x58\xc0\xff\xff\x17\xfc\xff\x3f\x00\x00\x00\x00\x00"),
    REFUSED("b to itself", "\x00\x00\x00\x14" RET, UNKNOWN),
    REFUSED("bl", "\x02\x00\x00\x94" RET, UNKNOWN),
    REFUSED("brk: a debugger has been there", "\x00\x00\x20\xd4" RET, UNKNOWN),
    REFUSED("udf: what start_at= writes", "\0\0\0\0" RET, UNKNOWN),
    REFUSED("svc", "\x01\x00\x00\xd4" RET, UNKNOWN),
    REFUSED("br x1", "\x20\x00\x1f\xd6" RET, UNKNOWN),
    REFUSED("nothing", "", SHORT),
    REFUSED("bti c alone", "\x5f\x24\x03\xd5", SHORT),
    REFUSED("a loop that begins where the function does", /* add; cbnz -4; ret */
            "\x00\x04\x00\x91\xe1\xff\xff\xb5" RET, LOOP),
    MOVED("a loop behind it", "\xe1\x03\x00\xaa\x00\x04\x00\x91\xe1\xff\xff\xb5" RET, 0, 4),
};
#endif

START_TEST(what_is_moved_is_known)
{
    const struct beginning *one = &beginnings[_i];
    struct displace_function function = {
        (const uint8_t *)one->code, 0x400000, one->size, one->room, 0, 0};
    struct displaced out;
    const char *why = displace_plan(&function, 0x400000 + PLACE, &out);
    ck_assert_msg(one->refused ? why && strcmp(why, one->refused) == 0 : !why, "%s: %s", one->what,
                  why ? why : "moved");
    if (one->refused)
        return;
    ck_assert_msg(out.skip == one->skip && out.taken == one->taken, "%s: %u + %u", one->what,
                  out.skip, out.taken);
    ck_assert_uint_ge(out.taken, ARCH_JUMP);
    ck_assert_msg(memcmp(out.copy, one->copy ? one->copy : one->code + one->skip, one->copied) == 0,
                  "%s: the copy is another", one->what);
}
END_TEST

START_TEST(what_is_too_far_is_refused)
{
    uint8_t jump[ARCH_JUMP];
    uintptr_t at = 1ul << 40;
    ck_assert(displace_jump(at, at + ARCH_JUMP_FAR - 4096, jump));
    ck_assert(displace_jump(at, at - ARCH_JUMP_FAR + 4096, jump));
    ck_assert(!displace_jump(at, at + ARCH_JUMP_FAR + 4096, jump));
    ck_assert(!displace_jump(at, at - ARCH_JUMP_FAR - 4096, jump));
    struct displaced out;
    struct displace_function function = {
        (const uint8_t *)beginnings[0].code, at, beginnings[0].size, beginnings[0].size, 0, 0};
    ck_assert_str_eq(displace_plan(&function, at + 2 * ARCH_JUMP_FAR, &out), FAR);
}
END_TEST

#ifdef __x86_64__
/* cold: mov; jmp back; malloc: push; mov; L: mov; test; je cold; pop; ret */
START_TEST(unlikely_part_is_looked_into)
{
    static const char code[] = "\x48\x89\xdf\xeb\x05\x90\x53\x48\x89\xfb\x48\x89\xdf\x48\x85"
                               "\xc0\x74\xee\x5b\xc3";
    const uint8_t *start = (const uint8_t *)code + 6;
    struct displace_function function = {start, 0x400006, 14, 14, 0, 0};
    struct displaced out;
    ck_assert_ptr_null(displace_plan(&function, 0x400000 + PLACE, &out));
    function.low = 0x400000;
    function.high = 0x400014;
    ck_assert_str_eq(displace_plan(&function, 0x400000 + PLACE, &out), LOOP);
    function.low = 0x400001; /* not to be read */
    ck_assert_ptr_null(displace_plan(&function, 0x400000 + PLACE, &out));
}
END_TEST
#endif

/* ---- Calls ------------------------------------------------------------------------------------ */

static const struct {
    const char *what, *code;
    unsigned size;
    bool leads_out;
} bodies[] = {
#define BODY(what, code, leads_out)                                                                \
    {                                                                                              \
        what, code, sizeof code - 1, leads_out                                                     \
    }
#ifdef __x86_64__
    BODY("ret", "\xc3", false),
    BODY("a loop of its own", "\x31\xc0\xff\xc0\x3c\x05\x72\xfa\xc3", false),
    BODY("the call of itself", "\x31\xc0\xe8\xf9\xff\xff\xff\xc3", false),
    BODY("a number that looks like a call", "\xb8\xe8\0\1\0\xc3", false),
    BODY("a call", "\x31\xc0\xe8\0\1\0\0\xc3", true),
    BODY("a call by a pointer", "\x31\xc0\xff\xd0\xc3", true),
    BODY("it goes on elsewhere", "\x31\xc0\xe9\0\1\0\0", true),
    BODY("it goes on elsewhere, if", "\x31\xc0\x0f\x84\0\1\0\0\xc3", true),
    BODY("it goes on before itself", "\x31\xc0\xeb\x80", true),
    BODY("a call behind code that is not understood", "\xc5\xfe\x6f\x07\xe8\0\1\0\0\xc3", true),
#else
    BODY("ret", RET, false),
    BODY("a loop of its own", "\x00\x04\x00\x91\xe1\xff\xff\xb5" RET, false),
    BODY("bl", "\x20\x00\x00\x94" RET, true),
    BODY("blr x1", "\x20\x00\x3f\xd6" RET, true),
    BODY("br x1", "\x20\x00\x1f\xd6", true),
    BODY("b elsewhere", "\x20\x00\x00\x14", true),
    BODY("cbz x0, elsewhere", "\x00\x04\x00\xb4" RET, true),
    BODY("b before itself", "\xe1\x03\x00\xaa\xf0\xff\xff\x17", true),
#endif
};

START_TEST(who_goes_on_elsewhere_is_known)
{
    struct displace_function function = {
        (const uint8_t *)bodies[_i].code, 0x400000, bodies[_i].size, bodies[_i].size, 0, 0};
    ck_assert_msg(displace_leads_out(&function) == bodies[_i].leads_out, "%s", bodies[_i].what);
}
END_TEST

/* ---- On this CPU ------------------------------------------------------------------------------ */

static const long table[] = {7, 11, 13, 17, 19};

/* With a stack, a test, data that lies where it lies, a loop further on. */
__attribute__((noinline, used)) static long first(long n, long *out)
{
    long sum = 0;
    if (!out)
        return table[n];
    for (long i = 0; i < n; i++)
        sum += *out++ * table[i];
    return sum;
}

__attribute__((noinline, used)) static long second(long n, long *out)
{
    char room[64];
    __asm__ volatile("" : : "r"(room) : "memory");
    return first(n, out) + 1;
}

__attribute__((noinline, used, naked)) static long third(long n UNUSED, long *out UNUSED)
{
#ifdef __x86_64__
    __asm__("sub $8, %rsp; call first; add $8, %rsp; ret; .skip 16, 0x90");
#else
    __asm__("sub sp, sp, #16; str x30, [sp]; bl first; ldr x30, [sp]; add sp, sp, #16; ret");
#endif
}

static long hooked(long n, long *out)
{
    (void)out;
    return -n;
}

/* A function and its copy, side by side: called by the copy it is as it was, and by itself, us. */
static void lead(long (*function)(long, long *))
{
    long values[] = {1, 2, 3, 4, 5}, (*copy)(long, long *);
    uintptr_t at = (uintptr_t)function, size = sysconf(_SC_PAGESIZE);
    uint8_t *page = MAP_FAILED;
    for (uintptr_t below = 1 << 20; page == MAP_FAILED; below += 1 << 20)
        page = mmap((void *)((at - below) / size * size), size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct displace_function what = {(const uint8_t *)function, at, 32, 32, 0, 0};
    struct displaced out;
    long table_value = function(2, NULL), sum = function(5, values);
    const char *why = displace_plan(&what, (uintptr_t)page + DISPLACE_FAR_JUMP, &out);
    if (why) /* sanitizers begin a function with calls of theirs */
        return UNIT_SKIP("this compiler's functions cannot be moved");
    displace_far_jump((uintptr_t)hooked, page);
    memcpy(page + DISPLACE_FAR_JUMP, out.copy, out.copied);
    __builtin___clear_cache((char *)page, (char *)page + size);
    ck_assert_int_eq(mprotect(page, size, PROT_READ | PROT_EXEC), 0);
    copy = (long (*)(long, long *))(page + DISPLACE_FAR_JUMP);
    uintptr_t start = at / size * size;
    ck_assert_int_eq(mprotect((void *)start, 2 * size, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    ck_assert(displace_jump(at + out.skip, (uintptr_t)page, (uint8_t *)at + out.skip));
    __builtin___clear_cache((char *)at, (char *)at + 32);
    ck_assert_int_eq(((long (*volatile)(long, long *))function)(3, values), -3);
    ck_assert_int_eq(copy(2, NULL), table_value);
    ck_assert_int_eq(copy(5, values), sum);
}

START_TEST(a_copy_does_what_the_function_did)
{
    static long (*const functions[])(long, long *) = {first, second, third};
    lead(functions[_i]);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("displace");
    TCase *tests = tcase_create("displace");
    tcase_add_loop_test(tests, what_is_moved_is_known, 0, ARRAY_LENGTH(beginnings));
    tcase_add_test(tests, what_is_too_far_is_refused);
#ifdef __x86_64__
    tcase_add_test(tests, unlikely_part_is_looked_into);
#endif
    tcase_add_loop_test(tests, who_goes_on_elsewhere_is_known, 0, ARRAY_LENGTH(bodies));
    tcase_add_loop_test(tests, a_copy_does_what_the_function_did, 0, 3);
    suite_add_tcase(suite, tests);
    return unit_main(argc, argv, suite);
}
