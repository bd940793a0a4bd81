/* when_lost.c - runs the program again to find where blocks were lost; described in when_lost.h. */
#include "live/when_lost.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"
#include "live/listening.h"
#include "live/program_environment.h"
#include "live/report.h"

/* Seconds from SIGTERM to SIGKILL, for a server that does not end. */
#define TERM_SECONDS 10

static unsigned seconds_since(uint64_t began)
{
    return (unsigned)((time_steady_ns() - began) / 1000000000);
}

/* Time in ms that the processes of the first run have to end after the program. */
#define SURVIVOR_MS 30
/* Time between two looks, of which each reads all of /proc: it doubles from the first value up to the
 * second one. */
#define FIRST_STEP_MS 5
#define STEP_MOST_MS 160

/* Waits until no process of the session is left. False: some are after this time, or the user has
 * asked for an end. */
static bool wait_for_processes(const struct session *session, unsigned ms)
{
    bool asked = child_end_was_requested();
    uint64_t end = time_steady_ns() + ms * 1000000ull;
    for (unsigned step = FIRST_STEP_MS;; step = step < STEP_MOST_MS ? 2 * step : step) {
        pid_t *pids;
        size_t found = proc_find_users(session->users, &pids);
        free(pids);
        if (!found || time_steady_ns() >= end || (!asked && child_end_was_requested()))
            return !found;
        nanosleep(&(struct timespec){0, step * 1000000}, NULL);
    }
}

/* Waits for the processes that outlive the program of a further run, since the followed blocks are
 * in one of them, and ends those that run longer. */
static void await_children(const struct session *session, unsigned seconds)
{
    if (wait_for_processes(session, 1000 * seconds))
        return;
    session_send_signal(session, 0, SIGTERM);
    if (!wait_for_processes(session, 1000 * TERM_SECONDS))
        session_send_signal(session, 0, SIGKILL);
}

/* A run that is watched, since it may be one of a server whose clients do not come again. */
struct watched_run {
    const struct session *session;
    struct child child;
    size_t number; /* the first run is number 1 */
    bool quiet;
    uint64_t began;
    unsigned limit;     /* seconds, if it is a server */
    unsigned listening; /* number of looks that have seen a listening socket */
    bool ended;         /* it has got SIGTERM */
};

static void look_at_run(void *context)
{
    struct watched_run *run = context;
    unsigned seconds = seconds_since(run->began);
    if (!run->listening && !listening_is_session(run->child.pid, run->session->users))
        return;
    run->listening++;
    if (run->listening == 2 && !run->quiet)
        print_notice(
            "--when-lost: run %zu (of 4 at most) listens for clients: let them do the same "
            "again, then end it as before; after %u s it is ended. --snapshot-every=1s "
            "needs no such runs",
            run->number, run->limit);
    if (seconds >= run->limit && !run->ended)
        session_send_signal(run->session, run->child.pid, SIGTERM);
    run->ended |= seconds >= run->limit;
    if (seconds >= run->limit + TERM_SECONDS)
        session_send_signal(run->session, run->child.pid, SIGKILL);
}

/* Runs the program with its input repeated. Afterwards the position in an input file is where
 * the first run left it. */
static void run_with_input(const struct when_lost_program *program, struct watched_run *run,
                           struct launch *launch)
{
    long after = program->input->offset < 0 ? -1 : lseek(STDIN_FILENO, 0, SEEK_CUR);
    launch->keeps_input = input_rewind(program->input, &launch->terminal);
    int status = child_start(&run->child, launch);
    if (launch->terminal)
        close(launch->terminal);
    if (status < 0)
        child_watch(&run->child, look_at_run, run);
    input_stop(program->input);
    if (after >= 0)
        lseek(STDIN_FILENO, after, SEEK_SET);
}

/* Makes further run `number`, from 1. Returns whether the program is a server. first_seconds: how
 * long the first run was. */
static bool run_again(const struct when_lost_program *program, const struct session *session,
                      size_t number, unsigned first_seconds, const char *blocks)
{
    struct string_list environment = {0}, set = {0};
    struct args args = *program->args;
    struct watched_run run = {.session = session,
                              .number = number + 1,
                              .quiet = args.quiet,
                              .began = time_steady_ns(),
                              .limit = first_seconds + WHEN_LOST_SERVER_SECONDS};
    args.runtime =
        string_format("%s%sfollow_blocks=%s", args.runtime, *args.runtime ? ":" : "", blocks);
    string_list_copy(&environment, program->environment);
    environment_make_settings(&set, &environment, &args, session);
    for (size_t i = 0; i + 1 < set.count; i += 2)
        environment_set(&environment, set.at[i], set.at[i + 1]);
    struct launch launch = {.path = program->path,
                            .argv = args.program,
                            .envp = environment.at,
                            .cwd = args.cwd,
                            .output = -1,
                            .repeats = true};
    run_with_input(program, &run, &launch);
    if (strchr(blocks, '/'))
        await_children(session, first_seconds + WHEN_LOST_CHILD_SECONDS);
    free(args.runtime);
    string_list_free(&set);
    string_list_free(&environment);
    return run.listening > 0;
}

/* Returns the reason why a second run would find nothing; NULL: it may find something. */
static const char *refuse(const struct when_lost_program *program)
{
    int status = program->wait_status, sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!program->reporter)
        return "leakreport is missing";
    if (child_asks_for_end(sig) || sig == SIGKILL)
        return "a signal ended the program, which might run for ever the next time";
    return NULL;
}

/* Says whether there must be no further run, and prints why. asked: an end was requested before the
 * runs; began: when the first of them began. */
static bool is_enough(bool asked, uint64_t began)
{
    unsigned seconds = seconds_since(began);
    if ((!asked && child_end_was_requested()) || child_end_was_forced())
        print_notice("--when-lost: a signal came; the program is not run again");
    else if (seconds >= WHEN_LOST_SECONDS)
        print_notice("--when-lost: not run again after %u seconds of following blocks", seconds);
    else
        return false;
    return true;
}

/* Says what input the later runs get. */
static void say_input(const struct input *input)
{
    if (input_is_typed(input))
        print_notice("--when-lost: running it again, with what was typed, without its output");
    else if (input_is_known(input))
        print_notice("--when-lost: running it again, with the same input, without its output");
    else
        print_notice("--when-lost: running it again, with /dev/null as its input and output");
}

/* The further runs so far. */
struct runs {
    struct when_lost *when;
    const struct when_lost_program *program;
    uint64_t began;         /* when the first of them began */
    unsigned first_seconds; /* how long the run before them was */
    bool asked;             /* an end was requested before them */
    bool server;            /* the program listens on a socket */
};

/* Says whether this run is left out: one for another record than the first one, if there is little
 * time; for a server each run is work for the user. */
static bool is_left_out(const struct runs *runs, const char *blocks)
{
    return *blocks == '+' &&
           (runs->server || seconds_since(runs->began) >= WHEN_LOST_OTHER_SECONDS);
}

/* Makes a run. False: there must be no further one. */
static bool make_run(struct runs *runs, const char *blocks)
{
    struct when_lost *when = runs->when;
    const struct when_lost_program *program = runs->program;
    struct session *session = &when->sessions[when->count];
    if (when->count == WHEN_LOST_RUNS || (when->count && is_enough(runs->asked, runs->began)) ||
        !session_make(session, program->dir, program->library, program->runtime_dir))
        return false;
    if (!when->count && !program->args->quiet)
        say_input(program->input);
    when->count++;
    runs->server |=
        run_again(program, session, when->count, runs->first_seconds, blocks + (*blocks == '+'));
    string_list_add(&when->dirs, session->dir);
    return true;
}

/* Makes the runs that leakreport has planned. Returns whether it has to plan more: the last line
 * says so, and no run was left out. */
static bool make_runs(struct runs *runs, char *lines)
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strcmp(line, "again") == 0)
            return true;
        if (is_left_out(runs, line) || !make_run(runs, line))
            return false;
    }
    return false;
}

void when_lost_run(struct when_lost *when, const struct when_lost_program *program)
{
    struct runs runs = {.when = when,
                        .program = program,
                        .began = time_steady_ns(),
                        .first_seconds = seconds_since(program->began_ns),
                        .asked = child_end_was_requested()};
    *when = (struct when_lost){0};
    if (!program->args->when_lost)
        return;
    input_stop(program->input);
    const char *why = refuse(program);
    if (why) {
        print_notice("--when-lost: not run again: %s", why);
        return;
    }
    wait_for_processes(program->session, SURVIVOR_MS);
    for (bool more = true; more && !(when->count && is_enough(runs.asked, runs.began));) {
        char *lines = report_blocks_to_follow(program->session, program->child, program->args,
                                              program->reporter, program->environment, &when->dirs);
        more = lines && make_runs(&runs, lines);
        free(lines);
    }
}

void when_lost_end(struct when_lost *when)
{
    for (size_t i = 0; i < when->count; i++)
        session_remove(&when->sessions[i]);
    string_list_free(&when->dirs);
}
