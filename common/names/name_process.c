/* name_process.c - starts the name process, asks it, and starts it again after it died. */
#include "common/names/name_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* After so many deaths of name processes no more are started, since each may have taken seconds. */
#define DEATHS_MOST 8
/* Seconds without an answer after which the name process is ended: a file system may hang, which
 * the name process's own limits of processor time do not notice. */
#define SILENCE_MOST 60

struct name_process name_process_begin(const struct binary_search_path *search)
{
    return (struct name_process){.search = search, .socket = -1};
}

/* Ends the name process. A process that is ending by itself keeps its own exit status. */
static void stop(struct name_process *process)
{
    if (!process->pid)
        return;
    kill(process->pid, SIGKILL);
    close(process->socket);
    while (waitpid(process->pid, &process->ending, 0) < 0 && errno == EINTR)
        ;
    process->pid = 0;
}

void name_process_end(struct name_process *process)
{
    stop(process);
    message_end(&process->message);
}

void name_process_set_reader(struct name_process *process, struct file_owner reader)
{
    if (reader.uid == process->reader.uid && reader.gid == process->reader.gid)
        return;
    stop(process);
    process->reader = reader;
}

bool name_process_start(struct name_process *process)
{
    static const struct timeval patience = {.tv_sec = SILENCE_MOST};
    int sockets[2];

    if (process->pid)
        return true;
    if (process->deaths == DEATHS_MOST ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    process->pid = fork();
    if (process->pid == 0) {
        close(sockets[0]);
        name_server_run(sockets[1], process->search, process->reader);
    }
    close(sockets[1]);
    if (process->pid < 0) {
        close(sockets[0]);
        process->pid = 0;
        return false;
    }
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    process->socket = sockets[0];
    process->generation++;
    return true;
}

bool name_process_ask(struct name_process *process)
{
    if (message_send(process->socket, &process->message) &&
        message_receive(process->socket, &process->message))
        return true;
    stop(process);
    process->deaths++;
    return false;
}
