/* leakctl_request.c - runs leakctl for the screen; described in screen.h. */
#include "top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak_store.h"
#include "common/base/proc.h"

extern char **environ;

static int spawn_leakctl(struct leakctl_request *request, char *const argv[],
                         const int pipe_ends[2])
{
    posix_spawn_file_actions_t actions;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    setenv(LEAK_HELPER_VARIABLE, "1", 1);
    error = posix_spawn(&request->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void leakctl_request_start(struct leakctl_request *request, int32_t pid, const char *store,
                           const struct leakctl_command *command)
{
    char number[16], where[PATH_MAX], *leakctl;
    const char *slash = strrchr(store, '/');
    int ends[2], error;

    if (request->pid)
        return;
    snprintf(number, sizeof(number), "%" PRId32, pid);
    snprintf(where, sizeof(where), "--dir=%.*s", slash ? (int)(slash - store) : 1,
             slash ? store : ".");
    leakctl = proc_find_tool(NULL, "leakctl");
    if (!leakctl) {
        snprintf(request->text, sizeof(request->text), "leakctl is not installed beside leaktop");
        return;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        snprintf(request->text, sizeof(request->text), "leakctl: %s", strerror(errno));
        free(leakctl);
        return;
    }
    /* reading never blocks, so that the screen never waits; leakctl's end of the pipe may block */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    error = spawn_leakctl(
        request,
        (char *[]){leakctl, (char *)command->verb, where, number, (char *)command->more, NULL},
        ends);
    free(leakctl);
    close(ends[1]);
    snprintf(request->done, sizeof(request->done), "%s", command->done);
    snprintf(request->text, sizeof(request->text), "%s", command->doing);
    request->fd = ends[0];
    request->has_line = false;
    if (!error)
        return;
    close(ends[0]);
    request->pid = 0;
    snprintf(request->text, sizeof(request->text), "leakctl: %s", strerror(error));
}

/* Appends the output to request->text as one line, as far as there is room. */
static void keep_output(struct leakctl_request *request, const char *text, size_t length)
{
    size_t used = request->has_line ? strlen(request->text) : 0;

    for (size_t i = 0; i < length && used + 1 < LEAKCTL_TEXT_SIZE; i++)
        if (text[i] != '\n' || used)
            request->text[used++] = text[i] == '\n' ? ' ' : text[i];
    if (used)
        request->text[used] = 0;
    request->has_line = used;
}

void leakctl_request_read(struct leakctl_request *request)
{
    char text[4096];
    ssize_t length;
    int status = 0;

    while ((length = read(request->fd, text, sizeof(text))) > 0)
        keep_output(request, text, (size_t)length);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(request->fd);
    waitpid(request->pid, &status, 0);
    request->pid = 0;
    if (request->has_line)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        snprintf(request->text, sizeof(request->text), "%s", request->done);
    else
        snprintf(request->text, sizeof(request->text), "leakctl failed without a message");
}
