/* mailbox.h - the one place for requests in a recording file, and the steps of leakctl.
 *
 *     FREE -> CLAIMED -> ASKED -> (the process:) TAKEN -> ANSWERED -> CLAIMED, FREE
 *                           \-> CLAIMED, FREE                       withdrawn
 *
 * One leakctl at a time uses it: recording.h has a lock on the file, which the kernel releases when
 * its owner ends in any way. So a request of a dead leakctl is cleared by one other only. Pure
 * memory: no function waits. */
#ifndef CONTROL_MAILBOX_H
#define CONTROL_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct mailbox_answer {
    enum leak_answer answer;
    uint64_t milestone; /* 0 = none was made */
};

/* Takes the mailbox. alive: says whether the leakctl that holds the mailbox lives. False: the
 * mailbox is in use, by that leakctl or by the process for it. */
bool mailbox_claim(struct leak_request *request, int32_t pid, uint64_t start_time,
                   bool (*alive)(int32_t pid, uint64_t start_time));

/* Needs a claimed mailbox. name: NULL or shorter than LEAK_MILESTONE_NAME. */
void mailbox_post(struct leak_request *request, enum leak_verb verb, uint64_t argument,
                  const char *name);

bool mailbox_is_answered(const struct leak_request *request);
/* The process has not taken the request. */
bool mailbox_is_pending(const struct leak_request *request);

/* Needs an answered request: reads the answer, and releases the mailbox. */
struct mailbox_answer mailbox_read_answer(struct leak_request *request);

/* Takes a request back. True: the process had not begun it, and the mailbox is free. False: the
 * process works on it. */
bool mailbox_withdraw(struct leak_request *request);

/* Needs a claimed mailbox without a request. */
void mailbox_release(struct leak_request *request);

#endif
