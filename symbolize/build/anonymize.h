/* anonymize.h - a report that may be given away: what was leaked, not whose.
 *
 * Functions, lines and base names of files stay, or nobody could read it. Directories, arguments,
 * the host and the store's place go.
 */
#ifndef SYMBOLIZE_BUILD_ANONYMIZE_H
#define SYMBOLIZE_BUILD_ANONYMIZE_H

#include "common/model/model.h"

/* What is shared by records is changed with each of them, to the same. */
void anonymous_make(struct process *process);
/* The rules that no process used. */
void anonymous_rules(struct report *report);

#endif
