/* session.h - the private directory of one leakrun: the recording files of the program and of all
 * processes it starts, and a symbolic link libleak.so (common/processes/session_dir.h).
 *
 * The link exists because ld.so splits LD_PRELOAD at spaces and colons and expands '$': wherever
 * libleak is installed, the program sees a path without them.
 *
 * Where there is a library for 32-bit programs, too, ld.so chooses: LD_PRELOAD is DIR/$LIB/libleak.so,
 * and the directory has a folder for each name that loaders have for $LIB. Hooks that change the
 * environment of a child find the other library as 32/libleak.so or ../libleak.so beside theirs. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include <stdbool.h>

struct session {
    char *dir;     /* where recording files go */
    char *preload; /* for LD_PRELOAD: the link; in another session directory when ld.so cannot use
                      the name of the wanted one */
    char *link_dir;
    const char *users; /* what the environment of a process contains that may need the link */
};

/* Creates it below wanted, or (wanted NULL or unusable, with a message) below the first usable of
 * runtime_dir (the value of XDG_RUNTIME_DIR), /dev/shm, /tmp. False: no directory was usable, and a
 * message says so. */
bool session_make(struct session *session, const char *wanted, const char *library,
                  const char *runtime_dir);

/* Removes session directories of dead leakwatches in the same places; those that a message named
 * stay for a day. */
void session_sweep(const char *wanted, const char *runtime_dir);

/* Leaves the directory for processes that still run, or for the user; sweeps spare it for a day. */
void session_leave(struct session *session);

void session_remove(struct session *session);

#endif
