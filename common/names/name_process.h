/* name_process.h - the report's side of the name process, which reads ELF files (name_server.h):
 * starts it, asks it, and starts another one when it dies. */
#ifndef COMMON_NAMES_NAME_PROCESS_H
#define COMMON_NAMES_NAME_PROCESS_H

#include "common/names/message.h"
#include "common/names/name_server.h"

struct name_process {
    const struct binary_search_path *search; /* borrowed from the caller */
    struct file_owner reader;
    pid_t pid; /* name process; 0 = none runs */
    int socket;
    unsigned generation; /* how many name processes were started; a new one has no files open */
    unsigned deaths;
    int ending;             /* wait status of the last name process that died */
    uint64_t files;         /* number of files opened so far; requests name a file by its number */
    struct message message; /* holds a request, and after name_process_ask() its answer */
};

struct name_process name_process_begin(const struct binary_search_path *search);
void name_process_end(struct name_process *process);

/* From now on, the name process opens files with the rights of this user. */
void name_process_set_reader(struct name_process *process, struct file_owner reader);

/* Starts a name process if none runs. False: it cannot be started, or too many have died. */
bool name_process_start(struct name_process *process);

/* Sends process->message and receives the answer there. False: the name process died. */
bool name_process_ask(struct name_process *process);

#endif
