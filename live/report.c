/* report.c - makes the report after the program ended; described in report.h. */
#include "live/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leak_store.h"
#include "common/base/error.h"
#include "common/base/proc.h"
#include "common/processes/store_list.h"
#include "common/store/store_dir.h"
#include "live/program_environment.h"
#include "live/oom_kill.h"

/* ---- Running leakreport ---------------------------------------------------------------------- */

/* Limit of the arguments for leakreport: the kernel limits arguments and environment together to 2
 * MiB. */
#define ARGUMENT_BYTES (1u << 20)

/* Adds the command line of the program. The report names a command that shows more; the recording
 * files are removed, so that command must be leakrun with the program. */
static void add_again_option(struct string_list *command, char **program)
{
    char *line = string_format("--again=");
    for (; *program; program++) {
        char *word = shell_quote(*program);
        char *longer = string_format("%s%s%s", line, strchr(line, '=')[1] ? " " : "", word);
        free(word);
        free(line);
        line = longer;
    }
    string_list_add(command, line);
    free(line);
}

static void add_report_options(struct string_list *command, const char *program,
                               const struct args *args)
{
    string_list_add(command, program);
    for (size_t i = 0; i < args->for_report.count && !args->no_report; i++)
        string_list_add(command, args->for_report.at[i]);
    if (args->error_exitcode)
        string_list_add(command, "--error-exitcode=1");
    if (args->errors_for)
        string_list_addf(command, "--errors-for=%s", args->errors_for);
}

static void add_followed(struct string_list *command, const struct string_list *followed)
{
    for (size_t i = 0; i < followed->count; i++)
        string_list_addf(command, "--followed=%s", followed->at[i]);
}

/* Adds the heap graph to an HTML report, if the program wrote one. */
static void add_heap(struct string_list *command, const struct args *args)
{
    char *path = args_graph_path(args);
    bool page = false;
    for (size_t i = 0; i < args->for_report.count; i++)
        page |= strcmp(args->for_report.at[i], "--format=html") == 0;
    if (page && path && access(path, R_OK) == 0)
        string_list_addf(command, "--heap=%s", path);
    free(path);
}

static void make_report_command(struct string_list *command, const char *program,
                                const struct args *args, const struct string_list *followed)
{
    add_report_options(command, program, args);
    add_followed(command, followed);
    add_heap(command, args);
    if (!args->keep)
        add_again_option(command, args->program);
    string_list_add(command, "--");
}

static void add_store_paths(struct string_list *command, struct store_list *stores)
{
    size_t bytes = 0, left_out = 0;
    for (size_t i = 0; i < stores->count; i++) {
        if (!stores->at[i].readable)
            continue;
        const char *path = stores->at[i].kept ? stores->at[i].kept : stores->at[i].path;
        bytes += strlen(path) + 1 + sizeof(char *);
        stores->at[i].left_out = bytes > ARGUMENT_BYTES;
        if (stores->at[i].left_out)
            left_out++;
        else
            string_list_add(command, path);
    }
    if (left_out)
        print_notice("too many processes for one report: %zu left out", left_out);
}

/* Starts leakreport. Returns -1 when exec succeeded, else an exit status, after a message. */
static int start_reporter(struct child *child, const char *program,
                          const struct string_list *command, int output,
                          const struct string_list *callers)
{
    struct string_list environment;
    environment_for_helper(&environment, callers);
    struct launch launch = {.path = program,
                            .argv = command->at,
                            .envp = environment.at,
                            .output = output,
                            .no_sigpipe = true};
    int status = child_start(child, &launch);
    string_list_free(&environment);
    return status;
}

bool report_check_options(const char *program, const struct args *args,
                          const struct string_list *environment)
{
    struct string_list command = {0};
    int status = -1, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    add_report_options(&command, program, args);
    if (command.count == 1 || nowhere < 0) {
        status = 0;
    } else {
        /* --help makes leakreport end with success; after a wrong option leakreport fails before
         * --help */
        string_list_add(&command, "--help");
        struct child child;
        if (start_reporter(&child, program, &command, nowhere, environment) < 0)
            status = child_wait(&child);
    }
    if (nowhere >= 0)
        close(nowhere);
    string_list_free(&command);
    return status == 0;
}

/* Values in place of an exit status of leakreport. REPORT_FAILED: it failed, after a message;
 * REPORT_INTERRUPTED: the user ended it. */
enum { REPORT_FAILED = -1, REPORT_INTERRUPTED = -2 };

static int report_killed(int sig)
{
    if (child_asks_for_end(sig))
        return REPORT_INTERRUPTED;
    print_notice("leakreport was killed by signal %d (%s)", sig, strsignal(sig));
    return REPORT_FAILED;
}

/* Runs leakreport over all readable recording files, in their order. The program owns stdout, so
 * leakreport writes to stderr; with --to, to stdout; with --no-report, nowhere. Returns the exit
 * status of leakreport, or REPORT_FAILED or REPORT_INTERRUPTED. */
static int report_run(const char *program, const struct args *args, struct store_list *stores,
                      const struct string_list *environment, const struct string_list *followed)
{
    struct string_list command = {0};
    make_report_command(&command, program, args, followed);
    add_store_paths(&command, stores);
    int output = args->no_report ? open("/dev/null", O_WRONLY | O_CLOEXEC)
                 : args->to      ? STDOUT_FILENO /* used for the target "stdout" only */
                                 : STDERR_FILENO;
    struct child child;
    int result = REPORT_FAILED;
    if (start_reporter(&child, program, &command, output, environment) < 0) {
        int status = child_supervise(&child); /* not child_wait(): Ctrl-Z must stop leakwatch as
                                               * well */
        result = WIFEXITED(status) ? WEXITSTATUS(status) : report_killed(WTERMSIG(status));
    }
    if (args->no_report && output >= 0)
        close(output);
    string_list_free(&command);
    return result;
}

/* ---- Ending the run: copies, processes that still run, exit status --------------------------- */

/* Copies the recording files for --keep: FILE.leak for the program, FILE.PID.leak for other
 * processes, FILE.PID.N.leak for a program that one of them executed later (exec). False: a file
 * was not copied, and a message says why. */
static bool keep_stores(struct store_list *stores, const struct args *args)
{
    size_t stem = strlen(args->keep);
    if (stem > 5 && strcmp(args->keep + stem - 5, ".leak") == 0)
        stem -= 5;
    bool good = true;
    for (size_t i = 0; i < stores->count; i++) {
        struct store_entry *store = &stores->at[i];
        if (!store->readable)
            continue;
        int earlier = 0; /* number of programs that this process executed earlier */
        for (size_t j = 0; j < i; j++)
            earlier += stores->at[j].readable && stores->at[j].pid == store->pid;
        char number[16] = "";
        if (earlier)
            snprintf(number, sizeof number, ".%d", earlier + 1);
        char *to = i == 0 ? strdup(args->keep)
                          : string_format("%.*s.%d%s.leak", (int)stem, args->keep, (int)store->pid,
                                          number);
        if (to && store_entry_copy(store, to, args->force)) {
            store->kept = to; /* the report reads this copy, and names it */
            continue;
        }
        good = false;
        free(to);
    }
    return good;
}

/* Prints the names of the processes that still run. True: there are some. Processes without a
 * recording file are named, too: they have not opened it yet, or libleak cannot track them. alone:
 * wait_for_survivors() found none, so only those with a recording file are searched. */
static bool name_survivors(const struct session *session, const struct store_list *stores,
                           bool alone, const struct args *args)
{
    pid_t *pids = NULL;
    size_t found = alone ? 0 : proc_find_users(session->users, &pids), said = 0;
    for (size_t i = 0; i < stores->count; i++) {
        const struct store_entry *store = &stores->at[i];
        /* A process may have run several programs, one after another by exec; only the last of them
         * still runs. */
        bool is_last = true;
        for (size_t j = i + 1; j < stores->count; j++)
            is_last &= stores->at[j].pid != store->pid;
        if (!store->lives || !is_last)
            continue;
        said++;
        if (!args->quiet)
            print_notice("still running: pid %d (%.*s); recording file: %s", (int)store->pid,
                         (int)store_name_program_length(store->name), store->name, store->path);
        for (size_t j = 0; j < found; j++)
            if (pids[j] == store->pid)
                pids[j] = 0;
    }
    for (size_t i = 0; i < found; i++)
        if (pids[i] > 0) {
            said++;
            if (!args->quiet)
                print_notice("still running: pid %d, which has no recording file yet; see %s",
                             (int)pids[i], session->dir);
        }
    free(pids);
    return said > 0;
}

/* Says whether libleak tracked the program itself; if its process called exec, the last program
 * that it executed. gdb: the child is gdb, so any tracked program counts. */
static bool was_tracked(const struct store_list *stores, const struct child *child, bool gdb)
{
    bool tracked = false;
    for (size_t i = 0; i < stores->count; i++) {
        const struct store_entry *store = &stores->at[i];
        if (gdb)
            tracked |= store->tracked;
        else if (store_entry_is_of(store, child->pid, child->start_time))
            tracked = store->tracked && store->end_how != LEAK_END_EXEC;
    }
    return tracked;
}

static bool has_readable_store(const struct store_list *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        if (stores->at[i].readable)
            return true;
    return false;
}

/* A process that ends within this time, like the other end of a pipe, is not named as still
 * running. */
#define SURVIVOR_STEPS 6
#define SURVIVOR_STEP_NS 5000000

/* Waits for processes that run longer than the program. True: none is left. */
static bool wait_for_survivors(const struct session *session)
{
    for (int i = 0; i < SURVIVOR_STEPS; i++) {
        pid_t *pids;
        size_t found = proc_find_users(session->users, &pids);
        free(pids);
        if (!found)
            return true;
        nanosleep(&(struct timespec){0, SURVIVOR_STEP_NS}, NULL);
    }
    return false;
}

/* The result of the report, for --error-exitcode. */
enum finding {
    FOUND_NOTHING,
    FOUND_LEAKS,
    FOUND_TOO_LITTLE, /* evidence is missing, so leaks cannot be excluded; a message has said why */
    FOUND_UNKNOWN,
    FOUND_INTERRUPTED
};

/* Says whether a recording file is missing from the report, so that with --error-exitcode leaks
 * cannot be excluded. */
static bool lacks_evidence(const struct store_list *stores, const struct args *args)
{
    for (size_t i = 0; args->error_exitcode && i < stores->count; i++) {
        const struct store_entry *store = &stores->at[i];
        if (store->lives || (store->readable && !store->left_out))
            continue;
        print_notice("pid %d (%.*s): its recording file %s: leaks may be missing, so exit status "
                     "%d",
                     (int)store->pid, (int)store_name_program_length(store->name), store->name,
                     store->readable ? "was left out" : "cannot be read", STATUS_NOTHING_TRACKED);
        return true;
    }
    return false;
}

static enum finding report_stores(struct store_list *stores, const struct args *args,
                                  const char *reporter, const struct string_list *environment,
                                  const struct string_list *followed)
{
    if (!has_readable_store(stores)) {
        print_notice(
            "WARNING: nothing was tracked: no process left a recording file, so leaks are unknown "
            "(leakreport preflight %s may say why)",
            args->program[0]);
        return FOUND_NOTHING;
    }
    if (args->no_report && !args->error_exitcode)
        return FOUND_NOTHING;
    if (!reporter)
        print_notice("leakreport is missing (build it with make, or make install): no report");
    int status =
        reporter ? report_run(reporter, args, stores, environment, followed) : REPORT_FAILED;
    switch (status) {
    case 0:
        return lacks_evidence(stores, args) ? FOUND_TOO_LITTLE : FOUND_NOTHING;
    case 1:
        return FOUND_LEAKS;
    case STATUS_NOTHING_TRACKED:
        return FOUND_TOO_LITTLE;
    case REPORT_INTERRUPTED:
        return FOUND_INTERRUPTED;
    default:
        return FOUND_UNKNOWN;
    }
}

/* Returns the wait status with which leakwatch ends. */
static int final_status(int wait_status, const struct args *args, enum finding finding,
                        bool tracked)
{
    /* The exit status of a program that failed itself is never changed. */
    if (!args->error_exitcode || !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return wait_status;
    if (finding == FOUND_LEAKS)
        return W_EXITCODE(args->error_exitcode, 0);
    /* If the report failed, a test for leaks must fail, too. */
    if (finding == FOUND_UNKNOWN || finding == FOUND_INTERRUPTED)
        return W_EXITCODE(STATUS_INTERNAL_ERROR, 0);
    if (finding == FOUND_TOO_LITTLE)
        return W_EXITCODE(STATUS_NOTHING_TRACKED, 0);
    if (!tracked) {
        print_notice("nothing of %s could be tracked: exit status %d", args->program[0],
                     STATUS_NOTHING_TRACKED);
        return W_EXITCODE(STATUS_NOTHING_TRACKED, 0);
    }
    return wait_status;
}

/* Reads the lines of a file that another process wrote; the caller frees them. NULL: there are
 * none. */
static char *read_lines(int file)
{
    char text[2048];
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0';
    return *text ? string_format("%s", text) : NULL;
}

char *report_blocks_to_follow(const struct session *session, const struct child *child,
                              const struct args *args, const char *reporter,
                              const struct string_list *environment,
                              const struct string_list *followed)
{
    struct store_list stores;
    struct string_list command = {0};
    struct child helper;
    char *blocks = NULL;
    int answer = memfd_create("leakrun", MFD_CLOEXEC);
    store_list_read(&stores, session->dir, child->pid, child->start_time);
    add_report_options(&command, reporter, args);
    add_followed(&command, followed);
    string_list_addf(&command, "--blocks-to-follow=%s", args->when_lost);
    string_list_add(&command, "--");
    add_store_paths(&command, &stores);
    if (answer >= 0 && has_readable_store(&stores) &&
        start_reporter(&helper, reporter, &command, answer, environment) < 0 &&
        child_wait(&helper) == 0)
        blocks = read_lines(answer);
    if (answer >= 0)
        close(answer);
    string_list_free(&command);
    store_list_free(&stores);
    return blocks;
}

int report_conclude(struct session *session, const struct child *child, int wait_status,
                    const struct args *args, const char *reporter,
                    const struct string_list *environment, const struct string_list *followed)
{
    struct store_list stores;
    bool alone = wait_for_survivors(session);
    store_list_read(&stores, session->dir, child->pid, child->start_time);
    if (!args->gdb)
        store_list_mark_end(&stores, child->pid, child->start_time, wait_status,
                            oom_kill_ended(wait_status, child->oom_kills));
    bool leave = args->keep && !keep_stores(&stores, args);
    enum finding finding = report_stores(&stores, args, reporter, environment, followed);
    /* The session directory stays only if a message names it; otherwise the user would never find
     * it. */
    if (finding == FOUND_UNKNOWN && !args->keep)
        leave = print_notice("recording file kept: leakreport %s", stores.at[0].path);
    bool tracked = was_tracked(&stores, child, args->gdb);
    if (name_survivors(session, &stores, alone, args) || leave)
        session_leave(session);
    else
        session_remove(session);
    store_list_free(&stores);
    return final_status(wait_status, args, finding, tracked);
}
