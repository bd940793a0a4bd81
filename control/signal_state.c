/* signal_state.c - finds out whether a process can receive libleak's signal; described in
 * signal_state.h.
 */
#include "control/signal_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/proc.h"

static bool has_signal(const char *text, const char *name, int signal)
{
    return strtoull(proc_status_value(text, name), NULL, 16) >> (signal - 1) & 1;
}

void signal_state_add_thread(struct signal_state *state, const char *text, int signal)
{
    char letter = *proc_status_value(text, "State");

    if (proc_status_ended(text))
        return;
    state->threads++;
    state->stopped += letter == 'T';
    state->traced += letter == 't';
    state->uninterruptible += letter == 'D';
    state->blocking += has_signal(text, "SigBlk", signal);
    state->caught |= has_signal(text, "SigCgt", signal);
    state->pending |= has_signal(text, "ShdPnd", signal) || has_signal(text, "SigPnd", signal);
    if (!state->receiver && !strchr("TtD", letter) && !has_signal(text, "SigBlk", signal))
        state->receiver = (pid_t)strtol(proc_status_value(text, "Pid"), NULL, 10);
}

bool signal_state_read(pid_t pid, int signal, struct signal_state *state)
{
    char path[64], text[4096];
    DIR *stream;

    *state = (struct signal_state){0};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    stream = opendir(path);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        ssize_t length;
        int fd;

        snprintf(path, sizeof(path), "%.20s/status", entry->d_name);
        fd = *entry->d_name == '.' ? -1 : openat(dirfd(stream), path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        length = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[length > 0 ? length : 0] = 0;
        signal_state_add_thread(state, text, signal);
    }
    if (stream)
        closedir(stream);
    return state->threads != 0;
}

enum signal_obstacle signal_state_obstacle(const struct signal_state *state)
{
    size_t threads = state->threads;

    if (!state->caught)
        /* without a handler the signal would kill the process, so it is never sent */
        return OBSTACLE_NO_HANDLER;
    if (state->stopped == threads)
        return OBSTACLE_STOPPED;
    if (state->stopped + state->traced == threads)
        return OBSTACLE_TRACED;
    if (state->blocking == threads)
        return OBSTACLE_BLOCKED;
    if (state->uninterruptible + state->blocking >= threads)
        return OBSTACLE_UNINTERRUPTIBLE;
    return OBSTACLE_NONE;
}
