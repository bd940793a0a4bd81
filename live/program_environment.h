/* program_environment.h - makes the environment of the program: that of leakrun's caller, unchanged
 * and in its order, with LD_PRELOAD extended and LIBLEAK_* set.
 *
 * The environment of leakwatch may differ from that of leakrun's caller: the shell that runs
 * scripts/leakrun removes names that are no shell variables, and sets PWD. So the script first runs
 * leakwatch to read /proc/PID/environ of the script, then passes the content on as hex digits in
 * environment variables, which this module decodes. It does not use arguments, because every user
 * can read the arguments of a process, and an environment may have passwords. */
#ifndef LIVE_PROGRAM_ENVIRONMENT_H
#define LIVE_PROGRAM_ENVIRONMENT_H

#include "common/base/string_list.h"
#include "live/args.h"
#include "live/session.h"

/* start of the names of the variables that carry the environment as hex digits; a number from 0
 * follows */
#define ENVIRONMENT_WORD "LEAKRUN_ENVIRONMENT_"

/* Prints the environment of process pid (the script) as lines NAME=HEX. Returns an exit status. */
int environment_print(const char *pid);

/* Fills the list with the environment of leakrun's caller: decoded from the variables with hex
 * digits if they are set, else environ. Leaves out LEAK_HELPER_VARIABLE, which scripts/leakrun sets
 * for leakwatch. */
void environment_load(struct string_list *list);

/* Makes an environment for leakreport and gdb: that of the caller, with the variable that keeps
 * libleak inactive. */
void environment_for_helper(struct string_list *list, const struct string_list *callers);

/* Returns the value of a variable; NULL = it is not set. The text belongs to the list. */
const char *environment_value(const struct string_list *list, const char *name);

/* Sets name=value in its place, or at the end if the variable is new. */
void environment_set(struct string_list *list, const char *name, const char *value);

/* ---- Settings of libleak in the environment -------------------------------------------------- */

/* Lists the variables of libleak that the program gets in addition to the caller's environment, as
 * NAME, VALUE, NAME, VALUE ...: two, or three if the caller has set LIBLEAK_DIR. */
void environment_make_settings(struct string_list *set, const struct string_list *environment,
                               const struct args *args, const struct session *session);

/* Returns the directory for recording files: --dir, else LIBLEAK_DIR, else dir= in LIBLEAK_OPTIONS,
 * else NULL. The caller frees it. */
char *environment_store_dir(const struct args *args, const struct string_list *environment);

/* Without --to, makes the report of leakrun go to the targets of --report-to, else of report_to= in
 * LIBLEAK_OPTIONS. */
void environment_forward_report_to(struct args *args, const struct string_list *environment);

/* Makes the command that runs the program in gdb. libleak is not active in gdb itself: only the
 * program gets the settings, by gdb's command "set exec-wrapper env". */
void environment_gdb_command(struct string_list *command, const struct string_list *set,
                             const char *program, char **argv);

#endif
