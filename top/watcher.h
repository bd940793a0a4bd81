/* watcher.h - takes the looks in a thread of its own, so that whoever shows them never waits: names
 * of new sites are looked up there, too, however long a large program takes.
 *
 * The newest glance lies ready until it is taken; one that nobody took gives way to the next. The
 * thread ends with the process it watches, or with ours. */
#ifndef TOP_WATCHER_H
#define TOP_WATCHER_H

#include "top/glance.h"

struct watcher;

/* NULL: there is no thread to be had. */
struct watcher *watcher_begin(const char *path, double interval);

/* Soon: what the thread still looks at, if it does, is left to the end of the process. What was
 * taken of it stays, but for the names that stand in it. */
void watcher_end(struct watcher *watcher);

/* Becomes readable when there is something to take. */
int watcher_fd(const struct watcher *watcher);

/* The newest glance, the caller's from now on; NULL = none since. *gone: there will be no more,
 * since the store cannot be read any longer: that is why. */
struct glance *watcher_take(struct watcher *watcher, struct read_error *gone);

#endif
