/* children.h - the children of looks: processes that the program does not know of.
 *
 * They send no signal when they end, and have to be waited for by number. A list of the few that
 * may be there says to the hooks of wait() which those are.
 */
#ifndef PRELOAD_CHILDREN_H
#define PRELOAD_CHILDREN_H

#include "preload/base.h"

void children_add(int pid);
bool children_have(int pid);
bool children_any(void);

/* Until the child says that it is done, for at most so many nanoseconds: then it is killed. False:
 * it has not come to its end. It is no child of ours any more, either way. */
bool children_wait(int pid, uint32_t *done, uint64_t most);
/* False: it still lives. */
bool children_bury(int pid);

/* A fork child has none of them. */
void children_fork_child(void);

#endif
