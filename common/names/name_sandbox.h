/* name_sandbox.h - what the process that reads foreign files (name_server.h) may still ask of the
 * kernel: nothing that reaches another process, the network, or a file to be changed. A refused call
 * fails with EPERM. */
#ifndef COMMON_NAMES_NAME_SANDBOX_H
#define COMMON_NAMES_NAME_SANDBOX_H

/* For the rest of this process's life. Where the kernel has no filters, nothing changes. */
void name_sandbox_enter(void);

#endif
