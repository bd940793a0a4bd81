/* text.h - writes the text report for a terminal: 80 columns, the largest leaks first, the summary
 * line last.
 *
 * text_write() and text_write_full() are formats (see format_api.h). The other functions write
 * parts of the report; other formats and the comparisons of reports use some of them. If the
 * process has none of the things that a function writes, the function writes nothing, unless its
 * comment says otherwise.
 *
 * Each process has a headline, its errors, its records, and below them the coverage: what was
 * recorded and what was not. The view (struct view) says how much is shown; only this folder uses
 * its fields `terse`, `callers`, `fit`, `written` and `when_told`.
 */
#ifndef SYMBOLIZE_TEXT_TEXT_H
#define SYMBOLIZE_TEXT_TEXT_H

#include <limits.h>
#include <stdio.h>

#include "common/sites/sites.h"
#include "common/view/format_api.h"
#include "common/view/text_frame.h"

/* ---- Whole reports --------------------------------------------------------------------------- */

void text_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes the report with every record, every frame and all details. */
void text_write_full(const struct report *report, const struct view *view, FILE *stream);

/* Writes the allocation sites that hold most of the live heap, lost or not. */
void text_write_heap(const struct report *report, const struct view *view, FILE *stream);

/* Write what the options --by, --blocks, --owners, --freed and --who show instead of the
 * records. */
void text_by(const struct report *report, const struct view *view, FILE *stream);
void text_blocks(const struct report *report, const struct view *view, FILE *stream);
void text_owners(const struct report *report, const struct view *view, FILE *stream);
void text_recent_frees(const struct report *report, const struct view *view, FILE *stream);
void text_address(const struct report *report, const struct view *view, FILE *stream);

/* A line of names: first the head, then as many names as fit, with commas between them, then how
 * many more there are. */
struct text_names {
    const char *head;
    size_t columns; /* columns that are written; 0 = the line has not begun */
    size_t left_out;
    FILE *stream;
};

void text_names_add(struct text_names *names, const char *name);
/* Ends the line with `end`; writes nothing if it has no name. */
void text_names_end(const struct text_names *names, const char *end);

#define TEXT_FEW 5 /* reports with more records are not shortened to fit a screen */

struct text_processes;

/* A report of one process. Its function `write` writes it as long or as short as the view says. */
struct text_draft {
    void (*write)(const struct text_processes *processes, size_t nth, const struct view *view,
                  FILE *stream);
    const struct text_processes *processes;
    size_t nth; /* index of the process in processes->full */
};

/* Writes a draft so that it fits the screen, if possible. count: the number of records and errors
 * in it. Returns the number of lines, with the summary line; 0 = the draft does not fit. */
size_t text_fit(const struct text_draft *draft, size_t count, const struct view *view,
                FILE *stream);

/* ---- The headline and the summary line ------------------------------------------------------- */

/* Writes the headline of a process: "shelf (pid 42) exited with 0: ...". arguments: write the
 * arguments of the program, too, because they distinguish several processes. report: for the first
 * process, whose headline also says what other processes lost; else NULL. */
void text_headline(const struct process *process, bool arguments, const struct report *report,
                   const struct view *view, FILE *stream);

/* Writes ":" and a line for each verdict that means lost or possibly lost. Returns false and writes
 * nothing if no block has such a verdict. view: that of the list that follows; NULL = no list
 * follows. */
bool text_losses(const struct process *process, const struct view *view, FILE *stream);

/* Returns "no leaks" for a process that lost nothing, or the reason why that is not certain. */
const char *text_no_losses(const struct process *process);

/* Says whether the process ended and left something open: descriptors, streams, mappings and the
 * like, but no threads. */
bool text_has_open_resources(const struct process *process);

/* Write "name (pid 42)"; text_process_name() writes a space behind it. */
void text_process_title(const struct process *process, bool arguments, FILE *stream);
void text_process_name(const struct process *process, bool arguments, FILE *stream);

/* Writes the total of a verdict: "4,000 bytes in 10 blocks"; for a sampled process, the
 * estimate. Returns the number of columns. */
size_t text_verdict_total(const struct process *process, enum verdict verdict, FILE *stream);

/* Returns true if libleak saw no allocation of the process, though the process may have made some:
 * nothing is known about its heap. Returns false for a program that needs no heap. */
bool text_saw_nothing(const struct process *process);

/* Returns "600 bytes", or "2 empty blocks" if the blocks have no bytes. */
struct term_text text_amount(uint64_t bytes, uint64_t blocks);
/* Writes the summary line of one process, which scripts read: "libleak: pid=42 lost=48/4/2 ...
 * resources=0". text_totals() writes the part behind the pid, and the line end. */
void text_summary(const struct process *process, FILE *stream);
/* Writes the last line of every text report: the sums of all processes. If there are several, the
 * line ends with " processes=3". */
void text_summary_of_all(const struct report *report, FILE *stream);
void text_totals(const struct totals *totals, FILE *stream);

/* ---- The processes that the report lists ----------------------------------------------------- */

/* The processes of a report. The process that the user asked for is first and listed in full, unless
 * it has only open resources and another one lost memory or has errors. Then come other processes
 * with findings: those with errors first, the user's own programs before those of the system, those
 * with only open resources behind others, and those that lost more bytes before others. All
 * processes that are not listed in full have one line for each program. */
struct text_processes {
    const struct report *report;
    size_t *full; /* indices of the processes that are listed in full, in the order of the report */
    size_t full_count;
    bool *is_full; /* index of a process -> is it listed in full? */
};

/* Says whether a program or library came with the system, by its path. */
bool text_is_of_system(const char *path);
struct text_processes text_processes_choose(const struct report *report, const struct view *view);
void text_processes_end(struct text_processes *processes);

/* Says whether the report is about one process only: the first one, with the programs that it was
 * before it called exec. */
bool text_processes_alone(const struct text_processes *processes);
/* Says whether there are records of lost or possibly lost blocks in a process that is not listed in
 * full but has only a line.
 */
bool text_processes_hide_records(const struct text_processes *processes, const struct view *view);

/* Says whether the records of the process are listed. Without -v and --show they are not if the
 * process called exec, because its blocks vanished then. */
bool text_lists_records(const struct process *process, const struct view *view);

/* Writes what the first process was before it called exec: "Before exec: env, bash (6 programs, at
 * most 75,276 bytes unfreed; -v lists them)." */
void text_before_exec(const struct text_processes *processes, FILE *stream);

/* Returns how many records of process processes->full[nth] are shown: few if it is a program of the
 * system, unless the user asked for it. */
size_t text_processes_top(const struct text_processes *processes, size_t nth,
                          const struct view *view);

/* Writes the lines of the processes that are not listed in full. */
void text_other_processes(const struct text_processes *processes, const struct view *view,
                          FILE *stream);

/* ---- Records --------------------------------------------------------------------------------- */

/* Writes the records of a process as entries, or with --apart one by one; with an empty line before
 * and after them. */
void text_list(const struct process *process, const struct view *view, FILE *stream);

/* Finds the entry with this number (from 1) in the list or, with --apart, the record. Returns the
 * indices of its records, and their number in *count. NULL: the list has no such number. single:
 * memory for the index of a single record. */
const size_t *text_list_records(const struct process *process, const struct view *view,
                                size_t number, size_t *single, size_t *count);

/* Says whether the record is in the list by itself, and not only below the record that owns it. */
bool text_list_has(const struct process *process, const struct record *record,
                   const struct view *view);

/* Returns the number of items of the list, including those that view->top cuts off. */
size_t text_list_count(const struct process *process, const struct view *view);
/* Returns the number of listed records with this verdict. */
size_t text_list_count_verdict(const struct process *process, enum verdict verdict,
                               const struct view *view);

/* Returns a text like " 0.4 s before the end by T1 (name)" if the list has several items and the
 * text is true for all of them, else NULL. The caller frees it with free(3). */
char *text_list_when(const struct process *process, const struct view *view);

/* Write one record, or one entry as the sum of its parts. number: its number in the list, from
 * 1. */
void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream);
void text_entry(const struct process *process, const struct entry *entry, size_t number,
                const struct view *view, FILE *stream);

/* Writes the types of the blocks, one line each: of the records with the indices `parts` or, if
 * count is 0, of `record`. With parts, `record` is their sum, whose sampling error is shown. */
void text_types(const struct process *process, const size_t *parts, size_t count,
                const struct record *record, const struct view *view, FILE *stream);
#define TEXT_LAYOUT_SIZE 64
/* Makes the text that follows the name of a type: "[1,024]", " + 13 B", " at +4,096". */
void text_type_layout(const struct type_sum *sum, char text[TEXT_LAYOUT_SIZE]);
/* Writes the fields of a sample block with their values, one line each. */
void text_fields(const struct sample *sample, int indent, FILE *stream);

/* Writes when and by which threads the blocks were allocated: " 0.4 s to 0.3 s before the end by T1
 * (name), T2". */
void text_when(const struct process *process, const struct record *record, FILE *stream);

/* Writes when a single event happened, and in which thread: " 0.4 s before the end by T1 (name)".
 * thread: serial 0 = unknown. */
void text_event(const struct process *process, uint64_t ns, const struct thread_ref *thread,
                FILE *stream);

/* Writes two dates: ", 2026-11-20 10:15 to 2026-11-21 08:02 UTC"; nothing if one of them is
 * unknown. */
void text_dates(uint64_t first_ns, uint64_t last_ns, FILE *stream);

/* Writes a line of a record in a merged report: "in 12 processes on 3 hosts", and the dates. */
void text_occurrences(const struct record *record, FILE *stream);

/* Writes the tags under which the program allocated the blocks. sums: the blocks of each tag,
 * sorted. all: the record of the blocks, for its totals and its error. */
void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream);

/* Writes, below a record, why it has its verdict, and what fixing it releases. */
void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream);

/* Says whether the record is listed within another one of equal stack and kind, whose verdict is
 * worse. */
bool text_joins_sibling(const struct process *process, const struct record *record,
                        const struct view *view);
/* Writes the records that are listed within `record`, each in a line with the reason for its
 * verdict. */
void text_siblings(const struct process *process, const struct record *record,
                   const struct view *view, FILE *stream);

/* Finds the next other user function outwards from frames[at] that has a name. NULL: there is none,
 * or it is main, which every stack has. */
const struct frame *text_find_caller(const struct frame *const *frames, size_t count, size_t at);
/* Returns "called by tree_drop at src/tree.c:120". columns: limit for the function's name, 0 =
 * none. */
struct term_text text_called_by(const struct frame *caller, size_t columns,
                                const struct view *view);

/* The margin of a frame. If the report names the function to fix, the frame of this function and
 * the line with the reason have the marked margin. */
#define TEXT_MARGIN "     "
#define TEXT_MARGIN_MARKED "   > "

/* Writes where other blocks of the record's site are freed: one line; with -v several. */
void text_freed_elsewhere(const struct record *record, const struct view *view, FILE *stream);

/* Write between which leak checks blocks of the record were lost. text_lost_between() writes lines;
 * text_lost_between_words() writes only words: the first such period, and if there is another one,
 * the text `between` and the last period. */
void text_lost_between(const struct process *process, const struct record *record, FILE *stream);
void text_lost_between_words(const struct process *process, const struct record *record,
                             const char *between, FILE *stream);

/* Writes when and where blocks of the record were lost, in several lines. */
void text_when_lost(const struct record *record, const struct view *view, FILE *stream);

/* Writes a line with the place that freed the owner of the record's blocks. */
void text_freed_owner(const struct record *record, const struct view *view, FILE *stream);
/* Writes in one line what decides: where the owner was freed, or, if a function is marked, where other
 * blocks are. Writes nothing if neither is known. */
void text_freed_brief(const struct record *record, const struct view *view, FILE *stream);
/* Writes a line for each counterpart: "by its name, node_free at node.c:30 undoes node_new". */
void text_counterparts(const struct record *record, const struct view *view, FILE *stream);
/* Writes to which functions a caller passes the blocks, or what holds them: "main passes the result of
 * tree_copy to tree_cut in line 40". */
void text_handovers(const struct record *record, const struct view *view, FILE *stream);
/* Writes "others are closed in X at x.c:5" for a resource whose released_at is known. */
void text_released_elsewhere(const struct resource *resource, const struct view *view,
                             FILE *stream);

/* ---- Stacks, and paths from roots ------------------------------------------------------------ */

/* Writes the frames of a record that matter, one line each, indented; the title frame with its
 * source line. */
void text_frames(const struct record *record, int indent, const struct view *view, FILE *stream);

/* Writes the frames of a stack that is not that of a record. */
void text_stack(const struct stack *stack, const struct view *view, FILE *stream);

/* Writes the stack of a free. whole: false = only the return address was recorded; a note says
 * so. */
void text_free_stack(const struct stack *stack, bool whole, const struct view *view, FILE *stream);

/* Returns why a stack ends before its outermost frame; NULL if it does not. */
const char *text_stack_end(uint32_t ending);

/* Writes the path from a root to a block, in lines of its own, indented:
 *     g_cache (cache.c:12) +0x10 -> 4,096 B from hash_new() +0x38 -> 64 B from node_new() */
void text_path(const struct path *path, size_t indent, const struct view *view, FILE *stream);
/* Writes a path behind `words`, which end with a colon. */
void text_path_after(const char *words, const struct path *path, size_t indent,
                     const struct view *view, FILE *stream);

/* Returns the name of a frame's function as "f()", or its place in a module; if `frame` is NULL,
 * "an unknown place". */
struct term_text text_call(const struct frame *frame, const struct view *view, size_t columns);

/* Writes, in a line of its own, the interior pointers that hold the blocks of a record. */
void text_interior(const struct record *record, const struct view *view, FILE *stream);
/* Writes the interior pointers that hold the blocks of a record, without indentation and line end.
 * record->interior_count must not be 0. */
void text_interior_words(const struct record *record, const struct view *view, FILE *stream);

/* ---- Records that grow ----------------------------------------------------------------------- */

/* Writes a part of the headline: the text `join`, then "3 allocation sites grew". */
void text_growing_head(const struct process *process, const char *join, FILE *stream);

/* Writes the records that grew and that are not listed elsewhere; their blocks may be freed by now.
 * listed: says whether a record is listed elsewhere. */
void text_growing(const struct process *process, const struct view *view,
                  bool (*listed)(const struct process *process, const struct record *record,
                                 const struct view *view),
                  FILE *stream);

/* Writes, below a record or an owner, why it counts as growing; with -v also why it does not.
 * growth: NULL = unknown. */
void text_growth_reason(const struct growth *growth, const struct view *view, FILE *stream);

/* Says whether the report has findings that matter more than resources and threads: lost or listed
 * blocks, growth, errors. */
bool text_has_memory_findings(const struct process *process, const struct view *view);

/* Writes, for a process that lost nothing, the function whose blocks were all alive at one time,
 * and the root that keeps most of the reachable blocks. The lines are neutral, because many correct
 * programs do so. */
void text_held(const struct process *process, const struct view *view, FILE *stream);

/* ---- Errors, and resources left open --------------------------------------------------------- */

/* Writes the crash of the process: the signal, the stack, blocks near the fault address,
 * registers. */
void text_crash(const struct process *process, const struct view *view, FILE *stream);

/* Writes the bad frees. They stand before the records, because they are worse. */
void text_bad_frees(const struct process *process, const struct view *view, FILE *stream);

/* Returns the number of listed bad frees: those with the cause of another one are listed with it. */
size_t text_count_causes(const struct process *process);

/* Writes one bad free. number: its number in the list, from 1. */
void text_bad_free(const struct process *process, const struct bad_free *mistake, size_t number,
                   const struct view *view, FILE *stream);

/* Writes what a bad free did: "40 bytes of new[] released by free". */
void text_bad_free_words(const struct bad_free *mistake, FILE *stream);

/* Writes the resources that are still open, and the descriptors that were closed twice. */
void text_resources(const struct process *process, const struct view *view, FILE *stream);

void text_resource(const struct process *process, const struct resource *resource,
                   const struct view *view, FILE *stream);

/* Writes a resource in words: "2 descriptors still open". */
void text_resource_words(const struct resource *resource, FILE *stream);

/* ---- Coverage: what was recorded, and what was not ------------------------------------------- */

/* Writes the numbers of allocations and stacks, and how the stacks were captured, in a few
 * lines. */
void text_coverage(const struct process *process, const struct view *view, FILE *stream);

/* Writes how the last leak check was made. If none was made, writes nothing: a note of the process
 * has the reason. */
void text_leak_check(const struct process *process, const struct view *view, FILE *stream);

/* Writes the threads that still ran at the end of the process. */
void text_threads(const struct process *process, const struct view *view, FILE *stream);

/* Makes the i-th sentence, from 0, that a reader must know before the numbers. Returns NULL behind
 * the last one. */
#define TEXT_WARNING_SIZE 512
const char *text_warning_at(const struct process *process, size_t i, char words[TEXT_WARNING_SIZE]);

/* Write the modules whose frames lack names or lines, and what to do about it:
 * text_missing_debuginfo() those of all listed processes in at most four lines,
 * text_blind_modules() each module of the process processes->full[nth]. */
void text_missing_debuginfo(const struct text_processes *processes, const struct view *view,
                            FILE *stream);
void text_blind_modules(const struct text_processes *processes, size_t nth, FILE *stream);
/* Says whether text_missing_debuginfo() or text_blind_modules() will write anything about
 * modules. */
bool text_tells_modules(const struct report *report, const struct view *view);

/* ---- Suppressions ---------------------------------------------------------------------------- */

/* Writes how much of the process is suppressed, in one line each for rules of the user, for
 * built-in rules, and for blocks that a runtime like Python manages; with -v also a line for each
 * rule. */
void text_suppressed(const struct process *process, const struct view *view, FILE *stream);

/* Returns the number of blocks that belong to a garbage collector or an interpreter; no leak check
 * can judge them. */
uint64_t text_managed_blocks(const struct process *process);

/* Writes a line below a suppressed record: "suppressed by leak:pattern (FILE:LINE)". */
void text_suppressed_by(const struct record *record, FILE *stream);

/* Writes a line for each suppression rule that has expired. */
void text_expired_rules(const struct report *report, const struct view *view, FILE *stream);

/* Writes, with -v, the suppression rules that match nothing in any process. */
void text_unused_rules(const struct report *report, const struct view *view, FILE *stream);

#endif
