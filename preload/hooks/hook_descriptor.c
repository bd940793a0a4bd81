/* hook_descriptor.c - hooks of functions that create and close descriptors: open and similar
 * functions, sockets, pipes, copies, special files of the kernel.
 *
 * The real function is called first, while no lock and no token is held, because it may block or be
 * cancelled. If it has created a descriptor, the hook records that. Each descriptor number has a
 * stamp, which changes when the number is used again. The hook of close reads it before the close;
 * a different stamp afterwards shows that another thread has got the same number meanwhile.
 */
#include "preload/hooks/hooks.h"
#include "preload/process/resource_hooks.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

/* The headers of glibc before 2.34 do not declare these functions. */
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);

#define TRACKED() resource_is_tracked(LEAK_RESOURCE_FD)

/* Calls the real function and records the descriptor that it returns. It is a macro, because
 * CALLER_FRAME must be evaluated in the exported function. */
#define CREATED(call, sort, name)                                                                  \
    ({                                                                                             \
        real_functions_find();                                                                     \
        int fd_ = call;                                                                            \
        if (TRACKED() && fd_ >= 0) {                                                               \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_opened(&caller_, fd_, sort, name);                                       \
        }                                                                                          \
        fd_;                                                                                       \
    })

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reads the argument "mode", which the program passes only if the call may create a file. */
#define READ_MODE(flags)                                                                           \
    ({                                                                                             \
        mode_t mode_ = 0;                                                                          \
        if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                                 \
            va_list list_;                                                                         \
            va_start(list_, flags);                                                                \
            mode_ = va_arg(list_, mode_t);                                                         \
            va_end(list_);                                                                         \
        }                                                                                          \
        mode_;                                                                                     \
    })

#define OPEN(name, parameters, arguments)                                                          \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        mode_t mode = READ_MODE(flags);                                                            \
        return CREATED(real.name arguments, LEAK_SORT_OPEN, path);                                 \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

/* Defines the hook of a function without variable arguments that returns a new descriptor. */
#define CREATOR(sort, shown, name, parameters, arguments)                                          \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        return CREATED(real.name arguments, sort, shown);                                          \
    }

#define FILE_CREATOR(name, parameters, arguments)                                                  \
    CREATOR(LEAK_SORT_OPEN, path, name, parameters, arguments)

FILE_CREATOR(__open_2, (const char *path, int flags), (path, flags))
FILE_CREATOR(__open64_2, (const char *path, int flags), (path, flags))
FILE_CREATOR(__openat_2, (int folder, const char *path, int flags), (folder, path, flags))
FILE_CREATOR(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
FILE_CREATOR(creat, (const char *path, mode_t mode), (path, mode))
FILE_CREATOR(creat64, (const char *path, mode_t mode), (path, mode))
FILE_CREATOR(mkstemp, (char *path), (path))
FILE_CREATOR(mkstemp64, (char *path), (path))
FILE_CREATOR(mkostemp, (char *path, int flags), (path, flags))
FILE_CREATOR(mkostemp64, (char *path, int flags), (path, flags))
FILE_CREATOR(mkstemps, (char *path, int suffix), (path, suffix))
FILE_CREATOR(mkstemps64, (char *path, int suffix), (path, suffix))
FILE_CREATOR(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags))
FILE_CREATOR(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags))

/* ---- Descriptors of eventfd, epoll and other kernel objects ---------------------------------- */

CREATOR(LEAK_SORT_EVENTFD, NULL, eventfd, (unsigned count, int flags), (count, flags))
CREATOR(LEAK_SORT_EPOLL, NULL, epoll_create, (int size), (size))
CREATOR(LEAK_SORT_EPOLL, NULL, epoll_create1, (int flags), (flags))
CREATOR(LEAK_SORT_TIMERFD, NULL, timerfd_create, (int clock, int flags), (clock, flags))
CREATOR(LEAK_SORT_INOTIFY, NULL, inotify_init, (void), ())
CREATOR(LEAK_SORT_INOTIFY, NULL, inotify_init1, (int flags), (flags))
CREATOR(LEAK_SORT_MEMFD, name, memfd_create, (const char *name, unsigned flags), (name, flags))
CREATOR(LEAK_SORT_TERMINAL, NULL, posix_openpt, (int flags), (flags))

/* ---- Pipes ----------------------------------------------------------------------------------- */

#define PIPE(name, parameters, arguments)                                                          \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        real_functions_find();                                                                     \
        int result = real.name arguments;                                                          \
        if (TRACKED() && result == 0) {                                                            \
            struct frame caller = CALLER_FRAME();                                                  \
            resource_hook_opened_pair(&caller, ends, LEAK_SORT_PIPE, "pipe (read end)",            \
                                      "pipe (write end)");                                         \
        }                                                                                          \
        return result;                                                                             \
    }

PIPE(pipe, (int ends[2]), (ends))
PIPE(pipe2, (int ends[2], int flags), (ends, flags))

/* ---- Copies of descriptors ------------------------------------------------------------------- */

/* Calls a function that copies a descriptor, and records the copy. dup2 of a descriptor onto itself
 * changes nothing. */
#define COPY(call, fd, onto)                                                                       \
    ({                                                                                             \
        real_functions_find();                                                                     \
        int copy_ = call;                                                                          \
        if (TRACKED() && copy_ >= 0 && copy_ != (fd)) {                                            \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_duplicated(&caller_, fd, copy_, onto);                                   \
        }                                                                                          \
        copy_;                                                                                     \
    })

EXPORT int dup(int fd)
{
    return COPY(real.dup(fd), fd, false);
}

EXPORT int dup2(int fd, int number)
{
    return COPY(real.dup2(fd, number), fd, true);
}

EXPORT int dup3(int fd, int number, int flags)
{
    return COPY(real.dup3(fd, number, flags), fd, true);
}

/* Reads the argument behind "last", whatever its type is, as a word, as libc does. */
#define READ_WORD(last)                                                                            \
    ({                                                                                             \
        va_list list_;                                                                             \
        va_start(list_, last);                                                                     \
        long word_ = va_arg(list_, long);                                                          \
        va_end(list_);                                                                             \
        word_;                                                                                     \
    })

static bool is_copying(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

EXPORT int fcntl(int fd, int command, ...)
{
    long argument = READ_WORD(command);
    if (is_copying(command))
        return COPY(real.fcntl(fd, command, argument), fd, false);
    real_functions_find();
    return real.fcntl(fd, command, argument);
}

EXPORT int fcntl64(int fd, int command, ...);
EXPORT int fcntl64(int fd, int command, ...)
{
    long argument = READ_WORD(command);
    if (is_copying(command))
        return COPY(real.fcntl64(fd, command, argument), fd, false);
    real_functions_find();
    return real.fcntl64 ? real.fcntl64(fd, command, argument) : real.fcntl(fd, command, argument);
}

/* ---- Sockets --------------------------------------------------------------------------------- */

/* Appends a description such as "ipv4 stream socket". */
static void append_socket_name(struct strbuf *text, int family, int type)
{
    static const char *const families[] = {
        [AF_UNIX] = "unix",       [AF_INET] = "ipv4",     [AF_INET6] = "ipv6",
        [AF_NETLINK] = "netlink", [AF_PACKET] = "packet",
    };
    static const char *const types[] = {"", " stream", " datagram", " raw"};
    unsigned kind = type & 15;
    const char *name = (unsigned)family < ARRAY_LENGTH(families) ? families[family] : NULL;
    strbuf_add(text, name ? name : "other");
    strbuf_add(text, kind < ARRAY_LENGTH(types) ? types[kind] : "");
    strbuf_add(text, " socket");
}

static NOINLINE void note_socket(const struct frame *caller, int fd, int family, int type)
{
    char name[40];
    struct strbuf text = STRBUF_ON(name);
    append_socket_name(&text, family, type);
    resource_hook_opened(caller, fd, LEAK_SORT_SOCKET, name);
}

static NOINLINE void note_sockets(const struct frame *caller, const int *ends, int family, int type)
{
    char name[40];
    struct strbuf text = STRBUF_ON(name);
    append_socket_name(&text, family, type);
    strbuf_add(&text, " pair");
    resource_hook_opened_pair(caller, ends, LEAK_SORT_SOCKET, name, name);
}

EXPORT int socket(int family, int type, int protocol)
{
    real_functions_find();
    int fd = real.socket(family, type, protocol);
    if (TRACKED() && fd >= 0) {
        struct frame caller = CALLER_FRAME();
        note_socket(&caller, fd, family, type);
    }
    return fd;
}

EXPORT int socketpair(int family, int type, int protocol, int ends[2])
{
    real_functions_find();
    int result = real.socketpair(family, type, protocol, ends);
    if (TRACKED() && result == 0) {
        struct frame caller = CALLER_FRAME();
        note_sockets(&caller, ends, family, type);
    }
    return result;
}

/* Records an accepted socket and the address of its peer. If the program has passed no buffer for
 * that address, the hook gets it by getpeername. */
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

#define ACCEPT(name, parameters, arguments)                                                        \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        real_functions_find();                                                                     \
        socklen_t room = address && length && hook_can_read(length) ? *length : 0;                 \
        int accepted = real.name arguments;                                                        \
        if (TRACKED() && accepted >= 0) {                                                          \
            struct frame caller = CALLER_FRAME();                                                  \
            note_accepted(&caller, accepted, address, length, room);                               \
        }                                                                                          \
        return accepted;                                                                           \
    }

ACCEPT(accept, (int fd, struct sockaddr *address, socklen_t *length), (fd, address, length))
ACCEPT(accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags),
       (fd, address, length, flags))

/* Records an address that the program has passed to bind or connect. Another thread may have
 * unmapped it since the kernel has read it, so it is read by sys_peek. */
static NOINLINE void note_given_address(const struct frame *caller, int fd, const void *address,
                                        socklen_t length, enum leak_name_form sort)
{
    char copy[128];
    size_t size = length < sizeof copy ? length : sizeof copy;
    if (sys_peek((uintptr_t)address, copy, size))
        resource_hook_address(caller, fd, copy, size, sort);
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    real_functions_find();
    int result = real.connect(fd, address, length);
    if (TRACKED() && (result == 0 || errno == EINPROGRESS)) {
        struct frame caller = CALLER_FRAME();
        note_given_address(&caller, fd, address, length, LEAK_NAME_PEER);
    }
    return result;
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    real_functions_find();
    int result = real.bind(fd, address, length);
    if (TRACKED() && result == 0) {
        struct frame caller = CALLER_FRAME();
        note_given_address(&caller, fd, address, length, LEAK_NAME_LOCAL);
    }
    return result;
}

/* ---- Closing descriptors --------------------------------------------------------------------- */

/* Says whether a close has freed the descriptor number: Linux frees it also if close fails with
 * EINTR or an error of the disk. */
static bool is_number_free(int result, int error)
{
    return result == 0 || error == EINTR || error == EIO || error == ENOSPC || error == EDQUOT;
}

EXPORT int close(int fd)
{
    real_functions_find();
    if (!TRACKED())
        return real.close(fd);
    uint64_t stamp = descriptors_stamp(fd);
    int result = real.close(fd);
    int error = result < 0 ? errno : 0;
    /* Many programs close -1, which does no harm, so negative numbers are not reported. */
    if (fd >= 0 && (error == EBADF || is_number_free(result, error))) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed(&caller, fd, stamp, error == EBADF);
    }
    return result;
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    real_functions_find();
    if (!real.close_range) { /* glibc before 2.34 lacks close_range */
        errno = ENOSYS;
        return -1;
    }
    int result = real.close_range(first, last, flags);
    if (TRACKED() && result == 0 && !(flags & CLOSE_RANGE_CLOEXEC)) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed_range(&caller, first, last);
    }
    return result;
}

EXPORT void closefrom(int first)
{
    real_functions_find();
    if (real.closefrom)
        real.closefrom(first);
    else /* glibc before 2.34 lacks closefrom, but a program that finds this hook relies on it */
        sys_close_from(first < 0 ? 0 : first);
    if (TRACKED()) {
        struct frame caller = CALLER_FRAME();
        resource_hook_closed_range(&caller, first < 0 ? 0 : first, UINT32_MAX);
    }
}
