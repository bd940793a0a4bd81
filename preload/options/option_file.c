#include "preload/options/option_file.h"
#include "preload/base/sys.h"
#include "leak_option_files.h"

#include <errno.h>
#include <fcntl.h>

/* Opens an option file without following a link that another user may have made; O_NONBLOCK because
 * the path may be a pipe. Returns a descriptor, or -errno. */
static int open_file(const char *path, unsigned root, const char **refusal)
{
    int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = sys_open(path, how | O_NOFOLLOW, 0);
    struct stat link;
    if (fd != -ELOOP || sys_lstat(path, &link) < 0)
        return fd;
    if (!leak_option_owner_is_good(&link, sys_geteuid(), root)) {
        *refusal = LEAK_OPTION_LINK_REFUSAL;
        return -EPERM;
    }
    return sys_open(path, how, 0);
}

static ssize_t read_all(int fd, char *buffer, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < size - 1) {
        got = sys_read(fd, buffer + length, size - 1 - length);
        length += got > 0 ? got : 0;
    }
    buffer[length] = '\0';
    return got < 0 ? got : (ssize_t)length;
}

ssize_t option_file_read(const char *path, char *buffer, size_t size, unsigned root,
                         const char **refusal)
{
    struct stat file;
    *refusal = NULL;
    int fd = open_file(path, root, refusal);
    if (fd < 0)
        return fd;
    ssize_t result = sys_fstat(fd, &file);
    if (result == 0)
        *refusal = leak_option_file_refusal(&file, sys_geteuid(), root);
    if (result == 0)
        result = *refusal ? -EPERM : read_all(fd, buffer, size);
    sys_close(fd);
    return result;
}
