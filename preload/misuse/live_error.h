/* live_error.h - one line about a wrong release, at once (live_errors=on).
 *
 * Names come from leakreport --serve-fd: started for this line alone, asked and answering through
 * two anonymous files, and gone when the line is written. So there is no pipe that could break, no
 * process that stays, and no descriptor but for that moment. Without leakreport the line says
 * object+offset.
 *
 *     libleak: double-free: 40 bytes of malloc freed a second time, by free, in f at a.c:7 (T1);
 *         allocated in g at a.c:3; freed before in h at a.c:5 (T1)
 */
#ifndef PRELOAD_MISUSE_LIVE_ERROR_H
#define PRELOAD_MISUSE_LIVE_ERROR_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct text;

/* Where leakreport is. */
void tell_start(void);
void tell(struct guard *guard, const struct leak_event *event);
/* A path without newlines and tabs, as leakreport takes it. */
void tell_escaped(struct text *out, const char *path);
/* The words on a line, and a line for each frame of the stack that begins at the node. */
COLD void tell_stack(struct guard *guard, const char *words, uint32_t node);

#endif
