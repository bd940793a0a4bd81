/* json_parts.h - the parts of JSON reports that leakreport and leaktop share, as tables of
 * fields. */
#ifndef COMMON_VIEW_JSON_PARTS_H
#define COMMON_VIEW_JSON_PARTS_H

#include "common/encode/json_fields.h"
#include "common/model/model.h"

/* Frees the cache of written frames, at the end of a report. */
void json_stack_end(struct json_writer *json);

/* Writes frames as a list. user: index of the frame to mark as the user's frame; `count` = none. */
void json_frames(struct json_writer *json, const char *key, const struct frame *const *frames,
                 size_t count, size_t user);

/* Writes the list of all frames in the document, to which indices in its stacks refer; nothing
 * unless json->frame_table is set. */
void json_put_frame_table(struct json_writer *json, const char *key, const void *object);

extern const struct json_table json_frame; /* writes a struct marked_frame of json_parts.c: a frame,
                                            * and whether it is the user's */
extern const struct json_table json_frame_or_index; /* describes an element of a stack, for the
                                                     * schema */
extern const struct json_table json_thread;         /* writes a struct thread_ref */
extern const struct json_table json_growth;         /* writes a struct growth */
extern const struct json_table json_moment;         /* writes a struct moment */
extern const struct json_table json_tool; /* writes name and version of this program; reads no
                                           * struct */

/* ---- Macros for rows of tables --------------------------------------------------------------- */

/* Row with the key k for a list of frames, which the function f writes; f gets the whole struct. */
#define JSON_FRAMES(k, f, ...) JSON_COMPUTED(k, LIST, f, .table = &json_frame_or_index, __VA_ARGS__)
/* Row for a struct stack. */
#define JSON_STACK(s, k, m, ...)                                                                   \
    JSON_PUT(s, k, LIST, m, json_put_stack, .table = &json_frame_or_index, __VA_ARGS__)
#define JSON_INNERMOST_FIRST JSON_ABOUT("innermost first")

#define JSON_KIND(s, k, m, ...) JSON_WORD(s, k, m, kind_word, KIND_MAX, __VA_ARGS__)
#define JSON_GROWTH(s, k, m, ...) JSON_POINTER(s, k, m, json_growth, JSON_MAY_BE_NULL, __VA_ARGS__)
#define JSON_ARGV(s) JSON_TEXTS(s, "argv", argv, argc)
#define JSON_HISTORY(s, about)                                                                     \
    JSON_LIST(s, "history", history, history_count, json_moment, JSON_ABOUT(about))
#define JSON_TOOL JSON_GROUP("tool", json_tool)

/* Rows "format" and "version", with which each document begins, and "bytes_escaped" at its end. */
#define JSON_FORMAT(word)                                                                          \
    JSON_CONSTANT("format", word),                                                                 \
        JSON_COMPUTED("version", OTHER, json_put_version, JSON_LIMITS("'const': 1"))
#define JSON_BYTES_ESCAPED                                                                         \
    JSON_COMPUTED("bytes_escaped", BOOLEAN, json_put_bytes_escaped,                                \
                  JSON_ABOUT("a text has bytes that are no UTF-8, written as \\u00XX"))

/* Rows of the object "end": how a process ended, and its status or signal if there is one. */
#define JSON_END(s, ...)                                                                           \
    JSON_WORD(s, "how", how, end_word, END_LOST + 1,                                               \
              JSON_ABOUT("lost: the recording does not have the end")),                            \
        JSON_INTEGER(s, "value", end_value, JSON_ABOUT("exit status, or number of the signal"),    \
                     __VA_ARGS__)

/* ---- Functions that rows of tables call ------------------------------------------------------ */

void json_put_stack(struct json_writer *json, const char *key, const void *stack);
void json_put_version(struct json_writer *json, const char *key, const void *object);
void json_put_bytes_escaped(struct json_writer *json, const char *key, const void *object);

#endif
