/* all_locks.c - acquires and releases all locks of the runtime, in the order of lifecycle.def
 * (fork_snapshot.h). */
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/base/lock.h"

#define LOCKED(action) action
#define INNER(action)
#define NONE(action)

static const struct {
    void (*lock)(void), (*unlock)(void);
} locked_modules[] = {
#define MODULE(name, file, lock, ...) lock({name##_fork_lock M_COMMA name##_fork_unlock} M_COMMA)
#define M_COMMA ,
#include "preload/lifecycle.def"
};

#ifdef LEAK_DEBUG
const char *const lock_ranks[] = {
#define MODULE(name, file, ...) #file,
#include "preload/lifecycle.def"
    NULL};
#endif

#define LOCKED_MODULES (sizeof locked_modules / sizeof *locked_modules)

void all_locks_acquire(void)
{
    for (size_t i = 0; i < LOCKED_MODULES; i++)
        locked_modules[i].lock();
}

void all_locks_release(void)
{
    for (size_t i = LOCKED_MODULES; i-- > 0;)
        locked_modules[i].unlock();
}
