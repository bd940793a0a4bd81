/* wishes.c - see wishes.h. */
#include "top/wishes.h"

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

#include "common/base/proc.h"

extern char **environ;

static int start(struct wish *wish, char *const argv[], const int pipe_ends[2])
{
    posix_spawn_file_actions_t actions;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    error = posix_spawn(&wish->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void wish_begin(struct wish *wish, int32_t pid, const char *store, const struct wish_words *words)
{
    char number[16], where[PATH_MAX], *leakctl;
    const char *slash = strrchr(store, '/');
    int ends[2], error;

    if (wish->pid)
        return;
    snprintf(number, sizeof(number), "%" PRId32, pid);
    snprintf(where, sizeof(where), "--dir=%.*s", slash ? (int)(slash - store) : 1,
             slash ? store : ".");
    leakctl = proc_find_tool(NULL, "leakctl");
    if (!leakctl) {
        snprintf(wish->words, sizeof(wish->words), "there is no leakctl beside this program");
        return;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        snprintf(wish->words, sizeof(wish->words), "leakctl: %s", strerror(errno));
        free(leakctl);
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* leakctl may wait until there is room */
    error = start(
        wish, (char *[]){leakctl, (char *)words->verb, where, number, (char *)words->more, NULL},
        ends);
    free(leakctl);
    close(ends[1]);
    snprintf(wish->done, sizeof(wish->done), "%s", words->done);
    snprintf(wish->words, sizeof(wish->words), "%s", words->doing);
    wish->fd = ends[0];
    wish->heard = false;
    if (!error)
        return;
    close(ends[0]);
    wish->pid = 0;
    snprintf(wish->words, sizeof(wish->words), "leakctl: %s", strerror(error));
}

static void hear(struct wish *wish, char *text, size_t length)
{
    text[length] = 0;
    text[strcspn(text, "\n")] = 0;
    if (wish->heard || !*text)
        return;
    snprintf(wish->words, sizeof(wish->words), "%.*s", WISH_WORDS - 1, text);
    wish->heard = true;
}

void wish_take(struct wish *wish)
{
    char text[4096];
    ssize_t length;
    int status = 0;

    while ((length = read(wish->fd, text, sizeof(text) - 1)) > 0)
        hear(wish, text, (size_t)length);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(wish->fd);
    waitpid(wish->pid, &status, 0);
    wish->pid = 0;
    if (wish->heard)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        snprintf(wish->words, sizeof(wish->words), "%s", wish->done);
    else
        snprintf(wish->words, sizeof(wish->words), "leakctl failed and said nothing");
}
