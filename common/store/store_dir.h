/* store_dir.h - the directories and names of recording files, and the newest file of a program.
 *
 * The runtime chooses the directory: that of the option dir=, else libleak-UID, where UID is the
 * user's id, in the first usable one of three places: XDG_RUNTIME_DIR, /dev/shm, /tmp. */
#ifndef COMMON_STORE_STORE_DIR_H
#define COMMON_STORE_STORE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "leak_store.h"
#include "common/base/arena.h"

#define STORE_DIR_PLACES 3
/* Beginning of the name of a directory for the recordings of one run of leakrun. */
#define STORE_DIR_SESSION_PREFIX "libleak-run."
/* With the user's id behind: name of the directory for recordings of programs that run without
 * leakrun. */
#define STORE_DIR_USER_PREFIX "libleak-"

/* Lists the three places for directories (see the top of this file). runtime_dir: the value of
 * XDG_RUNTIME_DIR; if it is no absolute path, place[0] is NULL. */
void store_dir_places(const char *place[STORE_DIR_PLACES], const char *runtime_dir);

/* Returns the directory that the option dir= sets for the programs of this user, in option files or
 * the environment; a later source wins. NULL: no source sets it, so the default places are used.
 * The text is in mem. */
const char *store_dir_configured(struct arena *mem);

/* Finds the last value of a name in a text name=value:name='value':...; NULL: none. The caller
 * frees it. */
char *option_text_find(const char *options, const char *name);

/* Returns the length of EXE in a file name EXE.PID.N.leak; EXE may contain dots. */
size_t store_name_program_length(const char *file);

/* Says whether this program can read recordings with such a header. */
bool store_header_is_readable(const struct leak_header *header);

/* Reads the header of the file `name`, which must end in .leak, in an open directory. False: it is
 * no recording file of a supported version; *status: the file's stat, set if it could be opened.
 * The directory is not trusted: links are not followed, a pipe does not block, and the host name in
 * the header gets a terminating 0. */
bool store_header_read(int directory, const char *name, struct leak_header *header,
                       struct stat *status);

/* Says whether the process of a recording runs on this host. It compares host name, pid and
 * start time, since a pid may be reused. */
bool store_process_is_alive(const char *host, int32_t pid, uint64_t start_time);

/* Finds the newest recording file of the program with that name or pid; NULL: of any program. It
 * prefers processes that have ended, since a service that was killed is often running again; of
 * several processes it chooses the one that started last. The path is in mem. NULL: none was found,
 * and a message on stderr says where it searched. */
const char *store_find_newest(struct arena *mem, const char *wanted);

#endif
