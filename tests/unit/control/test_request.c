/* test_request.c - a request to a process, and all that may interrupt it.
 *
 * The process is a child of the test: it has a store, and a handler that does what the case says.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/request.h"
#include "control/target.h"
#include "common/base/proc.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

#define USUAL 62
#define SHORT 300  /* ms */
#define LONG 50000 /* ms: no test waits so long */
#define LOOK 7

static char dir[] = "/tmp/libleak-ask-XXXXXX";
static char *path;
static pid_t fake;
static struct leak_header *header; /* mapped by the test and by the child */
static struct target target;
static struct mailbox_answer answer;
static char said[1024];

/* ---- The process ----------------------------------------------------------------------------- */

static bool take(void)
{
    uint32_t asked = LEAK_REQUEST_ASKED;

    return __atomic_compare_exchange_n(&header->request.state, &asked, LEAK_REQUEST_TAKEN, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void answers(int number)
{
    struct leak_request *request = &header->request;
    bool known =
        request->verb == LEAK_VERB_MARK ? strcmp(request->name, "deploy") == 0 : !*request->name;

    (void)number;
    if (!take())
        return;
    if (request->verb == LEAK_VERB_WHO)
        known = request->argument == 0x1234;
    request->answer = known ? LEAK_ANSWER_DONE : LEAK_ANSWER_UNKNOWN;
    request->argument = LOOK;
    __atomic_store_n(&request->state, LEAK_REQUEST_ANSWERED, __ATOMIC_RELEASE);
}

static void is_silent(int number)
{
    (void)number;
}

static void takes(int number)
{
    (void)number;
    take();
}

static void counts(int number)
{
    (void)number;
    __atomic_add_fetch(&header->nodes, 1, __ATOMIC_RELEASE);
}

static void opens(int number)
{
    (void)number;
    __atomic_store_n(&header->threads, 1, __ATOMIC_RELEASE);
}

static void dies(int number)
{
    (void)number;
    _exit(0);
}

static void map(void)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    header = mmap(NULL, LEAK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static void live(int go, int ready, int number, void (*handler)(int), bool blocks)
{
    sigset_t set;
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(go, &byte, 1) != 1)
        _exit(1);
    map();
    sigemptyset(&set);
    sigaddset(&set, number);
    if (blocks)
        sigprocmask(SIG_BLOCK, &set, NULL);
    if (handler)
        signal(number, handler);
    if (write(ready, "", 1) != 1)
        _exit(1);
    signal(SIGUSR1, opens);
    for (;; pause())
        if (header->threads)
            sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void save(int number)
{
    struct store_builder builder = builder_begin();
    struct leak_found found[] = {
        {.site = 1, .verdict = LEAK_VERDICT_LOST, .blocks = 2, .bytes = 200},
        {.site = 2, .verdict = LEAK_VERDICT_INDIRECT, .blocks = 3, .bytes = 30},
        {.site = 3, .verdict = LEAK_VERDICT_REACHABLE, .blocks = 9, .bytes = 900},
        {.site = 4, .verdict = LEAK_VERDICT_LOST, .blocks = 1, .bytes = 1}};
    struct builder_look look = {.found = found, .found_count = 4};
    char text[64], state, *fresh;
    uint64_t start;

    ck_assert(proc_read_stat(fake, &start, &state));
    snprintf(text, sizeof(text), "depth=64 (environment)\nsnapshot_signal=%d (environment)\n",
             number);
    if (number != USUAL)
        builder_options(&builder, text);
    look.head = (struct leak_snapshot){.rung = LEAK_RUNG_PARKED, .milestone = LOOK - 1};
    builder_look(&builder, &look);
    look.head.milestone = LOOK;
    builder_look(&builder, &look);
    builder_header(&builder)->pid = fake;
    builder_header(&builder)->start_time = start;
    builder_header(&builder)->end_how = LEAK_END_NONE;
    builder_header(&builder)->used = builder.size;
    fresh = builder_save(&builder);
    ck_assert(asprintf(&path, "%s/fake.%d.1.leak", dir, (int)fake) > 0);
    ck_assert_int_eq(rename(fresh, path), 0);
    free(fresh);
    builder_end(&builder);
}

/* A process that has this handler, or none. */
static void begin(int number, void (*handler)(int), bool blocks)
{
    int go[2], ready[2];
    char byte;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(pipe(go) | pipe(ready), 0);
    /* The child must know the path as well, which has its pid in it. */
    fake = fork();
    if (!fake) {
        ck_assert(asprintf(&path, "%s/fake.%d.1.leak", dir, (int)getpid()) > 0);
        close(go[1]);
        close(ready[0]);
        live(go[0], ready[1], number, handler, blocks);
    }
    close(go[0]);
    close(ready[1]);
    save(number);
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(go[1]);
    close(ready[0]);
    map();
}

static void end(void)
{
    if (fake > 0) {
        kill(fake, SIGKILL);
        waitpid(fake, NULL, 0);
    }
    if (path)
        unlink(path);
    free(path);
    if (target.pid)
        target_close(&target);
    rmdir(dir);
}

static void open_target(void)
{
    char word[16];

    snprintf(word, sizeof(word), "%d", (int)fake);
    ck_assert(target_open(&target, word, dir));
}

/* Sends the request; `said` gets its messages. */
static bool perform(enum leak_verb verb, uint64_t argument, const char *name, uint64_t timeout)
{
    struct request request = {.verb = verb, .argument = argument, .name = name, .timeout = timeout};
    int words = memfd_create("said", 0), before = dup(STDERR_FILENO);
    ssize_t length;
    bool good;

    dup2(words, STDERR_FILENO);
    good = request_perform(&target, &request, &answer);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    length = pread(words, said, sizeof(said) - 1, 0);
    said[length > 0 ? length : 0] = 0;
    close(words);
    return good;
}

static void says(const char *words)
{
    ck_assert_msg(strstr(said, words), "not said: %s; said: %s", words, said);
    ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "not one line: %s", said);
}

static uint32_t state(void)
{
    return __atomic_load_n(&header->request.state, __ATOMIC_ACQUIRE);
}

/* ---- Answered -------------------------------------------------------------------------------- */

START_TEST(what_is_asked_arrives_and_the_place_is_free_again)
{
    begin(USUAL, answers, false);
    open_target();
    for (int again = 0; again < 3; again++) {
        ck_assert_msg(perform(LEAK_VERB_MARK, 0, "deploy", LONG), "%s", said);
        ck_assert_int_eq(answer.answer, LEAK_ANSWER_DONE);
        ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
        ck_assert_int_eq(header->request.asker, 0);
        ck_assert(perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG)); /* without the name */
        ck_assert_int_eq(answer.answer, LEAK_ANSWER_DONE);
        ck_assert_uint_eq(answer.milestone, LOOK);
        ck_assert(perform(LEAK_VERB_WHO, 0x1234, NULL, LONG));
        ck_assert_int_eq(answer.answer, LEAK_ANSWER_DONE);
        ck_assert(perform(LEAK_VERB_MARK, 0, "other", LONG));
        ck_assert_int_eq(answer.answer, LEAK_ANSWER_UNKNOWN);
    }
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(the_look_is_that_of_the_milestone_and_is_added_up)
{
    struct leak_check_totals totals;

    begin(USUAL, answers, false);
    open_target();
    ck_assert(request_wait_leak_check(&target, LOOK, LONG, &totals));
    ck_assert_uint_eq(totals.head.milestone, LOOK);
    ck_assert_uint_eq(totals.lost_blocks, 3);
    ck_assert_uint_eq(totals.lost_bytes, 201);
    ck_assert_uint_eq(totals.indirect_blocks, 3);
    ck_assert_uint_eq(totals.indirect_bytes, 30);
    freopen("/dev/null", "w", stderr);
    ck_assert(!request_wait_leak_check(&target, LOOK + 1, SHORT, &totals));
}
END_TEST

START_TEST(the_signal_is_the_one_that_the_store_says)
{
    begin(USUAL - 2, answers, false);
    open_target();
    ck_assert_int_eq(target.signal, USUAL - 2);
    ck_assert_msg(perform(LEAK_VERB_ENABLE, 0, NULL, LONG), "%s", said);
}
END_TEST

/* ---- Not answered ---------------------------------------------------------------------------- */

START_TEST(an_unanswered_request_is_withdrawn)
{
    begin(USUAL, is_silent, false);
    open_target();
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("no answer within 0.3 s");
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
}
END_TEST

START_TEST(one_that_blocks_the_signal_is_named_and_gets_one_signal)
{
    begin(USUAL, counts, true);
    open_target();
    for (int again = 0; again < 3; again++) {
        ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
        says("it blocks signal 62");
        ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
    }
    kill(fake, SIGUSR1);
    while (!__atomic_load_n(&header->nodes, __ATOMIC_ACQUIRE))
        usleep(1000);
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("no answer within 0.3 s"); /* and that was the second signal */
    ck_assert_uint_eq(header->nodes, 2);
}
END_TEST

START_TEST(one_that_is_stopped_is_refused_at_once_and_answers_when_it_goes_on)
{
    char about = 0;
    uint64_t start;

    begin(USUAL, answers, false);
    open_target();
    kill(fake, SIGSTOP);
    while (proc_read_stat(fake, &start, &about) && about != 'T')
        usleep(1000);
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG));
    says(": stopped: kill -CONT ");
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
    kill(fake, SIGCONT);
    ck_assert_msg(perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG), "%s", said);
}
END_TEST

START_TEST(a_program_that_the_signal_would_kill_is_never_sent_it)
{
    begin(USUAL, NULL, false);
    open_target();
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG));
    says("libleak has no signal handler there: ");
    header->exec_at = 5;
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG));
    says("it called exec");
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
    ck_assert_int_eq(waitpid(fake, NULL, WNOHANG), 0);
}
END_TEST

START_TEST(one_that_dies_meanwhile_is_reported)
{
    begin(USUAL, dies, false);
    open_target();
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG));
    says("it has ended: leakreport /tmp/libleak-ask-");
}
END_TEST

START_TEST(what_is_taken_and_not_done_is_left_and_cleared_once_it_is)
{
    begin(USUAL, takes, false);
    open_target();
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("started, and not done within 0.3 s");
    ck_assert_uint_eq(state(), LEAK_REQUEST_TAKEN);
    header->request.asker = 0x3fffffff; /* a pid that does not exist */
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("busy with an earlier request");
    header->request.state = LEAK_REQUEST_ANSWERED;
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("started, and not done");
}
END_TEST

/* ---- Other leakctl --------------------------------------------------------------------------- */

START_TEST(what_a_dead_asker_left_is_cleared)
{
    static const uint32_t left[] = {LEAK_REQUEST_CLAIMED, LEAK_REQUEST_ASKED,
                                    LEAK_REQUEST_ANSWERED};
    uint64_t start;
    char about;

    begin(USUAL, answers, false);
    open_target();
    header->request.asker = getpid(); /* the pid lives, as another process */
    ck_assert(proc_read_stat(getpid(), &start, &about));
    header->request.asker_start = start - 1;
    header->request.state = left[_i];
    ck_assert_msg(perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG), "%s", said);
    ck_assert_int_eq(answer.answer, LEAK_ANSWER_DONE);
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
}
END_TEST

START_TEST(one_that_lives_is_waited_for)
{
    uint64_t start;
    char about;
    pid_t other;

    begin(USUAL, answers, false);
    open_target();
    ck_assert(proc_read_stat(fake, &start, &about));
    header->request.asker = fake; /* another process that lives */
    header->request.asker_start = start;
    header->request.state = LEAK_REQUEST_CLAIMED;
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("another leakctl waits for it: that is pid ");
    ck_assert_uint_eq(state(), LEAK_REQUEST_CLAIMED);
    other = fork();
    if (!other) {
        usleep(100000);
        mailbox_release(&header->request);
        _exit(0);
    }
    ck_assert_msg(perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG), "%s", said);
    waitpid(other, NULL, 0);
}
END_TEST

START_TEST(many_at_once_are_answered_one_by_one)
{
    pid_t asking[8];
    int status;

    begin(USUAL, answers, false);
    for (int i = 0; i < 8; i++) {
        asking[i] = fork();
        if (!asking[i]) {
            bool good = true;

            open_target();
            for (int k = 0; k < 20 && good; k++)
                good = perform(k % 2 ? LEAK_VERB_MARK : LEAK_VERB_SNAPSHOT, 0,
                               k % 2 ? "deploy" : NULL, LONG) &&
                       answer.answer == LEAK_ANSWER_DONE;
            target_close(&target);
            _exit(!good);
        }
    }
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(waitpid(asking[i], &status, 0), asking[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
}
END_TEST

static pid_t request_in_a_child(void)
{
    pid_t asking = fork();

    if (!asking) {
        for (int number = 1; number < SIGCHLD; number++)
            signal(number, SIG_DFL); /* the runner has handlers */
        open_target();
        _exit(perform(LEAK_VERB_SNAPSHOT, 0, NULL, LONG));
    }
    while (state() != LEAK_REQUEST_ASKED)
        usleep(1000);
    return asking;
}

START_TEST(one_that_is_interrupted_takes_its_request_back)
{
    static const int by[] = {SIGINT, SIGTERM, SIGHUP};
    pid_t asking;
    int status;

    begin(USUAL, is_silent, false);
    asking = request_in_a_child();
    kill(asking, by[_i]);
    ck_assert_int_eq(waitpid(asking, &status, 0), asking);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == by[_i]);
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
}
END_TEST

START_TEST(one_that_is_killed_does_not_block_the_next)
{
    pid_t asking;

    begin(USUAL, is_silent, false);
    asking = request_in_a_child();
    kill(asking, SIGKILL);
    ck_assert_int_eq(waitpid(asking, NULL, 0), asking);
    ck_assert_uint_eq(state(), LEAK_REQUEST_ASKED);
    open_target();
    ck_assert(!perform(LEAK_VERB_SNAPSHOT, 0, NULL, SHORT));
    says("no answer within 0.3 s"); /* the mailbox was free */
    ck_assert_uint_eq(state(), LEAK_REQUEST_FREE);
}
END_TEST

/* qemu-user has numbers of its own for signals, but leaves the one in siginfo as it is: the kernel
 * refuses such a signal. */
static bool can_request(void)
{
    siginfo_t info = {.si_signo = SIGRTMAX - 2, .si_code = SI_QUEUE};
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    bool refused;

    signal(info.si_signo, SIG_IGN);
    refused = self >= 0 && syscall(SYS_pidfd_send_signal, self, info.si_signo, &info, 0) != 0 &&
              errno == EINVAL;
    signal(info.si_signo, SIG_DFL);
    close(self);
    return !refused;
}

START_TEST(a_process_can_be_asked)
{
    printf("skip: %s: no signal with words can be sent here (qemu-user)\n", __func__);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request");
    TCase *all = tcase_create("all");

    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 60);
    if (!can_request()) {
        tcase_add_test(all, a_process_can_be_asked);
        return suite_run(suite);
    }
    tcase_add_checked_fixture(all, NULL, end);
    tcase_add_test(all, what_is_asked_arrives_and_the_place_is_free_again);
    tcase_add_test(all, the_look_is_that_of_the_milestone_and_is_added_up);
    tcase_add_test(all, the_signal_is_the_one_that_the_store_says);
    tcase_add_test(all, an_unanswered_request_is_withdrawn);
    tcase_add_test(all, one_that_blocks_the_signal_is_named_and_gets_one_signal);
    tcase_add_test(all, one_that_is_stopped_is_refused_at_once_and_answers_when_it_goes_on);
    tcase_add_test(all, a_program_that_the_signal_would_kill_is_never_sent_it);
    tcase_add_test(all, one_that_dies_meanwhile_is_reported);
    tcase_add_test(all, what_is_taken_and_not_done_is_left_and_cleared_once_it_is);
    tcase_add_loop_test(all, what_a_dead_asker_left_is_cleared, 0, 3);
    tcase_add_test(all, one_that_lives_is_waited_for);
    tcase_add_test(all, many_at_once_are_answered_one_by_one);
    tcase_add_loop_test(all, one_that_is_interrupted_takes_its_request_back, 0, 3);
    tcase_add_test(all, one_that_is_killed_does_not_block_the_next);
    return suite_run(suite);
}
