/* json_parts.h - frames, stacks, threads and growth as JSON; docs/schema.json describes them. */
#ifndef COMMON_VIEW_JSON_PARTS_H
#define COMMON_VIEW_JSON_PARTS_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* Frees the cache of written frames, at the end of a report. */
void json_stack_end(struct json_writer *json);

/* user: index of the frame to mark as the user frame; count = none. */
void json_frames(struct json_writer *json, const char *key, const struct frame *const *frames,
                 size_t count, size_t user);
void json_stack(struct json_writer *json, const char *key, const struct stack *stack);
void json_stack_or_null(struct json_writer *json, const char *key, const struct stack *stack);

/* A call and its stack; form NULL writes null. */
void json_trace(struct json_writer *json, const char *key, const char *form,
                const struct stack *stack);

void json_thread(struct json_writer *json, const char *key, const struct thread_ref *thread);
/* "thread": "T1", null when it is unknown. */
void json_serial(struct json_writer *json, const struct thread_ref *thread);

/* "growth" of a record, an owner, or a site in leaktop; null when it is unknown. */
void json_growth(struct json_writer *json, const struct growth *growth);

#endif
