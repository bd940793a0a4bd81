/* gate.h - decides which requests are answered. The page shows data of a program's memory, so only
 * the user of leaktop may see it: no other users of the machine, and no web pages that are open in
 * the user's browser. A request must pass four checks:
 *
 *   peer    The user at the other end of the connection is the user of leaktop, or root. With a token
 *           this may be any user.
 *   host    The header Host names this machine as the client reached it: its address, "localhost" on
 *           the loopback, or a name of --host. This refuses a web page whose own name points to this
 *           machine (DNS rebinding).
 *   origin  The header Origin, if there is one, names the same host, and Sec-Fetch-Site says the same.
 *           This refuses requests that other web pages cause.
 *   token   With --token-file, the header Authorization has the token, as "Bearer TOKEN" or as the
 *           password of "Basic".
 *
 * All functions depend only on their arguments, except gate_peer_is_allowed() and
 * gate_read_token(). */
#ifndef SERVE_GATE_H
#define SERVE_GATE_H

#include "common/options/command_line.h"
#include "serve/address.h"

#define TOKEN_LEAST 16
#define TOKEN_MOST 256

struct gate {
    char token[TOKEN_MOST + 1];      /* the token of --token-file; "": no token is needed */
    const struct option_list *hosts; /* further names of this machine, from --host */
};

/* The headers on which the decision depends; NULL: the request does not have it. */
struct gate_headers {
    const char *host, *origin, *fetch_site, *authorization;
};

enum gate_answer { GATE_OPEN, GATE_WRONG_HOST, GATE_WRONG_ORIGIN, GATE_NO_TOKEN };

/* Says whether a request may be answered. local: the address at which the server accepted the
 * connection. */
enum gate_answer gate_check(const struct gate *gate, const struct gate_headers *headers,
                            const union socket_address *local);

/* Says whether the header Authorization has the token. The time it takes does not depend on where
 * the tokens differ. */
bool gate_token_is_right(const char *authorization, const char *token);

/* Says whether the user at the other end of the connection may get answers. */
bool gate_peer_is_allowed(int fd);
/* Says whether a line of /proc/net/tcp or tcp6 describes a socket with this address and port,
 * connected to `to_port`, that a process has open. *user: set to its owner. An IPv4 address in IPv6
 * is found, too. */
bool gate_line_is_socket(const char *line, const union socket_address *from, unsigned to_port,
                         unsigned *user);

/* Reads the token from the first line of the file. False: one line on stderr says why. */
bool gate_read_token(struct gate *gate, const char *file);

#endif
