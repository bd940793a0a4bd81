/* procfs.c - see procfs.h. */
#include "live/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/string_list.h"

/* ---- Processes ------------------------------------------------------------------------------- */

/* Whether /proc/PID/environ contains the text; read in pieces that overlap by its length. */
static bool environment_holds(int proc, const char *pid, const char *text)
{
    char path[32], piece[16384];
    size_t keep = strlen(text) - 1, have = 0;
    snprintf(path, sizeof path, "%.20s/environ", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || keep >= sizeof piece / 2)
        return false;
    bool found = false;
    for (ssize_t n; !found && (n = read(fd, piece + have, sizeof piece - have)) > 0;) {
        have += (size_t)n;
        found = memmem(piece, have, text, keep + 1) != NULL;
        size_t rest = have < keep ? have : keep;
        memmove(piece, piece + have - rest, rest);
        have = rest;
    }
    close(fd);
    return found;
}

size_t procfs_find_users(const char *text, pid_t **pids)
{
    size_t count = 0, room = 0;
    *pids = NULL;
    DIR *stream = opendir("/proc");
    if (!stream)
        return 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct stat st;
        uint64_t start;
        char state;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() || fstatat(dirfd(stream), entry->d_name, &st, 0) != 0 ||
            (st.st_uid != geteuid() && geteuid() != 0) ||
            !environment_holds(dirfd(stream), entry->d_name, text) ||
            !proc_read_stat(pid, &start, &state) || state == 'Z' || state == 'X')
            continue;
        if (count == room) {
            room = room ? 2 * room : 16;
            pid_t *grown = reallocarray(*pids, room, sizeof *grown);
            if (!grown)
                break;
            *pids = grown;
        }
        (*pids)[count++] = pid;
    }
    closedir(stream);
    return count;
}

uint64_t procfs_pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* ---- Out of memory --------------------------------------------------------------------------- */

/* The number after "oom_kill " in a file of lines "name number"; -1: there is none. */
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

/* A container that sees only its own groups has its group at the top of the mount. */
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

long procfs_oom_kills(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    long count = -1;
    char line[4096];
    /* "4:memory:/group" is version 1, "0::/group" version 2; there may be both. */
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

bool killed_by_oom(int wait_status, long before)
{
    return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL && before >= 0 &&
           procfs_oom_kills() > before;
}
