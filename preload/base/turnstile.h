/* turnstile.h - one at a time, where whoever waits holds nothing and can be parked.
 *
 * Not a lock (lock.h): signals come in meanwhile, a thread stands while it waits, and one that
 * interrupts its own turn, in a handler of the program's, is told so instead of waiting for itself.
 */
#ifndef PRELOAD_BASE_TURNSTILE_H
#define PRELOAD_BASE_TURNSTILE_H

#include "preload/base/base.h"

struct turn {
    uint32_t owner; /* the thread whose turn it is, 0 = nobody's */
};

/* False at once when it is somebody's, or our own. */
bool turn_try(struct turn *turn);
/* False: a handler has interrupted the very thread whose turn it is, or one has left it by longjmp;
 * or the one before takes longer than so many nanoseconds. */
bool turn_take(struct turn *turn, uint64_t most);
void turn_end(struct turn *turn);
bool turn_is_taken(const struct turn *turn);
/* A fork child: whose it was is not there. */
void turn_forget(struct turn *turn);

#endif
