/* store_dir.h - where the runtime leaves stores, and what they are called, for those who look for
 * them.
 *
 * The rules are the runtime's: dir= names the directory, and without it there is one for each user,
 * libleak-UID, in the first of three places that will have it. */
#ifndef COMMON_STORE_STORE_DIR_H
#define COMMON_STORE_STORE_DIR_H

#include <stddef.h>

#include "common/base/arena.h"

#define WHERE_PLACES 3
#define WHERE_SESSION_PREFIX "libleak-run." /* the directory of one leakrun below a place */
#define WHERE_USER_PREFIX "libleak-"        /* and the number of the user: that of all others */

/* The three; the first is NULL when runtime_dir, of XDG_RUNTIME_DIR, is no absolute path. */
void where_places(const char *place[WHERE_PLACES], const char *runtime_dir);

/* The directory that the programs of this user are told by files and the environment, the later one
 * wins; NULL: none, so the default places. In mem. */
const char *where_told(struct mem *mem);

/* Where the programs of this user leave them, for the same configuration and environment; how many.
 * Without dir= all the places, since a service, say, has no XDG_RUNTIME_DIR. In mem. */
size_t where_directories(struct mem *mem, const char *directory[WHERE_PLACES]);

/* The last of that name in name=value:name='value':..., or NULL; for the caller to free. */
char *where_option(const char *options, const char *name);

/* How much of a file's name EXE.PID.N.leak is EXE, which may hold dots. */
size_t where_name_length(const char *file);

#endif
