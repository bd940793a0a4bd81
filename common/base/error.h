/* error.h - how leakrun and leakwatch say what went wrong: exit codes, and lines on stderr.
 *
 * The program that is run shares stderr, so a line is one write(2) and is never torn. Only what
 * the user requested or has to know is printed.
 */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

#include <stdbool.h>

/* The exit codes of leakrun itself, chosen as env(1) and timeout(1) choose theirs. */
enum {
    STATUS_NOTHING_TRACKED = 124, /* nothing was tracked, or too little to say that nothing
                                   * leaked */
    STATUS_INTERNAL_ERROR = 125,
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127,
};

/* Prints one line "leakrun: ..." on stderr. False: stderr is closed. */
bool print_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line like print_notice() and exits. Called only before leakrun starts the program. */
void fatal_exit(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
