/* name_process.h - starts the process that reads ELF files (name_server.h), asks it, and starts
 * another one when it dies. */
#ifndef COMMON_NAMES_NAME_PROCESS_H
#define COMMON_NAMES_NAME_PROCESS_H

#include "common/names/message.h"
#include "common/names/name_server.h"

struct name_process {
    const struct binary_search_path *search; /* borrowed */
    struct file_owner reader;
    pid_t pid; /* 0 = none runs */
    int socket;
    unsigned generation; /* of the process: each one begins without files */
    unsigned deaths;
    int ending;             /* of the last one that died, as waitpid() says it */
    uint64_t files;         /* numbers that were given out */
    struct message message; /* a request, then its answer */
};

struct name_process name_process_begin(const struct binary_search_path *search);
void name_process_end(struct name_process *process);

/* From now on, the name process opens files with the rights of this user. */
void name_process_set_reader(struct name_process *process, struct file_owner reader);

/* Makes sure that one runs. False: none can be started, or too many have died. */
bool name_process_start(struct name_process *process);

/* Sends process->message and receives the answer there. False: the process died of it. */
bool name_process_ask(struct name_process *process);

#endif
