/* settings.h - the two variables (three, if the caller used LIBLEAK_DIR) that the program gets
 * beyond the caller's environment, as a list NAME, VALUE, NAME, VALUE ... */
#ifndef LIVE_SETTINGS_H
#define LIVE_SETTINGS_H

#include "live/args.h"
#include "live/session.h"
#include "common/base/string_list.h"

void settings_make(struct string_list *set, const struct string_list *environment,
                   const struct args *args, const struct session *session);

/* Where the user wants stores: --dir, else LIBLEAK_DIR, else dir= in LIBLEAK_OPTIONS, else NULL.
 * For the caller to free. */
char *settings_dir(const struct args *args, const struct string_list *environment);

/* Where reports are to go by --report-to, else by report_to= in LIBLEAK_OPTIONS, ours goes, too,
 * but for --to. */
void settings_report_to(struct args *args, const struct string_list *environment);

/* The gdb command that runs program with argv: gdb itself is not tracked, only the program gets the
 * settings, through gdb's "exec-wrapper env". */
void settings_gdb_command(struct string_list *command, const struct string_list *set,
                          const char *program, char **argv);

#endif
