/* resources.h - what is opened and closed besides memory: when it begins, ends and is forked.
 *
 * The tables are descriptors, belongings and regions; the option track= says which of them are
 * kept. With none of them nothing here runs.
 */
#ifndef PRELOAD_RESOURCES_RESOURCES_H
#define PRELOAD_RESOURCES_RESOURCES_H

#include "preload/base/reentry_guard.h"

/* Reads the option. */
void resources_start(struct guard *guard);
/* The end, and whenever it matters: what was closed without our seeing it, and where the libraries
 * are that were opened. */
void resources_settle(void);
void resources_settle_libraries(void);

void resources_fork_lock(void);
void resources_fork_unlock(void);
/* What is open is inherited. */
void resources_fork_child(void);

#endif
