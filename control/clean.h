/* clean.h - leakctl clean: stores of dead processes are removed, when somebody says so.
 *
 * Nobody else ever does it: only a person knows whether an account has been read. */
#ifndef CONTROL_CLEAN_H
#define CONTROL_CLEAN_H

#include "control/arguments.h"

/* argv[0] is the verb. Lists on stdout what it removed; the exit status. */
int clean_command(const struct arguments *arguments);

#endif
