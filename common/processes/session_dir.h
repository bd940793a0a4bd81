/* session_dir.h - the private directory of one leakrun: recording files, and a link to libleak.so.
 * leakrun makes one and removes it (live/session.h); a later leakrun sweeps what a killed one left,
 * and leakctl clean removes it.
 *
 * Its name carries the pid, start time, pid namespace and host of its leakwatch, so that a directory
 * whose leakwatch died is told from one in use. Its mode is 0700, and only file names that libleak
 * creates are ever removed. */
#ifndef COMMON_PROCESSES_SESSION_DIR_H
#define COMMON_PROCESSES_SESSION_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define SESSION_LINK_NAME "libleak.so"

/* A fresh directory of this process below base, or NULL with errno. The caller frees the path. */
char *session_dir_make(const char *base);

/* Says that a message named it, so that it stays for a while. */
void session_dir_mark_kept(const char *dir);

/* Removes the files of libleak, and the directory if nothing else is in it. False: it stays. */
bool session_dir_remove(const char *dir);

enum session_dir_state {
    SESSION_DIR_FOREIGN, /* of another user, host or container; or leakrun did not make it */
    SESSION_DIR_IN_USE,  /* its leakwatch runs, or a process that writes there or has its link */
    SESSION_DIR_KEPT,    /* nothing needs it, but a message named it */
    SESSION_DIR_STALE,   /* nothing needs it, and nobody knows of it */
};

struct session_dir {
    const char *path;
    enum session_dir_state state;
    /* Filled in for KEPT and STALE directories: */
    size_t recordings; /* files in it */
    time_t last;       /* when one was last written, or the directory was marked */
};

/* Passes every session directory of a place to visit, which may remove it. Those that a message
 * named at spared_since or later are left out, because examining one reads the environment of every
 * process; 0: none is. */
void session_dir_visit(const char *place, time_t spared_since,
                       void (*visit)(const struct session_dir *, void *context), void *context);

#endif
