/* places.h - where stores are when nobody says where: the bases, in the order they are tried.
 *
 * Below each, leakrun makes a directory for each of its sessions, whose name begins with the
 * prefix; a program that was started with plain LD_PRELOAD keeps its store in the directory of its
 * user. */
#ifndef LIVE_PLACES_H
#define LIVE_PLACES_H

#define PLACES_SESSION_PREFIX "libleak-run."
#define PLACES_USER_PREFIX "libleak-" /* and the number of the user */

enum { PLACES = 3 };

/* runtime_dir: $XDG_RUNTIME_DIR, or NULL. A place that there is not is NULL. */
void places_list(const char *place[PLACES], const char *runtime_dir);

#endif
