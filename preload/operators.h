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

/* Forms that stand on others: where the program has replaced one of those, the C++ library's own
 * stand in. They are looked up at the start, and only then: later the loader's lock may be held by
 * somebody who waits for us. */
#define OPERATORS_TABLE(X)                                                                         \
    X(_Znam)                                                                                       \
    X(_ZnwmRKSt9nothrow_t)                                                                         \
    X(_ZnamRKSt9nothrow_t)                                                                         \
    X(_ZnamSt11align_val_t)                                                                        \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZnamSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZdaPv)                                                                                      \
    X(_ZdlPvRKSt9nothrow_t)                                                                        \
    X(_ZdaPvRKSt9nothrow_t)                                                                        \
    X(_ZdlPvm)                                                                                     \
    X(_ZdaPvm)                                                                                     \
    X(_ZdaPvSt11align_val_t)                                                                       \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                         \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t)                                                         \
    X(_ZdlPvmSt11align_val_t)                                                                      \
    X(_ZdaPvmSt11align_val_t)

struct operators_originals {
#define X(name) void *name; /* NULL: there is none, or nobody needs it */
    OPERATORS_TABLE(X)
#undef X
};
extern struct operators_originals operators_original HIDDEN;

void operators_start(void);

#endif
