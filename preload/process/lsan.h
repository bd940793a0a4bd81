/* lsan.h - what a program and its environment tell LeakSanitizer, applied to libleak.
 *
 * LSAN_OPTIONS are read at the start. A program may define __lsan_default_options and
 * __lsan_default_suppressions. These are code of its own, which may need its libraries, so they are
 * called when main is about to begin, outside of the runtime. The loader binds them as weak
 * symbols: a lookup later could meet another thread that holds the loader's lock. Suppressions are
 * not parsed here; their text goes into the recording file for leakreport.
 */
#ifndef PRELOAD_PROCESS_LSAN_H
#define PRELOAD_PROCESS_LSAN_H

#include "preload/options/options.h"

/* Registers the parser of LeakSanitizer's options, which may stand among libleak's. Call it before
 * the options are loaded. */
void lsan_register_parser(void);
/* Loads LSAN_OPTIONS, once libleak's options are loaded. envp NULL (a setuid program): LSAN_OPTIONS
 * are ignored. */
void lsan_load_options(char **envp);
/* Reads the file of suppressions, once there is a recording. */
void lsan_start(void);
/* Writes the suppressions to the recording of a fork child. */
void lsan_fork_child(void);

struct lsan_defaults {
    const char *options, *suppressions; /* NULL: none */
};
/* Calls the program; outside of the runtime. */
struct lsan_defaults lsan_call_defaults(void);
/* Applies what it returned; inside of the runtime. True: options have changed. */
bool lsan_apply_defaults(const struct lsan_defaults *defaults);

/* The option detect_leaks: are checks wanted at all? */
bool lsan_detect_leaks(void);
/* The exit code with which __lsan_do_leak_check ends a leaking program; 0: it continues. */
int lsan_exit_code(void);

#endif
