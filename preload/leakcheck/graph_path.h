/* graph_path.h - determines the name of the graph file that a leak check writes. */
#ifndef PRELOAD_LEAKCHECK_GRAPH_PATH_H
#define PRELOAD_LEAKCHECK_GRAPH_PATH_H

#include "preload/base/base.h"

/* Reads the option graph=. Called at the start of the process, because a relative path in the
 * option refers to the working directory at that time. */
void graph_path_start(void);

/* Returns the path of the graph file for the leak check at exit, as the option graph= says. If a
 * file of this name exists that another process has written, the pid is appended to the path. NULL:
 * no graph is wanted. The result is valid until the next call; only one thread at a time may call
 * it. */
const char *graph_path_of_option(void);
/* Returns the path of the graph file for a leak check that the user or the program requested.
 * "file" may contain %p, %e and %n as in graph=; an existing file of this name will be replaced.
 * The result is valid until the next call. */
const char *graph_path_of_request(const char *file);

/* Records that this process has written the file, so it may replace that file later. */
void graph_path_note_written(const char *path);
/* Resets the state in a fork child: the file that was written belongs to the parent. */
void graph_path_fork_child(void);

#endif
