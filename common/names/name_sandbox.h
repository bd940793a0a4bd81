/* name_sandbox.h - what the process that reads foreign files (name_server.h) may still ask of the
 * kernel: nothing that reaches another process, the network, or a file to be changed. A refused call
 * fails with EPERM. */
#ifndef COMMON_NAMES_NAME_SANDBOX_H
#define COMMON_NAMES_NAME_SANDBOX_H

/* Locks the calling process into the sandbox for the rest of its life. Changes nothing where the
 * kernel has no seccomp filters. */
void name_sandbox_enter(void);

#endif
