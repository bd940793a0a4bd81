#include "preload/process/lifecycle.h"
#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/memory/memory_limits.h"
#include "preload/options/options.h"
#include "preload/signals/stop_the_world.h"
#include "preload/process/crash.h"
#include "preload/process/reports.h"
#include "preload/track/milestones.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "context.h"

#include <pthread.h>
#include <time.h>

/* Nanoseconds until work is tried again after the signal has interrupted the runtime. */
#define RETRY_NS 1000000ull

enum work {
    /* Value that the timer for another try sends; the work to do is in `pending`. */
    WORK_RETRY = 0,
    WORK_SIGNAL_CHECK = 1,
    WORK_LIMIT = 2,
    WORK_PERIODIC = 4,
    WORK_REQUEST = 8,
    WORK_ENABLE = 16,
    WORK_REPORT = 32,
    WORK_DEATH = 64,
};

static uint32_t pending;
static bool enable_due; /* the option start_after= is set, and its time is not over */
static uint64_t enable_at;

/* ---- Timers ----------------------------------------------------------------------------------
 *
 * Timers send the signal to one thread, the first one, and not to the process. A signal to the
 * process may wake a thread and then be handled by another one: the first thread's system call
 * could fail with EINTR, although no handler ran in it. */

enum timer { TIMER_RETRY, TIMER_PERIODIC, TIMER_REPORT, TIMER_ENABLE, TIMERS };

static int timers[TIMERS]; /* number of each timer in the kernel + 1; 0: none */
/* The tid of the thread that gets the signals of timers; 0: any thread, because the first one has
 * ended. */
static int receiver;
static pthread_key_t receiver_key;

static void start_timer(enum timer which, enum work work, uint64_t first, uint64_t every)
{
    if (timers[which] <= 0)
        timers[which] = sys_timer_create(receiver, world_signal(), work) + 1;
    if (timers[which] > 0)
        sys_timer_set(timers[which] - 1, first, every);
}

static void start_timers(void)
{
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
    if (options_current.snapshot_every)
        start_timer(TIMER_PERIODIC, WORK_PERIODIC, options_current.snapshot_every,
                    options_current.snapshot_every);
    if (options_current.report_every)
        start_timer(TIMER_REPORT, WORK_REPORT, options_current.report_every,
                    options_current.report_every);
    if (enable_due)
        start_timer(TIMER_ENABLE, WORK_ENABLE, now < enable_at ? enable_at - now : 1, 0);
}

static void retry_soon(void)
{
    start_timer(TIMER_RETRY, WORK_RETRY, RETRY_NS, 0);
}

static void delete_timers(void)
{
    for (int i = 0; i < TIMERS; i++)
        if (timers[i] > 0)
            sys_timer_delete(timers[i] - 1);
    memset(timers, 0, sizeof timers);
}

void deferred_work_pause(void)
{
    delete_timers();
    world_remove_handler();
    pending = 0;
}

void deferred_work_resume(void)
{
    world_install_handler();
    start_timers();
}

/* Called when the first thread ends by pthread_exit while others continue: timers then signal any
 * thread. */
static void replace_receiver(void *argument UNUSED)
{
    if (sys_gettid() != receiver)
        return;
    receiver = 0;
    delete_timers();
    start_timers();
    if (load_relaxed(&pending))
        retry_soon();
}

static uint32_t work_of(const siginfo_t *info)
{
    if (info->si_code == SI_TIMER)
        return info->si_value.sival_int;
    return world_is_request(info) ? WORK_REQUEST : WORK_SIGNAL_CHECK;
}

/* Requests a leak check from a hook, where no leak check can run: the handler of the reserved
 * signal starts it a moment later. */
static void request_limit_check(void)
{
    or_relaxed(&pending, WORK_LIMIT);
    retry_soon();
}

void deferred_work_request_death(void)
{
    or_relaxed(&pending, WORK_DEATH);
    retry_soon();
}

/* ---- Requests of leakctl --------------------------------------------------------------------- */

/* leakctl writes its request into the header of the recording file, which only the owner may write,
 * and sends the reserved signal. A request is accepted and answered by one thread without a pause;
 * until then leakctl can withdraw it. A request for a leak check is answered when the check has
 * begun: its results get into the file later, under the milestone that the answer contains.
 *
 * The request is not trusted: it is copied once, and the name gets a terminating NUL. */
struct control_request {
    uint32_t verb;
    uint64_t argument;
    char name[LEAK_MILESTONE_NAME];
    const char *graph_file; /* path of the graph file to write; NULL: none */
};

/* The path of the graph file; static, because signal stacks are small. Only one request is served
 * at a time. */
static char graph_file[sizeof(((struct leak_request_file *)0)->path)];

static const char *copy_graph_file(void)
{
    struct leak_request_file *file =
        (struct leak_request_file *)((char *)store_header + LEAK_REQUEST_FILE_AT);
    memcpy(graph_file, file->path, sizeof graph_file - 1);
    store_relaxed(&file->milestone, 0);
    return graph_file;
}

static struct control_request copy_request(const struct leak_request *request)
{
    struct control_request control = {.verb = load_relaxed(&request->verb),
                                      .argument = load_relaxed(&request->argument)};
    memcpy(control.name, request->name, sizeof control.name - 1);
    if (control.verb == LEAK_VERB_SNAPSHOT && control.argument == LEAK_REQUEST_GRAPH)
        control.graph_file = copy_graph_file();
    return control;
}

static enum leak_answer make_mark(const struct control_request *control, uint32_t *milestone)
{
    if (!control->name[0])
        return LEAK_ANSWER_NO_NAME;
    *milestone = milestones_add(control->name);
    return *milestone ? LEAK_ANSWER_DONE : LEAK_ANSWER_NO_ROOM;
}

/* Starts a leak check that leakctl requested. LEAK_ANSWER_NONE: another leak check is running, so
 * it must be tried again. */
static enum leak_answer start_requested_check(const struct control_request *control,
                                              const struct roots_caller *taker, uint32_t *milestone)
{
    uintptr_t about = control->verb == LEAK_VERB_WHO ? control->argument : 0;
    switch (
        snapshot_take_async(LEAK_OCCASION_CONTROL, taker, about, control->graph_file, milestone)) {
    case SNAPSHOT_BUSY:
        return LEAK_ANSWER_NONE;
    case SNAPSHOT_STARTED:
        return *milestone ? LEAK_ANSWER_DONE : LEAK_ANSWER_NO_ROOM;
    default:
        return LEAK_ANSWER_NO_LOOK;
    }
}

static enum leak_answer perform_request(const struct control_request *control,
                                        const struct roots_caller *taker, uint32_t *milestone)
{
    switch (control->verb) {
    case LEAK_VERB_SNAPSHOT:
    case LEAK_VERB_WHO:
        return start_requested_check(control, taker, milestone);
    case LEAK_VERB_MARK:
        return make_mark(control, milestone);
    case LEAK_VERB_ENABLE:
    case LEAK_VERB_DISABLE:
        capture_disable_all(control->verb == LEAK_VERB_DISABLE);
        return LEAK_ANSWER_DONE;
    default:
        return LEAK_ANSWER_UNKNOWN;
    }
}

/* Serves a request of leakctl. False: another leak check is running, so it must be tried again. */
static bool serve_control_request(const struct roots_caller *taker)
{
    struct leak_request *request = &store_header->request;
    uint32_t state = LEAK_REQUEST_ASKED, milestone = 0;
    if (!cas_acquire(&request->state, &state, LEAK_REQUEST_TAKEN))
        return true; /* the request was withdrawn, or another thread serves it */
    struct control_request control = copy_request(request);
    enum leak_answer answer = perform_request(&control, taker, &milestone);
    if (!answer) {
        store_release(&request->state, LEAK_REQUEST_ASKED);
        return false;
    }
    store_relaxed(&request->answer, answer);
    store_relaxed(&request->argument, milestone);
    /* Pairs with an acquire load in leakctl. */
    store_release(&request->state, LEAK_REQUEST_ANSWERED);
    return true;
}

/* ---- Doing the work -------------------------------------------------------------------------- */

/* Starts a leak check. Returns 0; or `work`, if another check is running, so that this one must be
 * tried again. */
static uint32_t start_leak_check(uint32_t work, enum leak_occasion occasion,
                                 const struct roots_caller *taker)
{
    uint32_t milestone;
    return snapshot_take_async(occasion, taker, 0, NULL, &milestone) == SNAPSHOT_BUSY ? work : 0;
}

/* Does the work in the set `now`. Returns the part of the set that must be tried again. */
static uint32_t do_work(uint32_t now, const struct roots_caller *taker)
{
    uint32_t unfinished = 0;
    if (now & WORK_ENABLE) {
        enable_due = false;
        capture_disable_all(false);
    }
    if (now & WORK_REPORT)
        reports_write_periodic();
    if (now & WORK_REQUEST && !serve_control_request(taker))
        unfinished |= WORK_REQUEST;
    if (now & WORK_LIMIT)
        unfinished |= start_leak_check(WORK_LIMIT, LEAK_OCCASION_LIMIT, taker);
    if (now & WORK_SIGNAL_CHECK)
        unfinished |= start_leak_check(WORK_SIGNAL_CHECK, LEAK_OCCASION_SIGNAL, taker);
    if (now & WORK_PERIODIC)
        start_leak_check(WORK_PERIODIC, LEAK_OCCASION_PERIODIC, taker);
    return unfinished;
}

/* Handles the signal that libleak reserves for requests and deferred work. It may interrupt any
 * thread at any instruction. */
static void on_work_signal(siginfo_t *info, ucontext_t *context)
{
    if (!store_header || store_header->pid != sys_getpid())
        return;
    uint32_t now = exchange_relaxed(&pending, 0) | work_of(info);
    uint32_t unfinished = now & ~(WORK_PERIODIC | WORK_REPORT);
    struct roots_caller taker = {.tid = sys_gettid(),
                                 .sp = context_sp(context),
                                 .frame = context_sp(context),
                                 .pc = context_pc(context),
                                 .fp = context_fp(context),
                                 .context = context};
    if (now & WORK_DEATH) {
        unfinished = fatal_signal_retry(context) ? 0 : WORK_DEATH;
        now = 0;
    }
    if (!world_thread_is_busy() && now)
        unfinished = do_work(now, &taker);
    if (!unfinished)
        return;
    or_relaxed(&pending, unfinished);
    retry_soon();
}

static void become_receiver(void)
{
    receiver = pthread_setspecific(receiver_key, &receiver) == 0 ? sys_gettid() : 0;
}

void deferred_work_start(void)
{
    world_init(options_current.snapshot_signal, on_work_signal, threads_on_own_stack);
    world_install_handler();
    enable_due = options_current.start && options_current.start_after;
    enable_at = sys_clock_ns(CLOCK_MONOTONIC) + options_current.start_after;
    if (pthread_key_create(&receiver_key, replace_receiver) == 0)
        become_receiver();
    start_timers();
    memory_limits_watch(options_current.near_limit, request_limit_check);
}

void deferred_work_fork_child(void)
{
    pending = 0;
    memset(timers, 0, sizeof timers);
    if (receiver)
        become_receiver();
    memory_limits_fork_child();
    start_timers();
}
