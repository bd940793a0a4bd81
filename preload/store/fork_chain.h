/* fork_chain.h - tells fork children apart: by the forks that led to them from the start of the
 * program, each named by its thread and its number among the forks of this thread. So the third
 * child that the first thread forks has the same name in every run of the program that takes the
 * same path, whatever its pid is.
 */
#ifndef PRELOAD_STORE_FORK_CHAIN_H
#define PRELOAD_STORE_FORK_CHAIN_H

#include "preload/base/base.h"
#include "leak_store.h"

/* The forks that led to this process; after exec, those since then. */
extern struct leak_forks fork_chain HIDDEN;

/* Called before fork. thread: number of the calling thread; 0: it has none. */
void fork_chain_before_fork(uint32_t thread);
void fork_chain_fork_child(void);

/* Writes the chain of a fork child to its recording file. */
void fork_chain_write(void);

#endif
