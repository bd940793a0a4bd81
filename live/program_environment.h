/* program_environment.h - the environment of the program: the caller's own, word for word and in its order,
 * with LD_PRELOAD prepended and LIBLEAK_* set.
 *
 * The environment of leakwatch is not always the caller's: the shell of scripts/leakrun drops names
 * it cannot spell and sets PWD. So the script has leakwatch read /proc/PID/environ of the script
 * and passes that on as hex digits in variables, which are decoded here. In variables, not in
 * arguments: every user can read the arguments of a process, and an environment holds passwords. */
#ifndef LIVE_PROGRAM_ENVIRONMENT_H
#define LIVE_PROGRAM_ENVIRONMENT_H

#include "common/base/string_list.h"
#include "live/args.h"
#include "live/session.h"

#define ENVIRONMENT_WORD "LEAKRUN_ENVIRONMENT_" /* and a number, from 0 */

/* Prints NAME=HEX words, one a line, for the process pid (the script). Returns an exit status. */
int environment_print(const char *pid);

/* The caller's environment: decoded from those variables if they are set, else environ. Without
 * LEAK_HELPER_VARIABLE, which scripts/leakrun sets for leakwatch. */
void environment_load(struct string_list *list);

/* The same for leakreport and gdb, in which libleak stays out. */
void environment_for_helper(struct string_list *list, const struct string_list *callers);

/* Value of a name, or NULL. Owned by the list. */
const char *environment_value(const struct string_list *list, const char *name);

/* Sets name=value in place, or at the end when it is new. */
void environment_set(struct string_list *list, const char *name, const char *value);

/* ---- Settings of the program ----------------------------------------------------------------- */

/* The two variables (three, if the caller used LIBLEAK_DIR) that the program gets beyond the
 * caller's environment, as a list NAME, VALUE, NAME, VALUE ... */
void environment_make_settings(struct string_list *set, const struct string_list *environment,
                               const struct args *args, const struct session *session);

/* The directory for recording files: --dir, else LIBLEAK_DIR, else dir= in LIBLEAK_OPTIONS, else
 * NULL. For the caller to free. */
char *environment_store_dir(const struct args *args, const struct string_list *environment);

/* Without --to, the report of leakrun goes where --report-to, else report_to= in LIBLEAK_OPTIONS,
 * sends reports. */
void environment_forward_report_to(struct args *args, const struct string_list *environment);

/* The gdb command that runs program with argv. gdb itself is not tracked: only the program gets the
 * settings, through gdb's "exec-wrapper env". */
void environment_gdb_command(struct string_list *command, const struct string_list *set,
                             const char *program, char **argv);

#endif
