/* request.c - sends a request to a process; described in request.h. */
#include "control/request.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/signal_state.h"
#include "control/target.h"
#include "common/base/proc.h"
#include "common/base/term_text.h"

#define NAP_MOST 50 /* longest sleep between two looks at the mailbox, in milliseconds */
/* how long leakctl waits for a process that is just starting or calling exec, in milliseconds */
#define GRACE 1000

static volatile sig_atomic_t interrupted;

/* ---- Waiting with a timeout ------------------------------------------------------------------ */

struct wait {
    const struct target *target;
    uint64_t begun, timeout; /* milliseconds */
    int nap;
};

static uint64_t now_ms(void)
{
    return time_steady_ns() / 1000000;
}

static struct wait start_waiting(const struct target *target, uint64_t timeout)
{
    return (struct wait){.target = target, .begun = now_ms(), .timeout = timeout, .nap = 1};
}

static uint64_t waited_ms(const struct wait *wait)
{
    return now_ms() - wait->begun;
}

enum wait_result { WAIT_ON, WAIT_ENDED, WAIT_INTERRUPTED, WAIT_OVER };

/* Sleeps until the process may have answered; each time a little longer. */
static enum wait_result wait_on(struct wait *wait)
{
    struct pollfd process = {.fd = wait->target->pidfd, .events = POLLIN};
    int changed = poll(&process, 1, wait->nap);

    wait->nap = wait->nap < NAP_MOST ? 2 * wait->nap : NAP_MOST;
    if (interrupted)
        return WAIT_INTERRUPTED;
    if (changed > 0)
        return WAIT_ENDED;
    return waited_ms(wait) < wait->timeout ? WAIT_ON : WAIT_OVER;
}

/* ---- Signals that interrupt leakctl ---------------------------------------------------------- */

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDINGS (sizeof(endings) / sizeof(*endings))

static void note_signal(int number)
{
    interrupted = number;
}

/* Installs a handler for each signal that would end leakctl. A signal that is ignored, as nohup
 * does it, stays ignored. */
static void catch_ending_signals(struct sigaction before[ENDINGS])
{
    /* without SA_RESTART, so that the signal interrupts poll */
    struct sigaction action = {.sa_handler = note_signal};

    for (size_t i = 0; i < ENDINGS; i++)
        if (sigaction(endings[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
}

/* Restores the handling of signals. If one was caught in between, it ends leakctl now. */
static void restore_signals(const struct sigaction before[ENDINGS])
{
    for (size_t i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &before[i], NULL);
    if (interrupted)
        raise(interrupted);
}

/* ---- Messages about requests that failed ----------------------------------------------------- */

static bool refuse_timeout(const struct wait *wait, enum refusal refusal)
{
    const struct target *target = wait->target;
    char span[TIME_TEXT_SIZE];

    return refuse_request(target->who, refusal, time_format_span(wait->timeout * 1000000, span),
                          term_shell_word(target->path).text);
}

static bool refuse_end(const struct target *target)
{
    return refuse_request(target->who, REFUSAL_DEAD, term_shell_word(target->path).text);
}

static bool refuse_no_handler(const struct target *target)
{
    if (target_runs_same_program(target))
        return refuse_request(target->who, REFUSAL_NO_HANDLER, target->signal);
    return refuse_request(target->who, REFUSAL_EXEC, term_shell_word(target->path).text);
}

/* Writes why the process does not take the request. Always returns false. */
static bool refuse_obstacle(const struct wait *wait, enum signal_obstacle obstacle)
{
    const struct target *target = wait->target;

    switch (obstacle) {
    case OBSTACLE_NO_HANDLER:
        return refuse_no_handler(target);
    case OBSTACLE_STOPPED:
        return refuse_request(target->who, REFUSAL_STOPPED, (int)target->pid,
                              term_shell_word(target->path).text);
    case OBSTACLE_TRACED:
        return refuse_request(target->who, REFUSAL_TRACED, term_shell_word(target->path).text);
    case OBSTACLE_BLOCKED:
        return refuse_request(target->who, REFUSAL_BLOCKED, target->signal);
    case OBSTACLE_UNINTERRUPTIBLE:
        return refuse_request(target->who, REFUSAL_WAITING);
    case OBSTACLE_NONE:
        break;
    }
    return refuse_timeout(wait, REFUSAL_SILENT);
}

/* Writes why the process did not take the request before the timeout. Always returns false. */
static bool refuse_unanswered(const struct wait *wait)
{
    const struct target *target = wait->target;
    struct signal_state state;

    if (!signal_state_read(target->pid, target->signal, &state))
        return refuse_end(target);
    return refuse_obstacle(wait, signal_state_obstacle(&state));
}

/* Writes which leakctl, or which earlier request, uses the mailbox at the timeout. Always returns
 * false. */
static bool refuse_busy(const struct target *target)
{
    const struct leak_request *mailbox = &target->recording.header->request;
    bool lives = proc_is_alive(mailbox->asker, mailbox->asker_start);

    if (lives)
        return refuse_request(target->who, REFUSAL_OTHERS, (int)mailbox->asker);
    return refuse_request(target->who, REFUSAL_BEFORE);
}

/* ---- Claiming the mailbox -------------------------------------------------------------------- */

/* Checks that the process can answer. A stopped process cannot: the request is refused immediately
 * with a message, and nothing is changed. False: refused. */
static bool check_reachable(const struct target *target)
{
    struct wait wait = start_waiting(target, 0);
    struct signal_state state;
    enum signal_obstacle obstacle;

    if (!signal_state_read(target->pid, target->signal, &state))
        return refuse_end(target);
    obstacle = signal_state_obstacle(&state);
    return (obstacle != OBSTACLE_STOPPED && obstacle != OBSTACLE_TRACED) ||
           refuse_obstacle(&wait, obstacle);
}

static bool claim_mailbox(struct target *target, uint64_t timeout)
{
    struct leak_request *mailbox = &target->recording.header->request;
    struct wait wait = start_waiting(target, timeout);
    uint64_t start = 0;
    char state;

    proc_read_stat(getpid(), &start, &state);
    for (;;) {
        if (recording_lock(&target->recording) &&
            mailbox_claim(mailbox, getpid(), start, proc_is_alive))
            return true;
        switch (wait_on(&wait)) {
        case WAIT_ON:
            break;
        case WAIT_ENDED:
            return refuse_end(target);
        case WAIT_INTERRUPTED:
            return false;
        case WAIT_OVER:
            return refuse_busy(target);
        }
    }
}

/* ---- Sending the signal ---------------------------------------------------------------------- */

/* Queues the signal for one thread. A signal for the whole process could interrupt a second thread,
 * which finds that the request is already taken, and whose system call may fail with EINTR. False:
 * the kernel refused; errno says why. */
static bool queue_signal(const struct target *target, pid_t thread, siginfo_t *info)
{
    struct pollfd process = {.fd = target->pidfd, .events = POLLIN};
    if (thread && poll(&process, 1, 0) == 0 &&
        syscall(SYS_rt_tgsigqueueinfo, target->pid, thread, target->signal, info) == 0)
        return true;
    return syscall(SYS_pidfd_send_signal, target->pidfd, target->signal, info, 0) == 0;
}

/* Sends the signal if that is possible now, and sets *sent then; the caller tries again until
 * *sent. It is never sent to a program that has no handler for it, as after exec, because it would
 * kill that program. While the signal is pending, perhaps from a leakctl that gave up, no second
 * one is sent. False: the request failed. */
static bool send_signal(const struct wait *wait, bool *sent)
{
    const struct target *target = wait->target;
    siginfo_t info = {.si_signo = target->signal, .si_code = SI_QUEUE};
    struct signal_state state;
    enum signal_obstacle obstacle;

    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = LEAK_REQUEST_VALUE;
    if (!signal_state_read(target->pid, target->signal, &state))
        return refuse_end(target);
    obstacle = signal_state_obstacle(&state);
    if (obstacle == OBSTACLE_STOPPED || obstacle == OBSTACLE_TRACED)
        return refuse_obstacle(wait, obstacle);
    if (obstacle == OBSTACLE_NO_HANDLER || !target_runs_same_program(target))
        return waited_ms(wait) < GRACE || refuse_no_handler(target);
    if (state.pending)
        return true;
    *sent = queue_signal(target, state.receiver, &info);
    /* EAGAIN: the signal queue of the user is full; the caller tries again */
    if (*sent || errno == EAGAIN)
        return true;
    return errno == ESRCH ? refuse_end(target)
                          : refuse_request(target->who, REFUSAL_NOT_SENT, strerror(errno));
}

static bool wait_for_answer(struct target *target, uint64_t timeout, struct mailbox_answer *answer)
{
    struct leak_request *mailbox = &target->recording.header->request;
    struct wait wait = start_waiting(target, timeout);
    bool sent = false, more = false;

    for (;;) {
        if (mailbox_is_answered(mailbox)) {
            *answer = mailbox_read_answer(mailbox);
            return true;
        }
        if (!sent && mailbox_is_pending(mailbox) && !send_signal(&wait, &sent)) {
            mailbox_withdraw(mailbox);
            return false;
        }
        switch (wait_on(&wait)) {
        case WAIT_ON:
            break;
        case WAIT_ENDED:
            if (mailbox_is_answered(mailbox))
                break; /* the process answered before it ended */
            mailbox_withdraw(mailbox);
            return refuse_end(target);
        case WAIT_INTERRUPTED:
            mailbox_withdraw(mailbox);
            return false;
        case WAIT_OVER:
            if (mailbox_withdraw(mailbox))
                return refuse_unanswered(&wait);
            if (more && !mailbox_is_answered(mailbox))
                return refuse_timeout(&wait, REFUSAL_UNDONE);
            /* the process works on the request, so a second timeout begins */
            wait = start_waiting(target, timeout);
            more = true;
        }
    }
}

bool request_perform(struct target *target, const struct request *request,
                     struct mailbox_answer *answer)
{
    struct leak_request *mailbox = &target->recording.header->request;
    struct sigaction before[ENDINGS];
    bool good;

    catch_ending_signals(before);
    good = check_reachable(target) && claim_mailbox(target, request->timeout);
    if (good) {
        if (request->graph_file)
            recording_put_graph_file(&target->recording, request->graph_file);
        mailbox_post(mailbox, request->verb, request->argument, request->name);
        good = wait_for_answer(target, request->timeout, answer);
    }
    restore_signals(before);
    return good;
}

bool request_wait_leak_check(struct target *target, uint64_t milestone, uint64_t timeout,
                             struct leak_check_totals *totals)
{
    struct wait wait = start_waiting(target, timeout);
    enum wait_result result = WAIT_ON;

    for (;;) {
        if (recording_find_leak_check(&target->recording, milestone, totals))
            return true;
        if (result == WAIT_ENDED)
            return refuse_end(target);
        if (result != WAIT_ON)
            break;
        result = wait_on(&wait);
    }
    if (target->recording.header->flags & LEAK_FLAG_FULL)
        return refuse_request(target->who, REFUSAL_NO_ROOM);
    return refuse_timeout(&wait, REFUSAL_UNDONE);
}
