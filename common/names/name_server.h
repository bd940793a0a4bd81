/* name_server.h - the process in which libdw and libelf run. They crash, loop and allocate without
 * end on files that somebody made for that, so they run apart from the report, with limits and
 * without rights: no network, no new program, no file to write (name_sandbox.h; unless the user has
 * configured debuginfod), only ordinary files to read (foreign_file.h), with the rights of the user
 * whose program it was. What it answers is checked.
 *
 * A request is a message: enum name_request, the number of a file, and what the functions of
 * elf_binary.h take; the answer is what they return.
 */
#ifndef COMMON_NAMES_NAME_SERVER_H
#define COMMON_NAMES_NAME_SERVER_H

#include "common/base/foreign_file.h"
#include "common/debuginfo/elf_binary.h"

enum name_request {
    NAME_OPEN,
    NAME_CLOSE,
    NAME_FRAMES,
    NAME_VARIABLE, /* then a struct variable_location */
    NAME_TYPE,     /* then enum type_request, see type_requests.h */
};

/* Answers until the other side of the socket closes it, then ends the process. */
_Noreturn void name_server_run(int socket, const struct binary_search_path *search,
                               struct file_owner reader);

#endif
