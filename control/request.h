/* request.h - sending a process a request, and its answer.
 *
 * The request goes into the mailbox of the recording file, a signal announces it, and then leakctl
 * polls the mailbox. Nothing is left behind in any case: a request that the process has not taken
 * is withdrawn when the time is up and when a signal interrupts (SIGINT, SIGTERM, SIGHUP, which
 * then end leakctl). */
#ifndef CONTROL_REQUEST_H
#define CONTROL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "control/mailbox.h"
#include "control/recording.h"
#include "control/target.h"

struct request {
    enum leak_verb verb;
    uint64_t argument;
    const char *name;
    uint64_t timeout;       /* ms: until the process takes it, and as long again until it is done */
    const char *graph_file; /* absolute; NULL: none is wanted */
};

/* Makes the process perform a request, and waits for the answer. False: refused. */
bool request_perform(struct target *target, const struct request *request,
                     struct mailbox_answer *answer);

/* Waits until the leak check of the answer is in the recording file. False: refused. */
bool request_wait_leak_check(struct target *target, uint64_t milestone, uint64_t timeout,
                             struct leak_check_totals *totals);

#endif
