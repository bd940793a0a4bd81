/* target_stream.c - sends a report to a socket or a command; described in output.h. */
#include "symbolize/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/write_timeout.h"

static bool set_error(char *why, const char *words)
{
    snprintf(why, TARGET_WHY, "%s", words);
    return false;
}

static bool set_errno_text(char *why, int error)
{
    return set_error(why, strerror(error));
}

/* ---- Sockets ------------------------------------------------------------------------------ */

/* Connects to HOST:PORT. -1: `why` has the reason. */
static int connect_host(const char *where, const char *colon, char *why)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found, *at;
    bool brackets = where[0] == '[' && colon[-1] == ']';
    size_t length = (size_t)(colon - where) - (brackets ? 2 : 0);
    char host[256];
    int fd = -1, error;

    if (length >= sizeof(host))
        return set_errno_text(why, ENAMETOOLONG) - 1;
    memcpy(host, where + brackets, length);
    host[length] = '\0';
    if ((error = getaddrinfo(host, colon + 1, &wanted, &found)) != 0)
        return set_error(why, gai_strerror(error)) - 1;
    for (at = found; at && fd < 0; at = at->ai_next) {
        fd = write_timeout_connect(at->ai_family, SOCK_STREAM, at->ai_protocol, at->ai_addr,
                                   at->ai_addrlen);
        if (fd < 0)
            set_errno_text(why, errno);
        if (fd < 0 && write_timeout_expired())
            break;
    }
    freeaddrinfo(found);
    return fd;
}

/* Closes the socket after reading what the peer has sent. If data is left unread, the kernel resets
 * the connection, and the peer loses the report. */
static void close_socket(int fd)
{
    char bytes[512];

    shutdown(fd, SHUT_WR);
    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
    close(fd);
}

bool target_stream_socket(const char *where, const char *text, size_t length, char *why)
{
    const char *colon = strchr(where, '/') ? NULL : strrchr(where, ':');
    bool host = colon && colon > where, good;
    int fd =
        host ? connect_host(where, colon, why) : write_timeout_connect_path(where, SOCK_STREAM);

    if (fd < 0)
        return host ? false : set_errno_text(why, errno);
    good = write_timeout_write(fd, text, length) || set_errno_text(why, errno);
    close_socket(fd);
    return good;
}

/* ---- Commands ----------------------------------------------------------------------------- */

/* Starts the shell with default handling of SIGPIPE, which leakreport ignores, and with an empty
 * signal mask, because leakreport has that of the program that it reports about. Returns 0 or an
 * error number. */
static int spawn_shell(const char *command, int input, pid_t *pid)
{
    static const char shell[] = "/bin/sh";
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none, pipe_alone;
    int error;

    sigemptyset(&none);
    sigemptyset(&pipe_alone);
    sigaddset(&pipe_alone, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe_alone);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    error = posix_spawn(pid, shell, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static bool check_exit_status(int status, char *why)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status))
        snprintf(why, TARGET_WHY, "it ended with status %d", WEXITSTATUS(status));
    else
        snprintf(why, TARGET_WHY, "it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return false;
}

static bool wait_for_command(pid_t pid, char *why)
{
    int status;

    write_timeout_renew();
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return set_errno_text(why, errno);
        else if (write_timeout_expired())
            return set_error(why, "it has the report, but has not ended yet: it is left alone");
    return check_exit_status(status, why);
}

bool target_stream_command(const char *command, const char *text, size_t length, char *why)
{
    int ends[2], error;
    bool good;
    pid_t pid;

    /* leakreport may have inherited that SIGCHLD is ignored: the exit status of the command would
     * then be lost. */
    signal(SIGCHLD, SIG_DFL);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return set_errno_text(why, errno);
    error = spawn_shell(command, ends[0], &pid);
    close(ends[0]);
    if (error) {
        close(ends[1]);
        return set_errno_text(why, error);
    }
    good = write_timeout_write(ends[1], text, length) || errno == EPIPE;
    error = errno;
    close(ends[1]);
    if (good)
        return wait_for_command(pid, why);
    kill(pid, SIGTERM); /* the command does not read its input */
    return set_errno_text(why, error);
}
