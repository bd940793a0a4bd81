/* oom_kill.c - reads the counts of killed processes of the control group; described in
 * oom_kill.h. */
#include "live/oom_kill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/base/string_list.h"

/* Reads a file with lines "name number", and returns the number of "oom_kill"; -1: there is
 * none. */
static long read_oom_count(const char *path)
{
    FILE *file = fopen(path, "re");
    long count = -1;
    char line[128];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "oom_kill ", 9) == 0)
            count = strtol(line + 9, NULL, 10);
    if (file)
        fclose(file);
    return count;
}

/* Reads the count of a group. In a container that sees only its own groups, the files of the group
 * are directly in the mount point. */
static long find_oom_count(const char *mount, const char *group, const char *name)
{
    char *path = string_format("%s%s/%s", mount, group, name);
    long count = read_oom_count(path);
    free(path);
    if (count >= 0)
        return count;
    path = string_format("%s/%s", mount, name);
    count = read_oom_count(path);
    free(path);
    return count;
}

long oom_kill_count(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    long count = -1;
    char line[4096];
    /* Lines of cgroup version 1 look like "4:memory:/group", of version 2 like "0::/group"; a file
     * may have both. */
    while (count < 0 && file && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (strcmp(names + 1, "memory") == 0)
            count = find_oom_count("/sys/fs/cgroup/memory", group, "memory.oom_control");
        else if (!names[1])
            count = find_oom_count("/sys/fs/cgroup", group, "memory.events");
    }
    if (file)
        fclose(file);
    return count;
}

bool oom_kill_ended(int wait_status, long before)
{
    return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL && before >= 0 &&
           oom_kill_count() > before;
}
