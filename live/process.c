/* process.c - see process.h. */
#include "live/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/proc.h"

/* Reads in pieces that overlap by the length of the text. */
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

size_t process_find(const char *text, pid_t **pids)
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

uint64_t process_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}
