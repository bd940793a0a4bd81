/* leak_check.h - the child process of a leak check: from a frozen heap to verdicts in the recording
 * file.
 *
 * It is a copy of the process with one thread and no side effects: all signals blocked, no file
 * descriptor open, the first victim when memory runs out. Memory that cannot be read (a page
 * without access, unless the option unreadable is set; a truncated file) reads as zeros.
 */
#ifndef PRELOAD_LEAKCHECK_LEAK_CHECK_H
#define PRELOAD_LEAKCHECK_LEAK_CHECK_H

#include "preload/signals/stop_the_world.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* The verdict of one leak check on a block, for a later one. */
struct leak_check_note {
    uint64_t address;
    uint32_t count;
    uint16_t thread;
    uint8_t verdict; /* enum leak_verdict */
    uint8_t reserved;
};

/* The result of a leak check, in memory that parent and child share. */
struct leak_check_result {
    uint32_t done;        /* 1: the following fields are valid */
    uint32_t trouble;     /* enum leak_trouble */
    uint64_t pause_ns;    /* written by the parent */
    uint64_t lost_blocks; /* since request.since */
    struct leak_check_sum {
        uint64_t blocks, bytes;
    } found[LEAK_VERDICT_MAX]; /* all blocks */
    uint64_t place;            /* of the chunk in the recording file */
    struct leak_holder holder; /* of the followed block, as far as one was found */
    bool followed_exists;      /* the followed block is allocated */
    bool graph_written;        /* valid also while done is 0 */
    int graph_error; /* -errno: why there is no graph file; 0: none was wanted, or there is one */
    uint32_t notes;  /* number of notes, ascending by address */
    uint32_t notes_most;
    struct leak_check_note note[]; /* behind them leak_check_links */
};

/* Bytes of a result with so many notes. */
static inline uint64_t leak_check_result_size(uint64_t notes)
{
    return sizeof(struct leak_check_result) +
           notes * (sizeof(struct leak_check_note) + sizeof(uint64_t));
}

/* The words that led to REACHABLE blocks, indexed by note. 0: the word is on a stack, in a
 * register, or known to this check alone. */
static inline uint64_t *leak_check_links(struct leak_check_result *result)
{
    return (uint64_t *)&result->note[result->notes_most];
}

struct leak_check_request {
    enum leak_occasion occasion;
    bool stopped;
    bool memory_left_out; /* the copy lacks memory of the program (dontfork_restore) */
    const struct roots_caller *caller;
    const struct world *world;
    unsigned classes; /* of roots */
    uint64_t memory_most, xor_key;
    bool header_idiom;     /* the option */
    uint64_t content_most; /* bytes of one block that are kept */
    uint32_t skipped;
    struct leak_check_result *result;
    uint64_t place;      /* of an older check's chunk, to be overwritten; 0: none */
    uint64_t last_place; /* of the last check's chunk; 0: none */
    /* An earlier check of this process; NULL: none. */
    const struct leak_check_result *before;
    bool twice;  /* "before" is the first half of this check: lost means lost in both halves */
    bool silent; /* writes only notes, nothing into the recording file */
    uint64_t followed;      /* ~address of a block whose best holder is wanted, 0: none */
    uintptr_t about;        /* an address whose block and referrers are wanted, 0: none */
    const char *graph_file; /* where the graph is written, absolute; NULL: nowhere */
    uint32_t since;         /* blocks of earlier ticks are not counted, 0: all are */
    bool is_milestone;
    uint32_t milestone; /* its number, set when the snapshot is taken */
};

/* A check on request is a milestone: later checks can tell what was allocated since. */
static inline bool leak_check_is_milestone(enum leak_occasion occasion)
{
    return occasion == LEAK_OCCASION_ASKED || occasion == LEAK_OCCASION_SIGNAL ||
           occasion == LEAK_OCCASION_CONTROL;
}

/* Runs in the child; never returns. */
void leak_check_run(const struct leak_check_request *request) __attribute__((noreturn));

/* The note of a block; NULL: the block is newer. *at: the index of the previous hit, a hint. */
const struct leak_check_note *leak_check_find_note(const struct leak_check_result *result,
                                                   uint32_t *at, const struct block *block);

#endif
