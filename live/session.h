/* session.h - makes the private directory of one leakrun. It has the recording files of the program
 * and of all processes that the program starts, and a symbolic link libleak.so
 * (common/processes/session_dir.h).
 *
 * The link exists because ld.so splits LD_PRELOAD at spaces and colons and expands '$': wherever
 * libleak is installed, the program sees a path without them.
 *
 * If there is also a libleak.so for 32-bit programs, ld.so chooses: LD_PRELOAD is
 * DIR/$LIB/libleak.so, and the directory has a folder for each value that $LIB may have. libleak's
 * hooks that change the environment of a child find the library of the other word size as
 * 32/libleak.so or ../libleak.so, relative to their own. */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

struct session {
    char *dir; /* directory of the recording files */
    /* value for LD_PRELOAD: the link. The link is in another session directory if ld.so cannot use
     * the name of `dir` */
    char *preload;
    char *link_dir;
    /* text by which processes that may need the link are found: a path that their environment
     * contains */
    const char *users;
};

/* Makes the session directory below `wanted`; if that is NULL or unusable (with a message), in the
 * first usable of runtime_dir (the value of XDG_RUNTIME_DIR), /dev/shm, /tmp. False: no directory
 * was usable, and a message says so. */
bool session_make(struct session *session, const char *wanted, const char *library,
                  const char *runtime_dir);

/* Removes the session directories of leakwatch processes that have ended. Directories that were
 * left for the user stay for a day. */
void session_sweep(const char *wanted, const char *runtime_dir);

/* Leaves the session directory for processes that still run, or for the user; session_sweep() does
 * not remove it for a day. */
void session_leave(struct session *session);

void session_remove(struct session *session);

/* Sends a signal to the processes of the session. program: its first one, which may hide from
 * proc_find_users(); 0: it has ended. */
void session_send_signal(const struct session *session, pid_t program, int sig);

#endif
