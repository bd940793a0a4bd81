/* listening.h - says whether a program is a server (leakrun --when-lost: a later run of a server
 * waits for clients that do not come). */
#ifndef LIVE_LISTENING_H
#define LIVE_LISTENING_H

#include <stdbool.h>
#include <sys/types.h>

/* Says whether this process listens on a socket. False also if the kernel (before Linux 5.6) or its
 * rules for ptrace do not tell. */
bool listening_is_process(pid_t pid);

/* Says whether a program or another process of its session listens on a socket. A program may hide
 * from proc_find_users(), so its pid is needed. users: struct session has it. */
bool listening_is_session(pid_t program, const char *users);

#endif
