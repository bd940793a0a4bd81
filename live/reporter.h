/* reporter.h - running leakreport over what the program left. */
#ifndef LIVE_REPORTER_H
#define LIVE_REPORTER_H

#include <stdbool.h>

#include "live/args.h"
#include "common/processes/store_list.h"

/* Whether it takes the options it is going to get; if not, it has said what is wrong. Asked before
 * the program runs, which may take a day. */
bool reporter_check(const char *program, const struct args *args,
                    const struct string_list *environment);

/* Runs it over all readable stores, in their order. Its stdout is our stderr (the program's stdout
 * is the program's alone, unless --to=stdout says otherwise), or nothing with --no-report. Returns
 * its exit status, or -1 when it could not be run or did not end well, which is said. */
int reporter_run(const char *program, const struct args *args, const struct store_list *stores,
                 const struct string_list *environment);

#endif
