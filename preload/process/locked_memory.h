/* locked_memory.h - replaces mlockall, so that it locks the program's memory and not libleak's.
 *
 * The kernel would lock and fill the whole address space, including the recording file, a sparse
 * mapping of a gigabyte, and count all of it against RLIMIT_MEMLOCK. So libleak locks the program's
 * ranges one by one. Result, errno and /proc/PID/status are as without libleak:
 *
 *     VmLck = the sum of the program's mappings;  ENOMEM if that is above the limit
 *
 * Only calls of libc's functions are handled. A system call that the program makes itself (syscall,
 * Go) locks all memory. */
#ifndef PRELOAD_PROCESS_LOCKED_MEMORY_H
#define PRELOAD_PROCESS_LOCKED_MEMORY_H

#include "preload/base/base.h"

/* Do what mlockall and munlockall do. call_real: libc's function. */
int locked_memory_lock_all(int flags, int (*call_real)(int flags));
int locked_memory_unlock_all(int (*call_real)(void));
/* Finds out what the program has locked, in a process into which libleak was loaded late; called
 * before libleak maps memory. */
void locked_memory_start_late(void);

#endif
