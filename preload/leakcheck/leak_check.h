/* leak_check.h - the child process of a leak check: determines the verdicts of all blocks and
 * writes them to the recording file.
 *
 * The child is a copy of the process with one thread, and has no effect on others: all signals
 * blocked, no file descriptor open, and the kernel ends it first when memory runs out. Memory that
 * cannot be read (a page without access, unless the option unreadable is set; a truncated file)
 * reads as zeros. */
#ifndef PRELOAD_LEAKCHECK_LEAK_CHECK_H
#define PRELOAD_LEAKCHECK_LEAK_CHECK_H

#include "preload/leakcheck/holder_search.h"
#include "preload/signals/stop_the_world.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* The verdict of a leak check about one block, for a later check. */
struct leak_check_note {
    uint64_t address;
    uint32_t count;
    uint16_t thread;
    uint8_t verdict; /* a value of enum leak_verdict */
    uint8_t reserved;
};

/* The result of a leak check, in memory that parent and child share. */
struct leak_check_result {
    uint32_t done;        /* 1: the members below are valid */
    uint32_t trouble;     /* a value of enum leak_trouble: why there is no result */
    uint64_t pause_ns;    /* time for which the program was stopped; the parent writes it */
    uint64_t lost_blocks; /* number of lost blocks that were allocated since request.since */
    struct leak_check_sum {
        uint64_t blocks, bytes;
    } found[LEAK_VERDICT_MAX]; /* sums of all blocks, by verdict */
    uint64_t place;            /* offset of the chunk with the result in the recording file */
    /* The word that holds the block request.followed, if one was found. */
    struct holder_found held;
    bool followed_exists; /* the block with the address in request.followed is allocated */
    bool graph_written;   /* the graph file is complete; valid even while done is 0 */
    /* -errno: why there is no graph file; 0: none was wanted, or it was written. */
    int graph_error;
    uint32_t notes; /* number of elements of "note", which are sorted by address */
    uint32_t notes_most;
    /* The notes; behind notes_most of them follows the array of leak_check_links. */
    struct leak_check_note note[];
};

/* Returns the size in bytes of a result with room for a number of notes. */
static inline uint64_t leak_check_result_size(uint64_t notes)
{
    return sizeof(struct leak_check_result) +
           notes * (sizeof(struct leak_check_note) + sizeof(uint64_t));
}

/* The addresses of the words by which REACHABLE blocks were found, by the index of the block's
 * note. 0: the block is not REACHABLE, or the word is on a stack, in a register, or in memory that
 * this check has mapped. */
static inline uint64_t *leak_check_links(struct leak_check_result *result)
{
    return (uint64_t *)&result->note[result->notes_most];
}

struct leak_check_request {
    enum leak_occasion occasion;
    bool stopped;
    bool memory_left_out; /* memory of the program is missing in the copy (dontfork_restore) */
    const struct roots_caller *caller;
    const struct world *world;
    unsigned classes; /* the classes of roots that are scanned (option roots), one bit each */
    uint64_t memory_most, xor_key;
    bool header_idiom;     /* the value of the option header_idiom */
    uint64_t content_most; /* the largest number of bytes of a block's content that are written */
    uint32_t skipped;
    struct leak_check_result *result;
    /* Offset in the recording file of an older check's result, which is overwritten; 0: none. */
    uint64_t place;
    uint64_t last_place; /* offset in the recording file of the last check's result; 0: none */
    /* The result of an earlier check of this process, which tells which blocks were lost then;
     * NULL: none. */
    const struct leak_check_result *before;
    /* "before" is the check of the first of two copies: blocks are lost only if they are lost in
     * both copies. */
    bool twice;
    /* the check writes the verdicts (notes) for its parent, but nothing to the recording file */
    bool silent;
    /* Bitwise complement of the address of a block: the word that holds this block is to be found;
     * 0: none. */
    uint64_t followed;
    /* Address of any byte of a block: the block and the words that point to it are to be reported;
     * 0: none. */
    uintptr_t about;
    const char *graph_file; /* absolute path of the graph file to write; NULL: none */
    /* Blocks allocated before this tick are not counted as lost; 0: all are counted. */
    uint32_t since;
    bool is_milestone;
    /* Number of this check as a milestone, set when the process is copied; 0: it is none. */
    uint32_t milestone;
};

/* Says whether a check on this occasion is a milestone. Requested checks are milestones, so that
 * later checks can say which blocks were allocated after them. */
static inline bool leak_check_is_milestone(enum leak_occasion occasion)
{
    return occasion == LEAK_OCCASION_ASKED || occasion == LEAK_OCCASION_SIGNAL ||
           occasion == LEAK_OCCASION_CONTROL;
}

/* Runs the leak check in the child; never returns. */
void leak_check_run(const struct leak_check_request *request) __attribute__((noreturn));

/* Finds the note about a block, its verdict in that check; NULL: the block was allocated after that
 * check. *at: index of the note found last, where the search begins. */
const struct leak_check_note *leak_check_find_note(const struct leak_check_result *result,
                                                   uint32_t *at, const struct block *block);

#endif
