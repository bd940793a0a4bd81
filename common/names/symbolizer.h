/* symbolizer.h - names for addresses that arrive as text: from a running process, or in its
 * event log. */
#ifndef COMMON_NAMES_SYMBOLIZER_H
#define COMMON_NAMES_SYMBOLIZER_H

#include <stdio.h>

#include "common/names/resolve.h"

/* Reads requests for names until end of file, and flushes each answer.
 *
 * Request:  BUILD-ID OFFSET PATH\n      hex digits or "-", hex digits, the rest of the line
 * Answer:   FUNCTION\tFILE\tLINE\n      innermost first, all but the last one inlined; then \n
 *
 * An unknown function or file is empty, an unknown line is 0; for an unknown address the answer
 * is the empty line alone. Backslash, newline and tab in texts are written as \\, \n and \t; a
 * request may also contain the escapes of leak_escape.h. */
void symbolizer_serve(struct arena *mem, const struct binary_search_path *search, FILE *requests,
                      FILE *answers);

/* Runs the command leakreport log FILE..., with the arguments of main; "-" is standard input.
 * Returns the exit status: 0, or 2 for a usage error or an unreadable file.
 *
 * It copies the event log of a process (log=1 to 3) and replaces "object+offset" by "function at
 * file:line", because the process itself resolves no names. A stack frame with inlined functions
 * becomes a line for each. All other lines stay unchanged, also those in mtrace's format. */
int symbolizer_log_command(int argc, char **argv);

#endif
