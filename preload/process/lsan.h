/* lsan.h - what a program and its environment say to LeakSanitizer, heard by libleak.
 *
 * LSAN_OPTIONS are heard at the start. A program may have __lsan_default_options and
 * __lsan_default_suppressions: these are code of its own, which may need its libraries, so they are
 * called when main is about to begin, from outside of the runtime. They are looked for at the
 * start: later another thread may hold the loader's lock. Suppressions are not read here; their
 * text goes into the store, and who reads that understands them.
 */
#ifndef PRELOAD_PROCESS_LSAN_H
#define PRELOAD_PROCESS_LSAN_H

#include "preload/options/options.h"

/* Before the options are loaded: LeakSanitizer's words may stand among ours. */
void lsan_hear_options(void);
/* Once the options are loaded. No environment (a setuid program): nothing is heard of it. */
void lsan_load(char **envp);
/* Once there is a store. */
void lsan_start(void);
/* The store of a fork child is told as well. */
void lsan_fork_child(void);

struct lsan_words {
    const char *options, *suppressions; /* NULL: none */
};
/* Calls the program; outside of the runtime. */
struct lsan_words lsan_ask(void);
/* Inside of it: takes in what it said. True: options are other ones now. */
bool lsan_hear(const struct lsan_words *words);

/* Are checks wanted at all? */
bool lsan_detects(void);
/* What __lsan_do_leak_check ends a program with that leaks; 0: it goes on. */
int lsan_exit_code(void);

#endif
