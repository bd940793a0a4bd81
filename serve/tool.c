/* tool.c - runs another program of libleak; described in tool.h. */
#include "serve/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"
#include "leak_store.h"

#define POLL_MS 200

extern char **environ;

/* Returns the path of a tool: beside leakserve in a build directory, else where make install puts
 * it. */
static char *find_tool(const char *name)
{
    char *path = proc_find_tool(NULL, name), *installed;

    if (path)
        return path;
    installed = string_format("%s/%s", LEAK_TOOLS, name);
    path = proc_find_tool(NULL, installed);
    free(installed);
    return path;
}

static int start_tool(const struct tool_run *run, char *path, int words, pid_t *pid)
{
    struct string_list arguments = {0}, variables = {0};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, pipe_only;
    int error;

    string_list_add(&arguments, path);
    for (char **at = run->arguments; *at; at++)
        string_list_add(&arguments, *at);
    for (char **at = environ; *at; at++)
        string_list_add(&variables, *at);
    string_list_add(&variables, LEAK_HELPER_ENTRY);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, run->output >= 0 ? run->output : words,
                                     STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
    /* the tool begins with no signal blocked, and with the default action of SIGPIPE, which
     * leakserve ignores */
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe_only);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn(pid, path, &actions, &attributes, arguments.at, variables.at);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    string_list_free(&arguments);
    string_list_free(&variables);
    return error;
}

static void keep_words(struct tool_run *run, const char *text, size_t length)
{
    size_t used = strlen(run->message);

    if (length > sizeof(run->message) - 1 - used)
        length = sizeof(run->message) - 1 - used;
    memcpy(run->message + used, text, length);
    run->message[used + length] = '\0';
}

/* Reads the output of the tool until it ends. False: the tool took too long, or run->cancel became
 * true. */
static bool read_words(struct tool_run *run, int fd)
{
    uint64_t limit = time_steady_ns() + TOOL_SECONDS * UINT64_C(1000000000);
    char text[4096];

    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ssize_t length;

        if (time_steady_ns() > limit || (run->cancel && *run->cancel))
            return false;
        if (poll(&ready, 1, POLL_MS) <= 0)
            continue;
        length = read(fd, text, sizeof(text));
        if (length == 0 || (length < 0 && errno != EINTR))
            return true;
        if (length > 0)
            keep_words(run, text, (size_t)length);
    }
}

static bool wait_for_tool(struct tool_run *run, pid_t pid, int words)
{
    bool ended = read_words(run, words);
    int status = 0;

    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    run->message[strcspn(run->message, "\n")] = '\0';
    if (!ended)
        snprintf(run->message, sizeof(run->message), "%s took more than %d s, and was ended",
                 run->name, TOOL_SECONDS);
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tool_run(struct tool_run *run)
{
    char *path = find_tool(run->name);
    int ends[2], error;
    bool good = false;
    pid_t pid;

    run->message[0] = '\0';
    if (!path) {
        snprintf(run->message, sizeof(run->message), "%s is not installed beside leaktop",
                 run->name);
        return false;
    }
    error = pipe2(ends, O_CLOEXEC) == 0 ? start_tool(run, path, ends[1], &pid) : errno;
    free(path);
    if (error == EMFILE || error == ENFILE) {
        snprintf(run->message, sizeof(run->message), "%s", strerror(error));
        return false;
    }
    close(ends[1]);
    if (error)
        snprintf(run->message, sizeof(run->message), "%s: %s", run->name, strerror(error));
    else
        good = wait_for_tool(run, pid, ends[0]);
    close(ends[0]);
    return good;
}
