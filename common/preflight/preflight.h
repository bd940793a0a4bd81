/* preflight.h - says whether libleak can track a program, from its file, before the program
 * runs.
 *
 * The status is as in env(1): 126 = found but cannot be run, or not tracked; 127 = not found. It
 * comes with one line that names the program, says why, and says what to do next. A program is
 * hostile input: it is read with pread into private memory, every offset is checked, nothing is
 * mapped or executed. Allocates; not for signal handlers. */
#ifndef COMMON_PREFLIGHT_PREFLIGHT_H
#define COMMON_PREFLIGHT_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define PREFLIGHT_LINE 1024
#define PREFLIGHT_CANNOT_RUN 126
#define PREFLIGHT_NOT_FOUND 127

struct preflight {
    int status;                /* 0 = the program can be tracked; 126 = it cannot; 127 = it was not
                                * found */
    char line[PREFLIGHT_LINE]; /* why the program cannot be tracked; with status 0 a warning, or
                                * empty */
};

/* Sets whether a library for 32-bit programs is installed. Initially false: 32-bit programs are
 * refused. */
void preflight_take_32_bit(bool takes);

/* Finds a program as execvp does (search: the value of PATH, or NULL; cwd: directory where it
 * will run, NULL: the current one) and checks it, and for a script every interpreter. Returns
 * the path to execute, which the caller frees; NULL: status is not 0. */
char *preflight_program(const char *name, const char *search, const char *cwd,
                        struct preflight *result);

/* Runs the command "leakreport preflight PROGRAM...", with the arguments of main. Prints one
 * line for each program; returns the first status that is not 0, or 2 for a usage error. */
int preflight_command(int argc, char **argv);

/* ---- Shared by preflight.c and preflight_elf.c ----------------------------------------------- */

/* Set the status to PREFLIGHT_CANNOT_RUN or PREFLIGHT_NOT_FOUND, and the line, in which '?'
 * replaces control characters. Return false, so that a check can end with `return
 * preflight_refuse(...)`. */
bool preflight_refuse(struct preflight *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool preflight_not_found(struct preflight *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Checks whether a library can be preloaded into an ELF file. fd: the file, open for reading,
 * `size` bytes long. name: its name for messages. */
bool preflight_elf(int fd, uint64_t size, const char *name, struct preflight *result);

#endif
