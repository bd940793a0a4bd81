/* report_targets.h - determines where leakreport writes when the process runs it: turns the options
 * report_to and report_file into arguments, and selects the descriptors that it inherits.
 *
 * A relative file is relative to the program's working directory at the start. leakreport inherits
 * descriptors 1 and 2 only while they are the same files as at the start: later the program may
 * have opened its own files with these numbers. */
#ifndef PRELOAD_PROCESS_REPORT_TARGETS_H
#define PRELOAD_PROCESS_REPORT_TARGETS_H

#include "preload/base/base.h"
#include "preload/options/options.h"
#include "preload/base/sys.h"

#include <limits.h>

#define REPORT_TARGET_FDS 8

struct report_targets {
    char output[PATH_MAX + OPTION_TEXT_MAX +
                16]; /* "--output=...", an argument of leakreport; or empty */
    char to[2 * PATH_MAX + OPTION_TEXT_MAX]; /* "--to=...", an argument of leakreport; or empty */
    const char *list;                        /* the list of targets in "to", as the user wrote it */
    char own[16]; /* memory for the text of "list", if that is no option's value */
    struct sys_streams streams;
    /* Descriptors of the program (fd:N) and one of libleak; -1 ends the list. */
    int kept[REPORT_TARGET_FDS + 2];
    int nowhere; /* descriptor of /dev/null; -1: not needed */
};

/* Reads the options report_file and report_to, at the start and when one of them has changed. A
 * list that cannot be used is reported in the log and ignored. */
void report_targets_start(void);
/* Says whether a report can be written to some target of the options. */
bool report_targets_usable(void);
/* Makes the arguments for the targets. file: the only target; NULL: the targets of the options.
 * False: a name is too long. */
bool report_targets_name(struct report_targets *targets, const char *file);
/* Makes the arguments for one target, a descriptor of libleak. */
void report_targets_name_fd(struct report_targets *targets, int fd);
/* Opens the streams that leakreport gets. memory: a descriptor of libleak that leakreport also
 * inherits, or -1. */
void report_targets_open(struct report_targets *targets, int memory);
void report_targets_close(struct report_targets *targets);

#endif
