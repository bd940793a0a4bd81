/* main.c - leakwatch, the part of leakrun in C: starts a program with libleak, waits for its end,
 * and makes the report.
 *
 * The recording files of the program, and of all processes that it starts, go to a private
 * directory (session.h). The program (child.h) gets two more environment variables. At the end
 * leakreport reads the files. leakwatch itself reads only page 0 of a recording file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/args.h"
#include "live/child.h"
#include "live/program_environment.h"
#include "live/oom_kill.h"
#include "common/base/proc.h"
#include "live/report.h"
#include "common/base/error.h"
#include "common/base/term_text.h"
#include "common/store/store_dir.h"
#include "live/session.h"
#include "live/when_lost.h"
#include "common/preflight/preflight.h"

/* Opens /dev/null for each standard descriptor that the caller closed, so that no file of leakwatch
 * gets its number. For the program it stays closed. */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* The paths of libleak.so and leakreport: those that scripts/leakrun found, else beside
 * leakwatch. */
struct parts {
    char *library, *reporter;
};

static void find_parts(struct parts *parts, const struct args *args)
{
    parts->library = proc_find_tool(args->library, "libleak.so");
    if (!parts->library)
        fatal_exit(STATUS_INTERNAL_ERROR,
                   "libleak.so is missing%s%s: build it (make) or install it "
                   "(make install)",
                   args->library ? ": " : "", args->library ? args->library : "");
    /* Without leakreport the program is run nevertheless, and its recording file is kept. */
    parts->reporter = proc_find_tool(args->reporter, "leakreport");
    char *library_32 = proc_find_library_32(parts->library);
    preflight_take_32_bit(library_32);
    free(library_32);
}

/* Executes leakselftest in place of leakwatch; it starts leakwatch again for its own test
 * program. */
static int exec_self_test(const struct parts *parts, const struct string_list *environment)
{
    char *judge = proc_find_tool(NULL, "leakselftest"),
         *planter = proc_find_tool(NULL, "leakplant");
    char *watch = realpath("/proc/self/exe", NULL);
    struct string_list helpers;
    environment_for_helper(&helpers, environment);
    if (judge && planter && watch && parts->reporter)
        execve(judge, (char *[]){judge, watch, parts->library, parts->reporter, planter, NULL},
               helpers.at);
    print_notice("the self-test is missing a part: %s", !parts->reporter ? "leakreport"
                                                        : !planter       ? "leakplant"
                                                                         : "leakselftest");
    return STATUS_INTERNAL_ERROR;
}

/* Executes leakreport in place of leakwatch, to print the built-in suppression rules. */
static int exec_print_rules(const struct parts *parts, const struct string_list *environment)
{
    struct string_list helpers;
    environment_for_helper(&helpers, environment);
    if (parts->reporter)
        execve(parts->reporter,
               (char *[]){parts->reporter, (char *)"--default-suppressions=print", NULL},
               helpers.at);
    print_notice("leakreport cannot be run: it has the built-in rules");
    return STATUS_INTERNAL_ERROR;
}

/* Ends leakwatch if the file exists, without --force. This is checked before the program starts,
 * not after a long run. */
static void refuse_to_overwrite(const struct args *args, const char *path)
{
    struct stat st;
    if (path && !args->force && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        fatal_exit(STATUS_INTERNAL_ERROR, "%s exists (--force overwrites)", path);
}

/* Executes leakctl in place of leakwatch; it attaches libleak, waits, and starts leakreport. */
static int exec_attach(const struct args *args, const struct parts *parts,
                       const struct string_list *environment)
{
    struct string_list helpers, command = {0};
    char *control = proc_find_tool(NULL, "leakctl");

    refuse_to_overwrite(args, args->append ? NULL : args->output);
    string_list_add(&command, "leakctl");
    string_list_add(&command, "attach");
    string_list_add(&command, "--for=end");
    if (args->dir)
        string_list_addf(&command, "--dir=%s", args->dir);
    if (*args->runtime)
        string_list_addf(&command, "--options=%s", args->runtime);
    string_list_add(&command, args->pid);
    for (size_t i = 0; i < args->for_report.count; i++)
        string_list_add(&command, args->for_report.at[i]);
    environment_for_helper(&helpers, environment);
    if (control && parts->reporter)
        execve(control, command.at, helpers.at);
    print_notice("%s cannot be run: --pid needs it (make, or make install)",
                 control ? "leakreport" : "leakctl");
    return STATUS_INTERNAL_ERROR;
}

/* Removes the graph file of an earlier run. If the file exists, libleak.so assumes that another
 * process wrote it, and adds the pid to the name of the new file. */
static void make_way_for_graph(const struct args *args)
{
    char *path = args_graph_path(args);
    if (path)
        refuse_to_overwrite(args, path);
    if (path && args->force)
        unlink(path);
    free(path);
}

/* Returns the path of the program; if it cannot be run, prints a message and ends leakwatch. */
static char *find_program(const struct args *args, const struct string_list *environment)
{
    struct preflight preflight;
    const char *path = environment_value(environment, "PATH");
    char *program = preflight_program(args->program[0], path, args->cwd, &preflight);
    if (preflight.status)
        fatal_exit(preflight.status, "%s", preflight.line);
    if (preflight.line[0] && !args->quiet)
        print_notice("warning: %s", preflight.line);
    return program;
}

static int start_program(struct child *child, const struct args *args, const char *program,
                         const struct session *session, const struct string_list *callers)
{
    struct string_list environment = {0}, set = {0}, command = {0};
    environment_make_settings(&set, callers, args, session);
    struct launch launch = {.path = program, .argv = args->program, .cwd = args->cwd, .output = -1};
    char *gdb = NULL;
    if (args->gdb) {
        struct preflight preflight;
        gdb = preflight_program("gdb", environment_value(callers, "PATH"), NULL, &preflight);
        if (preflight.status)
            fatal_exit(STATUS_INTERNAL_ERROR, "--gdb needs gdb, which is not installed");
        environment_gdb_command(&command, &set, program, args->program);
        environment_for_helper(&environment, callers);
        launch.path = gdb;
        launch.argv = command.at;
    } else {
        string_list_copy(&environment, callers);
        for (size_t i = 0; i + 1 < set.count; i += 2)
            environment_set(&environment, set.at[i], set.at[i + 1]);
    }
    launch.envp = environment.at;
    if (args->verbose)
        print_notice("recording files are in %s", session->dir);
    int status = child_start(child, &launch);
    free(gdb);
    string_list_free(&command);
    string_list_free(&set);
    string_list_free(&environment);
    return status;
}

static int conclude(struct session *session, const struct child *child,
                    const struct when_lost_program *program)
{
    struct when_lost when;
    when_lost_run(&when, program);
    int status = report_conclude(session, child, program->wait_status, program->args,
                                 program->reporter, program->environment, &when.dirs);
    when_lost_end(&when);
    return status;
}

/* Runs the program and makes the report. Returns -1 if leakwatch has to end as *wait_status says,
 * else the exit status of leakwatch. */
static int run_program(const struct args *args, const struct parts *parts,
                       const struct string_list *environment, int *wait_status)
{
    struct session session;
    struct child child;
    struct input input = {.offset = -1, .kept = -1, .typed.file = -1};

    refuse_to_overwrite(args, args->keep);
    refuse_to_overwrite(args, args->append ? NULL : args->output);
    make_way_for_graph(args);
    child_block_signals();
    if (parts->reporter && !report_check_options(parts->reporter, args, environment))
        return STATUS_INTERNAL_ERROR;
    char *program = find_program(args, environment);
    char *dir = environment_store_dir(args, environment);
    const char *runtime_dir = environment_value(environment, "XDG_RUNTIME_DIR");
    session_sweep(dir, runtime_dir);
    int status = STATUS_INTERNAL_ERROR;
    if (args->when_lost)
        input_begin(&input);
    if (session_make(&session, dir, parts->library, runtime_dir)) {
        child.oom_kills = oom_kill_count();
        struct when_lost_program again = {.args = args,
                                          .path = program,
                                          .library = parts->library,
                                          .reporter = parts->reporter,
                                          .dir = dir,
                                          .runtime_dir = runtime_dir,
                                          .environment = environment,
                                          .session = &session,
                                          .child = &child,
                                          .input = &input};
        again.began_ns = time_steady_ns();
        status = start_program(&child, args, program, &session, environment);
        if (status >= 0) {
            session_remove(&session);
        } else {
            again.wait_status = child_supervise(&child);
            *wait_status = conclude(&session, &child, &again);
        }
        input_end(&input);
    }
    free(dir);
    free(program);
    return status;
}

int main(int argc, char **argv)
{
    struct args args;
    struct parts parts = {0};
    struct string_list environment = {0};
    int wait_status = 0;

    hold_standard_descriptors();
    int status = args_parse(&args, argc, argv);
    if (status < 0 && args.environment_of) {
        status = environment_print(args.environment_of);
    } else if (status < 0) {
        environment_load(&environment);
        find_parts(&parts, &args);
        environment_forward_report_to(&args, &environment);
        status = args.self_test     ? exec_self_test(&parts, &environment)
                 : args.print_rules ? exec_print_rules(&parts, &environment)
                 : args.pid         ? exec_attach(&args, &parts, &environment)
                                    : run_program(&args, &parts, &environment, &wait_status);
    }
    free(parts.library);
    free(parts.reporter);
    string_list_free(&environment);
    args_free(&args);
    if (status < 0)
        exit_like_child(wait_status);
    return status;
}
