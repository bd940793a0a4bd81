/* locked_memory.h - mlockall of the program: locks its memory and not libleak's.
 *
 * The kernel would lock, and fill, the whole address space: also the recording file, a sparse
 * mapping of a gigabyte, and it would count it against RLIMIT_MEMLOCK. So the program's ranges are
 * locked one by one. Result, errno and /proc/PID/status are those without libleak:
 *
 *     VmLck = the sum of the program's mappings;  ENOMEM if that is above the limit
 *
 * Only libc's functions are seen. After a program's own system call (syscall, Go) all is locked.
 */
#ifndef PRELOAD_PROCESS_LOCKED_MEMORY_H
#define PRELOAD_PROCESS_LOCKED_MEMORY_H

#include "preload/base/base.h"

/* Work like mlockall and munlockall. call_real: libc's functions. */
int locked_memory_lock_all(int flags, int (*call_real)(int flags));
int locked_memory_unlock_all(int (*call_real)(void));
/* Reads what the program has locked, before anything is mapped in a process that has run without
 * libleak. */
void locked_memory_start_late(void);

#endif
