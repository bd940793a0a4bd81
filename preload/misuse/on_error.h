/* on_error.h - what to do about a wrong release beside recording it: the option on_error.
 *
 *     on_error=abort                          whatever it is
 *     on_error=report,double-free=abort       one kind apart from the others: later words win
 *
 * report goes on; stop halts the process until SIGCONT; trap is for a debugger; abort dies of
 * SIGABRT. All of them happen outside of the runtime: a handler of the program's may run, and fork.
 */
#ifndef PRELOAD_MISUSE_ON_ERROR_H
#define PRELOAD_MISUSE_ON_ERROR_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

enum reaction { REACTION_REPORT, REACTION_STOP, REACTION_TRAP, REACTION_ABORT };

/* A word, or -1; and its word. */
int reactions_find(const char *word, size_t length);
const char *reactions_word(enum reaction reaction);
/* The token is given back meanwhile, and taken again for the same caller. True: the call goes on in
 * a child that a handler has forked, and that has got an account of its own meanwhile. In a child
 * without one, what the call still writes reaches nobody's. */
bool reactions_do(struct guard *guard, const struct frame *caller, enum reaction reaction);

/* The option; one clear line about what is no word of it, and then all is report. */
void reactions_start(const char *option);
/* False: such a word there is not. */
bool reactions_read(const char *option, size_t length);
/* What is asked for about a wrong release, answering as reactions_do. words: what has happened. */
bool reactions_act(struct guard *guard, const struct frame *caller, enum leak_event_type type,
                   const char *words);
/* Nothing but report is asked for that type. */
bool reactions_only_report(enum leak_event_type type);

#endif
