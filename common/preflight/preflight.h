/* preflight.h - can libleak track this program? Read from its file before it runs.
 *
 * The answers are those of env(1): 126 found but cannot be run (here also: cannot be tracked), 127
 * not found. Each comes with one line that names the program, says why, and says what to do next.
 * A program is hostile input: it is read with pread into private memory, every offset is checked,
 * nothing is mapped or executed. Allocates; not for signal handlers. */
#ifndef COMMON_PREFLIGHT_PREFLIGHT_H
#define COMMON_PREFLIGHT_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define PREFLIGHT_LINE 1024
#define PREFLIGHT_CANNOT_RUN 126
#define PREFLIGHT_NOT_FOUND 127

struct preflight {
    int status;                /* 0, 126 or 127 */
    char line[PREFLIGHT_LINE]; /* the reason; with status 0 a warning, or empty */
};

/* Is there a library for 32-bit programs, too? At first it is taken that there is none. */
void preflight_take_32_bit(bool takes);

/* Finds name as execvp would (search: the value of PATH or NULL; cwd: where it will run, NULL:
 * here), checks it and, for scripts, every interpreter in turn. Returns the path to exec, which the
 * caller frees, or NULL when the status is not 0. */
char *preflight_program(const char *name, const char *search, const char *cwd,
                        struct preflight *result);

/* The command "leakreport preflight PROGRAM...", with the arguments of main. Prints one line each;
 * returns the first status that is not 0, or 2 for a usage error. */
int preflight_command(int argc, char **argv);

/* ---- Between preflight.c and preflight_elf.c ------------------------------------------------- */

/* Set the status, PREFLIGHT_CANNOT_RUN or PREFLIGHT_NOT_FOUND, and the line, control characters
 * replaced. Return false, for a check to end with. */
bool preflight_refuse(struct preflight *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool preflight_not_found(struct preflight *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Checks whether a library can be preloaded into this ELF file. fd: open for reading, `size` bytes
 * long. name: what messages call the file. */
bool preflight_elf(int fd, uint64_t size, const char *name, struct preflight *result);

#endif
