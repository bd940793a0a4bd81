/* leak_check.h - the child of a look: from a frozen heap to verdicts in the store.
 *
 * It is a copy of the process with one thread, which nobody sees and which harms nobody: all
 * signals blocked, no descriptor open, the first to go when memory runs out. What cannot be read (a
 * page without access, a file that was cut) answers with zeros.
 */
#ifndef PRELOAD_LEAKCHECK_LEAK_CHECK_H
#define PRELOAD_LEAKCHECK_LEAK_CHECK_H

#include "preload/signals/stop_the_world.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* What one look said of a block, for a later one. */
struct look_note {
    uint64_t address;
    uint32_t count;
    uint16_t thread;
    uint8_t verdict; /* enum leak_verdict */
    uint8_t reserved;
};

/* In memory shared by parent and child. */
struct look_result {
    uint32_t done;        /* 0 not yet, 1 done: what follows holds */
    uint32_t trouble;     /* enum leak_trouble */
    uint64_t pause_ns;    /* by the parent */
    uint64_t lost_blocks; /* since order.since */
    struct look_sum {
        uint64_t blocks, bytes;
    } found[LEAK_VERDICT_MAX]; /* all of them */
    uint64_t place;            /* of what was written into the store */
    uint32_t notes;            /* those that follow, ascending by address */
    uint32_t notes_most;
    struct look_note note[];
};

struct look_order {
    enum leak_occasion occasion;
    bool stopped;
    const struct roots_taker *taker;
    const struct park *park;
    unsigned classes; /* of roots */
    uint64_t memory_most, xor;
    uint64_t content_most; /* bytes of one block that are kept */
    uint32_t skipped;
    struct look_result *result;
    uint64_t place; /* of an older look in the store, to be written over; 0: none */
    /* An earlier look at this process; NULL: none. */
    const struct look_result *before;
    bool twice;      /* "before" is the other half of this one: only what both call lost is lost */
    bool silent;     /* only notes, nothing for the store */
    uintptr_t about; /* an address that somebody asks about, 0: none */
    uint32_t since;  /* older blocks are not counted: a tick, 0: all are */
    bool is_milestone;
    uint32_t milestone; /* its number, once it is taken */
};

/* Asked for by somebody, who may ask later what came since. */
static inline bool look_is_milestone(enum leak_occasion occasion)
{
    return occasion == LEAK_OCCASION_ASKED || occasion == LEAK_OCCASION_SIGNAL ||
           occasion == LEAK_OCCASION_CONTROL;
}

/* In the child; never returns. */
void look(const struct look_order *order) __attribute__((noreturn));

/* The note of a block; NULL: it came later. *at is where the last one was found. */
const struct look_note *look_find_note(const struct look_result *result, uint32_t *at,
                                       const struct block *block);

#endif
