/* run_leakreport.h - leakreport, which a process under libleak may run: where it is, and running
 * it. */
#ifndef PRELOAD_BASE_RUN_LEAKREPORT_H
#define PRELOAD_BASE_RUN_LEAKREPORT_H

#include "preload/base/base.h"

#ifdef LEAK_BINDIR
#define TOOL_BINDIR LEAK_BINDIR
#else
#define TOOL_BINDIR "/usr/local/bin"
#endif

/* library: the path we were loaded from; stays where it is. Asked at the start: later another
 * thread may hold the loader's lock for ever. */
void tool_start(const char *library);
/* Beside the library (a build tree), else where an installation puts it; NULL: nowhere. Not for two
 * threads at once. */
const char *tool_find(void);
struct sys_streams;
/* Runs it to its end, and the program does not see that it has a child. Its wait status, or -errno.
 */
int tool_run(const char *path, char *const argv[], char *const envp[],
             const struct sys_streams *streams);

#endif
