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

/* Returns the smallest limit in bytes and stores its kind in *of; without any limit it returns 0,
 * and *of is LEAK_LIMIT_NONE. */
uint64_t memory_limits_smallest(enum leak_limit *of);

/* Requests a call of near() when `share` percent of a limit are used; near() is called once, and
 * again only after the use has fallen clearly below that share. It is called from a hook, when the
 * tick changes, so it may do no more than set a flag. share 0: never. */
void memory_limits_watch(unsigned share, void (*near)(void));
void memory_limits_tick(void);

void memory_limits_fork_child(void);

/* Returns the smallest limit of a control group and of the groups that contain it. file: name of
 * the file that has a group's limit. mount: the directory where the tree of groups is mounted.
 * Exported for the unit test. */
uint64_t memory_limits_of_cgroup(const char *mount, const char *group, size_t length,
                                 const char *file);

#endif
