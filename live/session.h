/* session.h - the private directory of one leakrun: the stores of the program and of everything it
 * starts, and a symbolic link libleak.so.
 *
 * Its name carries the pid, start time and pid namespace of its leakwatch, so that a later leakrun
 * can tell one whose leakwatch died (swept) from one in use (left alone). It is 0700, ours, and
 * only the names we make in it are ever removed.
 *
 * The link exists because ld.so splits LD_PRELOAD at spaces and colons and expands '$': wherever
 * libleak is installed, the program sees a path without them. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include <stdbool.h>

#include "common/base/string_list.h"

struct session {
    char *dir;     /* where stores go */
    char *preload; /* the link, for LD_PRELOAD; in another session directory when the name of
                      the wanted one does not suit ld.so */
    char *link_dir;
};

/* Makes it below wanted, or (wanted NULL or unusable, which is said) below the first usable of
 * $XDG_RUNTIME_DIR, /dev/shm, /tmp. False: nothing was usable; said. */
bool session_make(struct session *session, const char *wanted, const char *library,
                  const struct string_list *environment);

/* Removes session directories of dead leakwatches in the same places: those the user was told to
 * look into stay for a day. */
void session_sweep(const char *wanted, const struct string_list *environment);

/* Leaves the directory, for survivors or for the user to look into; sweeps spare it for a day. */
void session_leave(struct session *session);

void session_remove(struct session *session);

#endif
