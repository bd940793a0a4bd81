/* conclude.c - see conclude.h. */
#include "live/conclude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "live/oom.h"
#include "live/process.h"
#include "live/reporter.h"
#include "common/base/error.h"
#include "common/processes/store_list.h"
#include "common/store/store_dir.h"

/* FILE.leak for the program, FILE.PID.leak for the others; later programs of one pid
 * FILE.PID.N.leak. */
static bool stores_keep(struct store_list *stores, const struct args *args)
{
    size_t stem = strlen(args->keep);
    if (stem > 5 && strcmp(args->keep + stem - 5, ".leak") == 0)
        stem -= 5;
    bool good = true;
    for (size_t i = 0; i < stores->count; i++) {
        struct store_entry *store = &stores->at[i];
        if (!store->readable)
            continue;
        int earlier = 0; /* programs of the same process */
        for (size_t j = 0; j < i; j++)
            earlier += stores->at[j].readable && stores->at[j].pid == store->pid;
        char number[16] = "";
        if (earlier)
            snprintf(number, sizeof number, ".%d", earlier + 1);
        char *to = i == 0 ? strdup(args->keep)
                          : string_format("%.*s.%d%s.leak", (int)stem, args->keep, (int)store->pid,
                                          number);
        if (to && store_entry_copy(store, to, args->force)) {
            store->kept = to; /* what the report reads, and names */
            continue;
        }
        good = false;
        free(to);
    }
    return good;
}

/* Says which processes still run; true if any does. Some have no store: they are about to open it,
 * or libleak cannot follow them. */
static bool survivors_say(const struct session *session, const struct store_list *stores,
                          const struct args *args)
{
    pid_t *pids;
    size_t found = process_find(session->preload, &pids), said = 0;
    for (size_t i = 0; i < stores->count; i++) {
        const struct store_entry *store = &stores->at[i];
        /* Of several programs in one process the last one is running. */
        bool is_last = true;
        for (size_t j = i + 1; j < stores->count; j++)
            is_last &= stores->at[j].pid != store->pid;
        if (!store->lives || !is_last)
            continue;
        said++;
        if (!args->quiet)
            print_notice("still running: pid %d (%.*s); its account: %s", (int)store->pid,
                         (int)store_name_program_length(store->name), store->name, store->path);
        for (size_t j = 0; j < found; j++)
            if (pids[j] == store->pid)
                pids[j] = 0;
    }
    for (size_t i = 0; i < found; i++)
        if (pids[i] > 0) {
            said++;
            if (!args->quiet)
                print_notice("still running: pid %d, which has no account (yet); look in %s",
                             (int)pids[i], session->dir);
        }
    free(pids);
    return said > 0;
}

/* Whether libleak saw the program itself allocate anything. */
static bool was_tracked(const struct store_list *stores, const struct child *child, bool gdb)
{
    for (size_t i = 0; i < stores->count; i++)
        if ((gdb || store_entry_is_of(&stores->at[i], child->pid, child->start_time)) &&
            stores->at[i].tracked)
            return true;
    return false;
}

static bool any_readable(const struct store_list *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        if (stores->at[i].readable)
            return true;
    return false;
}

/* The other end of a pipe, a child about to be reaped: what ends within this is no survivor. */
#define SETTLE_STEPS 6
#define SETTLE_STEP_NS 5000000

static void settle(const struct session *session)
{
    for (int i = 0; i < SETTLE_STEPS; i++) {
        pid_t *pids;
        size_t found = process_find(session->preload, &pids);
        free(pids);
        if (!found)
            return;
        nanosleep(&(struct timespec){0, SETTLE_STEP_NS}, NULL);
    }
}

/* What the report found, for --error-exitcode. */
enum finding { FOUND_NOTHING, FOUND_LEAKS, FOUND_NO_ANSWER };

static enum finding report(const struct store_list *stores, const struct args *args,
                           const char *reporter, const struct string_list *environment)
{
    if (!any_readable(stores)) {
        print_notice(
            "WARNING: nothing was tracked: no process left an account, so this run says nothing "
            "about leaks (leakreport preflight %s may say why)",
            args->program[0]);
        return FOUND_NOTHING;
    }
    if (args->no_report && !args->error_exitcode)
        return FOUND_NOTHING;
    if (!reporter)
        print_notice("leakreport is missing (build it with make, or make install): no report");
    int status = reporter ? reporter_run(reporter, args, stores, environment) : -1;
    return status == 0 ? FOUND_NOTHING : status == 1 ? FOUND_LEAKS : FOUND_NO_ANSWER;
}

/* The wait status to end with: a ladder. */
static int verdict(int wait_status, const struct args *args, enum finding finding, bool tracked)
{
    /* The program's own failure is never hidden. */
    if (!args->error_exitcode || !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return wait_status;
    if (finding == FOUND_LEAKS)
        return W_EXITCODE(args->error_exitcode, 0);
    /* A test that asks for leaks must not pass because nobody looked. */
    if (finding == FOUND_NO_ANSWER)
        return W_EXITCODE(STATUS_INTERNAL_ERROR, 0);
    if (!tracked) {
        print_notice("nothing of %s could be tracked: exit status %d", args->program[0],
                     STATUS_NOTHING_TRACKED);
        return W_EXITCODE(STATUS_NOTHING_TRACKED, 0);
    }
    return wait_status;
}

int conclude(struct session *session, const struct child *child, int wait_status,
             const struct args *args, const char *reporter, const struct string_list *environment)
{
    struct store_list stores;
    settle(session);
    store_list_read(&stores, session->dir, child->pid, child->start_time);
    if (!args->gdb)
        store_list_mark_end(&stores, child->pid, child->start_time, wait_status,
                            oom_ended(wait_status, child->oom_kills));
    bool leave = args->keep && !stores_keep(&stores, args);
    enum finding finding = report(&stores, args, reporter, environment);
    if (finding == FOUND_NO_ANSWER && !args->keep) {
        print_notice("the account is kept: leakreport %s", stores.at[0].path);
        leave = true;
    }
    bool tracked = was_tracked(&stores, child, args->gdb);
    if (survivors_say(session, &stores, args) || leave)
        session_leave(session);
    else
        session_remove(session);
    store_list_free(&stores);
    return verdict(wait_status, args, finding, tracked);
}
