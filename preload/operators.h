/* operators.h - has the program an operator new or delete of its own?
 *
 * The loader asks the program first, and then us; libraries come behind. So this is known at the
 * start, and the same for the life of the process.
 */
#ifndef PRELOAD_OPERATORS_H
#define PRELOAD_OPERATORS_H

#include "preload/base.h"

extern bool operators_replaced_ HIDDEN; /* constant after start */

static inline bool operators_replaced(void)
{
    return operators_replaced_;
}

/* Does somebody stand before us with that function? */
bool operators_is_anothers(const char *name);
void operators_start(void);

#endif
