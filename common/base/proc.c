/* proc.c - see proc.h. */
#include "common/base/proc.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/string_list.h"

#define THREADS_FIELD 20

bool proc_read_stat(int32_t pid, uint64_t *start_time, char *state)
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
    /* The name may contain spaces and parentheses: fields count from the last parenthesis. */
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
        /* With more than one thread it is not a zombie: only its main thread has ended. */
        if (field + 1 == THREADS_FIELD && *state == 'Z' && strtol(rest, NULL, 10) > 1)
            *state = 'S';
    }
    *start_time = strtoull(rest, NULL, 10);
    return true;
}

bool proc_is_alive(int32_t pid, uint64_t start_time)
{
    uint64_t seen;
    char state;
    return proc_read_stat(pid, &seen, &state) && seen == start_time && state != 'Z' && state != 'X';
}

char *proc_find_tool(const char *given, const char *name)
{
    char self[PATH_MAX];
    if (given)
        return realpath(given, NULL);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *path = string_format("%s/%s", dirname(self), name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#ifdef LEAK_BINDIR
    path = string_format("%s/%s", LEAK_BINDIR, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#endif
    return NULL;
}
