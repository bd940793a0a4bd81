/* formats.h - declares the writers of all formats other than text and JSON.
 *
 * Each format is one function and one row of format_table.c; format_api.h is the interface. Each
 * format has its own file; findings.h (lists of findings) and memcheck.h (Valgrind's terms) have
 * what several formats share.
 */
#ifndef SYMBOLIZE_FORMATS_FORMATS_H
#define SYMBOLIZE_FORMATS_FORMATS_H

#include "common/view/format_api.h"

/* Writes a line for each finding, with its place first, as compilers write errors:
 *     src/shelf.c:44: 114,688 bytes in 7 blocks lost (malloc) in f() [90a94a50b5adafd2] */
void short_write(const struct report *report, const struct view *view, FILE *stream);

/* Write the formats of Valgrind's Memcheck: its text, which ctest and many scripts read, and its
 * XML protocol 4, which IDEs and CI servers read. */
void valgrind_write(const struct report *report, const struct view *view, FILE *stream);
void xml_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes LeakSanitizer's text, which many scripts read. */
void lsan_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes the XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY. */
void memreport_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes JUnit's XML, in which CI servers show tests: each leak is a failed test. */
void junit_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes workflow commands, which GitHub shows beside the changed lines of a pull request. */
void github_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes Markdown with a table and folded stacks, for the summary of a CI job or a comment on a
 * pull request. */
void markdown_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes SARIF 2.1.0, for code scanning hosts and editors. One run of SARIF has all processes;
 * processes with equal results are written once, with their number. Hosts reject reports that are
 * too large, so the smallest results are left out, and a notification says so. */
void sarif_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes an HTML page that needs no network and no other file. */
void html_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes a heap profile that pprof and compatible tools read: gzipped profile.proto. It has the
 * records of every verdict, and for every allocating stack the sums of its allocations, freed or
 * not. */
void pprof_write(const struct report *report, const struct view *view, FILE *stream);
bool pprof_has_weight(enum weight weight); /* false: no sample of a profile has this weight */

/* Write stacks for flame graphs, one line each: "root;...;leaf NUMBER". The number is bytes, or
 * blocks. */
void folded_write(const struct report *report, const struct view *view, FILE *stream);
void folded_write_blocks(const struct report *report, const struct view *view, FILE *stream);

/* Writes a file for speedscope, with two profiles for each weight (enum weight): bytes and
 * blocks. */
void speedscope_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes a profile for callgrind_annotate and KCachegrind, with two events for each weight (enum
 * weight): bytes and blocks. */
void callgrind_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes the heap over time for ms_print and massif-visualizer, with trees of the peak and of the
 * end. The format has room for only one process, so only the first process is written. */
void massif_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes a CSV row for each listed record. */
void csv_write(const struct report *report, const struct view *view, FILE *stream);

/* Writes the contents of the blocks that a text report lists:
 *     Leak of 40 bytes at 0x55d0c0a012a0 (T1#4213, malloc, lost)
 *         0000  68 69 64 64 65 6e 5f 77  6f 72 64 00 00 00 00 00  |hidden_word.....|
 * A leak check records the first bytes of the largest blocks of each record (content=); the other
 * blocks are only counted. With -o FILE --append, several runs add to one file. */
void hexdump_write(const struct report *report, const struct view *view, FILE *stream);

/* Write suppressions for the listed records in the syntax of a tool (--gen-suppressions). A comment
 * above each suppression describes its record. For a record that the syntax cannot express there is
 * only a comment. An indirectly lost record has no suppression, because that of its owner
 * suppresses it. */
void generate_lsan(const struct report *report, const struct view *view, FILE *stream);
void generate_valgrind(const struct report *report, const struct view *view, FILE *stream);
void generate_libleak(const struct report *report, const struct view *view, FILE *stream);

#endif
