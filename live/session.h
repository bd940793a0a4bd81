/* session.h - the private directory of one leakrun: the recording files of the program and of all
 * processes it starts, and a symbolic link libleak.so (common/processes/session_dir.h).
 *
 * The link exists because ld.so splits LD_PRELOAD at spaces and colons and expands '$': wherever
 * libleak is installed, the program sees a path without them. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include <stdbool.h>

struct session {
    char *dir;     /* where recording files go */
    char *preload; /* the link, for LD_PRELOAD; in another session directory when ld.so cannot use
                      the name of the wanted one */
    char *link_dir;
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
