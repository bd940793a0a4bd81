/* store_dir.h - where the runtime puts recording files, what they are called, and which is the
 * newest of a program.
 *
 * The rules are those of the runtime: dir= names the directory; without it each user has one,
 * libleak-UID, in the first of three places that can be used. */
#ifndef COMMON_STORE_STORE_DIR_H
#define COMMON_STORE_STORE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "leak_store.h"
#include "common/base/arena.h"

#define STORE_DIR_PLACES 3
#define STORE_DIR_SESSION_PREFIX "libleak-run." /* the directory of one leakrun in a place */
#define STORE_DIR_USER_PREFIX "libleak-"        /* and a uid: that of all other programs */

/* The three places; the first is NULL when runtime_dir, of XDG_RUNTIME_DIR, is no absolute path. */
void store_dir_places(const char *place[STORE_DIR_PLACES], const char *runtime_dir);

/* The directory that option files and the environment give the programs of this user; a later
 * source wins. NULL: none does, so the default places. In mem. */
const char *store_dir_configured(struct arena *mem);

/* The last value of that name in name=value:name='value':..., or NULL; the caller frees it. */
char *option_text_find(const char *options, const char *name);

/* The length of EXE, which may contain dots, in a file name EXE.PID.N.leak. */
size_t store_name_program_length(const char *file);

/* Says whether this program can read recordings with such a header. */
bool store_header_is_readable(const struct leak_header *header);

/* Reads page 0 of the file `name`.leak in an open directory. False: it is no recording file of a
 * version that is read; *status is set if it could be opened. The directory is not trusted: a link is not
 * followed, a pipe does not block, and the host name is terminated. */
bool store_header_read(int directory, const char *name, struct leak_header *header,
                       struct stat *status);

/* The process of a file runs. Compares pid, start time and host name: a reused pid is another
 * process. */
bool store_process_is_alive(const char *host, int32_t pid, uint64_t start_time);

/* The path of the newest file of the program with that name or pid; NULL: of any program. In mem.
 * Of several the one that was begun last is chosen, and one whose process runs only if there is no
 * other: a service that was killed is running again by now. NULL: there is none; a message on
 * stderr says where it was searched. */
const char *store_find_newest(struct arena *mem, const char *wanted);

#endif
