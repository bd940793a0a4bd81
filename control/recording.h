/* recording.h - the recording file of a running process, as leakctl needs it: page 0, mapped, with
 * the mailbox for requests; a lock, so that one leakctl at a time sends a request; and two of the
 * chunks.
 *
 * Everything else is read with pread, and no number in it is trusted beyond the end of the file. */
#ifndef CONTROL_RECORDING_H
#define CONTROL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct recording {
    int fd;
    struct leak_header *header; /* mapped, and shared with the process */
};

enum recording_status {
    RECORDING_OK,
    RECORDING_FORBIDDEN,
    RECORDING_UNUSABLE, /* errno says why */
    RECORDING_OTHER_VERSION
};

/* Opens a recording file of a running process. Unless RECORDING_OK, there is nothing to close. */
enum recording_status recording_open(struct recording *recording, const char *path);
void recording_close(struct recording *recording);

/* Locks the recording. True: no other leakctl sends this process a request until
 * recording_close. */
bool recording_lock(struct recording *recording);

/* The signal that libleak uses in that process. */
int recording_signal(const struct recording *recording);

struct leak_check_totals {
    struct leak_snapshot head;
    uint64_t lost_blocks, lost_bytes; /* of the leak check itself: nothing is suppressed */
    uint64_t indirect_blocks, indirect_bytes;
};

/* The leak check that is this milestone. False: it is not in the file, or not yet. */
bool recording_find_leak_check(const struct recording *recording, uint64_t milestone,
                               struct leak_check_totals *totals);

/* Sets the path of the graph file for the next request, shorter than RECORDING_GRAPH_FILE. */
#define RECORDING_GRAPH_FILE sizeof(((struct leak_request_file *)0)->path)
void recording_put_graph_file(struct recording *recording, const char *path);
/* The result of writing the graph file, after the leak check of this milestone: 0 or -errno. */
int recording_graph_error(const struct recording *recording, uint64_t milestone);

/* The newest failed leak check since then. */
bool recording_find_failed_check(const struct recording *recording, uint64_t when_ns,
                                 struct leak_snapshot *head);

#endif
