/* account.h - the store of a process that runs, as one who asks needs it: page 0, mapped, with the
 * place for requests; a lock, so that one asks at a time; and of the chunks the two that matter.
 *
 * Everything else is read with pread, and no number in it is believed further than the file is
 * long. */
#ifndef CONTROL_ACCOUNT_H
#define CONTROL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "leak_store.h"

struct account {
    int fd;
    struct leak_header *header; /* mapped: the process's own */
};

enum account_trouble { ACCOUNT_GOOD, ACCOUNT_FORBIDDEN, ACCOUNT_UNUSABLE, ACCOUNT_OTHER_VERSION };

/* Unless GOOD there is nothing to close; of UNUSABLE errno says more. */
enum account_trouble account_open(struct account *account, const char *path);
void account_close(struct account *account);

/* True: nobody else asks this process now, until account_close. */
bool account_lock(struct account *account);

/* The signal that libleak keeps for itself there. */
int account_signal(const struct account *account);

struct account_look {
    struct leak_snapshot head;
    uint64_t lost_blocks, lost_bytes;         /* as the look has them: nothing is suppressed */
    uint64_t indirect_blocks, indirect_bytes; /* that go with these */
};

/* The look that is this milestone. False: it is not in the store, or not yet. */
bool account_look(const struct account *account, uint64_t milestone, struct account_look *look);

/* The newest look that could not be made, since then. */
bool account_trouble_since(const struct account *account, uint64_t when_ns,
                           struct leak_snapshot *head);

#endif
