/* json_mistakes.h - what was released wrongly, as JSON. */
#ifndef SYMBOLIZE_JSON_MISTAKES_H
#define SYMBOLIZE_JSON_MISTAKES_H

#include "symbolize/emit.h"
#include "symbolize/model.h"

/* An object for each, into an array that is open. frames: how a list of them is written. */
void json_mistakes(struct emit *emit, const struct process *process,
                   void (*frames)(struct emit *emit, const char *key, const struct stack *stack));

#endif
