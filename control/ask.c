/* ask.c - see ask.h. */
#include "control/ask.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/hearing.h"
#include "control/refusal.h"
#include "common/base/proc.h"
#include "common/base/text.h"

#define NAP_MOST 50 /* ms */
#define GRACE 1000  /* ms: for one that is just calling exec, or beginning */

static volatile sig_atomic_t interrupted;

/* ---- Time ------------------------------------------------------------------------------------ */

struct waiting {
    const struct target *target;
    uint64_t begun, timeout; /* ms */
    int nap;
};

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static struct waiting wait_begin(const struct target *target, uint64_t timeout)
{
    return (struct waiting){.target = target, .begun = now(), .timeout = timeout, .nap = 1};
}

static uint64_t waited(const struct waiting *waiting)
{
    return now() - waiting->begun;
}

enum wait { WAIT_ON, WAIT_ENDED, WAIT_INTERRUPTED, WAIT_OVER };

/* Until something may have changed: a little longer each time. */
static enum wait wait_on(struct waiting *waiting)
{
    struct pollfd process = {.fd = waiting->target->pidfd, .events = POLLIN};
    int changed = poll(&process, 1, waiting->nap);

    waiting->nap = waiting->nap < NAP_MOST ? 2 * waiting->nap : NAP_MOST;
    if (interrupted)
        return WAIT_INTERRUPTED;
    if (changed > 0)
        return WAIT_ENDED;
    return waited(waiting) < waiting->timeout ? WAIT_ON : WAIT_OVER;
}

/* ---- Interrupted ----------------------------------------------------------------------------- */

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDINGS (sizeof(endings) / sizeof(*endings))

static void note(int number)
{
    interrupted = number;
}

/* One that is ignored, as by nohup, stays so. */
static void heed(struct sigaction before[ENDINGS])
{
    struct sigaction action = {.sa_handler = note}; /* no SA_RESTART: it wakes us */

    for (size_t i = 0; i < ENDINGS; i++)
        if (sigaction(endings[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
}

/* What came meanwhile ends us now. */
static void heed_no_more(const struct sigaction before[ENDINGS])
{
    for (size_t i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &before[i], NULL);
    if (interrupted)
        raise(interrupted);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool refuse_time(const struct waiting *waiting, enum refusal refusal)
{
    const struct target *target = waiting->target;
    char span[TIME_TEXT_SIZE];

    return refuse(target->who, refusal, time_format_span(waiting->timeout * 1000000, span),
                  term_shell_word(target->path).text);
}

static bool refuse_end(const struct target *target)
{
    return refuse(target->who, REFUSAL_DEAD, term_shell_word(target->path).text);
}

static bool refuse_deaf(const struct target *target)
{
    if (target_is_same(target))
        return refuse(target->who, REFUSAL_NO_HANDLER, target->signal);
    return refuse(target->who, REFUSAL_EXEC, term_shell_word(target->path).text);
}

/* Nobody takes the request, as its threads are. */
static bool refuse_as_heard(const struct waiting *waiting, enum hears hears)
{
    const struct target *target = waiting->target;

    switch (hears) {
    case HEARS_NO_HANDLER:
        return refuse_deaf(target);
    case HEARS_STOPPED:
        return refuse(target->who, REFUSAL_STOPPED, (int)target->pid,
                      term_shell_word(target->path).text);
    case HEARS_TRACED:
        return refuse(target->who, REFUSAL_TRACED, term_shell_word(target->path).text);
    case HEARS_BLOCKED:
        return refuse(target->who, REFUSAL_BLOCKED, target->signal);
    case HEARS_ASLEEP:
        return refuse(target->who, REFUSAL_WAITING);
    case HEARS:
        break;
    }
    return refuse_time(waiting, REFUSAL_SILENT);
}

/* Time is up, and nobody took the request. */
static bool refuse_silence(const struct waiting *waiting)
{
    const struct target *target = waiting->target;
    struct hearing hearing;

    if (!hearing_of(target->pid, target->signal, &hearing))
        return refuse_end(target);
    return refuse_as_heard(waiting, hearing_says(&hearing));
}

/* Time is up, and the place is not free. */
static bool refuse_place(const struct target *target)
{
    const struct leak_request *request = &target->account.header->request;
    bool lives = proc_is_alive(request->asker, request->asker_start);

    if (lives)
        return refuse(target->who, REFUSAL_OTHERS, (int)request->asker);
    return refuse(target->who, REFUSAL_BEFORE);
}

/* ---- The place ------------------------------------------------------------------------------- */

/* One that stands still answers nobody: that is said at once, and nothing is touched. */
static bool can_answer(const struct target *target)
{
    struct waiting waiting = wait_begin(target, 0);
    struct hearing hearing;
    enum hears hears;

    if (!hearing_of(target->pid, target->signal, &hearing))
        return refuse_end(target);
    hears = hearing_says(&hearing);
    return (hears != HEARS_STOPPED && hears != HEARS_TRACED) || refuse_as_heard(&waiting, hears);
}

static bool claim(struct target *target, uint64_t timeout)
{
    struct leak_request *request = &target->account.header->request;
    struct waiting waiting = wait_begin(target, timeout);
    uint64_t start = 0;
    char state;

    proc_read_stat(getpid(), &start, &state);
    for (;;) {
        if (account_lock(&target->account) &&
            mailbox_claim(request, getpid(), start, proc_is_alive))
            return true;
        switch (wait_on(&waiting)) {
        case WAIT_ON:
            break;
        case WAIT_ENDED:
            return refuse_end(target);
        case WAIT_INTERRUPTED:
            return false;
        case WAIT_OVER:
            return refuse_place(target);
        }
    }
}

/* ---- The signal ------------------------------------------------------------------------------ */

/* Sent once, and never to a program that it would kill: after an exec libleak's handler is gone.
 * While one is on its way, of somebody who gave up perhaps, there is no second. False: refused. */
static bool send_signal(const struct waiting *waiting, bool *sent)
{
    const struct target *target = waiting->target;
    siginfo_t info = {.si_signo = target->signal, .si_code = SI_QUEUE};
    struct hearing hearing;
    enum hears hears;

    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = LEAK_REQUEST_VALUE;
    if (!hearing_of(target->pid, target->signal, &hearing))
        return refuse_end(target);
    hears = hearing_says(&hearing);
    if (hears == HEARS_STOPPED || hears == HEARS_TRACED)
        return refuse_as_heard(waiting, hears);
    if (hears == HEARS_NO_HANDLER || !target_is_same(target))
        return waited(waiting) < GRACE || refuse_deaf(target);
    if (hearing.waiting)
        return true;
    *sent = syscall(SYS_pidfd_send_signal, target->pidfd, target->signal, &info, 0) == 0;
    if (*sent || errno == EAGAIN) /* its user has as many under way as may be: in a moment */
        return true;
    return errno == ESRCH ? refuse_end(target)
                          : refuse(target->who, REFUSAL_NOT_SENT, strerror(errno));
}

static bool wait_for_answer(struct target *target, uint64_t timeout, struct mailbox_answer *answer)
{
    struct leak_request *request = &target->account.header->request;
    struct waiting waiting = wait_begin(target, timeout);
    bool sent = false, more = false;

    for (;;) {
        if (mailbox_is_answered(request)) {
            *answer = mailbox_read(request);
            return true;
        }
        if (!sent && mailbox_is_asked(request) && !send_signal(&waiting, &sent)) {
            mailbox_take_back(request);
            return false;
        }
        switch (wait_on(&waiting)) {
        case WAIT_ON:
            break;
        case WAIT_ENDED:
            if (mailbox_is_answered(request))
                break; /* its last word */
            mailbox_take_back(request);
            return refuse_end(target);
        case WAIT_INTERRUPTED:
            mailbox_take_back(request);
            return false;
        case WAIT_OVER:
            if (mailbox_take_back(request))
                return refuse_silence(&waiting);
            if (more && !mailbox_is_answered(request))
                return refuse_time(&waiting, REFUSAL_UNDONE);
            waiting = wait_begin(target, timeout); /* it is at it */
            more = true;
        }
    }
}

bool ask(struct target *target, const struct question *question, struct mailbox_answer *answer)
{
    struct leak_request *request = &target->account.header->request;
    struct sigaction before[ENDINGS];
    bool good;

    heed(before);
    good = can_answer(target) && claim(target, question->timeout);
    if (good) {
        mailbox_ask(request, question->verb, question->argument, question->name);
        good = wait_for_answer(target, question->timeout, answer);
    }
    heed_no_more(before);
    return good;
}

bool ask_for_look(struct target *target, uint64_t milestone, uint64_t timeout,
                  struct account_look *look)
{
    struct waiting waiting = wait_begin(target, timeout);
    enum wait wait = WAIT_ON;

    for (;;) {
        if (account_look(&target->account, milestone, look))
            return true;
        if (wait == WAIT_ENDED)
            return refuse_end(target);
        if (wait != WAIT_ON)
            break;
        wait = wait_on(&waiting);
    }
    if (target->account.header->flags & LEAK_FLAG_FULL)
        return refuse(target->who, REFUSAL_NO_ROOM);
    return refuse_time(&waiting, REFUSAL_UNDONE);
}
