/* preflight.h - can leakctl attach to this process? Nothing of it is changed or stopped. */
#ifndef ATTACH_PREFLIGHT_H
#define ATTACH_PREFLIGHT_H

#include <stdbool.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

/* Fills tracee.pid and tracee.memory, and reads the objects. False: refused, and one line says why;
 * then there is nothing to close. */
bool preflight_process(struct tracee *tracee, struct objects *objects, pid_t pid);
void preflight_end(struct tracee *tracee, struct objects *objects);

/* Says why the kernel refuses ptrace. Always false. */
bool preflight_refuse_right(pid_t pid);

/* Says whether the process had a seccomp filter before its program began. Such a filter may kill it
 * for calls of leakctl. */
bool preflight_is_filtered(pid_t pid);

/* Checks whether libleak can be loaded into the process. False: refused. */
bool preflight_loading(const struct tracee *tracee, const struct objects *objects);

#endif
