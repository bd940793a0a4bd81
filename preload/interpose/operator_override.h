/* operator_override.h - knows whether the program defines operators new and delete itself.
 *
 * The loader resolves a name in the program first, then in libleak, then in libraries. So this is
 * known at the start, and does not change during the life of the process.
 *
 * Some forms of the operators call other forms (sized delete calls plain delete, new[] calls new).
 * Where the program overrides one of the basic forms, the C++ library's own dependent forms have to
 * run (the originals). Searching for the originals takes the loader's lock, which the constructor
 * of a library may hold while it waits for the searching thread. Therefore they are searched before
 * any thread can wait: when main begins, and before a thread is started or a library is opened.
 * libleak's constructor would be too early: a search that fails allocates, and libc does not know
 * the environment yet.
 */
#ifndef PRELOAD_INTERPOSE_OPERATOR_OVERRIDE_H
#define PRELOAD_INTERPOSE_OPERATOR_OVERRIDE_H

#include "preload/interpose/operator_names.h"
#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

#define OPERATOR_DEPENDENT_FORMS(X)                                                                \
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

/* The basic forms of operators new and delete: those that other forms call. If the program defines
 * one of them, it counts as overriding the operators. */
#define OPERATOR_BASIC_FORMS                                                                       \
    OPERATOR_NAME(_Znwm), OPERATOR_NAME(_Znam), "_ZdlPv", "_ZdaPv",                                \
        OPERATOR_NAME(_ZnwmSt11align_val_t), "_ZdlPvSt11align_val_t"

struct operator_override {
    bool any; /* the program defines one of OPERATOR_BASIC_FORMS; constant after the start */
    struct {
#define X(name) void *name; /* the C++ library's own form; NULL: not found yet, or not needed */
        OPERATOR_DEPENDENT_FORMS(X)
#undef X
    } original;
};
extern struct operator_override operator_override HIDDEN;

void operator_override_start(void);

static inline bool operator_override_any(void)
{
    return operator_override.any;
}

/* Says whether an object that comes before libleak in the loader's order (the program) defines the
 * function. */
bool operator_override_has(const char *name);

/* Searches the C++ library's own forms that are not known yet. The search may allocate; these
 * allocations are not recorded. */
COLD void operator_override_find_originals(struct guard *guard);

/* Searches the C++ library's own forms if the program overrides a basic form; in most programs that
 * is a single test. guard NULL: does nothing. */
static inline void operator_override_resolve(struct guard *guard)
{
    if (unlikely(operator_override_any()) && guard)
        operator_override_find_originals(guard);
}

#endif
