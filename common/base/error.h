/* error.h - how leakrun and leakwatch say what went wrong: exit codes, and lines on stderr.
 *
 * The program that is run shares stderr, so a line is one write(2) and is never torn. Only what the
 * user asked for or has to know is printed. Lowest rank: includes nothing of the project.
 */
#ifndef COMMON_BASE_ERROR_H
#define COMMON_BASE_ERROR_H

#include <stdbool.h>

/* leakrun's own exit codes, as env(1) has them; 124 as timeout(1). */
enum {
    STATUS_NOTHING_TRACKED = 124, /* or too little to say that nothing leaked */
    STATUS_INTERNAL_ERROR = 125,
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127,
};

/* Prints one line "leakrun: ...". False: nobody could read it. */
bool print_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line and exits with the status. Only before the program is started. */
void fatal_exit(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
