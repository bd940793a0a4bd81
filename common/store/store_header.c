/* store_header.c - see store_header.h. */
#include "common/store/store_header.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool heads_read(int directory, const char *name, struct leak_header *header, struct stat *status)
{
    size_t length = strlen(name);
    bool named = length > 5 && strcmp(name + length - 5, ".leak") == 0;
    int fd =
        named ? openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
              : -1;
    bool good = fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
                pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
                header->magic == LEAK_STORE_MAGIC && header->version == LEAK_STORE_VERSION;

    if (fd >= 0)
        close(fd);
    if (good)
        header->host[sizeof(header->host) - 1] = '\0';
    return good;
}
