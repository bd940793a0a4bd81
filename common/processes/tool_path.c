/* part.c - see part.h. */
#include "common/processes/tool_path.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/string_list.h"

char *part_find(const char *told, const char *name)
{
    char self[PATH_MAX];
    if (told)
        return realpath(told, NULL);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *path = words_print("%s/%s", dirname(self), name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#ifdef LEAK_BINDIR
    path = words_print("%s/%s", LEAK_BINDIR, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
#endif
    return NULL;
}
