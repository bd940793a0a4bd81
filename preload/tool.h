/* tool.h - where leakreport is: a process under libleak may start it. */
#ifndef PRELOAD_TOOL_H
#define PRELOAD_TOOL_H

#include "preload/base.h"

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

#endif
