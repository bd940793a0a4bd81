/* say.h - the one way leakwatch speaks: "leakrun: ...", one line, one write, on stderr.
 *
 * The program shares our stderr, so a line is never torn apart and nothing is ever printed that
 * the user did not ask for or need to know. Includes nothing of ours. */
#ifndef COMMON_BASE_FATAL_H
#define COMMON_BASE_FATAL_H

/* Exit codes of our own, as env(1) would give them (124: timeout(1)). */
enum {
    STATUS_NOTHING_TRACKED = 124,
    STATUS_OUR_TROUBLE = 125,
    STATUS_CANNOT_RUN = 126,
    STATUS_NOT_FOUND = 127,
};

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then ends leakwatch. Only before the program was started. */
void say_and_exit(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#endif
