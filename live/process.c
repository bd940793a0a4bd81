/* process.c - /proc/PID/stat, read with care: see process.h. */
#include "live/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool process_look(pid_t pid, uint64_t *start_time, char *state)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
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
    }
    *start_time = strtoull(rest, NULL, 10);
    return true;
}

bool process_lives(pid_t pid, uint64_t start_time)
{
    uint64_t seen;
    char state;
    return process_look(pid, &seen, &state) && seen == start_time && state != 'Z' &&
           state != 'X';
}

uint64_t process_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}
