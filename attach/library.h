/* library.h - brings libleak into a process, switches it on, and off again.
 *
 * The file reaches the process as a memfd that one of its threads makes and leakctl fills: so its
 * mount namespace and its rights to files do not matter. Detaching leaves the library mapped. */
#ifndef ATTACH_LIBRARY_H
#define ATTACH_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LIBRARY_PATH_SIZE 4096

struct attachment {
    char recording[LIBRARY_PATH_SIZE]; /* as the process names it; "" = in memory only */
    uint64_t pause_ns;                 /* how long its thread stood still */
    unsigned tries;                    /* stops until one was at a safe place */
    unsigned threads;                  /* of the process */
};

/* Loads libleak into the process. options: text as in LIBLEAK_OPTIONS. timeout: how many ms a
 * thread may take to get to a safe place. False: refused. */
bool library_attach(pid_t pid, const char *options, uint64_t timeout,
                    struct attachment *attachment);
bool library_detach(pid_t pid, uint64_t timeout, struct attachment *attachment);

#endif
