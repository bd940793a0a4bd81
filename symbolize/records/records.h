/* records.h - the sites of a recording file as records of the model, and profiles of all its
 * stacks.
 */
#ifndef SYMBOLIZE_RECORDS_RECORDS_H
#define SYMBOLIZE_RECORDS_RECORDS_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/sites/sites.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

/* ---- group_records.c --------------------------------------------------------------------------
 *
 * One record per signature, kind and verdict, complete. Sites that hold nothing now make no
 * records. A suppressed block is a record that counts in no total. Before the first leak check the
 * verdict is "unfreed", or "runtime" for blocks that the C and C++ libraries keep. */

struct group_options {
    bool inherited;             /* fork child: include blocks inherited from the parent */
    bool blocks;                /* keep as many block samples as are known */
    size_t types;               /* find the types of so many records … */
    bool types_of[VERDICT_MAX]; /* … that have these verdicts */
    size_t owners;              /* name the paths of so many owners */
    bool fields;                /* and the values of the fields of their samples */
    enum sort_order order;
    struct suppressions *suppressions; /* with this store selected; NULL = none */
};

/* Fills in the records, totals and modules without names of a zeroed process. */
void group_records(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process);

/* ---- alloc_lines.c ----------------------------------------------------------------------------
 *
 * Signatures contain no lines, so what a function allocates in three lines is one record. All three
 * lines are listed: the largest one must not hide the others. */

/* Fills in record->lines, the largest line first, when there are at least two. sites: all of the
 * record's signature and kind. */
void alloc_lines_fill(struct arena *mem, struct signatures *signatures,
                      struct reconciliation *reconciliation, struct site_list sites,
                      struct record *record);

/* ---- distinct_callers.c ------------------------------------------------------------------------
 *
 * Two records with the same user frame, which allocates for many callers, look the same when a
 * report shows a few inner frames. The frame in which their stacks first differ tells them apart,
 * so it is always shown. Only records are compared that may be lost. */

/* Fills in record->partings of records with entries. */
void distinct_callers_fill(struct arena *mem, struct process *process);

/* ---- held_at_once.c ---------------------------------------------------------------------------
 *
 * A list that only ever becomes longer, and is emptied before the program ends, loses nothing. In a
 * run too short for a verdict about growth the peak of the heap shows it: nearly all blocks that a
 * function ever allocated are alive at one time. Many correct programs do the same (they read all
 * they need, work, and exit), so it is a piece of information and no finding. */

/* Fills in process->held; needs its totals. Leaves it NULL where next to nothing can be said. */
void held_at_once_fill(struct arena *mem, struct free_sites *frees, const struct store *store,
                       struct process *process);

/* ---- temporary_blocks.c ------------------------------------------------------------------------
 *
 * Blocks that live for a moment cost time and are no leaks: what to make faster. */

/* Fills in process->temporary. */
void temporary_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process);

/* ---- missing_debuginfo.c --------------------------------------------------------------------- */

/* Fills in the modules whose frames lack names or lines: which, why, and a remedy. modules: values
 * are the struct resolved_module * of all shown stacks. */
void missing_debuginfo_fill(struct arena *mem, const struct hashmap *modules,
                            struct process *process);

/* Finds the packages of the modules without lines, once for all processes, and what the remedies
 * are then. sysroot: NULL = none. */
void missing_debuginfo_advise(struct arena *mem, const char *sysroot, struct report *report);

/* ---- alloc_profile.c --------------------------------------------------------------------------
 *
 * Records are about live blocks; an allocation profile is about all blocks. Naming all the stacks
 * of a recording file costs more than naming those of its records, so only formats that need the
 * profile get it. */

/* Leaves out what a fork child inherited: its parent allocated that. */
void alloc_profile_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                        struct process *process);

/* Fills in the heap over time, and what it consisted of at its peak. The runtime records a peak
 * when the heap begins to shrink. Where it never did, or grew beyond that since, the live blocks
 * are the peak. */
void peak_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
               struct process *process);

#endif
