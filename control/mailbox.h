/* mailbox.h - implements the steps of leakctl with the mailbox, the one place for a request in a
 * recording file.
 *
 *     FREE -> CLAIMED -> ASKED -> (the process:) TAKEN -> ANSWERED -> CLAIMED, FREE
 *                           \-> CLAIMED, FREE                       withdrawn
 *
 * Only one leakctl at a time uses the mailbox: recording.h locks the file, and the kernel releases
 * the lock when leakctl ends, for any reason. So only one process clears the request of a leakctl
 * that was killed. The functions only change memory; none of them waits. */
#ifndef CONTROL_MAILBOX_H
#define CONTROL_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct mailbox_answer {
    enum leak_answer answer;
    uint64_t milestone; /* number of the milestone that the process made; 0 = none */
};

/* Claims the mailbox. alive: says whether the leakctl that uses the mailbox still runs. False: the
 * mailbox is in use, by that leakctl or by the process that works on its request. */
bool mailbox_claim(struct leak_request *request, int32_t pid, uint64_t start_time,
                   bool (*alive)(int32_t pid, uint64_t start_time));

/* Puts a request into the claimed mailbox. name: NULL, or shorter than LEAK_MILESTONE_NAME. */
void mailbox_post(struct leak_request *request, enum leak_verb verb, uint64_t argument,
                  const char *name);

bool mailbox_is_answered(const struct leak_request *request);
/* Says whether the process has not yet taken the request. */
bool mailbox_is_pending(const struct leak_request *request);

/* Reads the answer to a request, and releases the mailbox. The request must be answered. */
struct mailbox_answer mailbox_read_answer(struct leak_request *request);

/* Withdraws a request. True: the process had not begun it, and the mailbox is free. False: the
 * process works on it. */
bool mailbox_withdraw(struct leak_request *request);

/* Releases a claimed mailbox that has no request. */
void mailbox_release(struct leak_request *request);

#endif
