/* late_load.h - libleak that comes into a process which runs already: dlopen, ctypes, a plugin's
 * library.
 *
 * The program's calls are bound to libc by then, so the slots of all objects that there are are led
 * to our hooks: those that hold the function which everybody gets by that name, or are not bound
 * yet. A slot that leads elsewhere is left alone, as is what the program itself defines. The loader
 * calls the allocator through words of its own, which are known by what stands in them; when they
 * are led to us it tells of new objects as it does in any process (got_patch.h), and these are led
 * before they run.
 *
 * Of blocks from before nothing is known: their release is passed on and counted, and whatever they
 * point to is held (roots.c).
 */
#ifndef PRELOAD_INTERPOSE_LATE_LOAD_H
#define PRELOAD_INTERPOSE_LATE_LOAD_H

#include "preload/base/base.h"

/* Did this process run before us? Once real_find has been asked. */
bool late_is(void);

/* When the account is ready: from here on calls come to us. own: an address in libleak. */
void late_lead(const void *own);

#endif
