/* store_list.h - the recording files of one directory, as leakwatch needs them: whose they are,
 * whether their process still runs, and the two things that leakwatch does with one: record how its
 * process was killed, and copy it.
 *
 * A program writes its file, so the file is hostile input: only page 0 is read, with pread, and its
 * numbers are not trusted further than the memory of this process. Its meaning is left to
 * leakreport. */
#ifndef COMMON_PROCESSES_STORE_LIST_H
#define COMMON_PROCESSES_STORE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct store_entry {
    char *path;
    char *kept;          /* path of a copy that stays, or NULL */
    const char *name;    /* points into path: EXE.PID.N.leak */
    pid_t pid;           /* from the header, or from the name when there is no header yet */
    unsigned number;     /* the N of the name */
    bool readable;       /* it has a header of this version; if not, the numbers below are 0 */
    bool newer;          /* it has one of a newer version */
    bool lives;          /* its process runs */
    uint64_t start_time; /* of its process */
    uint64_t started_ns;
    uint64_t used;
    bool tracked;   /* libleak saw it allocate, or would have seen it */
    uint32_t flags; /* enum leak_header_flag */
    uint32_t end_how;
    time_t written; /* last change of the file */
    bool left_out;  /* set by the caller: one too many for a report */
};

struct store_list {
    struct store_entry *at;
    size_t count;
};

/* Every *.leak in dir; those of the process (pid, start_time) come first, then by start. */
void store_list_read(struct store_list *list, const char *dir, pid_t pid, uint64_t start_time);
void store_list_free(struct store_list *list);

/* The file belongs to that process, in any of its programs (exec keeps pid and start time). */
bool store_entry_is_of(const struct store_entry *store, pid_t pid, uint64_t start_time);

/* Writes the wait status with which the process was reaped into its last file, and whether it was
 * killed because memory ran out. An end that the process recorded itself stands. */
void store_list_mark_end(struct store_list *list, pid_t pid, uint64_t start_time, int wait_status,
                         bool out_of_memory);

/* Copies the used part; holes stay holes. Overwrites only with force. False: after a message. */
bool store_entry_copy(const struct store_entry *store, const char *to, bool force);

#endif
