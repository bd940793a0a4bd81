/* stores.h - the stores in one directory, as leakwatch needs them: whose they are, whether their
 * process still runs, and the two things leakwatch may do with one: say how its process was killed,
 * and copy it.
 *
 * A store is written by the program and so is hostile input: only page 0 is read, with pread, and
 * no number in it is trusted further than this process's own memory. What a store means is
 * leakreport's business. */
#ifndef COMMON_PROCESSES_STORE_LIST_H
#define COMMON_PROCESSES_STORE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct store {
    char *path;
    char *kept;          /* path of a copy that stays, or NULL */
    const char *name;    /* points into path: EXE.PID.N.leak */
    pid_t pid;           /* from the header, or from the name when there is no header yet */
    unsigned number;     /* the N of the name */
    bool readable;       /* has a header of our version; the numbers below are 0 if not */
    bool lives;          /* its process runs */
    uint64_t start_time; /* of its process */
    uint64_t started_ns;
    uint64_t used;
    bool tracked;   /* libleak saw it allocate */
    uint32_t flags; /* enum leak_header_flag */
    uint32_t end_how;
    time_t written; /* last change of the file */
};

struct stores {
    struct store *at;
    size_t count;
};

/* Every *.leak in dir; those of the process (pid, start_time) come first, then by start. */
void stores_list(struct stores *list, const char *dir, pid_t pid, uint64_t start_time);
void stores_free(struct stores *list);

/* Whether at[i] belongs to that process, in any of its programs (exec keeps pid and start time). */
bool store_is_of(const struct store *store, pid_t pid, uint64_t start_time);

/* The process was reaped with this wait status: its last store learns it, unless it knows better;
 * and that it was killed because memory ran out. */
void stores_mark_end(struct stores *list, pid_t pid, uint64_t start_time, int wait_status,
                     bool out_of_memory);

/* Copies the used part; the copy's holes stay holes. Refuses to overwrite without force.
 * False: said why. */
bool store_copy(const struct store *store, const char *to, bool force);

#endif
