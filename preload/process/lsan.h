/* lsan.h - applies the options and suppressions that a program or its environment has for
 * LeakSanitizer.
 *
 * LSAN_OPTIONS are read at the start. A program may define __lsan_default_options and
 * __lsan_default_suppressions. These functions of the program may need its libraries, so they are
 * called when main is about to begin, outside of the runtime. The loader binds them as weak
 * symbols, because a later lookup could wait for a thread that holds the loader's lock.
 * Suppressions are not parsed here; their text goes into the recording file for leakreport. */
#ifndef PRELOAD_PROCESS_LSAN_H
#define PRELOAD_PROCESS_LSAN_H

#include "preload/options/options.h"

/* Registers the parser for LeakSanitizer's options among libleak's; called before the options are
 * loaded. */
void lsan_register_parser(void);
/* Reads LSAN_OPTIONS, after libleak's options were loaded. envp NULL (a setuid program): ignores
 * LSAN_OPTIONS. */
void lsan_load_options(char **envp);
/* Reads the file of suppressions, after the recording was created. */
void lsan_start(void);
/* Writes the suppressions to the recording file of a fork child. */
void lsan_fork_child(void);

struct lsan_defaults {
    const char *options, *suppressions; /* results of the program's functions; NULL: not defined */
};
/* Calls __lsan_default_options and __lsan_default_suppressions, if the program defines them; must
 * be called outside of the runtime. */
struct lsan_defaults lsan_call_defaults(void);
/* Applies the options and suppressions that lsan_call_defaults has returned; must be called inside
 * of the runtime. True: options have changed. */
bool lsan_apply_defaults(const struct lsan_defaults *defaults);

/* Says whether the option detect_leaks allows leak checks. */
bool lsan_detect_leaks(void);
/* The exit code with which __lsan_do_leak_check ends a program that has leaks; 0: the program
 * continues. */
int lsan_exit_code(void);

#endif
