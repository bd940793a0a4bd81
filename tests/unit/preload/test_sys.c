/* test_sys.c - system calls that older kernels do not have, by other ways. */
#include "tests/unit/preload/unit.h"
#include "tests/filter.h"
#include "preload/base/sys.h"

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* By close_range; by /proc; and where the limit was lowered meanwhile. */
START_TEST(descriptors_from_a_number_on_are_closed_and_no_others)
{
    const int far[] = {40, 41, 99, 700};
    int keep = dup(2);
    ck_assert_int_lt(keep, 40);
    for (unsigned i = 0; i < ARRAY_LENGTH(far); i++)
        ck_assert_int_eq(dup2(2, far[i]), far[i]);
    if (_i && !FILTER_SET(FILTER_REFUSE(SYS_close_range, ENOSYS)))
        return UNIT_SKIP("no filters of system calls here");
    if (_i == 2) { /* what is open may lie above it */
        struct rlimit limit = {50, 1024};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    sys_close_from(41);
    for (unsigned i = 0; i < ARRAY_LENGTH(far); i++)
        ck_assert_msg(is_open(far[i]) == (far[i] < 41), "%d", far[i]);
    ck_assert(is_open(keep) && is_open(2));
}
END_TEST

#ifdef __aarch64__
/* The signal that a process dies of which reads there; 0: none. */
static int dies_of_reading(const volatile char *place)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(*place);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* These 16 bytes of memory have that tag from now on; the pointer that may read them. */
static char *give_tag(char *place, uint64_t tag)
{
    register uintptr_t x0 __asm__("x0") = (uintptr_t)place | tag << 56;
    __asm__ volatile(".inst 0xd9200800" ::"r"(x0) : "memory"); /* stg x0, [x0] */
    return (char *)x0;
}

START_TEST(memory_with_tags_is_read_by_any_pointer_once_they_are_passed_over)
{
    if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE))
        return UNIT_SKIP("this CPU has no memory tags");
    prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC, 0, 0, 0);
    char *plain =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_MTE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(plain, MAP_FAILED);
    char *tagged = give_tag(plain, 5);
    ck_assert_int_eq(dies_of_reading(tagged), 0);
    ck_assert_int_eq(dies_of_reading(plain), SIGSEGV);
    sys_ignore_memory_tags();
    ck_assert_int_eq(dies_of_reading(tagged), 0);
    ck_assert_int_eq(dies_of_reading(plain), 0);
}
END_TEST
#endif

int main(int argc, char **argv)
{
    Suite *suite = suite_create("sys");
    TCase *all = tcase_create("sys");
    tcase_add_loop_test(all, descriptors_from_a_number_on_are_closed_and_no_others, 0, 3);
#ifdef __aarch64__
    tcase_add_test(all, memory_with_tags_is_read_by_any_pointer_once_they_are_passed_over);
#endif
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
