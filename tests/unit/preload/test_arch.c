/* test_arch.c - what arch.h says of a CPU and its kernel, asked of that CPU and that kernel.
 *
 * libgcc is the oracle for registers; _Unwind_GetCFA in a frame is its sp at the call, which is
 * what we call a frame's sp. getauxval is ours here, so that pages can look larger than they are.
 */
#include "tests/unit/preload/unit.h"
#include "tests/filter.h"
#include "tests/unit/preload/store_view.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/unwind/unwind.h"
#include "context.h"

#include <alloca.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>

#ifdef __aarch64__
#define SIGNED __attribute__((target("branch-protection=pac-ret")))
#else
#define SIGNED
#endif

static unsigned long page_size;

unsigned long getauxval(unsigned long type)
{
    static unsigned long (*real)(unsigned long);
    if (!real)
        real = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    return type == AT_PAGESZ && page_size ? page_size : real(type);
}

static void setup(void)
{
    ck_assert_msg(store_create(unit_directory, "arch", environ), "no store");
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start());
}

/* ---- System calls ---------------------------------------------------------------------------- */

START_TEST(six_arguments_arrive_and_errors_leave_errno_alone)
{
    errno = 4321;
    ck_assert_int_eq(sys_getpid(), getpid());
    int fd = sys_memfd("arch");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sys_truncate(fd, 1 << 20), 0);
    ck_assert_int_eq(pwrite(fd, "here", 4, 1 << 19), 4);
    char *map = (char *)arch_syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, fd, 1 << 19);
    ck_assert_mem_eq(map, "here", 4);
    ck_assert_int_eq(sys_close(fd), 0);
    ck_assert_int_eq(sys_close(fd), -EBADF);
    ck_assert_int_eq(sys_open("/nowhere/at/all", O_RDONLY, 0), -ENOENT);
    ck_assert_int_eq(errno, 4321);
}
END_TEST

START_TEST(memory_that_is_not_there_is_not_read)
{
    if (_i && !FILTER_SET(FILTER_REFUSE(SYS_process_vm_readv, ENOSYS)))
        return UNIT_SKIP("no seccomp here (qemu-user)");
    uint8_t *end = unit_at_page_end("0123456789abcdef", 16), got[32];
    ck_assert(sys_peek((uintptr_t)end, got, 16) && memcmp(got, "0123456789abcdef", 16) == 0);
    ck_assert(sys_peek((uintptr_t)end + 15, got, 1) && got[0] == 'f');
    ck_assert(!sys_peek((uintptr_t)end + 15, got, 2));
    ck_assert(!sys_peek((uintptr_t)end + 16, got, 1));
    static const uintptr_t nowhere[] = {0, 1, 7, 8, 4096, UINTPTR_MAX - 7, 1ull << 63};
    for (size_t i = 0; i < ARRAY_LENGTH(nowhere); i++)
        ck_assert_msg(!sys_peek(nowhere[i], got, 8), "%#" PRIxPTR " was read", nowhere[i]);
    ck_assert(!_i || sys_peek_may_fault());
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    ck_assert(sigisemptyset(&mask));
}
END_TEST

/* ---- Calls ----------------------------------------------------------------------------------- */

static struct frame seen;
static uintptr_t pc_by_compiler, sp_by_libgcc;
static bool found_by_libgcc;

static _Unwind_Reason_Code find_seen(struct _Unwind_Context *context, void *unused UNUSED)
{
    if (_Unwind_GetIP(context) != seen.pc)
        return _URC_NO_REASON;
    sp_by_libgcc = _Unwind_GetCFA(context);
    found_by_libgcc = true;
    return _URC_END_OF_STACK;
}

#define LOOK()                                                                                     \
    do {                                                                                           \
        seen = CALLER_FRAME();                                                                     \
        pc_by_compiler = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));    \
        found_by_libgcc = false;                                                                   \
        _Unwind_Backtrace(find_seen, NULL);                                                        \
    } while (0)

static NOINLINE long plain_hook(long n)
{
    LOOK();
    return n + 1;
}

static NOINLINE long hook_with_locals(long n)
{
    volatile char room[20000];
    room[n] = n;
    LOOK();
    return room[n];
}

static NOINLINE long hook_of_variable_size(long n)
{
    volatile char *room = alloca(n * 100 + 16);
    room[n] = n;
    LOOK();
    return room[n];
}

static NOINLINE long hook_with_many_registers(long n)
{
    long a = n * 3, b = n * 5, c = n * 7, d = n * 11, e = n * 13, f = n * 17;
    LOOK();
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    LOOK();
    return a + b + c + d + e + f;
}

static NOINLINE long variadic_hook(long n, ...)
{
    va_list arguments;
    va_start(arguments, n);
    LOOK();
    long sum = 0;
    while (n--)
        sum += va_arg(arguments, long);
    va_end(arguments);
    return sum;
}

static NOINLINE SIGNED long signed_hook(long n)
{
    volatile char room[100];
    room[n] = n;
    LOOK();
    return room[n];
}

static long call_plain(void)
{
    return plain_hook(1) + 1;
}
static long call_locals(void)
{
    return hook_with_locals(1) + 1;
}
static long call_variable(void)
{
    return hook_of_variable_size(20) + 1;
}
static long call_registers(void)
{
    return hook_with_many_registers(1) + 1;
}
static long call_variadic(void)
{
    return variadic_hook(9, 1l, 2l, 3l, 4l, 5l, 6l, 7l, 8l, 9l) + 1;
}
static long call_signed(void)
{
    return signed_hook(1) + 1;
}

static const struct {
    const char *name;
    long (*call)(void);
} hooks[] = {{"plain", call_plain},       {"large locals", call_locals},
             {"alloca", call_variable},   {"many registers", call_registers},
             {"variadic", call_variadic}, {"signed return address", call_signed}};

#if defined(__x86_64__) && CONTEXT_RESTARTS
#include "preload/arch/x86_64/instruction.h"

static const struct loaded {
    const char *code; /* a system call follows */
    size_t length;
    struct instruction_number number;
} loaded[] = {
#define CODE(text) text, sizeof(text) - 1
#define NOWHERE                                                                                    \
    {                                                                                              \
        .found = false                                                                             \
    }
#define NUMBER(it)                                                                                 \
    {                                                                                              \
        .found = true, .reg = -1, .number = it                                                     \
    }
#define REGISTER(its)                                                                              \
    {                                                                                              \
        .found = true, .reg = its                                                                  \
    }
#define AT(base, far)                                                                              \
    {                                                                                              \
        .found = true, .reg = base, .in_memory = true, .distance = far                             \
    }
    {CODE("\xb8\x2d\0\0\0"), NUMBER(45)},
    {CODE("\x31\xc0"), NUMBER(0)},
    {CODE("\x48\xc7\xc0\x0f\0\0\0"), NUMBER(15)},
    /* arguments are loaded after it: recvfrom, pselect, a futex of libc's locks */
    {CODE("\xb8\x2d\0\0\0\x48\x8b\x54\x24\x10\x48\x8b\x74\x24\x08"), NUMBER(45)},
    {CODE("\xb8\x0e\x01\0\0\x8b\x7c\x24\x1c"), NUMBER(270)},
    {CODE("\xb8\xca\0\0\0\x40\x80\xf6\x80"), NUMBER(202)},
    {CODE("\x44\x89\xc8\xbe\x80\0\0\0"), REGISTER(9)}, /* mov %r9d, %eax */
    /* from the stack, by its pointer or the frame's: glibc 2.41 */
    {CODE("\x8b\x44\x24\x08"), AT(4, 8)},
    {CODE("\x49\x89\xca\x48\x8b\x44\x24\x20"), AT(4, 32)},
    {CODE("\xb8\x2d\0\0\0\x8b\x44\x24\x08"), AT(4, 8)},
    {CODE("\x48\x8b\x85\xf0\xfe\xff\xff"), AT(5, -272)},
    /* the opposite: from elsewhere in memory, overwritten since, or the memory, behind a jump */
    {CODE("\x8b\x43\x08"), NOWHERE},
    {CODE("\x8b\x44\x8c\x08"), NOWHERE},                 /* mov 8(%rsp,%rcx,4), %eax */
    {CODE("\x8b\x44\x24\x08\x89\x4c\x24\x08"), NOWHERE}, /* mov %ecx, 8(%rsp) */
    {CODE("\x8b\x45\x08\x48\x89\xc5"), NOWHERE},         /* mov %rax, %rbp */
    {CODE("\xb8\x2d\0\0\0\x74\x00"), NOWHERE},
    {CODE("\x44\x89\xc8\x41\xb9\x01\0\0\0"), NOWHERE}, /* r9d has changed */
};

START_TEST(the_number_of_a_call_is_read_from_the_code_before_it)
{
    static uint8_t page[8192] __attribute__((aligned(4096)));
    const struct loaded *row = &loaded[_i];
    uint8_t *call = page + 4096 + 200;
    memset(page, 0xcc, sizeof page);
    memcpy(call - row->length, row->code, row->length);
    struct instruction_number number = instruction_find_number(call);
    ck_assert_int_eq(number.found, row->number.found);
    if (number.found) {
        ck_assert_int_eq(number.reg, row->number.reg);
        ck_assert_uint_eq(number.number, row->number.number);
        ck_assert_int_eq(number.in_memory, row->number.in_memory);
        ck_assert_int_eq(number.distance, row->number.distance);
    }
}
END_TEST
#endif

START_TEST(a_hook_knows_its_callers_registers)
{
    long (*volatile call)(void) = hooks[_i].call;
    call();
    const char *name = hooks[_i].name;
    ck_assert_msg(seen.pc == pc_by_compiler, "%s: pc %#" PRIxPTR ", not %#" PRIxPTR, name, seen.pc,
                  pc_by_compiler);
    ck_assert_msg(found_by_libgcc, "%s: libgcc knows no frame at %#" PRIxPTR, name, seen.pc);
    ck_assert_msg(seen.sp == sp_by_libgcc, "%s: sp %#" PRIxPTR ", not %#" PRIxPTR, name, seen.sp,
                  sp_by_libgcc);
}
END_TEST

static NOINLINE bool slot_holds_pc(void)
{
    struct frame caller = CALLER_FRAME();
    uintptr_t word = *(volatile uintptr_t *)arch_return_slot(caller.sp, caller.link);
    return arch_strip(word) == caller.pc;
}

START_TEST(the_return_address_of_a_call_under_way_stands_in_its_slot)
{
    ck_assert(slot_holds_pc());
}
END_TEST

static bool offsets_are_right;

static void info_handler(int number UNUSED, siginfo_t *info UNUSED, void *context)
{
    struct frame trampoline = CALLER_FRAME();
    const ucontext_t *user = context;
    const char *at = (const char *)trampoline.sp;
    offsets_are_right = *(const uintptr_t *)(at + ARCH_SIGNAL_PC) == context_pc(user) &&
                        *(const uintptr_t *)(at + ARCH_SIGNAL_SP) == context_sp(user) &&
                        *(const uintptr_t *)(at + ARCH_SIGNAL_FP) == context_fp(user) &&
                        (!ARCH_LINK_REGISTER ||
                         *(const uintptr_t *)(at + ARCH_SIGNAL_LINK) == context_link(user)) &&
                        cfi_cache_find(&unit_guard, trampoline.pc).rule == CFI_SIGNAL;
}

START_TEST(the_interrupted_registers_lie_where_a_row_says)
{
    struct sigaction action = {.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    ck_assert(offsets_are_right);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

static __thread volatile char large_tls[100000]; /* above the thread block, or below it */

static void *thread_with_bounds(void *size)
{
    struct guard guard = {.sp = 1};
    struct thread_start *start = threads_prepare_start(&guard);
    start->stack_size = (size_t)size;
    threads_enter(&guard, start);
    struct unwind_bounds found = guard.thread->bounds;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    pthread_attr_t attributes;
    void *low;
    size_t all;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &all);
    pthread_attr_destroy(&attributes);
    large_tls[0] = 1;
    ck_assert_msg(here - found.low < found.high - found.low,
                  "%#" PRIxPTR " not in %#" PRIxPTR " to %#" PRIxPTR, here, found.low, found.high);
    ck_assert_msg(found.low >= (uintptr_t)low, "the bounds begin %zu bytes below the stack",
                  (size_t)low - found.low);
    for (uintptr_t at = here & ~7ul; at < found.high; at += sizeof at) /* all of it is there */
        *(volatile uintptr_t *)at;
    return NULL;
}

START_TEST(bounds_of_a_thread_lie_in_its_mapping)
{
    static const size_t sizes[] = {512 << 10, 8 << 20};
    struct guard guard = {.sp = 1};
    ck_assert(threads_start(&guard));
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, sizes[i]);
        ck_assert_int_eq(pthread_create(&thread, &attributes, thread_with_bounds, (void *)sizes[i]),
                         0);
        pthread_join(thread, NULL);
    }
}
END_TEST

/* ---- Pages ----------------------------------------------------------------------------------- */

/* From here on madvise refuses an address inside a page, as counted from the start of the store. */
static bool refuse_advice_inside_pages(void)
{
    return FILTER_SET(FILTER_UNLESS(SYS_madvise, 5), FILTER_LOAD(args[0]),
                      BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, (uint32_t)(uintptr_t)store_header),
                      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)page_size - 1),
                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
                      FILTER_RETURN(SECCOMP_RET_ERRNO | EINVAL));
}

/* Chunks are multiples of 4 KiB, and pages may be larger. */
START_TEST(a_store_on_large_pages_takes_chunks_into_the_file)
{
    static const unsigned long sizes[] = {16384, 65536};
    page_size = sizes[_i];
    ck_assert(store_create(unit_directory, "pages", environ));
    ck_assert_str_ne(store_path(), "");
    if (!refuse_advice_inside_pages())
        return UNIT_SKIP("no seccomp here (qemu-user)");
    for (unsigned n = 1; n <= 40; n++) {
        char *payload = store_new_chunk(LEAK_CHUNK_HISTORY, n * 1000, n);
        ck_assert_ptr_nonnull(payload);
        memset(payload, n, n * 1000);
        store_publish(payload, n * 1000);
    }
    ck_assert_uint_eq(store_header->flags & LEAK_FLAG_FULL, 0);
    uint64_t offset = 0;
    const struct leak_chunk *chunk;
    unsigned n = 0;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset)))
        ck_assert_uint_eq(*(const uint8_t *)(chunk + 1), ++n);
    ck_assert_uint_eq(n, 40);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("arch");
    TCase *calls = tcase_create("calls");
    tcase_add_checked_fixture(calls, setup, NULL);
    tcase_add_test(calls, six_arguments_arrive_and_errors_leave_errno_alone);
    tcase_add_loop_test(calls, memory_that_is_not_there_is_not_read, 0, 2);
#if defined(__x86_64__) && CONTEXT_RESTARTS
    tcase_add_loop_test(calls, the_number_of_a_call_is_read_from_the_code_before_it, 0,
                        ARRAY_LENGTH(loaded));
#endif
    tcase_add_loop_test(calls, a_hook_knows_its_callers_registers, 0, ARRAY_LENGTH(hooks));
    tcase_add_test(calls, the_return_address_of_a_call_under_way_stands_in_its_slot);
    tcase_add_test(calls, the_interrupted_registers_lie_where_a_row_says);
    tcase_add_test(calls, bounds_of_a_thread_lie_in_its_mapping);
    suite_add_tcase(suite, calls);
    TCase *pages = tcase_create("pages");
    tcase_add_loop_test(pages, a_store_on_large_pages_takes_chunks_into_the_file, 0, 2);
    suite_add_tcase(suite, pages);
    return unit_main(argc, argv, suite);
}
