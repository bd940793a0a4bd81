/* text.h - the text report for a terminal: 80 columns, the largest leaks first, the summary line
 * last.
 *
 * text_write() and text_write_full() are formats (see format_api.h). The other functions write
 * parts of the report; other formats and the comparisons of reports use some of them. A function
 * writes nothing where the process has nothing of the kind, unless its comment says otherwise.
 *
 * Each process has a headline, its errors, its records, and below them the coverage: what was
 * recorded and what was not. The view (struct view) says how much is shown; `terse`, `written` and
 * `when_told` of it belong to this folder.
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

/* With every record, every frame and all details. */
void text_write_full(const struct report *report, const struct view *view, FILE *stream);

/* The allocation sites that hold most of the live heap, lost or not. */
void text_write_heap(const struct report *report, const struct view *view, FILE *stream);

/* What these options show instead of the records: --by, --blocks, --owners, --freed and --who. */
void text_by(const struct report *report, const struct view *view, FILE *stream);
void text_blocks(const struct report *report, const struct view *view, FILE *stream);
void text_owners(const struct report *report, const struct view *view, FILE *stream);
void text_recent_frees(const struct report *report, const struct view *view, FILE *stream);
void text_address(const struct report *report, const struct view *view, FILE *stream);

/* ---- The headline and the summary line ------------------------------------------------------- */

/* "shelf (pid 42) exited with 0: ..." arguments: the name includes the program's arguments, which
 * distinguish several processes. */
void text_headline(const struct process *process, bool arguments, const struct view *view,
                   FILE *stream);

/* ":" and a line for each verdict that is lost or may be; false and nothing if there is none. */
bool text_losses(const struct process *process, FILE *stream);

/* "name (pid 42) " */
void text_process_name(const struct process *process, bool arguments, FILE *stream);

/* "4,000 bytes in 10 blocks", or the estimate from samples. */
void text_verdict_total(const struct process *process, enum verdict verdict, FILE *stream);

/* No allocation of the process reached libleak. */
bool text_saw_nothing(const struct process *process);

/* The last line of every text report, for scripts: "libleak: pid=42 lost=48/4/2 ... resources=0";
 * text_totals() writes what follows the pid, to the end of the line. */
void text_summary(int32_t pid, const struct totals *totals, FILE *stream);
void text_totals(const struct totals *totals, FILE *stream);

/* ---- Records --------------------------------------------------------------------------------- */

/* The records of a process as entries, or with --apart one by one; an empty line before and after.
 * */
void text_list(const struct process *process, const struct view *view, FILE *stream);

/* The entry or, with --apart, the record that has this number in the list: its records' indices and
 * how many they are. NULL: there is none. single: room for one. */
const size_t *text_list_records(const struct process *process, const struct view *view,
                                size_t number, size_t *single, size_t *count);

/* The record is in the list by itself. */
bool text_list_has(const struct process *process, const struct record *record,
                   const struct view *view);

/* Length of the list, with the items that view->top cuts off. */
size_t text_list_count(const struct process *process, const struct view *view);

/* " 0.4 s before the end by T1 (name)" if the list has several items and this holds for all of
 * them, else NULL; free(3) it. */
char *text_list_when(const struct process *process, const struct view *view);

/* One record, and one entry, whose parts are added up; number: its place in the list, from 1. */
void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream);
void text_entry(const struct process *process, const struct entry *entry, size_t number,
                const struct view *view, FILE *stream);

/* " 0.4 s to 0.3 s before the end by T1 (name), T2" */
void text_when(const struct process *process, const struct record *record, FILE *stream);

/* " 0.4 s before the end by T1 (name)", of a single event. thread: serial 0 = unknown. */
void text_event(const struct process *process, uint64_t ns, const struct thread_ref *thread,
                FILE *stream);

/* ", 2026-11-20 10:15 to 2026-11-21 08:02 UTC"; nothing when one time is unknown. */
void text_dates(uint64_t first_ns, uint64_t last_ns, FILE *stream);

/* Of a merged record, a line: "in 12 processes on 3 hosts" and the dates. */
void text_occurrences(const struct record *record, FILE *stream);

/* The tags that the program gave to these blocks; sorted sums. all: their record, for its totals
 * and its error. */
void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream);

/* Below a record: why it has its verdict, and what fixing it releases. */
void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream);

/* Where other blocks of the record's site are freed: one line, several with -v. */
void text_freed_elsewhere(const struct record *record, const struct view *view, FILE *stream);

/* When and where blocks of the record were lost, in lines of their own. */
void text_when_lost(const struct record *record, const struct view *view, FILE *stream);

/* The place that freed the owner of the record's blocks, a line. */
void text_freed_owner(const struct record *record, const struct view *view, FILE *stream);

/* ---- Stacks and paths ------------------------------------------------------------------------ */

/* The frames of a record that matter, a line each, indented; the title frame with its source. */
void text_frames(const struct record *record, int indent, const struct view *view, FILE *stream);

/* The frames of a stack that is not a record's. */
void text_stack(const struct stack *stack, const struct view *view, FILE *stream);

/* The same of a free; whole: false = only its return address was recorded, which a note says. */
void text_free_stack(const struct stack *stack, bool whole, const struct view *view, FILE *stream);

/* Why a stack ends before the outermost frame; NULL if it does not. */
const char *text_stack_end(uint32_t ending);

/* The path from a root to a block, in lines of its own, indented:
 *     g_cache (cache.c:12) +0x10 -> 4,096 B from hash_new() +0x38 -> 64 B from node_new() */
void text_path(const struct path *path, size_t indent, const struct view *view, FILE *stream);

/* "f()", or a place in a module; of NULL "an unknown place". */
struct term_text text_call(const struct frame *frame, const struct view *view, size_t columns);

/* ---- Growth ---------------------------------------------------------------------------------- */

/* For the headline: `join`, then "3 allocation sites grew". */
void text_growing_head(const struct process *process, const char *join, FILE *stream);

/* The records that grew and are not `listed`, freed later or not. */
void text_growing(const struct process *process, const struct view *view,
                  bool (*listed)(const struct process *process, const struct record *record,
                                 const struct view *view),
                  FILE *stream);

/* Below a record or an owner: why it counts as growing, with -v also why not. growth: or NULL. */
void text_growth_reason(const struct growth *growth, const struct view *view, FILE *stream);

/* ---- Errors and resources -------------------------------------------------------------------- */

/* The crash of the process: the signal, the stack, nearby blocks, registers. */
void text_crash(const struct process *process, const struct view *view, FILE *stream);

/* Invalid frees; they come before the records, for they are worse. */
void text_bad_frees(const struct process *process, const struct view *view, FILE *stream);

/* One of them; number: its place in the list, from 1. */
void text_bad_free(const struct process *process, const struct bad_free *mistake, size_t number,
                   const struct view *view, FILE *stream);

/* "40 bytes of new[] released by free" */
void text_bad_free_words(const struct bad_free *mistake, FILE *stream);

/* Resources other than memory that are still open, and descriptors that were closed twice. */
void text_resources(const struct process *process, const struct view *view, FILE *stream);

/* One of them with its stacks. */
void text_resource(const struct process *process, const struct resource *resource,
                   const struct view *view, FILE *stream);

/* "2 descriptors still open" */
void text_resource_words(const struct resource *resource, FILE *stream);

/* ---- Coverage -------------------------------------------------------------------------------- */

/* Counts of allocations and stacks, and how the stacks were found: a few lines. */
void text_coverage(const struct process *process, const struct view *view, FILE *stream);

/* How the leak check was made. If none was made, a note of the process says why. */
void text_leak_check(const struct process *process, const struct view *view, FILE *stream);

/* The threads that still ran at the end. */
void text_threads(const struct process *process, const struct view *view, FILE *stream);

/* What a reader must know before the numbers: the i-th sentence, from 0; NULL behind the last. */
#define TEXT_WARNING_SIZE 512
const char *text_warning_at(const struct process *process, size_t i, char words[TEXT_WARNING_SIZE]);

/* ---- Suppressions ---------------------------------------------------------------------------- */

/* How much of a process is suppressed: a line, with -v one more for each rule. */
void text_suppressed(const struct process *process, const struct view *view, FILE *stream);

/* Below a suppressed record: "suppressed by leak:pattern (FILE:LINE)". */
void text_suppressed_by(const struct record *record, FILE *stream);

/* A line for each rule whose expiry date has passed. */
void text_expired_rules(const struct report *report, const struct view *view, FILE *stream);

/* With -v: the rules that match nothing in any process. */
void text_unused_rules(const struct report *report, const struct view *view, FILE *stream);

#endif
