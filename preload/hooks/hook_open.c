/* hook_open.c - what makes a descriptor: open and its kin, pipes, copies, the kernel's odd files.
 *
 * The real function first, with nothing of ours held: it may block or be cancelled. Then, when it
 * has made one, that is noted.
 */
#include "preload/process/resource_hooks.h"
#include "preload/interpose/real_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#define TRACKED() resource_is_tracked(LEAK_RESOURCE_FD)

/* CALLER_FRAME belongs into the exported function itself. */
#define MADE(call, sort, name)                                                                     \
    ({                                                                                             \
        real_find();                                                                               \
        int fd_ = call;                                                                            \
        if (TRACKED() && fd_ >= 0) {                                                               \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_opened(&caller_, fd_, sort, name);                                            \
        }                                                                                          \
        fd_;                                                                                       \
    })

/* ---- Files --------------------------------------------------------------------------------- */

/* The kernel looks at the mode only when it may make a file; it is not there to be read else. */
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

EXPORT int open(const char *path, int flags, ...)
{
    mode_t mode = READ_MODE(flags);
    return MADE(real.open(path, flags, mode), LEAK_SORT_OPEN, path);
}

EXPORT int open64(const char *path, int flags, ...)
{
    mode_t mode = READ_MODE(flags);
    return MADE(real.open64(path, flags, mode), LEAK_SORT_OPEN, path);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = READ_MODE(flags);
    return MADE(real.openat(folder, path, flags, mode), LEAK_SORT_OPEN, path);
}

EXPORT int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = READ_MODE(flags);
    return MADE(real.openat64(folder, path, flags, mode), LEAK_SORT_OPEN, path);
}

/* Every other one has a fixed row of parameters. */
#define MAKER(sort, shown, name, parameters, arguments)                                            \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        return MADE(real.name arguments, sort, shown);                                             \
    }

#define FILE_MAKER(name, parameters, arguments)                                                    \
    MAKER(LEAK_SORT_OPEN, path, name, parameters, arguments)

FILE_MAKER(__open_2, (const char *path, int flags), (path, flags))
FILE_MAKER(__open64_2, (const char *path, int flags), (path, flags))
FILE_MAKER(__openat_2, (int folder, const char *path, int flags), (folder, path, flags))
FILE_MAKER(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
FILE_MAKER(creat, (const char *path, mode_t mode), (path, mode))
FILE_MAKER(creat64, (const char *path, mode_t mode), (path, mode))
FILE_MAKER(mkstemp, (char *path), (path))
FILE_MAKER(mkstemp64, (char *path), (path))
FILE_MAKER(mkostemp, (char *path, int flags), (path, flags))
FILE_MAKER(mkostemp64, (char *path, int flags), (path, flags))
FILE_MAKER(mkstemps, (char *path, int suffix), (path, suffix))
FILE_MAKER(mkstemps64, (char *path, int suffix), (path, suffix))
FILE_MAKER(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags))
FILE_MAKER(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags))

/* ---- Other files of the kernel's
 * -----------------------------------------------------------------
 */

MAKER(LEAK_SORT_EVENTFD, NULL, eventfd, (unsigned count, int flags), (count, flags))
MAKER(LEAK_SORT_EPOLL, NULL, epoll_create, (int size), (size))
MAKER(LEAK_SORT_EPOLL, NULL, epoll_create1, (int flags), (flags))
MAKER(LEAK_SORT_TIMERFD, NULL, timerfd_create, (int clock, int flags), (clock, flags))
MAKER(LEAK_SORT_INOTIFY, NULL, inotify_init, (void), ())
MAKER(LEAK_SORT_INOTIFY, NULL, inotify_init1, (int flags), (flags))
MAKER(LEAK_SORT_MEMFD, name, memfd_create, (const char *name, unsigned flags), (name, flags))
MAKER(LEAK_SORT_TERMINAL, NULL, posix_openpt, (int flags), (flags))

/* ---- Pipes ---------------------------------------------------------------------------------- */

#define PIPE(call)                                                                                 \
    ({                                                                                             \
        real_find();                                                                               \
        int result_ = call;                                                                        \
        if (TRACKED() && result_ == 0) {                                                           \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_opened_pair(&caller_, ends, LEAK_SORT_PIPE, "pipe (read end)", "pipe (write end)");      \
        }                                                                                          \
        result_;                                                                                   \
    })

EXPORT int pipe(int ends[2])
{
    return PIPE(real.pipe(ends));
}

EXPORT int pipe2(int ends[2], int flags)
{
    return PIPE(real.pipe2(ends, flags));
}

/* ---- Copies --------------------------------------------------------------------------------- */

/* dup2 of a number onto itself changes nothing. */
#define COPY(call, fd, onto)                                                                       \
    ({                                                                                             \
        real_find();                                                                               \
        int copy_ = call;                                                                          \
        if (TRACKED() && copy_ >= 0 && copy_ != (fd)) {                                            \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_duplicated(&caller_, fd, copy_, onto);                                                  \
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

/* Whatever the third argument is, it is passed on as a word: so does libc itself. */
#define READ_WORD(last)                                                                            \
    ({                                                                                             \
        va_list list_;                                                                             \
        va_start(list_, last);                                                                     \
        long word_ = va_arg(list_, long);                                                          \
        va_end(list_);                                                                             \
        word_;                                                                                     \
    })

static bool copies(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

EXPORT int fcntl(int fd, int command, ...)
{
    long argument = READ_WORD(command);
    if (copies(command))
        return COPY(real.fcntl(fd, command, argument), fd, false);
    real_find();
    return real.fcntl(fd, command, argument);
}

EXPORT int fcntl64(int fd, int command, ...);
EXPORT int fcntl64(int fd, int command, ...)
{
    long argument = READ_WORD(command);
    if (copies(command))
        return COPY(real.fcntl64(fd, command, argument), fd, false);
    real_find();
    return real.fcntl64 ? real.fcntl64(fd, command, argument) : real.fcntl(fd, command, argument);
}

/* ---- vfork ---------------------------------------------------------------------------------- */

__attribute__((used)) void *hook_vfork_notice(void);

/* The child runs on as this thread, in this memory, but closes descriptors of its own. */
void *hook_vfork_notice(void)
{
    real_find();
    guard_self.vforks = true;
    return (void *)real.vfork;
}
