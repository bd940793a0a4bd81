/* packages.h - finds the package of the system that a file belongs to, and the package with its
 * debug information.
 *
 * dpkg's lists of files are read directly, until every file is found: the lists of two thousand
 * packages take 30 ms. For rpm, the program rpm runs, for RPM_SECONDS at most. A package that is
 * not found is NULL; the result is advice and may be incomplete.
 */
#ifndef SYMBOLIZE_RECORDS_PACKAGES_H
#define SYMBOLIZE_RECORDS_PACKAGES_H

#include <stddef.h>

#include "common/base/arena.h"

struct packaged_file {
    const char *path;
    const char *package; /* name of the package; NULL = unknown */
    /* name of the package with debug information of the file: "bash-dbgsym", "bash-debuginfo" */
    const char *debug;
};

/* Fills in the packages of the files. root: the folder under which the file system of the files is
 * mounted; NULL = /. A path below /lib, /bin or /sbin is also searched below /usr, and a path below
 * /usr without it. */
void packages_find(struct arena *mem, const char *root, struct packaged_file *files, size_t count);

/* Says whether the path is in a folder where the system's packages install files. Other files were
 * built by the user. */
bool packages_may_have(const char *path);

/* Returns a value for DEBUGINFOD_URLS: the URLs that /etc/debuginfod configures, else the server of
 * the distribution; NULL = none is known. */
const char *packages_debuginfod_urls(struct arena *mem, const char *root);

/* Returns the name of the package that has the file, from the output of `program`, which is rpm or
 * a substitute for tests. */
const char *packages_ask_rpm(struct arena *mem, const char *program, const char *path,
                             int milliseconds);

#endif
