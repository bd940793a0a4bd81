/* address.c - opens the socket on which the page listens; described in address.h. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/string_list.h"
#include "common/base/term_text.h"

#define BACKLOG 64

static bool complain(const char *value, const char *why)
{
    fprintf(stderr, "leaktop: --listen=%s: %s\n", term_text(value, strlen(value), 0).text, why);
    return false;
}

/* ---- Parsing addresses ----------------------------------------------------------------------- */

static bool parse_port(const char *text, in_port_t *port)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    *port = htons((uint16_t)number);
    return *text >= '0' && *text <= '9' && !*end && number <= 65535;
}

bool address_parse(const char *text, union socket_address *address, socklen_t *length)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2];
    in_port_t port;
    size_t size = colon ? (size_t)(colon - text) : 0;

    if (!colon || size >= sizeof(host) || !parse_port(colon + 1, &port))
        return false;
    memcpy(host, text, size);
    host[size] = '\0';
    *address = (union socket_address){0};
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        address->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        *length = sizeof(address->v6);
        return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1;
    }
    address->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
    *length = sizeof(address->v4);
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                     &address->v4.sin_addr) == 1;
}

bool address_is_loopback(const union socket_address *address)
{
    char host[INET6_ADDRSTRLEN];

    if (address->any.sa_family == AF_UNIX)
        return true;
    address_host(address, host);
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

void address_host(const union socket_address *address, char host[INET6_ADDRSTRLEN])
{
    host[0] = '\0';
    if (address->any.sa_family == AF_INET)
        inet_ntop(AF_INET, &address->v4.sin_addr, host, INET6_ADDRSTRLEN);
    else if (address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr))
        inet_ntop(AF_INET, &address->v6.sin6_addr.s6_addr[12], host, INET6_ADDRSTRLEN);
    else if (address->any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &address->v6.sin6_addr, host, INET6_ADDRSTRLEN);
}

unsigned address_port(const union socket_address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohs(address->v4.sin_port);
    return address->any.sa_family == AF_INET6 ? ntohs(address->v6.sin6_port) : 0;
}

/* ---- Opening the socket ---------------------------------------------------------------------- */

static char *default_path(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (runtime && *runtime == '/')
        return string_format("%s/leaktop.sock", runtime);
    return geteuid() == 0 ? string_format("/run/leaktop.sock") : NULL;
}

/* Removes a socket that a killed leaktop left. A socket on which a process listens stays, and so
 * does any other file. */
static void remove_stale_socket(const struct sockaddr_un *address)
{
    struct stat info;
    int fd;

    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

static bool open_local(struct listener *listener, const char *path)
{
    struct sockaddr_un *address = &listener->address.local;
    mode_t before;
    bool good;

    if (strlen(path) >= sizeof(address->sun_path))
        return complain(path, "the path is too long for a socket");
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, strlen(path) + 1);
    remove_stale_socket(address);
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    before = umask(0177); /* creates the socket with mode 0600 from the start */
    good = listener->fd >= 0 && bind(listener->fd, &listener->address.any, sizeof(*address)) == 0;
    umask(before);
    if (!good)
        return complain(path, strerror(errno));
    listener->path = strdup(path);
    listener->is_loopback = true;
    return listen(listener->fd, BACKLOG) == 0 || complain(path, strerror(errno));
}

static bool open_network(struct listener *listener, const char *value, bool has_token)
{
    socklen_t length;
    int on = 1;

    if (!address_parse(value, &listener->address, &length))
        return complain(value, "give ADDRESS:PORT, or the path of a Unix socket");
    listener->is_loopback = address_is_loopback(&listener->address);
    if (!listener->is_loopback && !has_token)
        return complain(value, "other machines reach this address: add --token-file=FILE");
    listener->fd =
        socket(listener->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0)
        return complain(value, strerror(errno));
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener->fd, &listener->address.any, length) != 0 ||
        listen(listener->fd, BACKLOG) != 0 ||
        getsockname(listener->fd, &listener->address.any, &length) != 0)
        return complain(value, strerror(errno));
    return true;
}

bool listener_open(struct listener *listener, const char *value, bool has_token)
{
    char *standard = *value ? NULL : default_path();
    bool good;

    *listener = (struct listener){.fd = -1};
    if (!*value && !standard)
        return complain("", "XDG_RUNTIME_DIR is not set: give a path, or 127.0.0.1:0");
    if (standard || strchr(value, '/'))
        good = open_local(listener, standard ? standard : value);
    else
        good = open_network(listener, value, has_token);
    free(standard);
    if (!good)
        listener_close(listener);
    return good;
}

char *listener_text(const struct listener *listener)
{
    char host[INET6_ADDRSTRLEN];
    bool v6 = listener->address.any.sa_family == AF_INET6;

    if (listener->path)
        return strdup(listener->path);
    address_host(&listener->address, host);
    return string_format("http://%s%s%s:%u/", v6 ? "[" : "", host, v6 ? "]" : "",
                         address_port(&listener->address));
}

void listener_close(struct listener *listener)
{
    if (listener->fd >= 0)
        close(listener->fd);
    if (listener->path)
        unlink(listener->path);
    free(listener->path);
    *listener = (struct listener){.fd = -1};
}
