/* library.h - loads libleak into a running process, attaches it, and detaches it again.
 *
 * A thread of the process makes a memfd, into which leakctl writes the library, so the mount
 * namespace of the process and its rights to files do not matter. Detaching leaves the library
 * mapped. */
#ifndef ATTACH_LIBRARY_H
#define ATTACH_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LIBRARY_PATH_SIZE 4096

struct attachment {
    char recording[LIBRARY_PATH_SIZE]; /* path of the recording file as the process sees it; "" =
                                        * the recording is in memory only */
    uint64_t pause_ns;                 /* how long the thread was stopped, in nanoseconds */
    unsigned tries;                    /* number of stops until a thread was at a safe place */
    unsigned threads;                  /* number of threads of the process */
};

/* Loads and starts libleak in a process. options: text as in LIBLEAK_OPTIONS. timeout:
 * milliseconds in which a thread must get to a safe place. False: refused, and a message says
 * why. */
bool library_attach(pid_t pid, const char *options, uint64_t timeout,
                    struct attachment *attachment);
bool library_detach(pid_t pid, uint64_t timeout, struct attachment *attachment);

#endif
