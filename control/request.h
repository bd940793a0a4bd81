/* request.h - sends a request to a process, and waits for the answer.
 *
 * leakctl puts the request into the mailbox of the recording file, sends a signal to announce it,
 * and polls the mailbox. No request is left in the mailbox: if the process has not taken it, it is
 * withdrawn after the timeout, and when SIGINT, SIGTERM or SIGHUP interrupts leakctl and then ends
 * it. */
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
    /* milliseconds until the process must take the request, and again from there until it must
     * answer */
    uint64_t timeout;
    const char *graph_file; /* absolute path of the graph file to write; NULL: no graph is wanted */
};

/* Makes the process perform a request, and waits for the answer. False: the request failed, and a
 * message has the reason. */
bool request_perform(struct target *target, const struct request *request,
                     struct mailbox_answer *answer);

/* Waits until the leak check of this milestone is in the recording file. False: it did not come,
 * and a message has the reason. */
bool request_wait_leak_check(struct target *target, uint64_t milestone, uint64_t timeout,
                             struct leak_check_totals *totals);

#endif
