/* environment.h - the environment the program gets: the caller's own, word for word, with
 * LD_PRELOAD prepended and LIBLEAK_* set. Nothing else is touched, not even the order.
 *
 * The caller's own environment is not always ours: a shell in between (scripts/leakrun) drops names
 * it cannot spell and sets PWD. So the script lets us read /proc/PID/environ of its own start
 * and hands that on as words of hex digits (--environment=HEX), which are decoded here. */
#ifndef LIVE_ENVIRONMENT_H
#define LIVE_ENVIRONMENT_H

#include <stdbool.h>

#include "live/words.h"

/* Prints "--environment=HEX" words, one a line, for the process pid (the script's own).
 * Returns an exit status. */
int environment_print(const char *pid);

/* Appends one HEX word to raw bytes; false: not hex. */
struct environment_bytes {
    char *at;
    size_t length;
};
bool environment_decode(struct environment_bytes *bytes, const char *hex);

/* The caller's environment: the decoded bytes when there are any, else environ. */
void environment_load(struct words *list, const struct environment_bytes *bytes);

/* Value of a name, or NULL. Owned by the list. */
const char *environment_get(const struct words *list, const char *name);

/* Sets name=value in place, or at the end when it is new. */
void environment_set(struct words *list, const char *name, const char *value);

#endif
