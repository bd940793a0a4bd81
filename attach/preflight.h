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

/* Was a filter there before the program began? Then it may kill for calls of leakctl. */
bool preflight_is_filtered(pid_t pid);

/* May libleak be loaded into it? False: refused. */
bool preflight_loading(const struct tracee *tracee, const struct objects *objects);

#endif
