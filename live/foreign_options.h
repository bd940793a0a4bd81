/* foreign_options.h - options of valgrind and heaptrack, which people type by habit.
 *
 * One that asks for what leakrun does anyway is accepted, also by scripts that cannot be changed; the
 * others get an answer in one line: the option of leakrun that does the same. --help, completion and
 * suggestions leave them all out. */
#ifndef LIVE_FOREIGN_OPTIONS_H
#define LIVE_FOREIGN_OPTIONS_H

#include "common/options/command_line.h"

/* Rows that set nothing; they come last, after all others. */
extern const struct option_row foreign_options[];

/* The words of --show= for those of Valgrind's --show-leak-kinds=, for the caller to free; NULL: it has
 * no such words. */
char *foreign_show(const char *kinds);

#endif
