#include "preload/process/reports.h"
#include "preload/base/arena.h"
#include "preload/base/atomic.h"
#include "preload/base/children.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/process/report_targets.h"
#include "preload/process/report_hook.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/base/run_leakreport.h"
#include "preload/base/turnstile.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MOST 10

static int running;      /* a child: the report that nobody waits for; 0 = none */
static bool has_said;    /* that there is none, and why */
static bool cannot;      /* none every so often: a line has said why */
static bool asked_for;   /* one that went where the one at the end goes: that adds to it */
static struct turn turn; /* of the thread that makes one */

void reports_start(void)
{
    cannot = false;
    outlets_start();
}

/* ---- What it is handed ---------------------------------------------------------------------- */

/* The program's environment without what would load us again. *size: of the memory. */
static char **clean_environment(size_t *size)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    *size = (count + 1) * sizeof *environ;
    char **clean = arena_map(*size);
    for (size_t i = 0; clean && i < count; i++)
        if (!text_starts(environ[i], "LD_PRELOAD="))
            clean[kept++] = environ[i];
    return clean;
}

/* An account in memory only is handed over as an anonymous file; -1: it cannot be, and a line has
 * said so. */
static int copy_to_memory_file(char *path, size_t size)
{
    int fd = sys_memory_file("leak");
    if (fd < 0) {
        log_line("no report: there is no file in memory to hand it over", NULL);
        return -1;
    }
    const char *from = (const char *)store_header;
    for (uint64_t left = store_header->used; left;) {
        ssize_t written = sys_write(fd, from, left);
        if (written <= 0) {
            sys_close(fd);
            log_line("no report: the account cannot be copied to hand it over: ",
                     store_reason(written), NULL);
            return -1;
        }
        from += written;
        left -= written;
    }
    struct text text = text_on(path, size);
    text_add_descriptor(&text, fd);
    return fd;
}

/* False: there is no way to hand it over, and a line has said so. *memory: a descriptor to close,
 * or -1. */
static bool name_store(char *path, size_t size, int *memory)
{
    struct text text = text_on(path, size);
    *memory = -1;
    if (store_path()[0]) {
        text_add(&text, store_path());
        return true;
    }
    if (sys_limit(RLIMIT_FSIZE) < store_header->used) { /* SIGXFSZ, even for memory */
        log_line("no report: the file size limit (ulimit -f) leaves no room to hand it over", NULL);
        return false;
    }
    *memory = copy_to_memory_file(path, size);
    return *memory >= 0;
}

/* ---- Running it ----------------------------------------------------------------------------- */

struct command {
    const char *tool;
    char *argument[ARGUMENTS_MOST];
    char **environment;
    size_t environment_size;
    int memory;
    struct outlets outlets;
    char store[PATH_MAX], only[32], text[48];
};

/* Of a report that the program is shown on its way. Descriptors; -1: none. */
struct detour {
    int to, from; /* where it goes, whatever the options say; where its text lies ready */
};
static const struct detour straight = {-1, -1};

static void name_thread(struct command *command, uint32_t serial)
{
    struct text text = TEXT_ON(command->only);
    text_add(&text, "--only=thread:T");
    text_add_number(&text, serial);
}

static void name_text(struct command *command, int fd)
{
    struct text text = TEXT_ON(command->text);
    text_add(&text, "--text=");
    text_add_descriptor(&text, fd);
}

static bool make_command(struct command *command, const struct reports_wish *wish,
                         struct detour detour)
{
    unsigned count = 0;
    command->tool = tool_find();
    if (!command->tool) {
        log_line("leakreport not found beside libleak.so nor in " TOOL_BINDIR
                 "; run it by hand on ",
                 store_path(), NULL);
        return false;
    }
    command->argument[count++] = "leakreport";
    if (wish->heap)
        command->argument[count++] = "--format=heap";
    if (wish->thread) {
        name_thread(command, wish->thread);
        command->argument[count++] = command->only;
    }
    if (detour.to >= 0)
        outlets_name_descriptor(&command->outlets, detour.to);
    else if (!outlets_name(&command->outlets, wish->file))
        return false;
    if (detour.from >= 0) {
        name_text(command, detour.from);
        command->argument[count++] = command->text;
    }
    if (command->outlets.output[0])
        command->argument[count++] = command->outlets.output;
    if (command->outlets.to[0])
        command->argument[count++] = command->outlets.to;
    if (wish->file || track_options.report_every || asked_for)
        command->argument[count++] = "--append";
    if (!name_store(command->store, sizeof command->store, &command->memory))
        return false;
    command->argument[count++] = command->store;
    command->argument[count] = NULL;
    command->environment = clean_environment(&command->environment_size);
    outlets_open(&command->outlets, detour.from);
    return true;
}

static void drop_command(struct command *command)
{
    if (command->environment)
        arena_unmap(command->environment, command->environment_size);
    if (command->memory >= 0)
        sys_close(command->memory);
    outlets_close(&command->outlets);
}

/* ---- One at a time -------------------------------------------------------------------------- */

static struct command command; /* of whose turn it is */

static bool run_and_wait(const struct reports_wish *wish, struct detour detour)
{
    int status = -1;
    if (!make_command(&command, wish, detour))
        return false;
    if (!command.environment ||
        (status = tool_run(command.tool, command.argument, command.environment,
                           &command.outlets.streams)) < 0)
        log_line("leakreport could not be started; run it by hand on ", command.store, NULL);
    drop_command(&command);
    return status == 0;
}

static bool run_and_show(const struct reports_wish *wish)
{
    struct shown shown;
    if (!shown_begin(&shown))
        return run_and_wait(wish, straight);
    bool done = run_and_wait(wish, (struct detour){.to = shown.made, .from = -1});
    if (done && shown_lines(&shown))
        done = run_and_wait(wish, (struct detour){.to = -1, .from = shown.left});
    shown_end(&shown);
    return done;
}

bool reports_now(const struct reports_wish *wish)
{
    if ((!wish->file && !outlets_usable()) || !turn_take(&turn, track_options.exit_budget))
        return false;
    bool done = log_is_shown() ? run_and_show(wish) : run_and_wait(wish, straight);
    asked_for |= !wish->file;
    turn_end(&turn);
    return done;
}

bool reports_at_end(void)
{
    if (track_options.report_every)
        reports_now(&(struct reports_wish){.heap = true});
    if (track_options.report == REPORT_EXIT)
        reports_now(&(struct reports_wish){0});
    return track_options.report_every || track_options.report == REPORT_EXIT;
}

static bool say_once(const char *why)
{
    if (!has_said)
        log_line("report_every: ", why, NULL);
    has_said = true;
    return false;
}

/* The child is made of a copy of the process, as for a look. */
static bool may_begin(void)
{
    if (running && !children_bury(running))
        return false; /* the one before is still at work */
    running = 0;
    if (!outlets_usable())
        return false;
    if (snapshot_predicted_pause() > track_options.pause_budget)
        return say_once("a report would hold the program for longer than pause_budget allows: "
                        "none is written until the heap is smaller");
    return true;
}

static void begin(void)
{
    int pid = command.environment ? sys_run(command.tool, command.argument, command.environment,
                                            &command.outlets.streams)
                                  : -1;
    if (pid > 0) {
        children_add(pid);
        running = pid;
    } else {
        say_once("leakreport could not be started");
    }
    drop_command(&command);
}

void reports_take_turn(void)
{
    if (!turn_try(&turn))
        return;
    if (!cannot && may_begin()) {
        cannot = !make_command(&command, &(struct reports_wish){.heap = true}, straight);
        if (!cannot)
            begin();
    }
    turn_end(&turn);
}

void reports_fork_child(void)
{
    running = 0;
    turn_forget(&turn);
}
