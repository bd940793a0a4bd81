/* target_log.c - sends a report to syslog or systemd's journal; described in output.h. */
#include "symbolize/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syslog.h>
#include <time.h>
#include <unistd.h>

#include "common/base/write_timeout.h"

#define SYSLOG_PATH "/dev/log"
#define JOURNAL_PATH "/run/systemd/journal/socket"
#define IDENTIFIER "leakreport"
/* Limits of one line. A syslog message has at most 1024 bytes with its head (RFC 3164); journald
 * splits lines longer than 48 KiB. */
#define SYSLOG_LINE 900
#define JOURNAL_LINE 32768

struct log_channel {
    int fd;
    bool stream; /* a stream socket: each message ends with NUL */
    const char *head;
    size_t head_length, line_most;
};

/* ---- Connecting to the daemon ---------------------------------------------------------------- */

/* Connects to syslog by datagrams, or by a stream if the daemon takes no datagrams. False: errno
 * says why not. */
static bool connect_syslog(const char *path, struct log_channel *channel)
{
    channel->fd = write_timeout_connect_path(path, SOCK_DGRAM);
    if (channel->fd < 0 && errno == EPROTOTYPE) {
        channel->fd = write_timeout_connect_path(path, SOCK_STREAM);
        channel->stream = true;
    }
    return channel->fd >= 0;
}

/* ---- Sending the lines of a report ----------------------------------------------------------- */

static bool send_piece(const struct log_channel *channel, const char *text, size_t length)
{
    char message[JOURNAL_LINE + 4096];
    size_t whole = channel->head_length + length;

    memcpy(message, channel->head, channel->head_length);
    memcpy(message + channel->head_length, text, length);
    if (channel->stream) {
        message[whole] = '\0';
        return write_timeout_write(channel->fd, message, whole + 1);
    }
    while (send(channel->fd, message, whole, MSG_NOSIGNAL) < 0)
        if (errno != EINTR || write_timeout_expired())
            return false;
    write_timeout_renew();
    return true;
}

/* Returns the length of the part of a line that fits into one message; does not split a UTF-8
 * character. */
static size_t piece_length(const char *line, size_t length, size_t most)
{
    size_t cut = most;

    if (length <= most)
        return length;
    while (cut > most - 4 && ((unsigned char)line[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

static bool send_lines(const struct log_channel *channel, const struct log_message *message)
{
    const char *at = message->text, *end = at + message->length;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t left = (size_t)((stop ? stop : end) - at);

        do { /* at least once, so that an empty line is sent, too */
            size_t piece = piece_length(at, left, channel->line_most);

            if (!send_piece(channel, at, piece))
                return false;
            at += piece;
            left -= piece;
        } while (left);
        at += stop != NULL;
    }
    return true;
}

static bool send_and_close(struct log_channel *channel, const struct log_message *message)
{
    bool good = send_lines(channel, message);
    int saved = errno;

    close(channel->fd);
    errno = saved;
    return good;
}

/* ---- The head of each message ---------------------------------------------------------------- */

static int syslog_level(const struct log_message *message)
{
    return message->alarming ? LOG_WARNING : LOG_INFO;
}

bool target_log_syslog(const char *path, const struct log_message *message)
{
    char head[96], when[32];
    time_t now = time(NULL);
    struct tm calendar;
    struct log_channel channel = {.head = head, .line_most = SYSLOG_LINE};

    if (!connect_syslog(path ? path : SYSLOG_PATH, &channel))
        return false;
    localtime_r(&now, &calendar);
    strftime(when, sizeof(when), "%b %e %H:%M:%S", &calendar);
    channel.head_length = (size_t)snprintf(head, sizeof(head), "<%d>%s " IDENTIFIER "[%d]: ",
                                           LOG_USER | syslog_level(message), when, (int)getpid());
    return send_and_close(&channel, message);
}

bool target_log_journal(const char *path, const struct log_message *message)
{
    char head[4096], program[3072] = "";
    struct log_channel channel = {.head = head, .line_most = JOURNAL_LINE};

    /* A newline in the name would begin another field of the journal's message. */
    for (size_t i = 0; message->program && message->program[i] && i + 1 < sizeof(program); i++)
        program[i] = (unsigned char)message->program[i] < ' ' ? '?' : message->program[i];
    if ((channel.fd = write_timeout_connect_path(path ? path : JOURNAL_PATH, SOCK_DGRAM)) < 0)
        return false;
    channel.head_length = (size_t)snprintf(
        head, sizeof(head),
        "PRIORITY=%d\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=" IDENTIFIER
        "\nSYSLOG_PID=%d\nLIBLEAK_PID=%d\nLIBLEAK_PROGRAM=%s\nMESSAGE=",
        syslog_level(message), LOG_USER >> 3, (int)getpid(), message->pid, program);
    return send_and_close(&channel, message);
}
