/* libleak.h - what a program may ask of libleak, when libleak is there.
 *
 * Every function is declared weak: a program that uses it builds, links and runs the same without the
 * library, as long as it asks first:
 *
 *     if (libleak_snapshot) libleak_snapshot();
 *
 * Callable from any thread, not from a signal handler unless it says so. C and C++.
 */
#ifndef LIBLEAK_H
#define LIBLEAK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIBLEAK_WEAK __attribute__((weak))

/* Takes a look at the heap now and waits for it: the report then tells what was lost at this moment,
 * unless a later look follows. How many blocks are lost; -1: no look could be made. */
LIBLEAK_WEAK long libleak_snapshot(void);

/* A mark: leakreport --since=NAME then tells what came after this moment and still lives, as of the last
 * look after it. Of equal names the newest one is meant; the newest 62 marks and looks are kept. 0, or -1
 * when there is no account. From a signal handler: yes. */
LIBLEAK_WEAK int libleak_mark(const char *name);

/* What the calling thread allocates from here on is known but none of your business: without a stack, and
 * never called a leak. Nests; enable undoes one disable. The _all ones are about every thread, later ones
 * too, and do not nest: with the option start=off, a program that says libleak_enable_all() after its
 * set-up is told of what came later only. */
LIBLEAK_WEAK void libleak_disable(void);
LIBLEAK_WEAK void libleak_enable(void);
LIBLEAK_WEAK void libleak_disable_all(void);
LIBLEAK_WEAK void libleak_enable_all(void);

/* Memory outside the heap that holds pointers to blocks (a mapping shared with others, memory of a
 * device): what it points to is reachable. Removing takes the same start and size. */
LIBLEAK_WEAK void libleak_add_root(const void *start, size_t size);
LIBLEAK_WEAK void libleak_remove_root(const void *start, size_t size);

/* Called in the program, once, before the look at its exit, so that it can drop its caches. Later ones
 * first, as with atexit. 0, or -1 when there is no memory. */
LIBLEAK_WEAK int libleak_at_report(void (*callback)(void));

/* For a handler of SIGSEGV and the like of the program's own: writes the call stack of where the signal
 * came from to fd, a line for each frame. context: the third argument of a handler with SA_SIGINFO; NULL:
 * the stack of the caller. From a signal handler: yes. Allocates nothing, takes no lock. */
LIBLEAK_WEAK void libleak_backtrace_fd(const void *context, int fd);

#ifdef __cplusplus
}
#endif

#endif
