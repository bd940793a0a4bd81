/* json_stack.h - frames, stacks and threads as JSON. */
#ifndef COMMON_VIEW_JSON_STACK_H
#define COMMON_VIEW_JSON_STACK_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* What is kept of the frames while they are written; at the end of the report. */
void json_stack_end(struct json *json);

/* user: index of the user frame; count = none is marked. */
void json_frames(struct json *json, const char *key, const struct frame *const *frames,
                 size_t count, size_t user);
void json_stack(struct json *json, const char *key, const struct stack *stack);
void json_stack_or_null(struct json *json, const char *key, const struct stack *stack);

/* What did it, and its stack; form NULL = null. */
void json_trace(struct json *json, const char *key, const char *form, const struct stack *stack);

void json_thread(struct json *json, const char *key, const struct thread_ref *thread);
/* "thread": "T1", null when it is not known. */
void json_serial(struct json *json, const struct thread_ref *thread);

#endif
