/* input.h - standard input for a program that may run again (leakrun --when-lost).
 *
 * A file is read again from where it was. What comes through a pipe is copied on its way: a process
 * of leakrun's reads it, keeps it in memory, and passes it on through another pipe, which the program
 * has as its standard input; later runs get the copy, again through a pipe. Any other input is
 * /dev/null then. What the program leaves unread in a pipe is gone. */
#ifndef LIVE_INPUT_H
#define LIVE_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#define INPUT_KEPT_MOST (1ull << 30) /* bytes; longer input of a pipe is not kept */

struct input {
    long offset;  /* in a file, when the first run began; -1: it is none */
    int kept;     /* descriptor of the copy; -1: there is none */
    pid_t copier; /* the process that passes it on; 0: none */
};

/* Begins to keep standard input. Call it before the first run, with all signals blocked. */
void input_begin(struct input *input);

/* Stops passing input on. Call it after each run. */
void input_stop(struct input *input);

/* Says whether the whole input is known. Call it after input_stop. */
bool input_is_known(const struct input *input);

/* Makes standard input begin again, for another run. Returns false if it cannot. */
bool input_rewind(struct input *input);

void input_end(struct input *input);

#endif
