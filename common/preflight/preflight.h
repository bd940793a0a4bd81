/* preflight.h - what stands between a program and libleak, read from its file before it runs.
 *
 * The answers are env(1)'s: 126 found but cannot be run (here: or cannot be tracked), 127 not
 * found. Each comes with one line that names the program, says why, and says what to do next.
 * A program is hostile input: every offset is checked, nothing is executed or mapped. Allocates;
 * not for signal handlers. */
#ifndef COMMON_PREFLIGHT_PREFLIGHT_H
#define COMMON_PREFLIGHT_PREFLIGHT_H

#include "common/preflight/preflight_elf.h" /* struct preflight */

/* Finds name as execvp would (search: the value of PATH or NULL; cwd: where it will run, NULL:
 * here) and judges it and, for scripts, every interpreter in turn. Returns the path to exec, for
 * the caller to free, or NULL when the status is not 0. */
char *preflight_program(const char *name, const char *search, const char *cwd,
                        struct preflight *result);

/* The verb, with main's own arguments: leakreport preflight PROGRAM... One line each on stdout;
 * returns the first status that is not 0, or 2 for a wrong line. */
int preflight_command(int argc, char **argv);

#endif
