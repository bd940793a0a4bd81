/* report_targets.h - where leakreport is to write, when the process runs it: report_to and
 * report_file as arguments, and the descriptors that it gets.
 *
 * A relative file is where the program was at the start. Descriptors 1 and 2 are handed on only as
 * long as they are what they were then: later they may be a file of the program's own.
 */
#ifndef PRELOAD_PROCESS_REPORT_TARGETS_H
#define PRELOAD_PROCESS_REPORT_TARGETS_H

#include "preload/base/base.h"
#include "preload/options/options.h"
#include "preload/base/sys.h"

#include <limits.h>

#define OUTLETS_KEPT 8

struct outlets {
    char output[PATH_MAX + OPTION_TEXT_MAX + 16]; /* an argument; empty: none */
    char to[2 * PATH_MAX + OPTION_TEXT_MAX];      /* another */
    const char *list;                             /* of targets, as they are named in "to" */
    char own[16];                                 /* that list, when it is not the options' */
    struct sys_streams streams;
    int kept[OUTLETS_KEPT +
             2]; /* the program's own that are named, fd:N, and one of ours; -1 ends */
    int nowhere; /* -1: not needed */
};

/* At the start, and when one of the options has changed: a list that makes no sense is said, and
 * goes. */
void outlets_start(void);
/* May a report go where the options say? */
bool outlets_usable(void);
/* file: the one place, whatever the options say; NULL: where they say. False: a name is too long.
 */
bool outlets_name(struct outlets *outlets, const char *file);
/* The same with a descriptor of ours for the one place. */
void outlets_name_descriptor(struct outlets *outlets, int fd);
/* memory: a descriptor of ours that leakreport is to have, too, or -1. */
void outlets_open(struct outlets *outlets, int memory);
void outlets_close(struct outlets *outlets);

#endif
