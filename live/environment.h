/* environment.h - the environment the program gets: the caller's own, word for word, with
 * LD_PRELOAD prepended and LIBLEAK_* set. Nothing else is touched, not even the order.
 *
 * The caller's own environment is not always ours: a shell in between (scripts/leakrun) drops names
 * it cannot spell and sets PWD. So the script lets us read /proc/PID/environ of its own start and
 * hands that on as hex digits in variables, which are decoded here. In variables, not arguments:
 * anybody may read the arguments of a process, and an environment holds passwords. */
#ifndef LIVE_ENVIRONMENT_H
#define LIVE_ENVIRONMENT_H

#include "common/base/string_list.h"

#define ENVIRONMENT_WORD "LEAKRUN_ENVIRONMENT_" /* and a number, from 0 */

/* Prints NAME=HEX words, one a line, for the process pid (the script's own). Returns an exit
 * status. */
int environment_print(const char *pid);

/* The caller's environment: what those words spell when there are any, else environ. */
void environment_load(struct string_list *list);

/* Value of a name, or NULL. Owned by the list. */
const char *environment_get(const struct string_list *list, const char *name);

/* Sets name=value in place, or at the end when it is new. */
void environment_set(struct string_list *list, const char *name, const char *value);

#endif
