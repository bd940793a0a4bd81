/* hook_socket.c - sockets, and where they lead to. */
#include "preload/process/resource_hooks.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <errno.h>
#include <sys/socket.h>

#define TRACKED() resource_is_tracked(LEAK_RESOURCE_FD)

static const char *family_of(int family)
{
    switch (family) {
    case AF_UNIX:
        return "unix";
    case AF_INET:
        return "ipv4";
    case AF_INET6:
        return "ipv6";
    case AF_NETLINK:
        return "netlink";
    case AF_PACKET:
        return "packet";
    default:
        return "other";
    }
}

/* "ipv4 stream socket" */
static void add_words(struct text *text, int family, int type)
{
    static const char *const types[] = {"", " stream", " datagram", " raw"};
    unsigned kind = type & 15;
    strbuf_add(text, family_of(family));
    strbuf_add(text, kind < ARRAY_LENGTH(types) ? types[kind] : "");
    strbuf_add(text, " socket");
}

static NOINLINE void note_socket(const struct frame *caller, int fd, int family, int type)
{
    char name[40];
    struct text text = STRBUF_ON(name);
    add_words(&text, family, type);
    resource_hook_opened(caller, fd, LEAK_SORT_SOCKET, name);
}

static NOINLINE void note_sockets(const struct frame *caller, const int *ends, int family, int type)
{
    char name[40];
    struct text text = STRBUF_ON(name);
    add_words(&text, family, type);
    strbuf_add(&text, " pair");
    resource_hook_opened_pair(caller, ends, LEAK_SORT_SOCKET, name, name);
}

EXPORT int socket(int family, int type, int protocol)
{
    real_find();
    int fd = real.socket(family, type, protocol);
    if (TRACKED() && fd >= 0) {
        struct frame caller = CALLER_FRAME();
        note_socket(&caller, fd, family, type);
    }
    return fd;
}

EXPORT int socketpair(int family, int type, int protocol, int ends[2])
{
    real_find();
    int result = real.socketpair(family, type, protocol, ends);
    if (TRACKED() && result == 0) {
        struct frame caller = CALLER_FRAME();
        note_sockets(&caller, ends, family, type);
    }
    return result;
}

/* Where the program did not ask who called, the kernel is asked. */
static NOINLINE void note_accepted(const struct frame *caller, int fd, const void *address,
                                   const socklen_t *length, size_t room)
{
    char peer[128];
    ssize_t size = address && length ? (ssize_t)(*length < room ? *length : room)
                                     : sys_getpeername(fd, peer, sizeof peer);
    resource_hook_opened(caller, fd, LEAK_SORT_SOCKET, NULL);
    if (size > 0)
        resource_hook_address(caller, fd, address ? address : peer, size, LEAK_NAME_PEER);
}

#define ACCEPTED(call)                                                                             \
    ({                                                                                             \
        real_find();                                                                               \
        socklen_t room_ = address && length ? *length : 0;                                         \
        int fd_ = call;                                                                            \
        if (TRACKED() && fd_ >= 0) {                                                               \
            struct frame caller_ = CALLER_FRAME();                                                 \
            note_accepted(&caller_, fd_, address, length, room_);                                  \
        }                                                                                          \
        fd_;                                                                                       \
    })

EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return ACCEPTED(real.accept(fd, address, length));
}

EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    return ACCEPTED(real.accept4(fd, address, length, flags));
}

/* The kernel has read it long ago: it may be gone. */
static NOINLINE void note_given(const struct frame *caller, int fd, const void *address,
                                socklen_t length, enum leak_name_form sort)
{
    char copy[128];
    size_t size = length < sizeof copy ? length : sizeof copy;
    if (sys_peek((uintptr_t)address, copy, size))
        resource_hook_address(caller, fd, copy, size, sort);
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    real_find();
    int result = real.connect(fd, address, length);
    if (TRACKED() && (result == 0 || errno == EINPROGRESS)) {
        struct frame caller = CALLER_FRAME();
        note_given(&caller, fd, address, length, LEAK_NAME_PEER);
    }
    return result;
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    real_find();
    int result = real.bind(fd, address, length);
    if (TRACKED() && result == 0) {
        struct frame caller = CALLER_FRAME();
        note_given(&caller, fd, address, length, LEAK_NAME_LOCAL);
    }
    return result;
}
