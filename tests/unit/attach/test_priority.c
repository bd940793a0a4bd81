/* test_priority.c - a raised thread has a short time slice, and its own again afterwards: attach/priority.h. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/priority.h"
#include "tests/unit/suite.h"

static struct priority priority_of(pid_t tid)
{
    struct priority now = {0};

    ck_assert_int_eq(syscall(SYS_sched_getattr, tid, &now, sizeof(now), 0), 0);
    return now;
}

static pid_t start_sleeper(void)
{
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

START_TEST(a_raised_thread_has_its_own_priority_again)
{
    pid_t child = start_sleeper();
    struct priority earlier, before, raised;

    setpriority(PRIO_PROCESS, (id_t)child, 5);
    before = priority_of(child);
    ck_assert(priority_raise(child, &earlier));
    raised = priority_of(child);
    priority_restore(child, &earlier);
    ck_assert(raised.slice <= before.slice);
    ck_assert_int_eq(raised.nice, geteuid() == 0 ? PRIO_MIN : 5);
    ck_assert_int_eq(priority_of(child).nice, 5);
    ck_assert_uint_eq(priority_of(child).slice, before.slice);
    end(child);
}
END_TEST

START_TEST(a_thread_that_has_ended_is_not_raised)
{
    pid_t child = start_sleeper();
    struct priority earlier;

    end(child);
    ck_assert(!priority_raise(child, &earlier));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("priority");
    TCase *all = tcase_create("priority");

    tcase_add_test(all, a_raised_thread_has_its_own_priority_again);
    tcase_add_test(all, a_thread_that_has_ended_is_not_raised);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
