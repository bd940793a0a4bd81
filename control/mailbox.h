/* mailbox.h - the one place for requests in a store, and the steps of who asks.
 *
 *     FREE -> CLAIMED -> ASKED -> (the process:) TAKEN -> ANSWERED -> CLAIMED, FREE
 *                           \-> CLAIMED, FREE                       taken back
 *
 * Of those who ask one at a time is let in (account.h has a lock on the file, which the kernel
 * gives back whatever becomes of its owner); so what stands here of an asker that is dead nobody
 * else is just clearing. Pure memory: no call of these waits. */
#ifndef CONTROL_MAILBOX_H
#define CONTROL_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct mailbox_answer {
    enum leak_answer answer;
    uint64_t milestone; /* 0 = none was made */
};

/* alive: does the asker that stands there live? False: the place is taken, by it or by the process
 * for it. */
bool mailbox_claim(struct leak_request *request, int32_t pid, uint64_t start_time,
                   bool (*alive)(int32_t pid, uint64_t start_time));

/* It is claimed. name: NULL or shorter than LEAK_MILESTONE_NAME. */
void mailbox_ask(struct leak_request *request, enum leak_verb verb, uint64_t argument,
                 const char *name);

bool mailbox_is_answered(const struct leak_request *request);
/* Nobody has taken it. */
bool mailbox_is_asked(const struct leak_request *request);

/* It is answered: reads, and gives the place back. */
struct mailbox_answer mailbox_read(struct leak_request *request);

/* True: nobody had taken the request, and the place is free. False: the process is at it. */
bool mailbox_take_back(struct leak_request *request);

/* It is claimed and not asked. */
void mailbox_give_back(struct leak_request *request);

#endif
