/* write_timeout.h - blocking writes and connects that do not block for ever: a report may go to a
 * pipe that is never read, or to a socket whose peer sleeps.
 *
 * Between write_timeout_begin() and write_timeout_end() a blocking call fails with EINTR when no
 * byte was written for 10 s or everything together takes longer than a minute. SIGALRM does that,
 * so the descriptors keep their flags: they may be shared with the program, which would notice
 * O_NONBLOCK.
 */
#ifndef COMMON_BASE_WRITE_TIMEOUT_H
#define COMMON_BASE_WRITE_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

void write_timeout_begin(void);
void write_timeout_end(void);

/* Restarts the 10 s within which at least one byte must be written. Called after bytes were
 * written. */
void write_timeout_renew(void);
/* Says whether the time is up: 10 s without a written byte, or a minute since
 * write_timeout_begin(). If so, sets errno to ETIMEDOUT. */
bool write_timeout_expired(void);

/* Writes all bytes. False: errno says why not. */
bool write_timeout_write(int fd, const char *text, size_t length);

/* Connects a new socket of this family, type and protocol. Returns it, or -1 with errno. */
int write_timeout_connect(int family, int type, int protocol, const struct sockaddr *address,
                          socklen_t size);
/* Connects a new Unix socket to a path in the file system. Returns it, or -1 with errno. */
int write_timeout_connect_path(const char *path, int type);

#endif
