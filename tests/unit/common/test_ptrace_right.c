/* test_ptrace_right.c - each reason why the kernel refuses ptrace is told apart, yama's scopes also
 * where the kernel has no yama. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/processes/ptrace_right.h"
#include "tests/unit/suite.h"

#define USER .own_user = true, .own_ids = true
#define ROOT USER, .root = true

static const struct {
    const char *name;
    struct ptrace_facts facts;
    enum ptrace_refusal reason;
} refused[] = {
    {"scope 1", {USER, .scope = 1}, PTRACE_SCOPE_1},
    {"scope 2", {USER, .scope = 2}, PTRACE_SCOPE_2},
    {"scope 3", {USER, .scope = 3}, PTRACE_SCOPE_3},
    {"scope 3 for root", {ROOT, .capable = true, .scope = 3}, PTRACE_SCOPE_3},
    {"scope 1 does not concern root", {ROOT, .capable = true, .scope = 1}, PTRACE_UNKNOWN},
    {"scope 1 for a root without the capability", {ROOT, .scope = 1}, PTRACE_NO_CAPABILITY},
    {"another user, whatever the scope", {.scope = 2}, PTRACE_OTHER_USER},
    {"another user", {.own_user = false}, PTRACE_OTHER_USER},
    {"a set-user-ID program", {.own_user = true}, PTRACE_MIXED_USER},
    {"another user for a root without the capability", {.root = true}, PTRACE_NO_CAPABILITY},
    {"not dumpable", {USER, .hidden = true}, PTRACE_NOT_DUMPABLE},
    {"more capabilities", {USER, .more = true}, PTRACE_MORE_RIGHTS},
    {"more, for a root that has few", {ROOT, .more = true}, PTRACE_NO_CAPABILITY},
    {"outside of the container", {ROOT, .capable = true, .other_maps = true}, PTRACE_NAMESPACE},
    {"another user's container", {.other_maps = true}, PTRACE_OTHER_USER},
    {"nothing that /proc shows", {USER}, PTRACE_UNKNOWN},
};

START_TEST(each_refusal_has_its_reason)
{
    enum ptrace_refusal reason = ptrace_right_judge(&refused[_i].facts);

    ck_assert_msg(reason == refused[_i].reason, "%s: %s", refused[_i].name,
                  ptrace_refusal_reason(reason));
}
END_TEST

/* A child of another user, or one that is not dumpable, as /proc shows it to one without rights. */
static enum ptrace_refusal explain_child(void (*change)(void))
{
    enum ptrace_refusal reason;
    int ready[2];
    char byte;
    pid_t child;

    ck_assert_int_eq(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        change();
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    reason = ptrace_right_explain(child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    return reason;
}

static void forbid_dumps(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

static void keep(void)
{
}

START_TEST(facts_are_read_from_proc)
{
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return;
    ck_assert_int_eq(ptrace_right_explain(1), PTRACE_OTHER_USER);
    if (explain_child(keep) != PTRACE_UNKNOWN)
        return; /* this machine has yama */
    ck_assert_int_eq(explain_child(forbid_dumps), PTRACE_NOT_DUMPABLE);
}
END_TEST

START_TEST(the_proc_of_this_machine_is_the_right_one)
{
    ck_assert_int_eq(ptrace_right_check_proc(), PTRACE_POSSIBLE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptrace_right");
    TCase *tests = tcase_create("ptrace_right");

    tcase_add_loop_test(tests, each_refusal_has_its_reason, 0, ROWS(refused));
    tcase_add_test(tests, facts_are_read_from_proc);
    tcase_add_test(tests, the_proc_of_this_machine_is_the_right_one);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
