/* graph_path.h - determines the name of the graph file that a leak check writes. */
#ifndef PRELOAD_LEAKCHECK_GRAPH_PATH_H
#define PRELOAD_LEAKCHECK_GRAPH_PATH_H

#include "preload/base/base.h"

/* Reads the option graph=. Called at the start, because the option is relative to that working
 * directory. */
void graph_path_start(void);

/* The path of the graph file for the leak check at exit, as graph= says. A file of another process
 * is not replaced: the pid is appended to the path instead. NULL: no graph is wanted. The result is
 * valid until the next call; only one thread at a time may call it. */
const char *graph_path_of_option(void);
/* The path of the graph file for a requested leak check: %p, %e and %n are replaced as in graph=,
 * and a file of this name is replaced. */
const char *graph_path_of_request(const char *file);

/* Records that this process has written the file, so it may replace it. */
void graph_path_note_written(const char *path);
/* Resets the state in a fork child: the file that was written belongs to the parent. */
void graph_path_fork_child(void);

#endif
