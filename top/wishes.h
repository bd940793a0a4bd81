/* wishes.h - what the screen asks of the process it shows: leakctl does it, and its line is shown.
 *
 * One at a time, in a process of its own, so that the screen never waits.
 */
#ifndef TOP_WISHES_H
#define TOP_WISHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WISH_WORDS 512

struct wish {
    pid_t pid;              /* of leakctl, 0 = nothing is under way */
    int fd;                 /* its lines come here */
    char words[WISH_WORDS]; /* what it has said, or what is being done; "" = nothing to show */
    char done[WISH_WORDS];  /* what to say when all is well and it said nothing */
    bool heard;             /* its first line: what a foot has room for */
};

struct wish_words {
    const char *verb, *more;  /* leakctl VERB PID MORE; more may be NULL */
    const char *doing, *done; /* what to show meanwhile and afterwards */
};

/* store: of the process. Does nothing while another one is under way. */
void wish_begin(struct wish *wish, int32_t pid, const char *store, const struct wish_words *words);

/* Takes in what has come. */
void wish_take(struct wish *wish);

#endif
