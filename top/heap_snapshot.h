/* heap_snapshot.h - one reading of the recording file of a process: what the allocation sites of
 * each name hold now, what of it is lost, and what changed since the snapshot before.
 *
 * Reading does not stop the process, and the process does not notice. A snapshot owns all its data
 * except the site names, which belong to the reader and live until snapshot_reader_end().
 * watcher_* takes snapshots in a thread of its own.
 */
#ifndef TOP_HEAP_SNAPSHOT_H
#define TOP_HEAP_SNAPSHOT_H

#include "common/store/reader.h"
#include "common/model/model.h"
#include "common/suppress/suppress.h"
#include "top/counters.h"
#include "top/site_names.h"

/* What the last leak check found lost and still lives. Suppressed blocks, blocks that the C and C++
 * libraries keep and blocks that a fork child inherited are left out, so the sums are those of the
 * summary line of leakreport. */
struct lost_totals {
    uint64_t bytes, blocks;
    uint64_t indirect_bytes, indirect_blocks; /* owned by a lost block */
};

struct snapshot_row {
    const struct site_name *name;
    struct counter_delta delta;  /* since the snapshot before */
    const struct growth *growth; /* NULL = unknown */
    struct lost_totals lost;     /* zero without a leak check */
    uint64_t first_ns, last_ns;  /* its first and last allocation */
};

struct heap_snapshot {
    struct arena *mem; /* owns everything below */
    const char *path, *exe;
    const char **argv;
    size_t argc;
    int32_t pid;
    struct file_owner owner; /* of the recording: whose program it is */
    enum end_how how;
    int32_t end_value; /* of END_EXIT and END_SIGNAL */
    uint64_t time_ns, started_ns;
    double time;  /* monotonic */
    bool sampled; /* the numbers are estimates */
    struct counters total;
    struct counter_delta delta;
    struct counters *counts; /* by name, like the rows */
    struct snapshot_row *rows;
    size_t count, growing;
    struct moment *history; /* ascending */
    size_t history_count;
    struct moment peak;     /* bytes 0: unknown; never below total.bytes */
    uint64_t leak_check_ns; /* time of the last leak check; 0: there was none */
    struct lost_totals lost;
    uint64_t limit; /* bytes that the process may have; 0: no limit, or unknown */
    enum leak_limit limit_of;
};

/* ---- Taking snapshots of one process --------------------------------------------------------- */

struct snapshot_reader {
    const char *path;
    struct site_names names;
    struct suppressions *suppressions;
    struct counter_baseline before; /* time 0: no snapshot was taken yet */
    struct moment peak;             /* the largest heap that was recorded or seen */
};

/* Begins to read a recording file. resolver: as for site_names_begin(). */
struct snapshot_reader snapshot_reader_begin(const char *path, struct resolver *resolver);
void snapshot_reader_end(struct snapshot_reader *reader);

/* Takes a snapshot. NULL: the file cannot be read, and *trouble says why; a later try may
 * succeed. */
struct heap_snapshot *heap_snapshot_take(struct snapshot_reader *reader,
                                         struct read_error *trouble);
void heap_snapshot_free(struct heap_snapshot *snapshot); /* NULL is allowed */

/* The state of the process as text: "running", "exited with status 3". */
#define END_TEXT_SIZE 64
const char *heap_snapshot_end_text(const struct heap_snapshot *snapshot, char text[END_TEXT_SIZE]);

/* ---- In a thread ----------------------------------------------------------------------------- */

/* Takes something each interval in a thread of its own, so that the caller never waits: symbolizing
 * the new sites of a large program takes seconds. The newest one waits until it is taken; the next
 * one replaces it. */
struct watcher;

/* What is watched. take: NULL = it cannot be read, and *failure says why; *more: it goes on.
 * discard: of one that was taken. end: of the source, in the end. */
struct watched {
    void *(*take)(void *source, bool *more, struct read_error *failure);
    void (*discard)(void *taken);
    void (*end)(void *source);
};

/* Starts a thread that watches. NULL: it could not be started, and the source has ended. */
struct watcher *watcher_begin(const struct watched *watched, void *source, double interval);

/* Watches the recording of a process: makes a struct heap_snapshot at intervals, until the process
 * ends. */
struct watcher *watcher_begin_process(const char *path, double interval);

/* Returns within LEAVE_SECONDS (watcher.c): a thread that is still reading then keeps its memory
 * until leaktop ends. Snapshots taken from it stay valid, but not the names in them. */
void watcher_end(struct watcher *watcher);

/* A descriptor that becomes readable when there is something to take. */
int watcher_fd(const struct watcher *watcher);

/* The newest one, which the caller then owns; NULL = none since the last call. *failure: why it can
 * no longer be read, after which there are no more. */
void *watcher_take(struct watcher *watcher, struct read_error *failure);

#endif
