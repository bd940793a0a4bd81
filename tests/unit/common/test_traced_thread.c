/* test_traced_thread.c - calls that only a stop has ended are made again, and what /proc says of a
 * process is read. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/processes/traced_thread.h"
#include "tests/unit/suite.h"

#ifdef __x86_64__
static const struct {
    const char *name;
    long call, result;
    bool again;
} calls[] = {
    {"epoll_wait that was stopped", SYS_epoll_wait, -EINTR, true},
    {"a read of inotify that was stopped", SYS_read, -EINTR, true},
    {"sendmmsg that was stopped", SYS_sendmmsg, -EINTR, true},
    {"writev that was stopped", SYS_writev, -EINTR, true},
    {"connect that was stopped", SYS_connect, -EINTR, true},
    {"io_uring_enter that was stopped", 426, -EINTR, true},
    {"io_uring_enter that has submitted one", 426, 1, false},
    {"epoll_wait with an event", SYS_epoll_wait, 1, false},
    {"epoll_wait of a bad descriptor", SYS_epoll_wait, -EBADF, false},
    {"nanosleep, which the kernel continues", SYS_nanosleep, -EINTR, false},
    {"no call", -1, -EINTR, false},
};

START_TEST(only_calls_that_a_stop_has_ended_are_made_again)
{
    struct user_regs_struct before = {.rip = 0x1002,
                                      .rax = (unsigned long long)calls[_i].result,
                                      .orig_rax = (unsigned long long)calls[_i].call,
                                      .rdi = 7};
    struct user_regs_struct now = before;

    ck_assert_msg(traced_thread_repeat_call(&now) == calls[_i].again, "%s", calls[_i].name);
    if (!calls[_i].again) {
        ck_assert_mem_eq(&now, &before, sizeof(now));
        return;
    }
    ck_assert_uint_eq(now.rip, 0x1000);
    ck_assert_uint_eq(now.rax, before.orig_rax);
    ck_assert_uint_eq(now.rdi, 7);
    ck_assert(!traced_thread_repeat_call(&now)); /* once */
}
END_TEST

static const struct {
    const char *name;
    int call, first, result;
    bool again;
} calls_32[] = {
    {"epoll_wait that was stopped", 256, 7, -EINTR, true},
    {"accept by socketcall that was stopped", 102, 5, -EINTR, true},
    {"connect by socketcall that was stopped", 102, 3, -EINTR, true},
    {"bind by socketcall", 102, 2, -EINTR, false},
    {"io_uring_enter that was stopped", 426, 7, -EINTR, true},
    {"semtimedop by ipc that was stopped", 117, 4, -EINTR, true},
    {"shmat by ipc", 117, 21, -EINTR, false},
    {"epoll_wait with an event", 256, 7, 1, false},
    {"nanosleep, which the kernel continues", 162, 7, -EINTR, false},
    {"no call", -1, 7, -EINTR, false},
};

START_TEST(calls_of_32_bit_programs_are_made_again_by_their_own_numbers)
{
    uint32_t before[REGISTERS_32] = {[REGISTER_32_IP] = 0x1002,
                                     [REGISTER_32_AX] = (uint32_t)calls_32[_i].result,
                                     [REGISTER_32_CALL] = (uint32_t)calls_32[_i].call,
                                     [REGISTER_32_BX] = (uint32_t)calls_32[_i].first},
             now[REGISTERS_32];

    memcpy(now, before, sizeof(now));
    ck_assert_msg(traced_thread_repeat_call_32(now) == calls_32[_i].again, "%s", calls_32[_i].name);
    if (!calls_32[_i].again) {
        ck_assert_mem_eq(now, before, sizeof(now));
        return;
    }
    ck_assert_uint_eq(now[REGISTER_32_IP], 0x1000);
    ck_assert_uint_eq(now[REGISTER_32_AX], before[REGISTER_32_CALL]);
    ck_assert_uint_eq(now[REGISTER_32_BX], before[REGISTER_32_BX]);
    ck_assert(!traced_thread_repeat_call_32(now)); /* once */
}
END_TEST
#endif

START_TEST(signal_waits_only_if_the_thread_does_not_block_it)
{
    sigset_t set;

    ck_assert(!traced_thread_awaits_signal(getpid(), (pid_t)syscall(SYS_gettid)));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    ck_assert(!traced_thread_awaits_signal(getpid(), (pid_t)syscall(SYS_gettid)));
    ck_assert(traced_thread_awaits_signal(getpid(), 0x7ffffff0)); /* there is no such thread */
}
END_TEST

START_TEST(values_of_status_are_those_at_the_beginning_of_a_line)
{
    static const char status[] = "Name:\tState: Z\nState:\tS (sleeping)\nShdPnd:\t0001\n";

    ck_assert_ptr_eq(proc_status_value(status, "State"), strstr(status, "S (sleeping)"));
    ck_assert_int_eq(strncmp(proc_status_value(status, "ShdPnd"), "0001", 4), 0);
    ck_assert_str_eq(proc_status_value(status, "SigPnd"), "");
    ck_assert_str_eq(proc_status_value("", "Name"), "");
}
END_TEST

START_TEST(mappings_are_parsed_with_and_without_a_path)
{
    char file[] = "7f0000001000-7f0000003000 r-xp 00002000 fe:00 12  /a dir/with spaces\n";
    char anonymous[] = "1000-2000 rw-p 00000000 00:00 0 \n", other[] = "VmFlags: rd wr\n";
    struct proc_mapping found;

    ck_assert(proc_parse_mapping(file, &found));
    ck_assert_uint_eq(found.start, 0x7f0000001000);
    ck_assert_uint_eq(found.end, 0x7f0000003000);
    ck_assert_uint_eq(found.offset, 0x2000);
    ck_assert_str_eq(found.access, "r-xp");
    ck_assert_str_eq(found.path, "/a dir/with spaces");
    ck_assert(proc_parse_mapping(anonymous, &found));
    ck_assert_str_eq(found.path, "");
    ck_assert(!proc_parse_mapping(other, &found));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traced_thread");
    TCase *tests = tcase_create("traced_thread");

#ifdef __x86_64__
    tcase_add_loop_test(tests, only_calls_that_a_stop_has_ended_are_made_again, 0,
                        sizeof(calls) / sizeof(*calls));
    tcase_add_loop_test(tests, calls_of_32_bit_programs_are_made_again_by_their_own_numbers, 0,
                        sizeof(calls_32) / sizeof(*calls_32));
#endif
    tcase_add_test(tests, signal_waits_only_if_the_thread_does_not_block_it);
    tcase_add_test(tests, values_of_status_are_those_at_the_beginning_of_a_line);
    tcase_add_test(tests, mappings_are_parsed_with_and_without_a_path);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
