/* packages.h - which package of the system a file belongs to, and where the system has debug
 * information.
 *
 * dpkg's lists of files are read directly, until every file is found: all of two thousand packages
 * take 30 ms. rpm is asked as a process, for RPM_SECONDS at most. What is not found out is NULL: this
 * is advice.
 */
#ifndef SYMBOLIZE_RECORDS_PACKAGES_H
#define SYMBOLIZE_RECORDS_PACKAGES_H

#include <stddef.h>

#include "common/base/arena.h"

struct packaged_file {
    const char *path;
    const char *package; /* NULL = unknown */
    const char *debug;   /* what has its debug information: "bash-dbgsym", "bash-debuginfo" */
};

/* Fills in package and debug. root: what the file system of the files is below; NULL = /. A path below
 * /lib, /bin or /sbin is also searched below /usr, and the other way. */
void packages_find(struct arena *mem, const char *root, struct packaged_file *files, size_t count);

/* Does the system install files there? Others were built by the user. */
bool packages_may_have(const char *path);

/* A value for DEBUGINFOD_URLS: what /etc/debuginfod says, else the server of the distribution. */
const char *packages_debuginfod_urls(struct arena *mem, const char *root);

/* The name of the package that has the file, as a program of rpm's form says it. */
const char *packages_ask_rpm(struct arena *mem, const char *program, const char *path,
                             int milliseconds);

#endif
