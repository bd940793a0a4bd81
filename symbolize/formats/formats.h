/* formats.h - the writers of the formats other than text and JSON.
 *
 * Each format is one function and one row of format_table.c; format_api.h is the interface. A
 * format of its own has a file of its own; what several share is in findings.h (lists of findings)
 * and memcheck.h (Valgrind's terms).
 */
#ifndef SYMBOLIZE_FORMATS_FORMATS_H
#define SYMBOLIZE_FORMATS_FORMATS_H

#include "common/view/format_api.h"

/* A line for each finding, its place first, as compilers write them:
 *     src/shelf.c:44: 114,688 bytes in 7 blocks lost (malloc) in f() [90a94a50b5adafd2] */
void short_write(const struct report *report, const struct view *view, FILE *stream);

/* Valgrind's Memcheck: its text, which ctest and many scripts read, and its XML protocol 4, which
 * IDEs and CI servers read. */
void valgrind_write(const struct report *report, const struct view *view, FILE *stream);
void xml_write(const struct report *report, const struct view *view, FILE *stream);

/* LeakSanitizer's text, which many scripts read. */
void lsan_write(const struct report *report, const struct view *view, FILE *stream);

/* The XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY. */
void memreport_write(const struct report *report, const struct view *view, FILE *stream);

/* JUnit's XML, in which CI servers show tests: a leak is a failed test. */
void junit_write(const struct report *report, const struct view *view, FILE *stream);

/* Workflow commands that GitHub shows beside the lines of a change. */
void github_write(const struct report *report, const struct view *view, FILE *stream);

/* A table and folded stacks, for the summary of a CI job or a comment. */
void markdown_write(const struct report *report, const struct view *view, FILE *stream);

/* SARIF 2.1.0, for code scanning hosts and editors. One run has all processes; equal processes are
 * one, with a count. What hosts would reject for its size is left out, the smallest first, and a
 * notification says so. */
void sarif_write(const struct report *report, const struct view *view, FILE *stream);

/* A page for a browser that needs no network and no other file. */
void html_write(const struct report *report, const struct view *view, FILE *stream);

/* A heap profile as pprof and compatible tools read it: gzipped profile.proto. It has the records
 * of every verdict, and for every allocating stack the sums of its allocations, freed or not. */
void pprof_write(const struct report *report, const struct view *view, FILE *stream);
bool pprof_has_weight(enum weight weight); /* false: no sample of a profile has it */

/* Stacks for flame graphs, "root;...;leaf NUMBER", a line each; the number is bytes or blocks. */
void folded_write(const struct report *report, const struct view *view, FILE *stream);
void folded_write_blocks(const struct report *report, const struct view *view, FILE *stream);

/* A file for speedscope: a profile for each weight (symbolize/profile/profile.h). */
void speedscope_write(const struct report *report, const struct view *view, FILE *stream);

/* A profile for callgrind_annotate and KCachegrind: two events for each weight. */
void callgrind_write(const struct report *report, const struct view *view, FILE *stream);

/* The heap over time for ms_print and massif-visualizer, with trees of the peak and of the end. The
 * format has one process: the first. */
void massif_write(const struct report *report, const struct view *view, FILE *stream);

/* A row for each listed record. */
void csv_write(const struct report *report, const struct view *view, FILE *stream);

/* The contents of the blocks that a text report lists, and nothing else:
 *     Leak of 40 bytes at 0x55d0c0a012a0 (T1#4213, malloc, lost)
 *         0000  68 69 64 64 65 6e 5f 77  6f 72 64 00 00 00 00 00  |hidden_word.....|
 * A leak check records the first bytes of the largest blocks of each record (content=); the rest is
 * counted. With -o FILE --append, runs add to one file. */
void hexdump_write(const struct report *report, const struct view *view, FILE *stream);

/* Suppressions for the listed records in the syntax of a tool (--gen-suppressions). A comment above
 * each names its record; what the syntax cannot express is a comment. Indirectly lost records go
 * with their owner. */
void generate_lsan(const struct report *report, const struct view *view, FILE *stream);
void generate_valgrind(const struct report *report, const struct view *view, FILE *stream);
void generate_libleak(const struct report *report, const struct view *view, FILE *stream);

#endif
