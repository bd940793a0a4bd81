/* session_dir.h - the private directory of one leakrun: recording files, and a link to
 * libleak.so. leakrun makes the directory and removes it at the end (live/session.h). If leakrun
 * was killed, a later leakrun or leakctl clean removes it.
 *
 * Its name contains pid, start time, pid namespace and host of its leakwatch, the process that
 * runs the program, and so shows whether that leakwatch still runs. Its mode is 0700, and only
 * file names that libleak creates are ever removed. */
#ifndef COMMON_PROCESSES_SESSION_DIR_H
#define COMMON_PROCESSES_SESSION_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define SESSION_LINK_NAME "libleak.so"

/* Makes a new session directory of this process below base. Returns its path, which the caller
 * frees, or NULL with errno. */
char *session_dir_make(const char *base);

/* Marks a directory because a message named it to the user, so that it is not removed soon. */
void session_dir_mark_kept(const char *dir);

/* Removes libleak's files from a directory, and the directory if nothing else is in it. False: the
 * directory stays. */
bool session_dir_remove(const char *dir);

enum session_dir_state {
    SESSION_DIR_FOREIGN, /* belongs to another user, host or container, or leakrun did not make
                          * it */
    SESSION_DIR_IN_USE,  /* its leakwatch runs, or a process that writes a recording there or may
                          * load libleak.so from there */
    SESSION_DIR_KEPT,    /* no process needs it, but a message named it to the user */
    SESSION_DIR_STALE,   /* no process needs it, and no message named it */
};

struct session_dir {
    const char *path;
    enum session_dir_state state;
    /* These fields are set for KEPT and STALE directories: */
    size_t recordings; /* number of recording files */
    time_t last;       /* when a recording was last written or the directory was marked */
};

/* Calls visit for every session directory in `place`; visit may remove it. A directory marked at
 * spared_since or later is left out, because examining it means reading the environment of every
 * process; 0: none is left out. */
void session_dir_visit(const char *place, time_t spared_since,
                       void (*visit)(const struct session_dir *, void *context), void *context);

#endif
