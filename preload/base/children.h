/* children.h - our children: those of looks, and who runs leakreport; the program knows of none.
 *
 * They send no signal when they end, and have to be waited for by number. A list of the few that
 * may be there says to the hooks of wait() which those are.
 */
#ifndef PRELOAD_BASE_CHILDREN_H
#define PRELOAD_BASE_CHILDREN_H

#include "preload/base/base.h"

void children_add(int pid);
void children_remove(int pid);
bool children_have(int pid);
bool children_any(void);

enum children_end { CHILDREN_DONE, CHILDREN_DIED, CHILDREN_LATE };

/* Until the child says that it is done, for at most so many nanoseconds: then it is killed. It is
 * no child of ours any more, either way. */
enum children_end children_wait(int pid, uint32_t *done, uint64_t most);
/* False: it still lives. */
bool children_bury(int pid);

/* A fork child has none of them. */
void children_fork_child(void);

#endif
