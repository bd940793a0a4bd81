/* proc_task.h - what the kernel says of a thread: the files in /proc/PID/task/TID. */
#ifndef PRELOAD_BASE_PROC_TASK_H
#define PRELOAD_BASE_PROC_TASK_H

#include "preload/base/base.h"

/* The file called "name" of a thread of process pid, 0 = our own, as sys_read_file does it. */
ssize_t task_read(int pid, int tid, const char *name, char *buffer, size_t size);

#endif
