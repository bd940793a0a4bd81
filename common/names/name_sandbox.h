/* name_sandbox.h - restricts the system calls of the process that reads foreign files
 * (name_server.h): it can reach no other process and no network, and change no file. A refused
 * call fails with EPERM. */
#ifndef COMMON_NAMES_NAME_SANDBOX_H
#define COMMON_NAMES_NAME_SANDBOX_H

/* Locks the calling process into the sandbox for good. Has no effect if the kernel has no
 * seccomp filters. */
void name_sandbox_enter(void);

#endif
