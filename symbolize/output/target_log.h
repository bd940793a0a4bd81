/* target_log.h - reports in the system's log: syslog, or systemd's journal.
 *
 * Each line is a message of its own, a very long one several: that is how both show them, and what
 * they take. Neither needs a library: a datagram each.
 */
#ifndef SYMBOLIZE_OUTPUT_TARGET_LOG_H
#define SYMBOLIZE_OUTPUT_TARGET_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct log_message {
    const char *text; /* lines */
    size_t length;
    bool alarming; /* a warning, and not only information */
    int pid;       /* of the process that it is about, and its program; 0, NULL = of none */
    const char *program;
};

/* path: of the socket, NULL = where it is everywhere. False: errno says why. Patience has begun. */
bool target_log_syslog(const char *path, const struct log_message *message);
bool target_log_journal(const char *path, const struct log_message *message);

#endif
