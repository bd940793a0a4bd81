/* alive.c - asks /proc about a process by pid and start time; see alive.h. */
#include "symbolize/alive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_FIELD 20

/* Field 22 of /proc/PID/stat; false when there is no such process or it is only a zombie: one whose main
 * thread alone has ended is none. */
static bool start_time_of(int32_t pid, uint64_t *start)
{
    char path[32], text[1024];
    const char *at;
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = 0;
    at = strrchr(text, ')'); /* the name before it may hold anything */
    if (!at || at[1] != ' ' || at[2] == 'X')
        return false;
    bool zombie = at[2] == 'Z';
    for (int field = 2; field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (!at)
            return false;
        if (field + 1 == THREADS_FIELD && strtol(at, NULL, 10) > 1)
            zombie = false;
    }
    *start = strtoull(at + 1, NULL, 10);
    return !zombie;
}

bool alive_process(const char *host, int32_t pid, uint64_t start_time)
{
    char here[sizeof(((struct leak_header *)0)->host)] = "";
    uint64_t start;

    gethostname(here, sizeof(here) - 1);
    return strcmp(host, here) == 0 && pid > 0 && start_time_of(pid, &start) && start == start_time;
}

enum end_how alive_end_of(const struct store *store)
{
    switch (store->header.end_how) {
    case LEAK_END_EXIT:
        return END_EXIT;
    case LEAK_END_SIGNAL:
        return END_SIGNAL;
    case LEAK_END_EXEC:
        return END_EXEC;
    }
    if (store->header.exec_at)
        return END_EXEC;
    return alive_process(store->host, store->header.pid, store->header.start_time) ? END_RUNNING
                                                                                  : END_LOST;
}
