/* json_crash.h - the crash of a process, as one of its errors. */
#ifndef SYMBOLIZE_JSON_CRASH_H
#define SYMBOLIZE_JSON_CRASH_H

#include "symbolize/emit.h"
#include "symbolize/model.h"

/* Into the open list of errors. write_stack: as all stacks are written. */
void json_crash(struct emit *emit, const struct process *process,
                void (*write_stack)(struct emit *emit, const char *key, const struct stack *stack));

#endif
