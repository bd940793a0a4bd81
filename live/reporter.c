/* reporter.c - see reporter.h. */
#include "live/reporter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/follow.h"
#include "common/base/error.h"

/* Of the 2 MiB of arguments and environment the kernel takes. */
#define ARGUMENT_BYTES (1u << 20)

/* The report names a command to see more; with the stores gone that is leakrun again. */
static void again_add(struct string_list *command, char **program)
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

static void options_add(struct string_list *command, const char *program, const struct args *args)
{
    string_list_add(command, program);
    for (size_t i = 0; i < args->for_report.count && !args->no_report; i++)
        string_list_add(command, args->for_report.at[i]);
    if (args->error_exitcode)
        string_list_add(command, "--error-exitcode=1");
    if (args->errors_for)
        string_list_addf(command, "--errors-for=%s", args->errors_for);
}

static void command_make(struct string_list *command, const char *program, const struct args *args)
{
    options_add(command, program, args);
    if (!args->keep)
        again_add(command, args->program);
    string_list_add(command, "--");
}

static void stores_add(struct string_list *command, const struct store_list *stores)
{
    size_t bytes = 0, left_out = 0;
    for (size_t i = 0; i < stores->count; i++) {
        if (!stores->at[i].readable)
            continue;
        const char *path = stores->at[i].kept ? stores->at[i].kept : stores->at[i].path;
        bytes += strlen(path) + 1 + sizeof(char *);
        if (bytes <= ARGUMENT_BYTES)
            string_list_add(command, path);
        else
            left_out++;
    }
    if (left_out)
        print_notice("%zu processes more than one report can take are left out of it", left_out);
}

bool reporter_check(const char *program, const struct args *args,
                    const struct string_list *environment)
{
    struct string_list command = {0};
    int status = -1, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    options_add(&command, program, args);
    if (command.count == 1 || nowhere < 0) {
        status = 0;
    } else {
        /* A wrong option stops it before it comes to this one. */
        string_list_add(&command, "--help");
        struct launch launch = {
            .path = program, .argv = command.at, .envp = environment->at, .output = nowhere};
        struct child child;
        if (child_start(&child, &launch) < 0)
            status = child_wait(&child);
    }
    if (nowhere >= 0)
        close(nowhere);
    string_list_free(&command);
    return status == 0;
}

int reporter_run(const char *program, const struct args *args, const struct store_list *stores,
                 const struct string_list *environment)
{
    struct string_list command = {0};
    command_make(&command, program, args);
    stores_add(&command, stores);
    int output = args->no_report ? open("/dev/null", O_WRONLY | O_CLOEXEC)
                 : args->to      ? STDOUT_FILENO /* for --to=stdout; else nothing goes there */
                                 : STDERR_FILENO;
    struct launch launch = {
        .path = program, .argv = command.at, .envp = environment->at, .output = output};
    struct child child;
    int result = -1;
    if (child_start(&child, &launch) < 0) {
        int status = follow_child(&child); /* Ctrl-Z stops it, and so us */
        if (WIFEXITED(status))
            result = WEXITSTATUS(status);
        else
            print_notice("leakreport was ended by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    }
    if (args->no_report && output >= 0)
        close(output);
    string_list_free(&command);
    return result;
}
