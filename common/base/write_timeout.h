/* write_timeout.h - blocking calls that do not block for ever: what a report is written to may be a
 * pipe that nobody reads, or a socket whose other end sleeps.
 *
 * Between patience_begin() and patience_end() a call that blocks fails with EINTR when nothing has
 * moved for 10 s, or all of it takes longer than a minute. The descriptors stay as they are: they
 * may be shared with the program, which would notice O_NONBLOCK.
 */
#ifndef COMMON_BASE_WRITE_TIMEOUT_H
#define COMMON_BASE_WRITE_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

void patience_begin(void);
void patience_end(void);

/* Something has moved: 10 s from now. */
void patience_renew(void);
/* It is over; errno is ETIMEDOUT then. */
bool patience_lost(void);

/* All of it. False: errno says why. */
bool patience_write(int fd, const char *text, size_t length);

/* A connected socket of that family, type and protocol, or -1 and errno. */
int patience_connect(int family, int type, int protocol, const struct sockaddr *address,
                     socklen_t size);
/* The same of a socket with a name in the file system. */
int patience_connect_path(const char *path, int type);

#endif
