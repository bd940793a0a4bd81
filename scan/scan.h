/* scan.h - looks for leaks in a process that was not started with libleak, or in its core file:
 * leakctl scan PID, leakreport core CORE [PROGRAM].
 *
 * Read top to bottom: an image (image.h) of the process or the core; the heap of glibc in it
 * (glibc_heap.h); the roots (roots.h); marking (mark.h); what is lost (lost_graph.h); groups of
 * blocks (groups.h); the report (report.h).
 */
#ifndef SCAN_SCAN_H
#define SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/options/command_line.h"

struct scan_options {
    bool help;
    int format; /* enum scan_format */
    int show;   /* enum scan_show */
    int pause;  /* enum scan_pause */
    bool no_content;
    size_t most; /* records in the text */
};

enum scan_format { SCAN_TEXT, SCAN_JSON };
enum scan_show { SCAN_LEAKS, SCAN_ALL };

/* How long a process stands still: while registers and stacks are read, and then it is looked at
 * twice; or until all of its memory is copied. */
enum scan_pause { SCAN_PAUSE_SHORT, SCAN_PAUSE_WHOLE };

#define SCAN_RECORDS_SHOWN 20 /* without --top */

/* Rows for the options of scan, fields of struct scan_options. */
extern const struct option_row scan_process_options[];

/* Writes the report to stdout. False: a line "TOOL: ..." on stderr says why not. */
bool scan_process(const char *tool, int pid, const struct scan_options *options);
bool scan_core(const char *tool, const char *core, const char *program,
               const struct scan_options *options);

/* leakreport core, with the arguments of main; returns the exit status: 0, or 2. */
int scan_core_command(int argc, char **argv);

#endif
