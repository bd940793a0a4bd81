// A socket that is left open is named by its peer, or by the address it is bound to: of accept with and
// without room for the address, of connect, of a unix socket.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// JSON: res("listens").name.startswith("socket at 127.0.0.1:") and opened("listens") == {"fd": 1}
// JSON: names("connects") == ["socket to " + res("listens").name[10:]] and opened("connects") == {"fd": 2}
// JSON: all(n.startswith("socket to 127.0.0.1:") for n in names("accepts_with") + names("accepts_without"))
// JSON: opened("accepts_with") == {"fd": 1} and opened("accepts_without") == {"fd": 1}
// JSON: names("local") == ["socket at local.socket"] and names("datagram") == ["ipv6 datagram socket"]

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
static struct sockaddr_in address = {.sin_family = AF_INET};
static socklen_t size = sizeof address;

FAR int listens(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int port = 20000 + getpid() % 30000;; port++) {
        address.sin_port = htons(port);
        if (bind(fd, (void *)&address, size) == 0)
            break;
    }
    listen(fd, 5);
    return fd;
}
FAR void connects(void)
{
    for (int i = 0; i < 2; i++)
        connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, size);
}
FAR void accepts_with(int fd) { struct sockaddr_in peer; socklen_t length = sizeof peer; accept(fd, (void *)&peer, &length); }
FAR void accepts_without(int fd) { accept4(fd, NULL, NULL, SOCK_CLOEXEC); }
FAR void local(void)
{
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    strcpy(where.sun_path, "local.socket");
    bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&where, sizeof where);
}
FAR void datagram(void) { socket(AF_INET6, SOCK_DGRAM, 0); }

int main(void)
{
    int fd = listens();
    connects();
    accepts_with(fd);
    accepts_without(fd);
    local();
    datagram();
    return 0;
}
