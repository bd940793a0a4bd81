/* text_leak_check.h - how the look at the heap was made, and the threads it saw. */
#ifndef SYMBOLIZE_TEXT_TEXT_LEAK_CHECK_H
#define SYMBOLIZE_TEXT_TEXT_LEAK_CHECK_H

#include "common/view/format_api.h"

/* Nothing when there was none: a note says why. */
void text_look(const struct process *process, const struct view *view, FILE *stream);

/* Threads that were still there at the end. */
void text_threads(const struct process *process, const struct view *view, FILE *stream);

#endif
