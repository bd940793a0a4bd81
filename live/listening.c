/* listening.c - says whether a program is a server; described in listening.h. */
#include "live/listening.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/proc.h"

#ifndef SYS_pidfd_getfd /* glibc before 2.32 */
#define SYS_pidfd_getfd 438
#endif

/* Says whether a descriptor of another process is a socket. directory: its /proc/PID/fd; name: the
 * number of the descriptor. */
static bool is_socket(int directory, const char *name)
{
    char target[8];
    return readlinkat(directory, name, target, sizeof target) == (ssize_t)sizeof target &&
           memcmp(target, "socket:[", sizeof target) == 0;
}

/* Says whether this socket of another process listens. The socket is copied for a moment; a copy of
 * another kind of descriptor could keep a pipe open that the process has closed. */
static bool is_listening(int process, int descriptor)
{
    int listens = 0;
    int copy = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    bool known = copy >= 0 && getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &listens,
                                         &(socklen_t){sizeof listens}) == 0;
    if (copy >= 0)
        close(copy);
    return known && listens;
}

bool listening_is_process(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *descriptors = opendir(path);
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct dirent *descriptor;
    bool found = false;
    while (descriptors && process >= 0 && !found && (descriptor = readdir(descriptors)))
        found = is_socket(dirfd(descriptors), descriptor->d_name) &&
                is_listening(process, atoi(descriptor->d_name));
    if (descriptors)
        closedir(descriptors);
    if (process >= 0)
        close(process);
    return found;
}

bool listening_is_session(pid_t program, const char *users)
{
    pid_t *pids;
    size_t count = proc_find_users(users, &pids);
    bool found = listening_is_process(program);
    for (size_t i = 0; i < count && !found; i++)
        found = listening_is_process(pids[i]);
    free(pids);
    return found;
}
