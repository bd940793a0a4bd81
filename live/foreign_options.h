/* foreign_options.h - handles options of valgrind and heaptrack, which users may type by habit.
 *
 * An option for something that leakrun always does is accepted and ignored, because some scripts
 * cannot be changed. For any other, one line names the option of leakrun with that effect. --help,
 * completion and suggestions do not show these options. */
#ifndef LIVE_FOREIGN_OPTIONS_H
#define LIVE_FOREIGN_OPTIONS_H

#include "common/options/command_line.h"

/* The foreign options as rows of an option table, which leakrun searches after all its other
 * tables. They set nothing. */
extern const struct option_row foreign_options[];

/* Translates the value of Valgrind's --show-leak-kinds= to that of --show=; the caller frees it.
 * NULL: it cannot be translated. */
char *foreign_show(const char *kinds);

#endif
