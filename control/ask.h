/* ask.h - asking a process for something, and its answer.
 *
 * The request goes into the store, a signal says that it is there, and then the store is watched.
 * Nothing is left behind, whatever happens: a request that nobody took is taken back, when time is
 * up and when somebody interrupts (SIGINT, SIGTERM, SIGHUP, which then end leakctl). */
#ifndef CONTROL_ASK_H
#define CONTROL_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "control/account.h"
#include "control/mailbox.h"
#include "control/target.h"

struct question {
    enum leak_verb verb;
    uint64_t argument;
    const char *name;
    uint64_t timeout; /* ms: to be taken, and as long again to be done */
};

/* False: refused. */
bool ask(struct target *target, const struct question *question, struct mailbox_answer *answer);

/* Waits until the look that the answer tells of is in the store. False: refused. */
bool ask_for_look(struct target *target, uint64_t milestone, uint64_t timeout,
                  struct account_look *look);

#endif
