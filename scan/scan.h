/* scan.h - searches for leaks in a process that was not started with libleak, or in its core
 * file: the commands leakctl scan PID and leakreport core CORE [PROGRAM].
 *
 * The steps: an image (image.h) of the process or the core; the heap of glibc in it
 * (glibc_heap.h); roots (roots.h); marking (mark.h); the division of lost blocks (lost_graph.h);
 * groups of blocks (groups.h); the report (report.h). */
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
    size_t most; /* most records in the text */
};

enum scan_format { SCAN_TEXT, SCAN_JSON };
enum scan_show { SCAN_LEAKS, SCAN_ALL };

/* How long a process is stopped. SHORT: while its registers and stacks are read, and then it is
 * examined twice. WHOLE: until all its memory is copied. */
enum scan_pause { SCAN_PAUSE_SHORT, SCAN_PAUSE_WHOLE };

#define SCAN_RECORDS_SHOWN 20 /* default of --top */

/* The options of leakctl scan, for struct scan_options. */
extern const struct option_row scan_process_options[];

/* Scan a process or a core file and write the report to stdout. False: a line "TOOL: ..." on
 * stderr says why not. */
bool scan_process(const char *tool, int pid, const struct scan_options *options);
bool scan_core(const char *tool, const char *core, const char *program,
               const struct scan_options *options);

/* Runs the command leakreport core, with the arguments of main. Returns the exit status: 0, or
 * 2. */
int scan_core_command(int argc, char **argv);

#endif
