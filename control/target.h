/* target.h - the process that is asked: one, of this user, that lives and has a store. */
#ifndef CONTROL_TARGET_H
#define CONTROL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/account.h"

struct target {
    pid_t pid;
    int pidfd;  /* no pid that is used again is ever sent anything */
    char *who;  /* "shelf (pid 42)" */
    char *path; /* of its store */
    int signal;
    struct account account;
};

/* word: a pid, or the name of a program as its store has it; dir: NULL = the usual places. False:
 * refused. */
bool target_open(struct target *target, const char *word, const char *dir);
void target_close(struct target *target);

/* Its own program still, not another one by exec. */
bool target_is_same(const struct target *target);

#endif
