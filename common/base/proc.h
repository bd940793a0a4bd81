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

/* Reads start time (field 22 of /proc/PID/stat) and state letter of a process. A process whose
 * main thread has ended while other threads run has state S instead of Z. False: there is no
 * such process. */
bool proc_read_stat(int32_t pid, uint64_t *start_time, char *state);

/* Reads the beginning of a file in /proc/PID, such as "status" or "task/TID/status", as a
 * string. False: the file cannot be read, and the text is empty. */
bool proc_read_text(pid_t pid, const char *file, char *text, size_t size);

#define PROC_NAME_SIZE 64 /* enough for the name of a process: the kernel keeps 15 bytes */
/* Reads the name of a process that ps shows, without a newline. False: it cannot be read, or it is
 * empty; then the text is empty. */
bool proc_read_name(pid_t pid, char name[PROC_NAME_SIZE]);

/* Says whether the process runs a program whose file has this name. False also if that cannot be
 * found out. */
bool proc_runs_program(pid_t pid, const char *program);

#define PROC_STATUS_SIZE 8192 /* enough for a whole /proc/PID/status */

/* Finds the line "NAME:" in the text of a /proc/PID/status file. Returns the text behind the
 * colon, up to the end of the file; "" = there is no such line. */
const char *proc_status_value(const char *status, const char *name);

/* Says whether the text of a /proc/PID/status file describes a zombie or a process or thread
 * that has ended. True also when the text has no state. */
bool proc_status_ended(const char *status);

/* One line of /proc/PID/maps, parsed. */
struct proc_mapping {
    uint64_t start, end, offset;
    char access[5];   /* access rights: "rw-p" */
    const char *path; /* path of the mapped file, a part of the parsed line; "" = none */
};

/* Parses a line of /proc/PID/maps; replaces its newline by NUL. False: it is no mapping. */
bool proc_parse_mapping(char *line, struct proc_mapping *mapping);

/* The value of kernel.yama.ptrace_scope; 0 = ptrace is unrestricted, or the kernel has no Yama. */
int proc_yama_scope(void);

/* Says whether the process with that pid and start time runs. A zombie does not. */
bool proc_is_alive(int32_t pid, uint64_t start_time);

/* Finds running processes of this user, except this one, whose environment at their exec contains
 * the text. Callers give a path of a leakrun session, to find its processes even before they open
 * their recording files. Returns their number; the caller frees *pids. */
size_t proc_find_users(const char *text, pid_t **pids);

/* The inode of this process's pid namespace, 0 = unknown. A pid means nothing in another
 * namespace, so containers that share /dev/shm compare the inode before they look at a pid of a
 * recording. */
uint64_t proc_pid_namespace(void);

/* Finds another program of the project: the path `given` unless NULL, else a file `name` in the
 * directory of the running program, else in the installation directory. The caller frees the
 * path; NULL: not found. */
char *proc_find_tool(const char *given, const char *name);
/* Finds the 32-bit library that belongs to a libleak.so: 32/libleak.so beside it. The caller
 * frees the path; NULL: there is none, or this machine runs no 32-bit programs. */
char *proc_find_library_32(const char *library);

#endif
