/* proc_pid.c - /proc/PID/stat, read with care: see proc_pid.h. */
#include "common/base/proc_pid.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_FIELD 20

bool pid_look(int32_t pid, uint64_t *start_time, char *state)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The name in parentheses may hold spaces and parentheses: count from the last one. */
    char *rest = strrchr(text, ')');
    if (!rest || rest[1] != ' ')
        return false;
    *state = rest[2];
    rest += 2;
    for (int field = 3; field < 22; field++) {
        rest = strchr(rest, ' ');
        if (!rest)
            return false;
        rest++;
        /* What has a thread besides this one is no zombie: its main thread alone has ended. */
        if (field + 1 == THREADS_FIELD && *state == 'Z' && strtol(rest, NULL, 10) > 1)
            *state = 'S';
    }
    *start_time = strtoull(rest, NULL, 10);
    return true;
}

bool pid_lives(int32_t pid, uint64_t start_time)
{
    uint64_t seen;
    char state;
    return pid_look(pid, &seen, &state) && seen == start_time && state != 'Z' && state != 'X';
}
