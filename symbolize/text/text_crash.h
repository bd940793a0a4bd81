/* text_crash.h - how a process crashed: the signal in words, the stack, what lies near. */
#ifndef SYMBOLIZE_TEXT_TEXT_CRASH_H
#define SYMBOLIZE_TEXT_TEXT_CRASH_H

#include "common/view/format_api.h"

/* Nothing when it did not. */
void text_crash(const struct process *process, const struct view *view, FILE *stream);

#endif
