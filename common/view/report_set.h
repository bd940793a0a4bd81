/* report_set.h - sums of one or more reports, to compare and merge: one entry for each class and
 * signature.
 *
 * Input are processes, and JSON reports, maybe of other hosts. Signatures do not depend on
 * addresses, the build or line numbers, so entries of two sets with equal signatures are about the
 * same leak. Suppressed records are left out unless requested. A process that was added before is
 * skipped; host, pid and start time identify it.
 */
#ifndef COMMON_VIEW_REPORT_SET_H
#define COMMON_VIEW_REPORT_SET_H

#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/sites/sites.h"

enum report_set_class { REPORT_SET_ERROR, REPORT_SET_RECORD, REPORT_SET_RESOURCE };

struct report_set_entry {
    /* Amounts, tags, stack and occurrences; blocks: of errors the number of times, of resources how
     * many are open. */
    struct record record;
    struct tag_sums tags; /* sorted; record.tags points to them */
    enum report_set_class class;
    const char *sort;    /* verdict, type of error or of resource; the worst of several */
    const char *words;   /* `sort` for a sentence */
    int rank;            /* the worst has the least */
    const char *unit;    /* "block", "time" ... */
    size_t last_process; /* with the record, index + 1 */
    bool matched;        /* set by diff_make() */
};

struct report_set_process {
    const char *host, *exe; /* NULL = unknown */
    int32_t pid;            /* 0 = unknown, like the time */
    uint64_t started_ns;
    bool sampled;  /* sums are estimates */
    uint32_t look; /* number of its leak check's milestone, 0 = none */
};

struct report_set {
    struct arena *mem;
    bool suppressed; /* include suppressed records */
    bool apart;      /* one entry for each verdict and kind of a signature */
    struct report_set_entry *entries;
    size_t count, capacity;
    struct hashmap by_key;   /* -> index + 1 */
    bool shows[VERDICT_MAX]; /* other verdicts are left out */

    struct report_set_process *processes;
    size_t process_count, process_capacity;
    struct hashmap by_identity; /* of a process -> index + 1 */
    size_t again;               /* processes left out as duplicates */
    struct hashmap hosts;       /* hash -> interned name */
    size_t host_count;
    struct hashmap tags; /* as `given` of a side */

    bool incomplete; /* set by the caller: findings of a process may be missing */
};

/* Copies everything to mem except frames, which must outlive the set. */
struct report_set report_set_begin(struct arena *mem, const bool shows[VERDICT_MAX]);
void report_set_end(struct report_set *report_set);

/* Begins a process: records added from now on occurred in it. False: it was counted before. */
bool report_set_begin_process(struct report_set *report_set,
                              const struct report_set_process *process);
bool report_set_has_process(const struct report_set *report_set,
                            const struct report_set_process *process);

/* Adds a whole process. False: it was counted before. */
bool report_set_add_process(struct report_set *report_set, const struct process *process);

/* Adds a record by its verdict. A record with `seen` set is of no single process. NULL: the verdict
 * is left out. The entry is valid until the next call; the caller may set a missing stack. */
struct report_set_entry *report_set_add_record(struct report_set *report_set,
                                               const struct record *record);
struct report_set_entry *report_set_add_error(struct report_set *report_set,
                                              const struct record *record, const char *type);
struct report_set_entry *report_set_add_resource(struct report_set *report_set,
                                                 const struct record *record, const char *type);

/* The interned name of a host, as in seen.hosts. */
const char *report_set_host_name(struct report_set *report_set, const char *name);

/* Finds an entry; NULL: there is none. Only for a report_set that joins entries. */
struct report_set_entry *report_set_find(const struct report_set *report_set,
                                         enum report_set_class class, uint64_t signature);

#endif
