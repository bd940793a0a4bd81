#include "preload/process/reports.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/children.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/process/report_targets.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/base/lock.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MOST 10

static int periodic_child;   /* pid of the leakreport that writes a periodic report; 0: none */
static bool has_logged;      /* the reason why there are no periodic reports was logged */
static bool periodic_failed; /* no further periodic reports are made; the reason was logged */
/* Something was written to the target of the report at exit; so that report must be appended. */
static bool has_written;
static struct turnstile report_turn; /* held by the thread that writes a report */

void reports_start(void)
{
    periodic_failed = false;
    report_targets_start();
}

/* ---- Passing environment and recording file to leakreport ------------------------------------ */

/* Makes the environment for leakreport: the program's, but without libleak. *size: size of its
 * memory. */
static char **make_environment(size_t *size)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    *size = (count + 2) * sizeof *environ;
    char **clean = arena_map(*size);
    for (size_t i = 0; clean && i < count; i++)
        if (!starts_with(environ[i], "LD_PRELOAD="))
            clean[kept++] = environ[i];
    if (clean)
        clean[kept] = (char *)LEAK_HELPER_ENTRY;
    return clean;
}

/* Copies a recording that has no file to a file in memory, and returns its descriptor. -1: it
 * failed, and the log says so. */
static int copy_to_memory_file(char *path, size_t size)
{
    int fd = sys_memfd("leak");
    if (fd < 0) {
        log_line(
            "no report: the recording needs a file in memory for leakreport, and there is none",
            NULL);
        return -1;
    }
    const char *from = (const char *)store_header;
    for (uint64_t left = store_header->used; left;) {
        ssize_t written = sys_write(fd, from, left);
        if (written <= 0) {
            sys_close(fd);
            log_line("no report: the recording cannot be copied for leakreport: ",
                     store_error_text(written), NULL);
            return -1;
        }
        from += written;
        left -= written;
    }
    struct strbuf text = strbuf_on(path, size);
    strbuf_add_fd_path(&text, fd);
    return fd;
}

/* Writes the path of the recording for leakreport. *memory: a descriptor that the caller must
 * close, or -1. False: leakreport cannot read the recording, and the log says so. */
static bool name_recording(char *path, size_t size, int *memory)
{
    struct strbuf text = strbuf_on(path, size);
    *memory = -1;
    if (store_path()[0]) {
        strbuf_add(&text, store_path());
        return true;
    }
    /* A write beyond the limit raises SIGXFSZ, even in a memfd. */
    if (sys_rlimit(RLIMIT_FSIZE) < store_header->used) {
        log_line("no report: the file size limit (ulimit -f) leaves no room to hand it over", NULL);
        return false;
    }
    *memory = copy_to_memory_file(path, size);
    return *memory >= 0;
}

/* ---- Running leakreport ---------------------------------------------------------------------- */

struct command {
    const char *tool;
    char *argument[ARGUMENTS_MOST];
    char **environment;
    size_t environment_size;
    int memory;
    struct report_targets targets;
    char store[PATH_MAX], only[32], text[48];
};

/* Descriptors for a report whose lines the program's hook filters; -1: none. */
struct redirect {
    /* to: the only target of this leakreport. from: the text that it sends to the targets of the
     * options. */
    int to, from;
};
static const struct redirect no_redirect = {-1, -1};

static void name_thread(struct command *command, uint32_t serial)
{
    struct strbuf text = STRBUF_ON(command->only);
    strbuf_add(&text, "--only=thread:T");
    strbuf_add_number(&text, serial);
}

static void name_text(struct command *command, int fd)
{
    struct strbuf text = STRBUF_ON(command->text);
    strbuf_add(&text, "--text=");
    strbuf_add_fd_path(&text, fd);
}

static bool make_command(struct command *command, const struct reports_request *request,
                         struct redirect redirect)
{
    unsigned count = 0;
    command->tool = leakreport_find();
    if (!command->tool) {
        log_line("leakreport not found beside libleak.so nor in " LEAKREPORT_BINDIR
                 "; run it by hand on ",
                 store_path(), NULL);
        return false;
    }
    command->argument[count++] = "leakreport";
    if (request->heap)
        command->argument[count++] = "--format=heap";
    if (request->thread) {
        name_thread(command, request->thread);
        command->argument[count++] = command->only;
    }
    if (redirect.to >= 0)
        report_targets_name_fd(&command->targets, redirect.to);
    else if (!report_targets_name(&command->targets, request->file))
        return false;
    if (redirect.from >= 0) {
        name_text(command, redirect.from);
        command->argument[count++] = command->text;
    }
    if (command->targets.output[0])
        command->argument[count++] = command->targets.output;
    if (command->targets.to[0])
        command->argument[count++] = command->targets.to;
    if (request->file || options_current.report_every || has_written)
        command->argument[count++] = "--append";
    if (!name_recording(command->store, sizeof command->store, &command->memory))
        return false;
    command->argument[count++] = command->store;
    command->argument[count] = NULL;
    command->environment = make_environment(&command->environment_size);
    report_targets_open(&command->targets, redirect.from);
    return true;
}

static void close_command(struct command *command)
{
    if (command->environment)
        arena_unmap(command->environment, command->environment_size);
    if (command->memory >= 0)
        sys_close(command->memory);
    report_targets_close(&command->targets);
}

/* ---- The report hook: libleak_set_report_hook ---------------------------------------------------
 *
 * Another process makes the report. If the program has set a hook, that process writes the report
 * to a file in memory. The hook is called for each line, and the lines that it accepts are
 * collected in a second file, which a second leakreport sends to the targets. */

struct hook_files {
    /* Descriptors of the report, and of the lines that the hook accepts; closed on exec. */
    int made, left;
};

/* Opens the two files in memory (memfd) of the report hook. False: the kernel refuses them, and
 * nothing must be closed. */
static bool open_hook_files(struct hook_files *files)
{
    files->made = sys_memfd_cloexec("report");
    files->left = files->made < 0 ? -1 : sys_memfd_cloexec("lines");
    if (files->left >= 0)
        return true;
    if (files->made >= 0)
        sys_close(files->made);
    return false;
}

static void close_hook_files(const struct hook_files *files)
{
    sys_close(files->made);
    sys_close(files->left);
}

/* Calls the hook for a line, and writes the line with its newline if the hook accepts it. Returns
 * how many bytes were written. line[length] must be writable. */
static size_t filter_line(const struct hook_files *files, char *line, size_t length)
{
    size_t left = 0;
    line[length] = '\0';
    int answer = log_call_hook(line);
    line[length] = '\n';
    if (answer != LOG_SWALLOW)
        left = length + 1;
    if (left && sys_write(files->left, line, left) != (ssize_t)left)
        left = 0;
    if (answer == LOG_TRAP)
        sys_raise_trap();
    return left;
}

static bool filter_text(const struct hook_files *files, char *text, size_t size)
{
    size_t left = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        left += filter_line(files, text + at, length);
        at += length + 1;
    }
    return left;
}

/* Calls the hook for each line of the report; must be called outside of the runtime. The mapping is
 * a byte longer than the report, for the NUL of a last line without newline. False: the hook has
 * accepted no line. */
static bool filter_report(const struct hook_files *files)
{
    struct stat now;
    if (sys_fstat(files->made, &now) < 0 || now.st_size <= 0)
        return false;
    size_t size = (size_t)now.st_size;
    /* A file beyond the limit raises SIGXFSZ, even a memfd. */
    if (sys_rlimit(RLIMIT_FSIZE) <= size) {
        log_line("no report: the file size limit (ulimit -f) leaves no room to show its lines",
                 NULL);
        return false;
    }
    char *text =
        sys_truncate(files->made, size + 1) < 0 ? NULL : sys_map_file(files->made, size + 1);
    if (!text)
        return false;
    bool left = filter_text(files, text, size);
    sys_unmap(text, size + 1);
    return left;
}

/* ---- Writing reports, one at a time ---------------------------------------------------------- */

static struct command command; /* used by the thread that holds report_turn */

static bool run_and_wait(const struct reports_request *request, struct redirect redirect)
{
    int status = -1;
    if (!make_command(&command, request, redirect))
        return false;
    if (!command.environment ||
        (status = leakreport_run(command.tool, command.argument, command.environment,
                                 &command.targets.streams)) < 0)
        log_line("leakreport could not be started; run it by hand on ", command.store, NULL);
    close_command(&command);
    return status == 0;
}

static bool run_with_hook(const struct reports_request *request)
{
    struct hook_files files;
    if (!open_hook_files(&files))
        return run_and_wait(request, no_redirect);
    bool done = run_and_wait(request, (struct redirect){.to = files.made, .from = -1});
    if (done && filter_report(&files))
        done = run_and_wait(request, (struct redirect){.to = -1, .from = files.left});
    close_hook_files(&files);
    return done;
}

bool reports_write(const struct reports_request *request)
{
    if ((!request->file && !report_targets_usable()) ||
        !turnstile_enter(&report_turn, options_current.exit_budget))
        return false;
    bool done = log_has_hook() ? run_with_hook(request) : run_and_wait(request, no_redirect);
    has_written |= !request->file;
    turnstile_leave(&report_turn);
    return done;
}

bool reports_write_at_exit(void)
{
    if (options_current.report_every)
        reports_write(&(struct reports_request){.heap = true});
    if (options_current.report == REPORT_EXIT)
        reports_write(&(struct reports_request){0});
    return options_current.report_every || options_current.report == REPORT_EXIT;
}

static bool log_once(const char *why)
{
    if (!has_logged)
        log_line("report_every: ", why, NULL);
    has_logged = true;
    return false;
}

/* Says whether a periodic report may start. To start it the process forks, which stops the program
 * as long as for a leak check. */
static bool may_start_periodic(void)
{
    if (periodic_child && !children_reap(periodic_child))
        return false; /* the last periodic report is not complete */
    periodic_child = 0;
    if (!report_targets_usable())
        return false;
    if (snapshot_predicted_pause() > options_current.pause_budget)
        return log_once("a report would hold the program for longer than pause_budget allows: "
                        "none is written until the heap is smaller");
    return true;
}

static void start_command(void)
{
    int pid = command.environment ? sys_spawn(command.tool, command.argument, command.environment,
                                              &command.targets.streams)
                                  : -1;
    if (pid > 0) {
        children_add(pid);
        periodic_child = pid;
    } else {
        log_once("leakreport could not be started");
    }
    close_command(&command);
}

void reports_write_periodic(void)
{
    if (!turnstile_try(&report_turn))
        return;
    if (!periodic_failed && may_start_periodic()) {
        periodic_failed =
            !make_command(&command, &(struct reports_request){.heap = true}, no_redirect);
        if (!periodic_failed)
            start_command();
    }
    turnstile_leave(&report_turn);
}

void reports_fork_child(void)
{
    periodic_child = 0;
    turnstile_reset(&report_turn);
}
