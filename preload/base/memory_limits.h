/* memory_limits.h - how much memory this process may have, and whether it comes near to that.
 *
 * Three limits are known: of the address space and of the data (setrlimit), and of the control
 * group, or of a group that this one is in. They are asked for once, at the start: later a sandbox
 * may allow no such question, and a container is seldom given another limit. How much is used is
 * asked at a tick of the epoch, and only if somebody wants to know.
 */
#ifndef PRELOAD_BASE_MEMORY_LIMITS_H
#define PRELOAD_BASE_MEMORY_LIMITS_H

#include "preload/base/base.h"
#include "leak_store.h"

void limits_start(void);

/* The smallest one, and which it is; 0 and LEAK_LIMIT_NONE: the process may have what there is. */
uint64_t limits_least(enum leak_limit *of);

/* near is called once when that share of a limit is used, and again after less was used. In
 * hooks, at a tick: it must only leave a word. share 0: never. */
void limits_watch(unsigned share, void (*near)(void));
void limits_tick(void);

void limits_fork_child(void);

/* For tests: the smallest limit of a group and of those it is in. mount: where the tree begins. */
uint64_t limits_of_group(const char *mount, const char *group, size_t length, const char *file);

#endif
