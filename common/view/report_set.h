/* report_set.h - the sums of one or more reports, with one entry for each class and signature,
 * to compare reports and to merge them.
 *
 * The reports are processes of this report, or JSON files, perhaps of other hosts. Signatures do
 * not depend on addresses, the build or line numbers, so entries of two sets with equal
 * signatures are about the same leak. Suppressed records are left out unless requested. A
 * process that was added before is skipped; host, pid and start time identify it.
 */
#ifndef COMMON_VIEW_REPORT_SET_H
#define COMMON_VIEW_REPORT_SET_H

#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/sites/sites.h"

enum report_set_class { REPORT_SET_ERROR, REPORT_SET_RECORD, REPORT_SET_RESOURCE };

struct report_set_entry {
    /* Amounts, tags, stack and occurrences. blocks: of a bad free the number of times, of a
     * resource the number of open ones. */
    struct record record;
    struct tag_sums tags; /* sums of tags, sorted; record.tags points to them */
    enum report_set_class class;
    const char *sort;    /* verdict, type of bad free or type of resource; of several the worst */
    const char *words;   /* `sort` as words of a sentence */
    int rank;            /* severity; the worst has the smallest */
    const char *unit;    /* what record.blocks counts: "block", "time" ... */
    size_t last_process; /* 1 + index of the last process in which the record occurred */
    bool matched;        /* set by diff_make(): the other report has the entry as well */
};

struct report_set_process {
    const char *host, *exe; /* name of the host, path of the program; NULL = unknown */
    int32_t pid;            /* 0 = unknown; a started_ns of 0 is unknown, too */
    uint64_t started_ns;
    bool sampled;  /* the process was sampled, so sums are estimates */
    uint32_t look; /* number of the milestone that the process's leak check made, 0 = none */
};

struct report_set {
    struct arena *mem;
    bool suppressed; /* include suppressed records */
    bool apart;      /* make one entry for each verdict and kind of a signature */
    struct report_set_entry *entries;
    size_t count, capacity;
    struct hashmap by_key;   /* class and signature -> 1 + index in entries[] */
    bool shows[VERDICT_MAX]; /* verdicts to include */

    struct report_set_process *processes;
    size_t process_count, process_capacity;
    struct hashmap by_identity; /* hash of host, pid and start time -> 1 + index in processes[] */
    size_t again;               /* number of processes that were left out as duplicates */
    struct hashmap hosts;       /* hash of a host's name -> the set's only copy of the name */
    size_t host_count;
    struct hashmap tags; /* hash of a tag -> the set's only copy of the tag */

    bool incomplete; /* set by the caller: findings of a process may be missing */
};

/* Begins a set. It copies everything to mem except frames, which must outlive the set. */
struct report_set report_set_begin(struct arena *mem, const bool shows[VERDICT_MAX]);
void report_set_end(struct report_set *report_set);

/* Begins a process: records added from now on occurred in it. False: the process was added
 * before. */
bool report_set_begin_process(struct report_set *report_set,
                              const struct report_set_process *process);
bool report_set_has_process(const struct report_set *report_set,
                            const struct report_set_process *process);

/* Adds a process with all its records, errors and resources. False: it was added before. */
bool report_set_add_process(struct report_set *report_set, const struct process *process);

/* Adds a record by its verdict. A record whose `seen` is set comes from a merged report. Returns
 * its entry, valid until the next call, in which the caller may set a missing stack; NULL: the
 * set leaves the verdict out. */
struct report_set_entry *report_set_add_record(struct report_set *report_set,
                                               const struct record *record);
struct report_set_entry *report_set_add_error(struct report_set *report_set,
                                              const struct record *record, const char *type);
struct report_set_entry *report_set_add_resource(struct report_set *report_set,
                                                 const struct record *record, const char *type);

/* The set's copy of a host name; struct seen refers to hosts by this pointer. */
const char *report_set_host_name(struct report_set *report_set, const char *name);

/* Finds an entry; NULL: there is none. Not for a set with `apart`, in which a signature may have
 * several entries. */
struct report_set_entry *report_set_find(const struct report_set *report_set,
                                         enum report_set_class class, uint64_t signature);

#endif
