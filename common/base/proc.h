/* proc.h - what /proc says of processes, and where the other programs of the project are.
 *
 * A pid is reused; a pid together with the start time of its process is not. A process that /proc
 * does not show counts as ended. */
#ifndef COMMON_BASE_PROC_H
#define COMMON_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Field 22 of /proc/PID/stat, the start time, and the state letter. A process whose main thread has
 * ended while others run has state S instead of Z. False: there is no such process (any more). */
bool proc_read_stat(int32_t pid, uint64_t *start_time, char *state);

/* The beginning of a file below /proc/PID, such as "status" or "task/TID/status", as a string. False:
 * it cannot be read, and the text is empty. */
bool proc_read_text(pid_t pid, const char *file, char *text, size_t size);

#define PROC_STATUS_SIZE 8192 /* of a text with a whole status file */

/* What follows "NAME:" in such a text of status, to its end; "": no line begins so. */
const char *proc_status_value(const char *status, const char *name);

/* Says whether /proc/PID/status describes a process or thread that has ended, or is a zombie. True
 * also when the text names no state. */
bool proc_status_ended(const char *status);

/* One line of /proc/PID/maps. */
struct proc_mapping {
    uint64_t start, end, offset;
    char access[5];   /* "rw-p" */
    const char *path; /* in the line; "" = none */
};

/* Cuts the end of the line off. False: it is no mapping. */
bool proc_parse_mapping(char *line, struct proc_mapping *mapping);

/* kernel.yama.ptrace_scope; 0: all is allowed, or there is no yama. */
int proc_yama_scope(void);

/* The process with that pid and start time runs. A zombie does not. */
bool proc_is_alive(int32_t pid, uint64_t start_time);

/* Living processes of this user whose environment, as it was at their exec, contains the text, save
 * this one. Finds a child that has not yet opened its recording file. Returns how many;
 * *pids is for the caller to free. */
size_t proc_find_users(const char *text, pid_t **pids);

/* Identity of the pid namespace, so that two containers that share /dev/shm never judge each
 * other's pids. 0: unknown. */
uint64_t proc_pid_namespace(void);

/* The path of another program of the project: `given` if a path was given (else NULL), a file of
 * that name beside the running program (the build directory), or one in the directory that make
 * install uses. The caller frees it; NULL: there is no such file. */
char *proc_find_tool(const char *given, const char *name);
/* The library for 32-bit programs that belongs to a libleak.so: 32/libleak.so beside it. NULL: there is
 * none, or this machine runs no 32-bit programs. The caller frees it. */
char *proc_find_library_32(const char *library);

#endif
