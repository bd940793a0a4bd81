/* records.h - makes the records of the model from the sites of a recording file, and profiles of
 * all its stacks.
 */
#ifndef SYMBOLIZE_RECORDS_RECORDS_H
#define SYMBOLIZE_RECORDS_RECORDS_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/sites/sites.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

/* ---- group_records.c: one record for each signature, kind and verdict -------------------------
 *
 * Fills in all fields of the records. Sites without live blocks make no records. Suppressed blocks
 * make records, too, which count in no total. Before the first leak check the verdict is "unfreed",
 * or "runtime" for blocks that the C and C++ libraries keep. */

struct group_options {
    bool inherited;             /* fork child: include blocks inherited from the parent */
    bool blocks;                /* keep all sample blocks that the leak check recorded */
    size_t types;               /* number of records for which the types of the blocks are found */
    bool types_of[VERDICT_MAX]; /* verdicts of the records for which the types of the blocks are
                                 * found */
    size_t owners;              /* number of owners whose paths are named */
    bool fields;                /* find the values of fields in sample blocks, too */
    enum sort_order order;
    /* suppression rules; suppress_select_store() must have selected this store; NULL = no rules */
    struct suppressions *suppressions;
};

/* Fills in the records, the totals, and the modules without debug information, of a process that is
 * all zero. */
void group_records(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process);

/* ---- counterparts.c: the function that undoes what the user frame does --------------------------
 *
 * A function that should release the blocks and forgets them, or was not called, is in no stack. By
 * its name it is the counterpart of the function that allocates: node_free of node_new. It is
 * searched in the debug information of the source file of that function, where it mostly stands.
 * Counterparts of the callers have mostly run and done their part, so they are not told. */

/* Says whether a function is in the record's stack, or the report names it for another reason. */
bool record_tells_function(const struct record *record, const char *function);

/* Fills in record->counterparts, if no function of the record is marked as the one to fix. node: that
 * of the record's largest stack. */
void counterparts_fill(struct arena *mem, struct signatures *signatures, uint32_t node,
                       struct record *record);

/* ---- handovers.c: the functions to which a caller passes the blocks, or what holds them ---------
 *
 * A function that gets the blocks after they were allocated, and forgets them, is in no stack. In
 * the code of a caller it is seen: it gets what the caller has got from the call that leads to the
 * allocation (result_flow.h). That is the block itself, or a structure that holds it. */

/* Fills in record->handovers, if no function of the record is marked as the one to fix. node: that of
 * the record's largest stack. */
void handovers_fill(struct arena *mem, struct signatures *signatures, uint32_t node,
                    struct record *record);

/* Takes the mark away from a function that frees other blocks if its code returns the block to its
 * caller, too: then the caller decides whether the block is freed. node: that of the record's largest
 * stack. */
void handovers_check_mark(struct signatures *signatures, uint32_t node, struct record *record);

/* ---- alloc_lines.c: the lines of a function that allocate, or call what allocates ---------------
 *
 * Signatures contain no lines, so allocations in three lines of one function are one record. The
 * report lists all three lines: the largest one must not hide the others. If all blocks come from
 * one line of the user frame, it lists the lines of the nearest caller that has several. */

/* Fills in record->lines, the largest line first, when there are at least two. sites: all sites
 * with the record's signature and kind. */
void alloc_lines_fill(struct arena *mem, struct signatures *signatures,
                      struct reconciliation *reconciliation, struct site_list sites,
                      struct record *record);

/* ---- distinct_callers.c: the callers that distinguish records --------------------------------
 *
 * Two records with the same user frame, which allocates for many callers, look the same when a
 * report shows a few inner frames. The frame in which their stacks first differ distinguishes them,
 * so the report always shows it. Only lost and possibly lost records are compared. */

/* Fills in record->partings, the indices of the frames that distinguish a record. The entries of
 * the process must be filled in before. */
void distinct_callers_fill(struct arena *mem, struct process *process);

/* ---- held_at_once.c: blocks that were all alive at one time ---------------------------------
 *
 * A list that only ever becomes longer, and is emptied before the program ends, loses nothing. In a
 * run too short for a verdict about growth the peak of the heap shows it: nearly all blocks that a
 * function ever allocated are alive at one time. Many correct programs do so (they read all their
 * input, work, and exit), so the report shows it as information and not as a leak. */

/* Fills in process->held; the totals of the process must be filled in before. Leaves it NULL if the
 * heap was small or no function had most of its bytes. */
void held_at_once_fill(struct arena *mem, struct free_sites *frees, const struct store *store,
                       struct process *process);

/* ---- temporary_blocks.c: blocks that are freed soon after they were allocated ----------------
 *
 * Such blocks are no leaks, but each costs a call of malloc and of free: a list of what to make
 * faster. */

/* Fills in process->temporary. */
void temporary_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process);

/* ---- missing_debuginfo.c: modules without names or lines ------------------------------------- */

/* Lists the modules whose frames lack names or lines, with the reason and a remedy. modules: its
 * values are the struct resolved_module * of all shown stacks. */
void missing_debuginfo_fill(struct arena *mem, const struct hashmap *modules,
                            struct process *process);

/* Finds the system packages of the modules without lines, once for all processes, and names the
 * packages with debug information in the remedies. sysroot: NULL = none. */
void missing_debuginfo_advise(struct arena *mem, const char *sysroot, struct report *report);

/* ---- alloc_profile.c: all allocations, live or freed -----------------------------------------
 *
 * Records are about live blocks; an allocation profile is about all blocks. Naming all the stacks
 * of a recording file costs more than naming those of its records, so only formats that need the
 * profile get it. */

/* Fills in process->allocated. Leaves out blocks that a fork child inherited, because the parent
 * process allocated them. */
void alloc_profile_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                        struct process *process);

/* Fills in the size of the heap over time, and the stacks of the blocks at its peak. libleak
 * records a peak when the heap begins to shrink. If the heap never shrank, or is larger now than at
 * the recorded peak, the live blocks are the peak. */
void peak_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
               struct process *process);

#endif
