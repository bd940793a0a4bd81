/* uri.c - see uri.h. */
#include "common/base/uri.h"

#include <string.h>

void uri_path(const char *path, FILE *stream)
{
    for (; *path; path++)
        if (strchr("/._-+~", *path) || (*path >= '0' && *path <= '9') ||
            (*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z'))
            putc_unlocked(*path, stream);
        else
            fprintf(stream, "%%%02X", (unsigned char)*path);
}
