/* textfile.c - see textfile.h. */
#include "top/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/string_list.h"

static bool may_replace(const char *path)
{
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT;
    errno = S_ISDIR(info.st_mode) ? EISDIR : EEXIST;
    return S_ISREG(info.st_mode);
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t wrote = write(fd, text, length);

        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            text += wrote;
            length -= (size_t)wrote;
        }
    }
    return true;
}

/* The other name must not end like the file's: who reads all *.prom there would read it, too. */
static bool replace(const char *path, const char *text, size_t length)
{
    char *beside = string_format("%s.XXXXXX", path);
    int fd = mkostemp(beside, O_CLOEXEC), why;
    bool good = fd >= 0 && write_all(fd, text, length) && fchmod(fd, 0644) == 0;

    why = errno;
    if (fd >= 0 && close(fd) != 0 && good) { /* a full disk of another machine is told here */
        why = errno;
        good = false;
    }
    if (good && rename(beside, path) != 0) {
        why = errno;
        good = false;
    }
    if (fd >= 0 && !good)
        unlink(beside);
    free(beside);
    errno = why;
    return good;
}

bool textfile_replace(const char *path, const char *text, size_t length)
{
    sigset_t ends, before;
    bool good;
    int why;

    if (!may_replace(path))
        return false;
    /* Who ends us now leaves no half of a file beside it. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    good = replace(path, text, length);
    why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return good;
}
