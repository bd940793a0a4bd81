/* runtime_options.h - options while the program runs: all can be read, some can be changed.
 *
 * Those that say RUNNING in the table are read each time they matter, or are read again here. A
 * value that cannot be used changes nothing. Not for two threads at once.
 */
#ifndef PRELOAD_PROCESS_RUNTIME_OPTIONS_H
#define PRELOAD_PROCESS_RUNTIME_OPTIONS_H

#include "preload/base/reentry_guard.h"

/* The value in force, as the environment would give it. False: no such option, or no room. */
bool settings_get(const char *name, char *buffer, size_t size);
/* False: no such option, not while running, or no such value. */
bool settings_set(struct guard *guard, const char *name, const char *value);

#endif
