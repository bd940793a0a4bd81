/* recording.h - gives leakctl access to the recording file of a running process: maps page 0, which
 * has the mailbox for requests; locks the file, so that only one leakctl at a time sends a request;
 * and reads chunks with leak checks.
 *
 * Chunks are read with pread, and no number in them leads beyond the end of the file. */
#ifndef CONTROL_RECORDING_H
#define CONTROL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct recording {
    int fd;
    struct leak_header *header; /* page 0, mapped and shared with the process */
};

enum recording_status {
    RECORDING_OK,
    RECORDING_FORBIDDEN,
    RECORDING_UNUSABLE, /* the file cannot be used; errno has the reason */
    RECORDING_OTHER_VERSION
};

/* Opens the recording file of a running process. If the result is not RECORDING_OK, there is
 * nothing to close. */
enum recording_status recording_open(struct recording *recording, const char *path);
void recording_close(struct recording *recording);

/* Locks the recording file. True: no other leakctl sends this process a request before
 * recording_close(). */
bool recording_lock(struct recording *recording);

/* Returns the signal by which libleak in that process expects requests. */
int recording_signal(const struct recording *recording);

struct leak_check_totals {
    struct leak_snapshot head;
    uint64_t lost_blocks, lost_bytes; /* as the leak check counted them, without suppressions */
    uint64_t indirect_blocks, indirect_bytes;
};

/* Finds the leak check that made this milestone. False: it is not in the file, or not yet. */
bool recording_find_leak_check(const struct recording *recording, uint64_t milestone,
                               struct leak_check_totals *totals);

/* Sets the path of the graph file for the next request; it must be shorter than
 * RECORDING_GRAPH_FILE. */
#define RECORDING_GRAPH_FILE sizeof(((struct leak_request_file *)0)->path)
void recording_put_graph_file(struct recording *recording, const char *path);
/* Returns the result of writing the graph file, after the leak check that made this milestone: 0 or
 * -errno. */
int recording_graph_error(const struct recording *recording, uint64_t milestone);

/* Finds the newest failed leak check after the time when_ns. False: there is none. */
bool recording_find_failed_check(const struct recording *recording, uint64_t when_ns,
                                 struct leak_snapshot *head);

#endif
