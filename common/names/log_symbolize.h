/* log_symbolize.h - the event log of a process (log=1 to 3) with names in it.
 *
 * A log says object+offset, for the process itself looks nothing up. What comes out is the log with
 * "function at file:line" in those places; a frame with inlined functions has a line for each. All
 * else, also the lines in mtrace's form, goes through as it is.
 */
#ifndef COMMON_NAMES_LOG_SYMBOLIZE_H
#define COMMON_NAMES_LOG_SYMBOLIZE_H

#include <stdio.h>

#include "common/names/resolve.h"

void relate(struct mem *mem, const struct binary_search_path *search, FILE *log, FILE *out);

/* The verb, with main's own arguments: leakreport log FILE..., "-" is standard input. Returns the
 * exit status: 0, or 2 when the line is wrong or a file cannot be read. */
int relate_command(int argc, char **argv);

#endif
