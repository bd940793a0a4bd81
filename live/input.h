/* input.h - keeps the standard input for a program that may run again (leakrun --when-lost).
 *
 * If the input is a file, later runs read it again from the same position. If it is a pipe, a child
 * process of leakrun reads it, keeps a copy in memory, and writes it to another pipe, which is the
 * standard input of the program; later runs get the copy, also through a pipe. Input in a pipe that
 * the program does not read is lost. If input and output are a terminal, what is typed is recorded
 * (terminal.h), and typed again for later runs on a hidden terminal (typed.h). With any other
 * input, later runs get /dev/null. */
#ifndef LIVE_INPUT_H
#define LIVE_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "live/typed.h"

#define INPUT_KEPT_MOST (1ull << 30) /* bytes; a longer input from a pipe is not kept */

struct input {
    long offset;  /* position in the file before the first run; -1: the input is no file */
    int kept;     /* descriptor of the copy of a pipe's input; -1: there is none */
    pid_t copier; /* the process that copies and passes on the input; 0: none */
    struct typed typed;
};

/* Begins to keep the standard input. Call it before the first run, with all signals blocked. With a
 * terminal, it returns in another process. */
void input_begin(struct input *input);

/* Stops the process that passes input on. Call it after each run. */
void input_stop(struct input *input);

/* Says whether the whole input can be repeated. Call it after input_stop(). */
bool input_is_known(const struct input *input);

/* Says whether the input is what was typed on a terminal, so that it can be typed again. */
bool input_is_typed(const struct input *input);

/* Makes the standard input begin again, for another run. False: this is impossible. *terminal gets
 * the descriptor of a terminal where it is typed again, which the caller closes; otherwise it is not
 * changed. */
bool input_rewind(struct input *input, int *terminal);

void input_end(struct input *input);

#endif
