/* preflight.h - checks whether leakctl can attach to a process, without stopping or changing it. */
#ifndef ATTACH_PREFLIGHT_H
#define ATTACH_PREFLIGHT_H

#include <stdbool.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

/* Checks a process; sets tracee.pid and tracee.memory, and reads its objects. False: leakctl cannot
 * attach; a line that says why was printed, and there is nothing to close. */
bool preflight_process(struct tracee *tracee, struct objects *objects, pid_t pid);
void preflight_end(struct tracee *tracee, struct objects *objects);

/* Prints why the kernel refuses ptrace. Returns false. */
bool preflight_refuse_right(pid_t pid);

/* Says whether the process had a seccomp filter before its program began. Such a filter may kill
 * it for calls of leakctl. */
bool preflight_is_filtered(pid_t pid);

/* Returns the vfork child for which the first thread of a process waits; 0: there is none. Such a
 * child shares the memory of the process until its exec or end. */
pid_t preflight_vfork_child(pid_t pid);

/* Checks whether libleak can be loaded into the process. False: refused, and a message says why. */
bool preflight_loading(const struct tracee *tracee, const struct objects *objects);

#endif
