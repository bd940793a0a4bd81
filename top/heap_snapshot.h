/* heap_snapshot.h - reads the recording file of a process once: the live blocks of all allocation
 * sites, grouped by name, how many of them are lost, and what changed since the previous snapshot.
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

/* Blocks that the last leak check found lost, and that are still live. Suppressed blocks, blocks
 * that the C and C++ libraries keep, and blocks that a fork child inherited are not counted, so the
 * sums are those of leakreport's summary line. */
struct lost_totals {
    uint64_t bytes, blocks;
    uint64_t indirect_bytes, indirect_blocks; /* blocks that a lost block owns */
};

struct snapshot_row {
    const struct site_name *name;
    struct counter_delta delta;  /* change since the previous snapshot */
    const struct growth *growth; /* how the site grows; NULL = unknown */
    struct lost_totals lost;     /* zero if there was no leak check */
    uint64_t first_ns, last_ns;  /* time of its first and of its last allocation */
};

struct heap_snapshot {
    struct arena *mem; /* owns all data of the snapshot except the names */
    const char *path, *exe;
    const char **argv;
    size_t argc;
    int32_t pid;
    struct file_owner owner; /* owner of the recording file, who is the user of the process */
    enum end_how how;
    int32_t end_value; /* exit status with END_EXIT, signal with END_SIGNAL */
    uint64_t time_ns, started_ns;
    double time;  /* time of the snapshot, of a monotonic clock, in seconds */
    bool sampled; /* the process was sampled, so the numbers are estimates */
    struct counters total;
    struct counter_delta delta;
    struct counters *counts; /* counters of each name; same index as `rows` */
    struct snapshot_row *rows;
    size_t count, growing;
    struct moment *history; /* the heap over time, in ascending order */
    size_t history_count;
    struct moment peak;     /* the largest heap; bytes 0: unknown, else never below total.bytes */
    uint64_t leak_check_ns; /* time of the last leak check; 0: there was none */
    struct lost_totals lost;
    uint64_t limit; /* number of bytes that a memory limit allows; 0: no limit, or unknown */
    enum leak_limit limit_of;
};

/* ---- Taking snapshots of one process --------------------------------------------------------- */

struct snapshot_reader {
    const char *path;
    struct site_names names;
    struct suppressions *suppressions;
    /* counters of the previous snapshot; time 0: no snapshot was taken yet */
    struct counter_baseline before;
    struct moment peak; /* the largest heap that was recorded, or seen in a snapshot */
};

/* Begins to read a recording file. resolver: passed to site_names_begin(). */
struct snapshot_reader snapshot_reader_begin(const char *path, struct resolver *resolver);
void snapshot_reader_end(struct snapshot_reader *reader);

/* Takes a snapshot. NULL: the file cannot be read, and *trouble has the reason; a later try may
 * succeed. */
struct heap_snapshot *heap_snapshot_take(struct snapshot_reader *reader,
                                         struct read_error *trouble);
void heap_snapshot_free(struct heap_snapshot *snapshot); /* snapshot may be NULL */

/* Writes the state of the process: "running", "exited with status 3". */
#define END_TEXT_SIZE 64
const char *heap_snapshot_end_text(const struct heap_snapshot *snapshot, char text[END_TEXT_SIZE]);

/* ---- watcher.c: taking snapshots in a thread ------------------------------------------------- */

/* Takes snapshots, or other data, at intervals in a thread of its own, so that the caller never
 * waits: symbolizing the new sites of a large program takes seconds. The newest snapshot is kept
 * until the caller takes it, or the next one replaces it. */
struct watcher;

/* Functions that a watcher calls for its source. take: takes one snapshot; NULL = that is
 * impossible, and *failure has the reason; *more: set to true if there will be more. discard: frees
 * a snapshot. end: frees the source at the end. */
struct watched {
    void *(*take)(void *source, bool *more, struct read_error *failure);
    void (*discard)(void *taken);
    void (*end)(void *source);
};

/* Starts a thread that takes snapshots at intervals. NULL: it could not be started, and the source
 * was freed. */
struct watcher *watcher_begin(const struct watched *watched, void *source, double interval);

/* Watches a process: takes a struct heap_snapshot of its recording file at intervals, until the
 * process ends. NULL: the watcher cannot be started. */
struct watcher *watcher_begin_process(const char *path, double interval);

/* Stops the thread, and returns after LEAVE_SECONDS (watcher.c) at most. If the thread is still
 * reading then, its memory is not freed before leaktop ends. Snapshots that the caller has taken
 * stay valid, but not the names in them. */
void watcher_end(struct watcher *watcher);

/* Returns a descriptor that becomes readable when there is a new snapshot. */
int watcher_fd(const struct watcher *watcher);

/* Takes the newest snapshot, which the caller must free; NULL = there is no new one since the last
 * call. *failure: the reason why there will be no more. */
void *watcher_take(struct watcher *watcher, struct read_error *failure);

#endif
