/* address.h - opens the socket on which the page listens: the value of --listen.
 *
 *     (nothing)           a Unix socket of this user: leaktop.sock in XDG_RUNTIME_DIR; for root in /run
 *     PATH, with a '/'    a Unix socket at this path, mode 0600; replaces a socket on which no process
 *                         listens
 *     ADDRESS:PORT        127.0.0.1:8000, [::1]:0, localhost:0; port 0: the kernel chooses one
 *
 * An address that other machines can reach needs a token, because the user of a client on another
 * machine is unknown. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

struct listener {
    int fd;
    char *path; /* path of a Unix socket, else NULL */
    union socket_address address;
    bool is_loopback;
};

/* Parses "ADDRESS:PORT" without a name server. False: the text has another form. */
bool address_parse(const char *text, union socket_address *address, socklen_t *length);
bool address_is_loopback(const union socket_address *address);
/* Writes the host part of an address: "127.0.0.1", "::1"; an IPv4 address in IPv6 is written as
 * IPv4. "" for a Unix socket. */
void address_host(const union socket_address *address, char host[INET6_ADDRSTRLEN]);
unsigned address_port(const union socket_address *address);

/* Opens the socket for the value of --listen. has_token: clients need a token, so other machines
 * may reach the address. False: one line on stderr says why. */
bool listener_open(struct listener *listener, const char *value, bool has_token);
/* Returns the address in a form for people: "http://127.0.0.1:41873/", or the path. The caller
 * frees it. */
char *listener_text(const struct listener *listener);
void listener_close(struct listener *listener);

#endif
