/* build.h - recording files become the model: everything known of each process, and which processes
 * are alike.
 */
#ifndef SYMBOLIZE_BUILD_BUILD_H
#define SYMBOLIZE_BUILD_BUILD_H

#include "symbolize/faults/faults.h"
#include "symbolize/heap/heap.h"
#include "symbolize/records/records.h"
#include "symbolize/records/sampling_error.h"

struct build_options {
    struct group_options group;
    struct recent_frees_options recent;
    struct address_info_options who;
    const char *wrappers; /* functions that never title a record; NULL = as recorded */
    const char *perf_map; /* pattern as of -o; NULL = the standard place */
    bool allocated;       /* build the allocation profile */
    bool content;         /* keep the contents of blocks … */
    bool anonymous;       /* … unless this is set, see anonymize_process() */
    bool stable;          /* clear what differs from run to run: pids, times, addresses, samples */
};

/* Fills in one process of the report, which lives in mem. The store may be released afterwards,
 * except its arena if that is mem. */
void build_process(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct build_options *options, struct process *process);

/* Finishes a report when all processes are there: what was asked for comes first, and those that are
 * alike are found. */
void build_finish(struct report *report, const struct build_options *options);

/* ---- anonymize.c: a report that can be given away ---------------------------------------------
 *
 * Functions, lines and base names of files stay, because the report would be useless without them.
 * Directories, arguments, the host and the path of the recording file go. */

/* Records share frames and rules; changing one twice is harmless. */
void anonymize_process(struct process *process);
/* The rules that no process used. */
void anonymize_rules(struct report *report);

/* ---- evidence_gaps.c: process.gap and verdict_gap, from the totals; names of --only ---------- */

void evidence_fill(struct arena *mem, const struct store *store, struct process *process);

/* Shows what the process has to the names of --only that were found nowhere so far. */
void evidence_seek_names(struct resolver *resolver, const struct store *store,
                         const struct suppressions *suppressions);

/* ---- report_notes.c: sentences about what the numbers leave out, and why --------------------- */

/* Live blocks that a fork child inherited and that the report does not show; 0 = none. */
struct handed_down {
    uint64_t bytes, blocks;
    struct variance variance;
};

void report_notes_fill(struct arena *mem, const struct store *store,
                       const struct handed_down *inherited, const struct suppressions *suppressions,
                       struct process *process);

#endif
