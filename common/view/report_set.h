/* report_set.h - what reports come to, for comparing and merging: one entry for each class and
 * signature.
 *
 * Made of processes, and of reports that were written as JSON earlier, maybe elsewhere. Signatures
 * survive other addresses, another build and moved lines, so entries of two ledgers are about the
 * same thing when theirs are equal. What is suppressed is in none unless that is asked for. A
 * process that is met again is left out: it is known by its host, its pid and when it began.
 */
#ifndef COMMON_VIEW_REPORT_SET_H
#define COMMON_VIEW_REPORT_SET_H

#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/sites/tags.h"

enum ledger_class { LEDGER_ERROR, LEDGER_RECORD, LEDGER_RESOURCE };

struct ledger_entry {
    struct record record; /* its amounts, tags, stack and where it was seen; blocks: of errors the
                             times, of resources how many are open */
    struct tag_sums tags; /* sorted; the record's are these */
    enum ledger_class class;
    const char *sort;    /* verdict, type of error or of resource; of several verdicts the worst */
    const char *words;   /* the same in a sentence */
    int rank;            /* the worst is the least */
    const char *unit;    /* "block", "time" ... */
    size_t last_process; /* that it was seen in, index + 1 */
    bool matched;        /* the comparer's */
};

struct ledger_process {
    const char *host, *exe; /* NULL = unknown */
    int32_t pid;            /* 0 = unknown, likewise the time */
    uint64_t started_ns;
    bool sampled;  /* its sums are estimates */
    uint32_t look; /* number of its look's milestone, 0 = it has none */
};

struct ledger {
    struct mem *mem;
    bool suppressed; /* what is suppressed is in it, too */
    bool apart;      /* records of several verdicts or kinds are several entries */
    struct ledger_entry *entries;
    size_t count, capacity;
    struct map by_key;       /* -> index + 1 */
    bool shows[VERDICT_MAX]; /* records of other verdicts are left out */

    struct ledger_process *processes;
    size_t process_count, process_capacity;
    struct map by_identity; /* of a process -> index + 1 */
    size_t again;           /* processes that were left out */
    struct map hosts;       /* hash -> its one name */
    size_t host_count;
    struct map tags; /* likewise */
};

/* Everything it is told is copied to mem, but frames, which stay where they are. */
struct ledger ledger_begin(struct mem *mem, const bool shows[VERDICT_MAX]);
void ledger_end(struct ledger *ledger);

/* Begins a process: what is added from here on was seen in it. False: it was counted before. */
bool ledger_begin_process(struct ledger *ledger, const struct ledger_process *process);
bool ledger_knows(const struct ledger *ledger, const struct ledger_process *process);

/* All of one. False: it was counted before. */
bool ledger_add_process(struct ledger *ledger, const struct process *process);

/* A record, by its verdict. One that says where it was seen itself is of no process. NULL: the
 * verdict is left out. The entry is good until the next one; who has its stack elsewhere may put it
 * there when there is none. */
struct ledger_entry *ledger_add_record(struct ledger *ledger, const struct record *record);
struct ledger_entry *ledger_add_error(struct ledger *ledger, const struct record *record,
                                      const char *type);
struct ledger_entry *ledger_add_resource(struct ledger *ledger, const struct record *record,
                                         const char *type);

/* The one name of a host, which seen.hosts holds. */
const char *ledger_host(struct ledger *ledger, const char *name);

/* NULL: there is none. Not of a ledger that keeps entries apart. */
struct ledger_entry *ledger_find(const struct ledger *ledger, enum ledger_class class,
                                 uint64_t signature);

#endif
