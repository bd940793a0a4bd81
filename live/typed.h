/* typed.h - keeps what is typed on a terminal, and types it again (leakrun --when-lost).
 *
 * The recording is a file in memory: one event for each piece of input, with the time and the number
 * of bytes that the program had written to the terminal before it. A later run gets a hidden
 * pseudo-terminal, with the settings and the size that the terminal had at first. A process types
 * the events there, each one when the program waits for input and has written as much as in the
 * first run, and drops what the program writes. If nothing more was typed, and the program waits
 * longer than it did in the first run, the terminal hangs up. */
#ifndef LIVE_TYPED_H
#define LIVE_TYPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#define TYPED_MOST (64 << 20) /* bytes of a recording; what is typed later is not kept */

struct typed {
    int file;             /* descriptor of the recording; -1: nothing is recorded */
    struct termios modes; /* settings and size of the terminal at the start of the first run */
    struct winsize window;
    uint64_t begin_ns; /* time of that start */
    off_t size;        /* size of the recording at the end of the first run; 0: it has not ended */
    uint64_t end_ns;   /* time of that end */
};

/* Opens a pseudo-terminal with the settings and the size in *typed. False: there is none. */
bool typed_open_terminal(const struct typed *typed, int *master, int *slave);

/* Adds a piece of input, or the new size of the window. written: number of bytes that the program
 * has written so far. Called by another process than the one that types the events again. */
void typed_add_input(const struct typed *typed, const char *bytes, size_t size, uint64_t written);
void typed_add_window(const struct typed *typed, const struct winsize *window, uint64_t written);

/* Ends the recording. What is typed from now on is not typed again. */
void typed_end(struct typed *typed);

/* Opens a hidden terminal and starts a process that types the recording there. Returns its pid; 0:
 * it cannot be started. *slave: descriptor of the terminal for the program; the caller closes it. */
pid_t typed_start_again(const struct typed *typed, int *slave);

#endif
