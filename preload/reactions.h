/* reactions.h - what to do about a wrong release beside recording it: the option on_error.
 *
 *     on_error=abort                          whatever it is
 *     on_error=report,double-free=abort       one kind apart from the others: later words win
 *
 * report goes on; stop halts the process until SIGCONT; trap is for a debugger; abort dies of
 * SIGABRT. All of them happen outside of the runtime: a handler of the program's may run.
 */
#ifndef PRELOAD_REACTIONS_H
#define PRELOAD_REACTIONS_H

#include "preload/guard.h"
#include "leak_store.h"

/* The option; one clear line about what is no word of it, and then all is report. */
void reactions_start(const char *option);
/* False: such a word there is not. */
bool reactions_read(const char *option, size_t length);
/* The token is given back meanwhile, and taken again for the same caller. words: what has happened.
 */
void reactions_act(struct guard *guard, const struct frame *caller, enum leak_event_type type,
                   const char *words);
/* Nothing but report is asked for that type. */
bool reactions_only_report(enum leak_event_type type);

#endif
