/* graph_path.h - the name of the graph file that a leak check writes. */
#ifndef PRELOAD_LEAKCHECK_GRAPH_PATH_H
#define PRELOAD_LEAKCHECK_GRAPH_PATH_H

#include "preload/base/base.h"

/* Reads the option graph=. Call at the start, in the directory to which it is relative. */
void graph_path_start(void);

/* The path of the graph file for the leak check at exit, as graph= says. A file of another process
 * is kept: then the pid is appended to the path. NULL: no graph is wanted. Valid until the next
 * call of the same function; one thread at a time. */
const char *graph_path_of_option(void);
/* The path of the graph file for a requested leak check: %p, %e and %n are replaced as in graph=,
 * and a file is replaced. */
const char *graph_path_of_request(const char *file);

/* The file was written: this process may replace it. */
void graph_path_note_written(const char *path);
/* Call in a fork child: the parent's file is another process's. */
void graph_path_fork_child(void);

#endif
