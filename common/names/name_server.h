/* name_server.h - the name process, in which libdw and libelf run. On files that somebody made
 * for that purpose they may crash, loop or allocate without end. So they run in a process apart
 * from the report, with limits (name_server.c) and few rights: no network, no new program, no
 * file to write (name_sandbox.c; not if the user has configured debuginfod), only ordinary files
 * to read (foreign_file.h), with the rights of the user whose program it was. The report checks
 * its answers.
 *
 * A request is a message: enum name_request, the number of a file, and the arguments of a
 * function of elf_binary.h; the answer is what that function returns. */
#ifndef COMMON_NAMES_NAME_SERVER_H
#define COMMON_NAMES_NAME_SERVER_H

#include "common/base/foreign_file.h"
#include "common/debuginfo/elf_binary.h"

enum name_request {
    NAME_OPEN,
    NAME_CLOSE,
    NAME_FRAMES,
    NAME_VARIABLE,    /* asks for a variable; a struct variable_location follows */
    NAME_COUNTERPART, /* asks for the function that undoes what another one does */
    NAME_TYPE,        /* asks about types; an enum type_request follows (type_requests.h) */
};

/* Answers requests until the report closes its end of the socket, then ends the process. */
_Noreturn void name_server_run(int socket, const struct binary_search_path *search,
                               struct file_owner reader);

/* Locks the calling process into the sandbox for good: it can reach no other process and no
 * network, and change no file; a refused call fails with EPERM. Has no effect if the kernel has no
 * seccomp filters. */
void name_sandbox_enter(void);

#endif
