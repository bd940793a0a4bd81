/* gate.h - which requests are answered? The page shows what a program holds in memory, so it is for the
 * user of leaktop alone: not for other users of the machine, and not for web pages that are open in the
 * user's browser.
 *
 *   peer    the user at the other end of the connection is the user of leaktop, or root. With a token
 *           any peer may try.
 *   host    Host names this machine as the client reached it: its address, "localhost" on the
 *           loopback, or a name of --host. A page that makes its own name point here (DNS rebinding)
 *           fails.
 *   origin  Origin, where there is one, is that host, and Sec-Fetch-Site says the same: requests that
 *           other pages cause fail.
 *   token   with --token-file: Authorization has it, as "Bearer TOKEN" or as the password of "Basic".
 *
 * Pure functions of their arguments, except gate_peer_is_allowed() and gate_read_token(). */
#ifndef SERVE_GATE_H
#define SERVE_GATE_H

#include "common/options/command_line.h"
#include "serve/address.h"

#define TOKEN_LEAST 16
#define TOKEN_MOST 256

struct gate {
    char token[TOKEN_MOST + 1];      /* "": none is needed */
    const struct option_list *hosts; /* further names of this machine */
};

/* The headers that count; NULL: the request has none. */
struct gate_headers {
    const char *host, *origin, *fetch_site, *authorization;
};

enum gate_answer { GATE_OPEN, GATE_WRONG_HOST, GATE_WRONG_ORIGIN, GATE_NO_TOKEN };

/* Says whether a request may be answered. local: the address of this end of the connection. */
enum gate_answer gate_check(const struct gate *gate, const struct gate_headers *headers,
                            const union socket_address *local);

/* Compares all of a token, however early it differs. */
bool gate_token_is_right(const char *authorization, const char *token);

/* Whether the user at the other end of the connection may have answers. */
bool gate_peer_is_allowed(int fd);
/* Whether a line of /proc/net/tcp or tcp6 is the socket of that port and address, whose other end is
 * that port, and which a process has open; *user: whose it is. An IPv4 address in IPv6 is found, too. */
bool gate_line_is_socket(const char *line, const union socket_address *from, unsigned to_port,
                         unsigned *user);

/* The first line of the file. False: one line on standard error says why. */
bool gate_read_token(struct gate *gate, const char *file);

#endif
