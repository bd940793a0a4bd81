/* build.h - turns recording files into the model of a report: everything that is known about each
 * process, and which processes have equal results.
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
    /* functions that never title a record, replacing the list in the recording file; NULL = use the
     * recorded list */
    const char *wrappers;
    /* pattern of the file with names of generated code, with the placeholders of -o; NULL =
     * /tmp/perf-PID.map */
    const char *perf_map;
    bool allocated; /* fill in the allocation profile: all allocations, freed or not */
    bool content;   /* keep the contents of sample blocks, unless `anonymous` is set */
    bool anonymous; /* remove private data; see anonymize_process() */
    /* clear all that differs from run to run: pids, times, addresses, samples */
    bool stable;
};

/* Fills in one process of the report, which lives in mem. The store may be released afterwards; but
 * if mem is the arena of the store, that arena must stay. */
void build_process(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct build_options *options, struct process *process);

/* Finishes a report when all processes are in it: puts the process that the user started first, and
 * finds the processes with equal results. */
void build_finish(struct report *report, const struct build_options *options);

/* ---- anonymize.c: a report that can be given away ---------------------------------------------
 *
 * Functions, lines and base names of files stay, because the report would be useless without them.
 * Directories, arguments, the host and the path of the recording file go. */

/* Removes private data from a process. Records share frames and rules; it is harmless that a shared
 * one is changed several times. */
void anonymize_process(struct process *process);
/* Removes private data from the rules that no process used. */
void anonymize_rules(struct report *report);

/* ---- evidence_gaps.c: sets process.gap and verdict_gap, the reasons why results are incomplete  */

void evidence_fill(struct arena *mem, const struct store *store, struct process *process);

/* Looks up the names of --only in the process, to warn about names that are found in no process. */
void evidence_seek_names(struct resolver *resolver, const struct store *store,
                         const struct suppressions *suppressions);

/* ---- report_notes.c: notes about what the numbers leave out, and why ------------------------- */

/* Live blocks that a fork child inherited from its parent and that the report does not list; 0 =
 * none. */
struct handed_down {
    uint64_t bytes, blocks;
    struct variance variance;
};

void report_notes_fill(struct arena *mem, const struct store *store,
                       const struct handed_down *inherited, const struct suppressions *suppressions,
                       struct process *process);
void report_notes_append(struct arena *mem, struct process *process, const char *note);
/* Adds the note about slices of GLib. The records of the process must be filled in before. */
void report_notes_add_slices(struct arena *mem, struct process *process);

#endif
