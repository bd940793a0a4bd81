/* report_targets.h - where leakreport writes when the process runs it: report_to and report_file as
 * arguments, and the descriptors that it inherits.
 *
 * A relative file is relative to the program's working directory at the start. leakreport inherits
 * descriptors 1 and 2 only while they are the same files as at the start: later they may be a file
 * of the program's own.
 */
#ifndef PRELOAD_PROCESS_REPORT_TARGETS_H
#define PRELOAD_PROCESS_REPORT_TARGETS_H

#include "preload/base/base.h"
#include "preload/options/options.h"
#include "preload/base/sys.h"

#include <limits.h>

#define REPORT_TARGET_FDS 8

struct report_targets {
    char output[PATH_MAX + OPTION_TEXT_MAX + 16]; /* an argument; empty: none */
    char to[2 * PATH_MAX + OPTION_TEXT_MAX];      /* another */
    const char *list;                             /* of targets, as named in "to" */
    char own[16];                                 /* that list, when it is not the option's */
    struct sys_streams streams;
    int kept[REPORT_TARGET_FDS +
             2]; /* descriptors of the program (fd:N) and one of libleak; -1 ends */
    int nowhere; /* /dev/null; -1: not needed */
};

/* Reads the options at the start, and when one of them has changed: a list that cannot be used is
 * logged and dropped. */
void report_targets_start(void);
/* Says whether a report may go where the options say. */
bool report_targets_usable(void);
/* Lists the targets. file: the only target; NULL: the options' targets. False: a name is too
 * long. */
bool report_targets_name(struct report_targets *targets, const char *file);
/* The same with a descriptor of libleak as the only target. */
void report_targets_name_fd(struct report_targets *targets, int fd);
/* Opens the targets. memory: a descriptor of libleak that leakreport inherits as well, or -1. */
void report_targets_open(struct report_targets *targets, int memory);
void report_targets_close(struct report_targets *targets);

#endif
