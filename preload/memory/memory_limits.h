/* memory_limits.h - how much memory this process may have, and whether it comes near to that.
 *
 * Three limits are known: those of the address space and of the data segment (setrlimit), and that
 * of the control group or of a group that contains it. They are read once, at the start: later a
 * sandbox may forbid reading them, and a container's limit seldom changes. The memory in use is
 * read at a tick of the epoch, and only if a watch was set. */
#ifndef PRELOAD_MEMORY_MEMORY_LIMITS_H
#define PRELOAD_MEMORY_MEMORY_LIMITS_H

#include "preload/base/base.h"
#include "leak_store.h"

void memory_limits_start(void);

/* The smallest limit, and which one it is; 0 and LEAK_LIMIT_NONE: there is no limit. */
uint64_t memory_limits_smallest(enum leak_limit *of);

/* Sets a callback for the moment when that percentage of a limit is used; it is called once, and
 * again only after less was used in between. It runs in a hook, at a tick, so it may do no more
 * than set a flag. share 0: never. */
void memory_limits_watch(unsigned share, void (*near)(void));
void memory_limits_tick(void);

void memory_limits_fork_child(void);

/* The smallest limit of a group and of those that contain it; mount: where the tree begins.
 * Exported for the unit test. */
uint64_t memory_limits_of_cgroup(const char *mount, const char *group, size_t length,
                                 const char *file);

#endif
