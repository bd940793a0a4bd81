/* operator_override.h - has the program an operator new or delete of its own?
 *
 * The loader asks the program first, and then us; libraries come behind. So this is known at the
 * start, and the same for the life of the process.
 */
#ifndef PRELOAD_INTERPOSE_OPERATOR_OVERRIDE_H
#define PRELOAD_INTERPOSE_OPERATOR_OVERRIDE_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

extern bool operators_replaced_ HIDDEN; /* constant after start */

static inline bool operators_replaced(void)
{
    return operators_replaced_;
}

/* Does somebody stand before us with that function? */
bool operators_is_anothers(const char *name);
void operators_start(void);

/* Forms that stand on others: where the program has replaced one of those, the C++ library's own
 * stand in. Looking for them takes the loader's lock, which a library's constructor holds, and it
 * may wait for whoever looks. So they are looked up before anybody can wait: when main begins, and
 * before a thread or a library comes. Not at the start: a search that fails allocates, and libc
 * does not know the environment yet. */
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
#define X(name) void *name; /* NULL: not found so far, or nobody needs it */
    OPERATORS_TABLE(X)
#undef X
};
extern struct operators_originals operators_original HIDDEN;

/* Looks for those that are not known yet. May allocate, with the token in calling_real. */
COLD void operators_look_up(struct guard *guard);

/* The same, where it can be needed: no more than a test for all but few. */
static inline void operators_settle(struct guard *guard)
{
    if (unlikely(operators_replaced()) && guard)
        operators_look_up(guard);
}

#endif
