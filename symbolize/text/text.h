/* text.h - the text report for a terminal: 80 columns, the largest leaks first, the summary line
 * last.
 *
 * text_write() and text_write_full() are formats (see format_api.h). The other functions write
 * parts of the report; other formats and the comparisons of reports use some of them. A function
 * writes nothing where the process has nothing of the kind, unless its comment says otherwise.
 *
 * Each process has a headline, its errors, its records, and below them the coverage: what was
 * recorded and what was not. The view (struct view) says how much is shown; `terse`, `callers`, `fit`,
 * `written` and `when_told` of it belong to this folder.
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

/* The allocation sites that hold most of the live heap, lost or not. */
void text_write_heap(const struct report *report, const struct view *view, FILE *stream);

/* What these options show instead of the records: --by, --blocks, --owners, --freed and --who. */
void text_by(const struct report *report, const struct view *view, FILE *stream);
void text_blocks(const struct report *report, const struct view *view, FILE *stream);
void text_owners(const struct report *report, const struct view *view, FILE *stream);
void text_recent_frees(const struct report *report, const struct view *view, FILE *stream);
void text_address(const struct report *report, const struct view *view, FILE *stream);

struct text_processes;

/* The report of one process, which `write` writes as long or as short as the view says. */
struct text_draft {
    void (*write)(const struct text_processes *processes, size_t nth, const struct view *view,
                  FILE *stream);
    const struct text_processes *processes;
    size_t nth; /* of processes->full */
};

/* Writes it so that it fits a screen, if it can; count: its records and errors. Returns its lines and
 * that of the summary, or 0 if it does not fit. */
size_t text_fit(const struct text_draft *draft, size_t count, const struct view *view,
                FILE *stream);

/* ---- The headline and the summary line ------------------------------------------------------- */

/* "shelf (pid 42) exited with 0: ..." arguments: the name includes the program's arguments, which
 * distinguish several processes. report: for the headline of the first process, which also says what
 * the others lost; or NULL. */
void text_headline(const struct process *process, bool arguments, const struct report *report,
                   const struct view *view, FILE *stream);

/* ":" and a line for each verdict that is lost or may be; false and nothing if there is none. view: of
 * the list that follows, or NULL. */
bool text_losses(const struct process *process, const struct view *view, FILE *stream);

/* "no leaks", or why that cannot be said, of a process that lost nothing. */
const char *text_no_losses(const struct process *process);

/* "name (pid 42)", and the same with a space behind it. */
void text_process_title(const struct process *process, bool arguments, FILE *stream);
void text_process_name(const struct process *process, bool arguments, FILE *stream);

/* "4,000 bytes in 10 blocks", or the estimate from samples. */
void text_verdict_total(const struct process *process, enum verdict verdict, FILE *stream);

/* No allocation of the process reached libleak, though it may have made some: its heap is unknown.
 * A program that needs no heap is none of these. */
bool text_saw_nothing(const struct process *process);

/* For scripts, of one process: "libleak: pid=42 lost=48/4/2 ... resources=0"; text_totals() writes what
 * follows the pid, to the end of the line. */
void text_summary(const struct process *process, FILE *stream);
/* The last line of every text report: with the sums of all processes, and " processes=3" at its end
 * if there are several. */
void text_summary_of_all(const struct report *report, FILE *stream);
void text_totals(const struct totals *totals, FILE *stream);

/* ---- Which processes -------------------------------------------------------------------------- */

/* What was asked for comes first, in full. After it come the processes with findings, the worst
 * first and the user's own programs before those of the system; the others have a line for each
 * program. */
struct text_processes {
    const struct report *report;
    size_t *full; /* their indices, in the order of the report */
    size_t full_count;
    bool *is_full; /* by index */
};

struct text_processes text_processes_choose(const struct report *report, const struct view *view);
void text_processes_end(struct text_processes *processes);

/* The report is about one process: the first, and what it was before it called exec. */
bool text_processes_alone(const struct text_processes *processes);

/* Should the records of a process be listed? Not those that vanished when it called exec. */
bool text_lists_records(const struct process *process, const struct view *view);

/* "Before exec: env, bash (6 programs, at most 75,276 bytes unfreed; -v lists them)." of the first
 * process. */
void text_before_exec(const struct text_processes *processes, FILE *stream);

/* How many records of the n-th listed process are shown: few of a program of the system, unless it
 * was asked for. */
size_t text_processes_top(const struct text_processes *processes, size_t nth,
                          const struct view *view);

/* The lines of all processes that are not listed in full. */
void text_other_processes(const struct text_processes *processes, const struct view *view,
                          FILE *stream);

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
/* The number of listed records with one verdict. */
size_t text_list_count_verdict(const struct process *process, enum verdict verdict,
                               const struct view *view);

/* " 0.4 s before the end by T1 (name)" if the list has several items and this holds for all of
 * them, else NULL; free(3) it. */
char *text_list_when(const struct process *process, const struct view *view);

/* Writes one record, or one entry, whose parts are added up. number: its place in the list, from
 * 1. */
void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream);
void text_entry(const struct process *process, const struct entry *entry, size_t number,
                const struct view *view, FILE *stream);

/* What the blocks are, a line for each type: of the parts of an entry, or without parts of the
 * record. record: the sum of them, for its error. */
void text_types(const struct process *process, const size_t *parts, size_t count,
                const struct record *record, const struct view *view, FILE *stream);
#define TEXT_LAYOUT_SIZE 64
/* What follows the name of a type: "[1,024]", " + 13 B", " at +4,096". */
void text_type_layout(const struct type_sum *sum, char text[TEXT_LAYOUT_SIZE]);
/* The fields of a sample with their values, a line each. */
void text_fields(const struct sample *sample, int indent, FILE *stream);

/* " 0.4 s to 0.3 s before the end by T1 (name), T2" */
void text_when(const struct process *process, const struct record *record, FILE *stream);

/* " 0.4 s before the end by T1 (name)", of a single event. thread: serial 0 = unknown. */
void text_event(const struct process *process, uint64_t ns, const struct thread_ref *thread,
                FILE *stream);

/* ", 2026-11-20 10:15 to 2026-11-21 08:02 UTC"; nothing when one time is unknown. */
void text_dates(uint64_t first_ns, uint64_t last_ns, FILE *stream);

/* Writes a line of a merged record: "in 12 processes on 3 hosts" and the dates. */
void text_occurrences(const struct record *record, FILE *stream);

/* The tags that the program gave to these blocks; sorted sums. all: their record, for its totals
 * and its error. */
void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream);

/* Below a record: why it has its verdict, and what fixing it releases. */
void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream);

/* The record is listed with the first one of the same stacks and kind, whose verdict is worse. */
bool text_joins_sibling(const struct process *process, const struct record *record,
                        const struct view *view);
/* The records that are listed with this one, a line each and why they have their verdict. */
void text_siblings(const struct process *process, const struct record *record,
                   const struct view *view, FILE *stream);

/* The next function outwards from frames[at]; NULL: main, or none with a name. */
const struct frame *text_find_caller(const struct frame *const *frames, size_t count, size_t at);
/* "called by tree_drop at src/tree.c:120"; columns of its name, 0 = all. */
struct term_text text_called_by(const struct frame *caller, size_t columns,
                                const struct view *view);

/* The margin of a frame. When a report names the function to fix, the frame of that function has
 * the mark, and so has the line that says why. */
#define TEXT_MARGIN "     "
#define TEXT_MARGIN_MARKED "   > "

/* Says where other blocks of the record's site are freed: one line, several with -v. */
void text_freed_elsewhere(const struct record *record, const struct view *view, FILE *stream);

/* Between which leak checks blocks of the record were lost, a line or two; the words alone, with
 * a text between first and last. */
void text_lost_between(const struct process *process, const struct record *record, FILE *stream);
void text_lost_between_words(const struct process *process, const struct record *record,
                             const char *between, FILE *stream);

/* Says when and where blocks of the record were lost, in lines of their own. */
void text_when_lost(const struct record *record, const struct view *view, FILE *stream);

/* The place that freed the owner of the record's blocks, a line. */
void text_freed_owner(const struct record *record, const struct view *view, FILE *stream);
/* "others are closed in X at x.c:5", of a resource with released_at. */
void text_released_elsewhere(const struct resource *resource, const struct view *view,
                             FILE *stream);

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
/* The same, after words that end with a colon. */
void text_path_after(const char *words, const struct path *path, size_t indent,
                     const struct view *view, FILE *stream);

/* "f()", or a place in a module; of NULL "an unknown place". */
struct term_text text_call(const struct frame *frame, const struct view *view, size_t columns);

/* The pointers that hold the blocks of a record behind their start, if there are such. */
void text_interior(const struct record *record, const struct view *view, FILE *stream);
/* The same without indentation and line ends; interior_count is not 0. */
void text_interior_words(const struct record *record, const struct view *view, FILE *stream);

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Writes a part of the headline: `join`, then "3 allocation sites grew". */
void text_growing_head(const struct process *process, const char *join, FILE *stream);

/* The records that grew and are not `listed`, freed later or not. */
void text_growing(const struct process *process, const struct view *view,
                  bool (*listed)(const struct process *process, const struct record *record,
                                 const struct view *view),
                  FILE *stream);

/* Below a record or an owner: why it counts as growing, with -v also why not. growth: or NULL. */
void text_growth_reason(const struct growth *growth, const struct view *view, FILE *stream);

/* Says of a process that lost nothing which function's blocks were all alive at once, and which
 * root keeps most of what is still reachable. Each is a line that is neutral: many correct programs
 * do so. */
void text_held(const struct process *process, const struct view *view, FILE *stream);

/* ---- Errors and resources -------------------------------------------------------------------- */

/* The crash of the process: the signal, the stack, nearby blocks, registers. */
void text_crash(const struct process *process, const struct view *view, FILE *stream);

/* Invalid frees; they come before the records, for they are worse. */
void text_bad_frees(const struct process *process, const struct view *view, FILE *stream);

/* Writes one bad free. number: its place in the list, from 1. */
void text_bad_free(const struct process *process, const struct bad_free *mistake, size_t number,
                   const struct view *view, FILE *stream);

/* "40 bytes of new[] released by free" */
void text_bad_free_words(const struct bad_free *mistake, FILE *stream);

/* Resources other than memory that are still open, and descriptors that were closed twice. */
void text_resources(const struct process *process, const struct view *view, FILE *stream);

/* Writes one resource with its stacks. */
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

/* Modules whose frames lack names or lines, and what to do about it: those of all listed processes in
 * four lines, and each one of the n-th process. */
void text_missing_debuginfo(const struct text_processes *processes, const struct view *view,
                            FILE *stream);
void text_blind_modules(const struct text_processes *processes, size_t nth, FILE *stream);
/* Says whether the report tells anything of modules. */
bool text_tells_modules(const struct report *report, const struct view *view);

/* ---- Suppressions ---------------------------------------------------------------------------- */

/* How much of a process is suppressed, by rules of the user and by built-in ones, and how much a
 * runtime manages: a line each, with -v one more for each rule. */
void text_suppressed(const struct process *process, const struct view *view, FILE *stream);

/* Blocks that belong to a garbage collector or an interpreter, which no leak check can judge. */
uint64_t text_managed_blocks(const struct process *process);

/* Below a suppressed record: "suppressed by leak:pattern (FILE:LINE)". */
void text_suppressed_by(const struct record *record, FILE *stream);

/* A line for each rule whose expiry date has passed. */
void text_expired_rules(const struct report *report, const struct view *view, FILE *stream);

/* Lists, with -v, the rules that match nothing in any process. */
void text_unused_rules(const struct report *report, const struct view *view, FILE *stream);

#endif
