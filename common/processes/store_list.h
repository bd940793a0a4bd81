/* store_list.h - lists the recording files of one directory for leakwatch: which process wrote
 * each file, and whether it still runs. leakwatch also records in a file how its process was
 * killed, and copies files.
 *
 * A program writes its file, so the file is hostile input: only page 0 is read, with pread, and
 * no number in it is used as an address or size without a check. leakreport reads the rest. */
#ifndef COMMON_PROCESSES_STORE_LIST_H
#define COMMON_PROCESSES_STORE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct store_entry {
    char *path;
    char *kept;          /* path of a copy that the user keeps, or NULL */
    const char *name;    /* name of the file, EXE.PID.N.leak: the end of `path` */
    pid_t pid;           /* from the header, or from the file name while there is no header */
    unsigned number;     /* the N of EXE.PID.N.leak */
    bool readable;       /* the header has a version that this program reads; if not, all fields
                          * from start_time on are 0 */
    bool newer;          /* the header has a newer version than this program reads */
    bool lives;          /* the process runs */
    uint64_t start_time; /* start time of the process, from /proc/PID/stat */
    uint64_t started_ns;
    uint64_t used;
    bool tracked;   /* false: the recording has no allocations because the program uses an
                     * allocator of its own */
    uint32_t flags; /* flags of the header (enum leak_header_flag) */
    uint32_t end_how;
    time_t written; /* time of the last change of the file */
    bool left_out;  /* set by the caller: the report leaves this file out, because leakreport's
                     * arguments would become too long */
};

struct store_list {
    struct store_entry *at;
    size_t count;
};

/* Lists every *.leak in dir, first those of the process (pid, start_time), then by start time. */
void store_list_read(struct store_list *list, const char *dir, pid_t pid, uint64_t start_time);
void store_list_free(struct store_list *list);

/* Says whether a file belongs to a process, in any of its programs (exec keeps pid and start
 * time). */
bool store_entry_is_of(const struct store_entry *store, pid_t pid, uint64_t start_time);

/* Writes into a process's last file how it ended: the wait status, and whether the OOM killer
 * killed it. An end that the process recorded itself stays. */
void store_list_mark_end(struct store_list *list, pid_t pid, uint64_t start_time, int wait_status,
                         bool out_of_memory);

/* Copies the used part of a file; holes stay holes. Overwrites a file only with `force`. False:
 * a message says why. */
bool store_entry_copy(const struct store_entry *store, const char *to, bool force);

#endif
